"""Which languages are a set's names in? Judged by a few words, and by the dictionary that comes with `icons`."""

from pathlib import Path

import pytest

from indexer.languages.dictionary import ENGLISH, Dictionary, Meaning, write_dictionary
from indexer.languages.identifying import NOTHING, Judge, Spoken
from indexer.languages.names import parse
from indexer.library.bundled import bundled

GERMAN = ["pfeil", "einstellungen", "benutzer", "ordner", "suche", "drucker", "glocke", "stern", "herz", "wolke"]
FRENCH = ["fleche", "parametres", "dossier", "recherche", "cloche", "etoile", "nuage", "coeur", "imprimante", "porte"]
ENGLISH_NAMES = ["arrow", "settings", "user", "folder", "search", "printer", "bell", "star", "heart", "cloud", "gift"]


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    of_german = dict.fromkeys(GERMAN, "German") | {"gift": "poison", "silo": "silo", "设": "set"}
    keys = {word: [Meaning(frozenset(("de",)), ((english, 1.0),))] for word, english in of_german.items()}
    for word in (*FRENCH, "stern"):
        keys.setdefault(word, []).append(Meaning(frozenset(("fr",)), (("French", 1.0),)))
    for word in (*ENGLISH_NAMES, "left"):
        keys.setdefault(word, []).append(Meaning(frozenset((ENGLISH,)), ()))
    write_dictionary(tmp_path / "words.bin", keys, names={"de": "German", "fr": "French", ENGLISH: "English"})
    return Judge(Dictionary(tmp_path / "words.bin"))


def test_a_set_of_english_names_and_of_none_is_in_nothing_else(judge: Judge) -> None:
    assert judge.spoken(ENGLISH_NAMES) == judge.spoken([]) == judge.spoken(["24", "-"]) == NOTHING


def test_a_language_that_most_names_speak_comes_before_english(judge: Judge) -> None:
    assert judge.spoken([*GERMAN, *ENGLISH_NAMES[:4]]) == Spoken(("de",), are_first=True)


def test_where_more_names_are_english_a_word_of_both_is_english(judge: Judge) -> None:
    assert judge.spoken([*GERMAN[:5], *ENGLISH_NAMES]) == Spoken(("de",), are_first=False)


def test_a_few_words_that_another_language_knows_say_nothing(judge: Judge) -> None:
    assert judge.spoken([*GERMAN[:4], *ENGLISH_NAMES, "left", "slack"]) == NOTHING
    assert judge.spoken([*GERMAN[:2], "slack", "figma"]) == NOTHING


def test_several_languages_are_told_that_of_most_names_first(judge: Judge) -> None:
    assert judge.spoken([*FRENCH, *GERMAN[:6]]).languages == ("fr", "de")


def test_one_name_alone_tells_its_language_if_all_of_it_is_known(judge: Judge) -> None:
    assert judge.spoken(["pfeil stern"]) == Spoken(("de",), are_first=True)
    assert judge.spoken(["étoile"]) == Spoken(("fr",), are_first=True)
    assert (
        judge.spoken(["pfeil"])
        == judge.spoken(["pfeil slack"])
        == judge.spoken(["pfeil left"])
        == judge.spoken(["slack"])
        == NOTHING
    )


def test_each_name_counts_once(judge: Judge) -> None:
    assert judge.spoken(["pfeil"] * 9 + ["slack", "figma"]) == NOTHING


def test_a_word_that_a_language_takes_over_says_nothing_for_it(judge: Judge) -> None:
    assert judge.spoken(["silo"]) == NOTHING


def test_beside_a_set_of_others_only_letters_beyond_ascii_are_looked_at(judge: Judge) -> None:
    assert judge.alone("pfeil") == ()
    assert judge.alone("设") == ("de",)
    assert judge.alone("gìft") == ()
    assert judge.alone("étoile") == ("fr",)


def test_no_set_of_the_bundled_icons_is_taken_for_another_language() -> None:
    judge = Judge(Dictionary.bundled())
    icons = bundled("samples/lucide-static/icons")
    names = sorted(parse(path.stem).words for path in icons.glob("*.svg"))
    assert len(names) > 2_000
    assert judge.spoken(names) == NOTHING
    few = (names[at : at + size] for size in (1, 3, 5, 10, 30) for at in range(0, 2_000, size))
    assert [some for some in few if judge.spoken(some) != NOTHING] == []
    assert not any(map(judge.alone, names))


@pytest.mark.parametrize(
    "names",
    [["chat", "gift", "die", "pin", "menu", "pays"], ["slack figma"], ["café"], ["jalapeño", "piñata"]],
)
def test_usual_english_names_are_english_even_in_a_small_set(names: list[str]) -> None:
    assert Judge(Dictionary.bundled()).spoken(names) == NOTHING
