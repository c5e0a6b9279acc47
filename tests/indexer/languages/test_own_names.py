"""Names and tags of a set are read in the languages that all of them tell."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from data.making.language.writing import write_dictionary
from indexer.languages.dictionary import ENGLISH, Dictionary, Meaning
from indexer.languages.own_names import NOTHING, EnglishName, SetReader, Spoken, alone, is_unread, spoken
from indexer.languages.words import parse
from indexer.library.bundled import bundled

BUNDLED = Dictionary.bundled()
GERMAN = ["pfeil", "einstellungen", "benutzer", "ordner", "suche", "drucker", "glocke", "stern", "herz", "wolke"]
FRENCH = ["fleche", "parametres", "dossier", "recherche", "cloche", "etoile", "nuage", "coeur", "imprimante", "porte"]
ENGLISH_NAMES = ["arrow", "settings", "user", "folder", "search", "printer", "bell", "star", "heart", "cloud", "gift"]


@pytest.fixture
def some(tmp_path: Path) -> Dictionary:
    of_german = dict.fromkeys(GERMAN, "German") | {"gift": "poison", "silo": "silo", "设": "set"}
    keys = {word: [Meaning(frozenset(("de",)), ((english, 1.0),))] for word, english in of_german.items()}
    for word in (*FRENCH, "stern"):
        keys.setdefault(word, []).append(Meaning(frozenset(("fr",)), (("French", 1.0),)))
    for word in (*ENGLISH_NAMES, "left"):
        keys.setdefault(word, []).append(Meaning(frozenset((ENGLISH,)), ()))
    write_dictionary(tmp_path / "words.bin", keys, names={"de": "German", "fr": "French", ENGLISH: "English"})
    return Dictionary(tmp_path / "words.bin")


@pytest.mark.parametrize(
    ("names", "languages"),
    [
        *((names, NOTHING) for names in (ENGLISH_NAMES, [], ["24", "-"])),
        ([*GERMAN, *ENGLISH_NAMES[:4]], Spoken(("de",), are_first=True)),
        ([*GERMAN[:5], *ENGLISH_NAMES], Spoken(("de",), are_first=False)),
        ([*FRENCH, *GERMAN[:6]], Spoken(("fr", "de"), are_first=True)),
        (["pfeil stern"], Spoken(("de",), are_first=True)),
        (["étoile"], Spoken(("fr",), are_first=True)),
        *(([alone], NOTHING) for alone in ("pfeil", "pfeil slack", "pfeil left", "slack")),
    ],
)
def test_a_set_is_in_the_languages_of_most_of_its_names_and_one_alone_if_all_of_it_is_known(
    some: Dictionary, names: list[str], languages: Spoken
) -> None:
    assert spoken(some, names) == languages


@pytest.mark.parametrize(
    ("text", "mixed", "languages"),
    [
        *(("pfeil", "", ""), ("设", "", "de"), ("gìft", "", ""), ("étoile", "", "fr"), ("pfeil left", "", "")),
        *(("pfeil", "de", "de"), ("stern", "fr de", "fr de"), ("stern", "de", "de fr"), ("pfeil left", "de", "de")),
        *(("arrow", "de", ""), ("slack", "de", ""), ("pfeil slack", "de", "")),
    ],
)
def test_beside_a_set_of_others_only_letters_beyond_ascii_are_looked_at_unless_it_is_mixed(
    some: Dictionary, text: str, mixed: str, languages: str
) -> None:
    assert alone(some, text, mixed.split()) == tuple(languages.split())


@pytest.mark.parametrize(
    ("foreign", "mixed"),
    [
        (["pfeil", "etoile", "nuage"], ("fr", "de")),
        (["pfeil"], ()),  # one may be a brand
        (
            ["pfeil", "etoile", "nuage", "slack", "figma", "jira", "miro", "asana", "trello", "notion", "zapier"],
            (),
        ),  # a set of brands
    ],
)
def test_a_set_with_some_names_of_several_languages_is_a_mixed_one(
    some: Dictionary, foreign: list[str], mixed: tuple[str, ...]
) -> None:
    assert spoken(some, [*foreign, *ENGLISH_NAMES]).mixed == mixed


def test_no_set_of_the_bundled_icons_is_taken_for_another_language() -> None:
    icons = bundled("samples/lucide-static/icons")
    names = sorted(parse(path.stem).words for path in icons.glob("*.svg"))
    assert len(names) > 2_000
    assert spoken(BUNDLED, names) == NOTHING
    few = (names[at : at + size] for size in (1, 3, 5, 10, 30) for at in range(0, 2_000, size))
    assert [some for some in few if spoken(BUNDLED, some) != NOTHING] == []
    assert not any(alone(BUNDLED, name) for name in names)


@pytest.mark.parametrize(
    "names",
    [["chat", "gift", "die", "pin", "menu", "pays"], ["slack figma"], ["café"], ["jalapeño", "piñata"]],
)
def test_usual_english_names_are_english_even_in_a_small_set(names: list[str]) -> None:
    assert spoken(BUNDLED, names) == NOTHING


GERMAN_SET = [
    "pfeil links",
    "einstellungen",
    "benutzer hinzufügen",
    "uebersicht",
    "loeschen",
    "stern",
    "drucker",
    "hut",
]


def reader(names: Sequence[str], tags: Sequence[str] = (), *, language: str = "auto") -> SetReader:
    return SetReader(BUNDLED, language=language, names=names, tags=tags)


ENGLISH_SET = ["arrow left", "settings", "star", "printer", "folder", "pfeil"]
MIXED_SET = [*ENGLISH_SET, "sessel", "fauteuil", "machine à laver", "検索", "カメラ", "xqvzrt"]
HALF_GERMAN = [
    *GERMAN_SET,
    "arrow left",
    "settings",
    "overview",
    "delete",
    "star",
    "printer",
    "add user",
    "home",
    "mail",
]


@pytest.mark.parametrize(
    ("names", "name", "english"),
    [
        *((GERMAN_SET, *said) for said in (("pfeil links", "arrow left"), ("icon pfeil left", "arrow left"))),
        *((GERMAN_SET, *said) for said in (("btn einstellungen", "settings"), ("uebersicht", "overview"))),
        *((GERMAN_SET, *said) for said in (("loeschen", "delete"), ("kameraeinstellungen", "camera settings"))),
        *((GERMAN_SET, name, None) for name in ("arrow left", "figma", "24")),
        *((HALF_GERMAN, *said) for said in (("hut", None), ("pfeil links", "arrow left"))),
        # Beyond ASCII alone.
        *((ENGLISH_SET, *said) for said in (("设置", "settings"), ("löschen", "delete"))),
        *((ENGLISH_SET, name, None) for name in ("café", "gift", "pfeil", "chat")),
        # One by one, in the language of their neighbours.
        *((MIXED_SET, *said) for said in (("sessel", "armchair"), ("fauteuil", "armchair"), ("検索", "search"))),
        *(
            (MIXED_SET, *said)
            for said in (("machine à laver", "washing machine"), ("arrow left", None), ("xqvzrt", None))
        ),
        (["设置", "搜索", "花鑫", "文件夹"], "花鑫", "flower"),
    ],
)
def test_a_name_is_read_as_its_set_tells(names: list[str], name: str, english: str | None) -> None:
    read = reader(names).name(name)
    assert (read and read.words) == english
    assert is_unread(BUNDLED, name) == (name in ("xqvzrt", "kameraeinstellungen"))  # that is read by its parts


def test_a_word_of_both_may_be_english_still_and_one_of_neighbours_is_theirs() -> None:
    assert reader(GERMAN_SET).name("hut") == EnglishName("hat", None, "de", ("hut",))
    read = reader(MIXED_SET).name("検索")
    assert read and read.language == "ja"


def test_nothing_is_read_where_names_are_said_to_be_english() -> None:
    of_english = reader(GERMAN_SET, ["flèche"], language="en")
    assert not any(map(of_english.name, (*GERMAN_SET, "设置")))
    assert of_english.tags(["flèche"]) == (("flèche",), frozenset())


def test_tags_are_told_in_english_beside_those_that_are_english_too() -> None:
    tags = ["flèche", "gauche", "corbeille", "arrow", "paramètres", "chat"]
    read = reader(["arrow left"], tags)
    assert read.tags(["flèche", "arrow", "chat"]) == (("arrow", "chat", "cat"), frozenset({"fr"}))
    assert read.tags(["arrow"]) == (("arrow",), frozenset())


def test_tags_may_be_in_the_language_of_the_names_however_few_they_are() -> None:
    assert reader(GERMAN_SET, ["zurück", "home", "back", "arrow"]).tags(["zurück"])[0] == ("back",)
