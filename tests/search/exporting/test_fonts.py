"""Do the glyphs of a font keep their places, and is it one that tools read? test_in_browsers.py looks at them."""

import io

import pytest
from fontTools.ttLib import TTFont

from indexer.errors import ExportError
from search.drawings.export import Options, export
from search.drawings.licences import PRIVATE_USE, Collection, read_collection
from search.engine import SearchEngine


def test_what_a_font_can_not_show_is_told(engine: SearchEngine) -> None:
    two = ("traps:logo", "shared:twice")
    keys = ("plain:house", "colours:sunrise", "colours:sheet-red", "shared:ghost", "colours:knot", *two)
    exported = export(engine, Collection("x", keys), "font", Options(skip_unreadable=True))
    assert exported.icons == ("plain:house",)
    assert [(one.key, one.reason.split(";")[0]) for one in exported.left_out] == [
        ("traps:logo", f'it is a bitmap ("{engine.hits([engine.find("traps:logo")])[0].path}")'),
        ("colours:sunrise", "has a gradient"),
        ("colours:sheet-red", "is transparent in places"),
        ("shared:ghost", "is transparent in places"),
        ("colours:knot", "has a <mask>, which no outline of a font can be"),
        ("shared:twice", "has a <symbol>, which no outline of a font can be"),
    ]


def test_an_icon_that_is_added_moves_no_other(engine: SearchEngine) -> None:
    points = {"shared:hole": 0xE001, "plain:gone": 0xE000}
    exported = export(engine, Collection("x", ("plain:wide-bar", "shared:hole"), points), "font")
    written, _ = read_collection(exported.files["collection.json"], name="x")
    assert written.code_points == {"plain:wide-bar": 0xE002, **points}


def test_the_font_is_one_that_tools_read(engine: SearchEngine) -> None:
    three = Collection("x", ("plain:house", "lucide-static:bell", "shared:blue"))
    exported = export(engine, three, "font", Options(prefix="app"))
    for suffix in ("ttf", "woff2"):
        font = TTFont(io.BytesIO(exported.files[f"app.{suffix}"]))
        assert font.getBestCmap() == {0xE000: "plain-house", 0xE001: "lucide-static-bell", 0xE002: "shared-blue"}
        assert font["name"].getDebugName(1) == "app" and "MIT License" in font["name"].getDebugName(0)
        assert (font["hhea"].ascent, font["hhea"].descent, font["head"].unitsPerEm) == (1024, 0, 1024)
        assert font["hmtx"]["plain-house"][0] == 1024
    assert '.app-lucide-static-bell::before { content: "\\e001"; }' in exported.files["app.css"].decode()
    assert '1 icon loses its colour, as "shared:blue": a font takes that of the text' in exported.remarks
    assert 'class="app app-plain-house' in exported.files["icons.html"].decode()


def test_a_font_has_so_many_places_and_no_more(engine: SearchEngine) -> None:
    many = Collection("x", tuple(f"a:{n}" for n in range(len(PRIVATE_USE) + 1)))
    with pytest.raises(ExportError, match="6,401 icons; a font has 6,400 places"):
        export(engine, many, "font")
