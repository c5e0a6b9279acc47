"""Does each symbol of a sprite look as its icon does alone, whatever stands beside it?"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from iconify_sample import N_OF_SET, sampled
from numpy.typing import NDArray

from indexer.rendering.render import draw
from search.drawings.collection import Collection
from search.drawings.export import Exported, Options, export
from search.engine import SearchEngine

COLOURED = ("sunrise", "sunset", "knot", "sheet-red", "sheet-blue")
SETS = ("lucide", "logos", "noto", "flat-color-icons", "ph")
SIDE = 64


def symbols(exported: Exported) -> Iterator[tuple[str, bytes]]:
    """Key of each icon of a sprite, and a document that draws its symbol out of the whole sprite."""
    sprite = exported.files["sprite.svg"].decode()
    inside = sprite[sprite.index("<symbol") : sprite.rindex("</svg>")]
    for icon in json.loads(exported.files["collection.json"])["icons"]:
        found = re.search(rf'<symbol id="{icon["name"]}" viewBox="\S+ \S+ (\S+) (\S+)"', sprite)
        assert found
        sides = f'width="{found[1]}" height="{found[2]}"'
        use = f'<use href="#{icon["name"]}" {sides}/>'
        whole = (
            f'<svg xmlns="http://www.w3.org/2000/svg" {sides} viewBox="0 0 {found[1]} {found[2]}">{inside}{use}</svg>'
        )
        yield icon["key"], whole.encode()


@pytest.mark.slow
def test_symbols_look_as_their_icons_do_alone(engine: SearchEngine, lucide: Sequence[str]) -> None:
    keys = (*(f"colours:{name}" for name in COLOURED), "shared:ghost", "shared:hole", *lucide)
    exported = export(engine, Collection("x", keys), "sprite")
    drawn = dict(symbols(exported))
    assert tuple(drawn) == keys and len(keys) > 100
    for key, document in drawn.items():
        assert (draw(document, size=SIDE) == draw(engine.picture(engine.find(key)), size=SIDE)).all(), key


def test_no_two_ids_of_a_sprite_are_the_same_and_all_references_lead_somewhere(engine: SearchEngine) -> None:
    sprite = export(engine, Collection("x", tuple(f"colours:{name}" for name in COLOURED)), "sprite").files
    root = ElementTree.fromstring(sprite["sprite.svg"])
    ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    used = re.findall(r'(?:url\(|href=")#([^)"]+)', sprite["sprite.svg"].decode())
    assert len(ids) == len(set(ids)) == len(COLOURED) + 2 + 2 + 2 + 1
    assert set(used) <= set(ids) and len(used) == 7
    assert not any(element.tag.endswith("style") or "class" in element.attrib for element in root.iter())


def test_what_the_root_of_an_icon_says_stays_on_its_symbol(engine: SearchEngine) -> None:
    sprite = export(engine, Collection("x", ("lucide-static:bell",)), "sprite").files["sprite.svg"].decode()
    symbol = ElementTree.fromstring(sprite)[-1]
    assert symbol.attrib == {
        "id": "lucide-static-bell",
        "viewBox": "0 0 24 24",
        "fill": "none",
        "stroke": "currentColor",
        "stroke-width": "2",
        "stroke-linecap": "round",
        "stroke-linejoin": "round",
    }
    assert "lucide-static icons, ISC License" in sprite[: sprite.index("<symbol")]


@pytest.mark.slow
@pytest.mark.parametrize("icon_set", SETS)
def test_symbols_of_sets_of_iconify_look_so_too(icon_set: str, tmp_path: Path, tiny_model: Path) -> None:
    engine, keys = sampled(tmp_path, tiny_model, icon_set)
    exported = export(engine, Collection("x", keys), "sprite", Options(skip_unreadable=True))
    assert not exported.left_out
    differing = [
        key
        for start in range(0, len(keys), 20)
        for key, document in symbols(export(engine, Collection("x", keys[start : start + 20]), "sprite"))
        if difference(draw(document, size=SIDE), draw(engine.picture(engine.find(key)), size=SIDE)) > 2
    ]
    # Where a width is no whole number of pixels, libvips cuts the group of an opacity at another one.
    assert len(differing) <= N_OF_SET // 20, differing


def difference(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> int:
    """The most that a channel of a pixel differs by."""
    return 255 if one.shape != other.shape else int(np.abs(one.astype(int) - other.astype(int)).max())
