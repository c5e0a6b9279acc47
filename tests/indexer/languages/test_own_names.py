"""What do names and tags say in English? Sets are shown whole, read with the dictionary that comes with `icons`."""

from collections.abc import Sequence

import pytest

from indexer.languages.dictionary import Dictionary
from indexer.languages.identifying import Judge
from indexer.languages.own_names import EnglishName, SetReader

BUNDLED = Dictionary.bundled()
GERMAN = ["pfeil links", "einstellungen", "benutzer hinzufügen", "uebersicht", "loeschen", "stern", "drucker", "hut"]


def reader(names: Sequence[str], tags: Sequence[str] = (), *, language: str = "auto") -> SetReader:
    return SetReader(BUNDLED, Judge(BUNDLED), language=language, names=names, tags=tags)


def words_of(name: str, names: Sequence[str], *, language: str = "auto") -> str | None:
    read = reader(names, language=language).name(name)
    return read and read.words


@pytest.mark.parametrize(
    ("name", "english"),
    [
        ("pfeil links", "arrow left"),
        ("icon pfeil left", "arrow left"),
        ("btn einstellungen", "settings"),
        ("uebersicht", "overview"),
        ("loeschen", "delete"),
        ("kameraeinstellungen", "camera settings"),
        ("arrow left", None),
        ("figma", None),
        ("24", None),
    ],
)
def test_a_name_of_a_german_set_is_read_as_german(name: str, english: str | None) -> None:
    assert words_of(name, GERMAN) == english


def test_a_name_of_an_english_set_stays_whatever_language_knows_it() -> None:
    english = ["arrow left", "settings", "overview", "delete", "star", "printer", "pfeil"]
    assert [words_of(name, english) for name in ("gift", "pfeil", "chat", "die")] == [None] * 4


def test_a_word_of_both_is_read_where_most_names_are_not_english_and_may_be_english_still() -> None:
    assert reader(GERMAN).name("hut") == EnglishName("hat", None, "de", ("hut",))
    mixed = [*GERMAN, "arrow left", "settings", "overview", "delete", "star", "printer", "add user", "home", "mail"]
    assert words_of("hut", mixed) is None
    assert words_of("pfeil links", mixed) == "arrow left"


def test_a_name_beyond_ascii_is_read_in_any_set() -> None:
    english = ["arrow left", "settings", "star", "printer", "folder"]
    assert words_of("设置", english) == "settings"
    assert words_of("löschen", english) == "delete"
    assert words_of("café", english) is None


def test_nothing_is_read_where_names_are_said_to_be_english() -> None:
    assert [words_of(name, GERMAN, language="en") for name in (*GERMAN, "设置")] == [None] * 9
    assert reader(GERMAN, ["flèche"], language="en").tags(["flèche"]) == (("flèche",), frozenset())


def test_names_are_read_in_the_language_that_is_stated_and_in_no_other() -> None:
    assert words_of("pfeil", ["arrow", "star", "pfeil"], language="de") == "arrow"
    assert words_of("flèche", ["arrow", "star", "pfeil"], language="de") is None


def test_a_style_is_read_apart() -> None:
    read = reader(GERMAN).name("pfeil links gefüllt")
    assert read is not None
    assert (read.words, read.style) == ("arrow left", "filled")


def test_signs_that_nobody_knows_are_left_out() -> None:
    assert words_of("花鑫", ["设置", "搜索", "花鑫", "文件夹"]) == "flower"


def test_tags_are_told_in_english_beside_those_that_are_english_too() -> None:
    tags = ["flèche", "gauche", "corbeille", "arrow", "paramètres", "chat"]
    read = reader(["arrow left"], tags)
    assert read.tags(["flèche", "arrow", "chat"]) == (("arrow", "chat", "cat"), frozenset({"fr"}))
    assert read.tags(["arrow"]) == (("arrow",), frozenset())


def test_tags_may_be_in_the_language_of_the_names_however_few_they_are() -> None:
    assert reader(GERMAN, ["zurück", "home", "back", "arrow"]).tags(["zurück"])[0] == ("back",)
