"""Words that packages and people say of icons, and the file of synonyms that is made of them."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from data.making.model.__main__ import main
from data.making.model.words import DRAWINGS, KEYWORDS, PICTURES, read_written, words_in
from indexer.errors import SourceError
from indexer.languages.dictionary import Dictionary
from indexer.library.bundled import bundled
from indexer.library.named import PACKED, read_text

ICONS = {
    "one": {"trash": ["bin", "Throw Away", "rubbish from last week"], "rubbish": ["bin"], "oddity": ["bin"]},
    "two": {"trash": ["bin", "waste"], "rubbish": [], "recycle": ["waste"]},
    "three": {"trash": [], "recycle": ["trash"]},
    "lucide": {"trash": ["reserved word"], "recycle": []},
}


def _package(folder: Path, name: str, file: str, content: object, licence: str = "MIT") -> None:
    package = folder / "node_modules" / name
    (package / file).parent.mkdir(parents=True)
    (package / file).write_text(json.dumps(content), "utf-8")
    (package / "package.json").write_text(json.dumps({"name": name, "version": "1.0.0", "license": licence}))


def test_packages_say_words_of_names_in_english_unless_they_are_reserved(tmp_path: Path) -> None:
    emoji = {"\U0001f600": ["grinning_face", "face", "smile", ":)", "high_five"]}
    chinese = {"name": "factory-building", "title": "\u5de5\u5382", "tag": ["\u70df\u56f1"]}
    _package(tmp_path, "emojilib", "dist/emoji-en-US.json", emoji)
    _package(tmp_path, "@icon-park/svg", "icons.json", [chinese], "Apache-2.0")
    _package(tmp_path, "lucide-static", "tags.json", {"house": ["home"]}, "ISC")
    _package(tmp_path, "@openstreetmap/id-tagging-schema", "dist/presets.json", {"a": {"icon": "maki-windmill"}}, "ISC")
    presets = {"en": {"presets": {"presets": {"a": {"name": "Windmill", "terms": "mill,wheel"}}}}}
    names = tmp_path / "node_modules/@openstreetmap/id-tagging-schema/dist/translations/en.json"
    names.parent.mkdir()
    names.write_text(json.dumps(presets))
    assert words_in(tmp_path / "node_modules") == {
        "grinning face": ["smile", "high five"],
        "factory building": ["chimney"],
        "windmill": ["mill", "wheel"],
    }


def test_written_words_are_read_and_a_line_that_is_no_entry_is_named(tmp_path: Path) -> None:
    (tmp_path / KEYWORDS).write_text("Trash-Can: Bin, throw away, bin\n")
    (tmp_path / PICTURES).write_text("purity: droplet, Trash can\n")
    (tmp_path / DRAWINGS).write_text("0123456789\tmdi:map-marker-heart\tWhite heart in a black pin|pin with heart\n")
    written, keywords = read_written(tmp_path), ["bin", "throw away"]
    assert written.tags_by_name() == {"trash can": [*keywords, *keywords, "purity"], "droplet": ["purity"]}
    assert written.of_drawing(bytes.fromhex("0123456789ab")) == ["white heart in a black pin", "pin with heart"]
    (tmp_path / KEYWORDS).write_text("star: night\ntrash:\n")
    with pytest.raises(SourceError, match=re.escape('line 2: "trash:" is no entry')):
        read_written(tmp_path)


def test_the_bundled_lists_have_no_name_as_its_own_keyword_and_no_line_twice() -> None:
    folder = bundled("language/written")
    written = read_written(folder)
    assert (len(written.keywords) > 5000, len(written.pictures) > 12_000, len(written.drawings) > 6_000) == (True,) * 3
    for lists, file in ((written.keywords, KEYWORDS), (written.pictures, PICTURES)):
        assert len(lists) == len(read_text(folder / (file + PACKED)).splitlines())
        assert not [key for key, words in lists.items() if key in words]


def test_synonyms_lead_to_names_that_several_sets_have_the_most_agreed_first(tmp_path: Path) -> None:
    lines = []
    for key, icons in ICONS.items():
        for name, tags in icons.items():
            file = tmp_path / key / f"{name}.svg"
            file.parent.mkdir(exist_ok=True)
            shape = f'<path d="M{len(lines)} 0h9v9z"/>'
            file.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">{shape}</svg>')
            lines.append({"file_path": f"{key}/{name}.svg", "set": key, "name": name, "tags": tags, "licence": "MIT"})
    (tmp_path / "icons.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    out = tmp_path / "synonyms.bin"
    done = CliRunner().invoke(main, ["synonyms", str(tmp_path / "icons.jsonl"), "--out", str(out)])
    assert (done.exit_code, "4 words" in done.output) == (0, True), done.output
    written = Dictionary(out)
    names = dict(written.meanings("bin")[0].terms)
    assert list(names) == ["trash", "rubbish"]
    assert names["rubbish"] == pytest.approx(0.63, abs=0.04)  # log 2 / log 3, in fifteenths
    assert list(dict(written.meanings("throw away")[0].terms)) == ["trash"]
    assert not written.meanings("reserved word")
