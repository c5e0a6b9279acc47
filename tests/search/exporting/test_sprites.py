"""Does each symbol of a sprite look as its icon does alone, whatever stands beside it?"""

import json
import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

import pytest

from indexer.rendering.render import draw
from search.drawings.collection import Collection
from search.drawings.export import Exported, export
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
        sides = f'width="{found[1]}" height="{found[2]}"'
        use = f'<use href="#{icon["name"]}" {sides}/>'
        whole = (
            f'<svg xmlns="http://www.w3.org/2000/svg" {sides} viewBox="0 0 {found[1]} {found[2]}">{inside}{use}</svg>'
        )
        yield icon["key"], whole.encode()


@pytest.mark.slow
def test_symbols_look_as_their_icons_do_alone(engine: SearchEngine, lucide: Sequence[str]) -> None:
    keys = (*(f"colours:{name}" for name in COLOURED), "shared:ghost", "shared:hole", *lucide)
    drawn = dict(symbols(export(engine, Collection("x", keys), "sprite")))
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
