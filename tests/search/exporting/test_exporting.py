"""Is an export whole, the same each time, and does it say what it lacks?"""

import io
import json
import zipfile
from pathlib import Path

import pytest
from conftest import build_library, draw_icons
from PIL import Image

from indexer.errors import ExportError
from indexer.library.folder import Library
from indexer.rendering.render import draw
from search.drawings.collection import Collection, collected, read_collection
from search.drawings.export import KINDS, Kind, Options, export
from search.engine import SearchEngine

THREE = Collection("Settings page", ("plain:house", "colours:sunset", "shared:hole"))


@pytest.mark.parametrize("kind", KINDS)
def test_an_export_is_the_same_each_time_and_says_whose_icons_it_holds(engine: SearchEngine, kind: Kind) -> None:
    two = Collection("Settings page", ("plain:house", "shared:hole"))
    exported, again = (export(engine, two, kind) for _ in range(2))
    assert exported.files == again.files and exported.content == again.content
    assert exported.name == "settings-page"
    licences = exported.files["LICENCES.md"].decode()
    assert "MIT License" in licences and "Creative Commons Attribution Non Commercial 4.0" in licences
    assert "plain:house" in licences and "Not for commercial use." in licences
    assert exported.licences == "2 sets; 1 needs attribution; 1 non-commercial"
    assert "shared (CC-BY-NC-4.0): its icons may not be used commercially" in exported.remarks
    manifest, _ = read_collection(exported.files["collection.json"], name="")
    assert manifest.icons == two.icons
    assert json.loads(exported.files["collection.json"])["files"] == sorted(exported.files)


def test_a_zip_holds_each_icon_as_it_looks_under_a_name_of_its_own(engine: SearchEngine) -> None:
    keys = ("plain:house", "plain:House", "colours:sunrise", "colours:hover", "traps:logo", "lucide-static:house")
    found, again = collected("mine", [*keys[:5], keys[0]])
    exported = export(engine, found, "zip")
    with zipfile.ZipFile(io.BytesIO(exported.content)) as archive:
        names = archive.namelist()
        pictures = {name: archive.read(name) for name in names if "/icons/" in name}
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert again == 1
    assert sorted(pictures) == [
        "mine/icons/colours-hover.svg",
        "mine/icons/colours-sunrise.svg",
        "mine/icons/plain-house-2.svg",
        "mine/icons/plain-house.svg",
        "mine/icons/traps-logo.png",
    ]
    assert Image.open(io.BytesIO(pictures["mine/icons/traps-logo.png"])).size == (48, 48)
    for key, name in zip(keys[:4], ("plain-house", "plain-house-2", "colours-sunrise", "colours-hover"), strict=True):
        alone = draw(engine.picture(engine.find(key)), size=64)
        assert (draw(pictures[f"mine/icons/{name}.svg"], size=64) == alone).all(), key


def test_what_can_not_be_exported_refuses_the_export_by_name(engine: SearchEngine) -> None:
    mixed = Collection("x", ("plain:house", "traps:logo", "plain:nothing", "colours:hover"))
    with pytest.raises(ExportError, match=r'3 icons.*"plain:nothing": no icon.*"traps:logo": it is a bitmap'):
        export(engine, mixed, "sprite")
    exported = export(engine, mixed, "sprite", Options(skip_unreadable=True))
    assert exported.icons == ("plain:house",)
    assert [one.key for one in exported.left_out] == ["plain:nothing", "traps:logo", "colours:hover"]
    assert "its style sheet has rules for more than plain classes" in exported.left_out[-1].reason
    with pytest.raises(ExportError, match=r"no icon is left to be exported; can't be exported so: traps:logo$"):
        export(engine, Collection("x", ("traps:logo",)), "sprite", Options(skip_unreadable=True))


def test_a_source_that_has_gone_is_told(tmp_path: Path, tiny_model: Path) -> None:
    sources = draw_icons(tmp_path / "icons")
    build_library(Library(tmp_path / "library"), tiny_model, [sources])
    (sources / "dot-a.svg").unlink()
    (sources / "dot-b.svg").write_text("<svg/>")
    three = Collection("x", ("icons:dot-a", "icons:dot-b", "icons:dot-c"))
    exported = export(SearchEngine.open(tmp_path / "library"), three, "zip", Options(skip_unreadable=True))
    assert exported.icons == ("icons:dot-c",)
    assert "can't be read" in exported.left_out[0].reason
    assert "has changed since it was indexed" in exported.left_out[1].reason


def test_two_keys_of_one_icon_give_it_once(engine: SearchEngine) -> None:
    number = str(engine.find("plain:wide-bar"))
    exported = export(engine, Collection("x", ("plain:wide-bar", number)), "sprite")
    assert exported.icons == ("plain:wide-bar",)
    assert exported.remarks[0] == f'"{number}" is "plain:wide-bar", which is there already: it stands there once'


@pytest.mark.parametrize("prefix", ["My Icons", "../x", "-a", "", "a" * 60, "1st"])
def test_a_prefix_that_no_tool_takes_is_refused(prefix: str) -> None:
    with pytest.raises(ExportError, match="use small letters"):
        Options(prefix=prefix)


def test_what_has_no_prefix_refuses_one(engine: SearchEngine) -> None:
    with pytest.raises(ExportError, match=r'a sprite has no prefix \("app"\)'):
        export(engine, THREE, "sprite", Options(prefix="app"))


def test_iconify_json_is_a_file_a_set_or_one_with_a_prefix(engine: SearchEngine) -> None:
    each = export(engine, THREE, "iconify")
    assert {"plain.json", "colours.json", "shared.json"} < set(each.files)
    assert each.main is None
    plain = json.loads(each.files["plain.json"])
    assert plain["prefix"] == "plain" and plain["info"]["license"]["spdx"] == "MIT"
    assert plain["icons"] == {"house": {"body": '<path d="M12 3l9 8h-3v10H6V11H3z" />', "width": 24, "height": 24}}
    own = export(engine, THREE, "iconify", Options(prefix="app"))
    assert own.main == "app.json"
    whole = json.loads(own.files["app.json"])
    assert list(whole["icons"]) == ["plain-house", "colours-sunset", "shared-hole"]
    assert whole["info"]["license"]["title"].startswith("Creative Commons Attribution 4.0, ")
