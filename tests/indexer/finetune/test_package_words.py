"""Are the words that packages bring for icons read, by the names that icons have, and in English?"""

import json
from pathlib import Path
from typing import Any

import pytest

from indexer.errors import SourceError
from indexer.finetune.corpus.package_words import words_in

PROICONS = """//#region src/icons/AddIcon.ts
const AddCircleIcon = createIcon({
\tname: "Add Circle",
\ttags: [
\t\t"Plus",
\t\t"Create"
\t],
\tcategory: "Actions",
\tdeprecated: false
}, []);
const ArrowImportIcon = createIcon({
\tname: "Arrow Import",
\ttags: [""],
\tcategory: "Arrows"
});"""
VIBE = (
    'const e="Basic";var o=[{name:"ZoomIn",file:"ZoomIn.svg",description:"Zoom in",tags:"Zoom, Magnification, Icon"},'
    '{name:"Bolt",file:"Bolt.svg",tags:"Lightning",category:[e]}];'
)
AKSEL = (
    'const metadata = {"EyeFill":{"id":"EyeFill","keywords":["see","\u00f8ye","hidden view"],"category":"Interface"}};'
)


def package(folder: Path, name: str, file: str, content: Any, licence: str = "MIT") -> Path:
    package = folder / "node_modules" / name
    (package / file).parent.mkdir(parents=True)
    (package / file).write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    (package / "package.json").write_text(json.dumps({"name": name, "version": "1.0.0", "license": licence}))
    return package


@pytest.mark.parametrize(
    ("name", "file", "content", "words"),
    [
        (
            "emojilib",
            "dist/emoji-en-US.json",
            {"\U0001f600": ["grinning_face", "face", "smile", ":)", "high_five"]},
            {"grinning face": ["smile", "high five"]},
        ),
        (
            "@blueprintjs/icons",
            "icons.json",
            [{"displayName": "Trash", "iconName": "trash", "tags": "bin, rubbish, delete", "group": "action"}],
            {"trash": ["bin", "rubbish", "delete"]},
        ),
        (
            "@progress/kendo-svg-icons",
            "dist/icons.json",
            [{"name": "table-end", "aliases": ["grid-right"], "categories": ["files"], "tags": ["files", "data"]},
             {"name": "x", "aliases": [], "categories": []}],
            {"table end": ["data", "grid right"]},
        ),
        ("proicons", "dist/cjs/proicons.cjs", PROICONS, {"add circle": ["plus", "create"]}),
        ("@vibe/icons", "dist/iconsMetaData.js", VIBE, {"zoom in": ["magnification"], "bolt": ["lightning"]}),
    ],
)  # fmt: skip
def test_packages_of_words_are_read(
    tmp_path: Path, name: str, file: str, content: Any, words: dict[str, list[str]]
) -> None:
    assert words_in(package(tmp_path, name, file, content)) == words


def test_a_folder_of_packages_is_read_as_a_whole(tmp_path: Path) -> None:
    package(tmp_path, "proicons", "dist/cjs/proicons.cjs", PROICONS)
    package(tmp_path, "eos-icons", "dist/js/eos-icons.json", [{"name": "add_circle", "tags": ["new"], "category": "x"}])
    package(tmp_path, "left-pad", "index.js", "")
    assert words_in(tmp_path / "node_modules") == {"add circle": ["new", "plus", "create"]}


def test_no_word_comes_from_a_reserved_package_or_one_of_a_refused_licence(tmp_path: Path) -> None:
    package(tmp_path, "lucide-static", "tags.json", {"house": ["home"]}, "ISC")
    package(tmp_path, "emojilib", "dist/emoji-en-US.json", {"x": ["house", "home"]}, "GPL-3.0")
    with pytest.raises(SourceError, match="no words in"):
        words_in(tmp_path / "node_modules")


def test_chinese_tags_are_translated_where_the_dictionary_has_them_as_a_whole(tmp_path: Path) -> None:
    icon = {
        "name": "factory-building",
        "title": "\u5de5\u5382",
        "tag": ["\u70df\u56f1", "\u5de5\u5382\u70df\u56f1\u5de5\u5382"],
    }
    words = words_in(package(tmp_path, "@icon-park/svg", "icons.json", [icon], "Apache-2.0"))
    assert words == {"factory building": ["chimney"]}


def test_norwegian_tags_are_left_out(tmp_path: Path) -> None:
    folder = package(tmp_path, "@navikt/aksel-icons", "dist/metadata.mjs", AKSEL)
    assert words_in(folder) == {"eye fill": ["see", "hidden view"]}


def test_a_map_icon_is_called_what_it_stands_for_unless_it_stands_for_much(tmp_path: Path) -> None:
    icons = {
        "a": "maki-windmill",
        "b": "temaki-sign",
        "c": "temaki-sign",
        "d": "temaki-sign",
        "e": "fas-wind",
        "f": "maki-mill",
    }
    presets = {key: {"icon": icon, "searchable": key != "f"} for key, icon in icons.items()}
    names = {key: {"name": "Windmill", "terms": "mill,wheel", "aliases": "wind engine\nwind mill"} for key in icons}
    folder = package(tmp_path, "@openstreetmap/id-tagging-schema", "dist/presets.json", presets, "ISC")
    (folder / "dist/translations").mkdir()
    (folder / "dist/translations/en.json").write_text(json.dumps({"en": {"presets": {"presets": names}}}))
    assert words_in(folder) == {"windmill": ["wind engine", "wind mill", "mill", "wheel"]}
