"""Do the symbols of a sprite leave each other alone? test_in_browsers.py draws them."""

import re
from xml.etree import ElementTree

from search.drawings.collection import Collection
from search.drawings.export import export
from search.engine import SearchEngine

COLOURED = ("sunrise", "sunset", "knot", "sheet-red", "sheet-blue")


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
