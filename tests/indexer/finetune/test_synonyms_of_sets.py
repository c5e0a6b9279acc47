"""Does the file of synonyms say under which names sets draw a word, and who agrees?"""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from indexer.finetune.__main__ import main
from indexer.languages.dictionary import Dictionary

ICONS = {
    "one": {"trash": ["bin", "Throw Away", "rubbish from last week"], "rubbish": ["bin"], "oddity": ["bin"]},
    "two": {"trash": ["bin", "waste"], "rubbish": [], "recycle": ["waste"]},
    "three": {"trash": [], "recycle": ["trash"]},
    "lucide": {"trash": ["reserved word"], "recycle": []},
}


def _make_manifest(folder: Path) -> Path:
    """A manifest of four sets, of which one is reserved; each icon has a drawing of its own."""
    lines = []
    for key, icons in ICONS.items():
        for number, (name, tags) in enumerate(icons.items()):
            file = folder / key / f"{name}.svg"
            file.parent.mkdir(parents=True, exist_ok=True)
            shape = f'<path d="M{len(lines)} {number}h9v9z"/>'
            file.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">{shape}</svg>')
            lines.append({"file_path": f"{key}/{name}.svg", "set": key, "name": name, "tags": tags, "licence": "MIT"})
    manifest = folder / "icons.jsonl"
    manifest.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return manifest


@pytest.fixture
def written(tmp_path: Path) -> tuple[Dictionary, Result]:
    out = tmp_path / "synonyms.bin"
    done = CliRunner().invoke(main, ["synonyms", str(_make_manifest(tmp_path)), "--out", str(out)])
    assert done.exit_code == 0, done.output
    return Dictionary(out), done


def _names(dictionary: Dictionary, word: str) -> dict[str, float]:
    return dict(dictionary.meanings(word)[0].terms) if dictionary.meanings(word) else {}


def test_a_tag_leads_to_the_names_that_sets_give_it_to_the_most_agreed_first(
    written: tuple[Dictionary, Result],
) -> None:
    names = _names(written[0], "bin")
    assert list(names) == ["trash", "rubbish"]
    assert names["rubbish"] == pytest.approx(0.63, abs=0.04)  # log 2 / log 3, in fifteenths


def test_a_name_that_one_set_alone_has_is_none(written: tuple[Dictionary, Result]) -> None:
    assert "oddity" not in _names(written[0], "bin")


def test_tags_are_spelt_as_queries_are_and_long_ones_left_out(written: tuple[Dictionary, Result]) -> None:
    assert list(_names(written[0], "throw away")) == ["trash"]
    assert not _names(written[0], "rubbish from last week")


def test_reserved_sets_say_nothing(written: tuple[Dictionary, Result]) -> None:
    assert not _names(written[0], "reserved word")


def test_the_command_says_how_many_words_there_are(written: tuple[Dictionary, Result]) -> None:
    assert "4 words" in written[1].output
