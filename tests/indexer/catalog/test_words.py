"""Words of a catalog: those of names and tags in other languages, however it came to its state, and each once."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import disc
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, select

from data.making.language.writing import write_dictionary
from indexer.catalog import questions
from indexer.catalog.database import icons, names, open_catalog
from indexer.catalog.questions import ReadSet, text_ids, words_of
from indexer.catalog.scan import ScanTally, remember, scan
from indexer.languages.dictionary import ENGLISH, Dictionary, Meaning

GERMAN = ["pfeil-links", "einstellungen", "Benutzer_hinzufügen", "uebersicht", "loeschen", "Drucker", "hut", "schloss"]
ENGLISH_NAMES = ["arrow-left", "settings", "add-user", "overview", "delete", "printer", "hat", "castle", "home", "mail"]
Called = tuple[str, str, str, str]


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return open_catalog(tmp_path / "catalog.sqlite")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "icons").mkdir()
    return tmp_path / "icons"


def draw(folder: Path, names_: Sequence[str]) -> None:
    for name in names_:
        (folder / f"{name}.svg").write_text(disc(3 + len(name), 1 + sum(map(ord, name)) % 20))


def index(engine: Engine, folder: Path, *, language: str = "auto", dictionary: Dictionary | None = None) -> ScanTally:
    with engine.begin() as connection:
        remember(connection, folder, exclude=(), names_language=language)
    return scan(engine, dictionary=dictionary)


def called(engine: Engine) -> dict[str, Called]:
    columns = (names.c.words, names.c.own, names.c.language, names.c.others)
    query = select(icons.c.name, *columns).select_from(icons.join(names))
    with engine.connect() as connection:
        return {row[0]: tuple(row[1:]) for row in connection.execute(query)}


def revision(engine: Engine) -> int:
    with engine.connect() as connection:
        return questions.revision(connection)


def texts(engine: Engine) -> dict[str, int]:
    """Words that have a vector, and their ids."""
    with engine.begin() as connection:
        return {words: number for number, words in words_of(connection, text_ids(connection))}


def test_a_german_folder_is_called_in_english_and_keeps_its_own_words(engine: Engine, folder: Path) -> None:
    draw(folder, [*GERMAN, "xqvzrt"])
    assert index(engine, folder).read == [ReadSet("icons", {"de": 8}, (), ("xqvzrt",))]
    expected = {
        "pfeil-links": ("arrow left", "pfeil links", "de"),
        "Benutzer_hinzufügen": ("user add", "benutzer hinzufügen", "de"),
        "loeschen": ("delete", "loeschen", "de"),
        "schloss": ("lock", "schloss", "de", "castle"),
        "hut": ("hat", "hut", "de", "hut"),
    }
    assert {name: called(engine)[name][: len(said)] for name, said in expected.items()} == expected
    assert {"arrow left", "settings", "lock", "castle", "hut"} <= texts(engine).keys(), "what is embedded"
    assert texts(engine).keys().isdisjoint({"pfeil links", "einstellungen", "schloss"})


def test_an_english_folder_has_no_trace_of_other_languages(engine: Engine, folder: Path) -> None:
    draw(folder, [*ENGLISH_NAMES, "hut", "gift", "chat", "pfeil", "slack"])
    assert index(engine, folder).read == []
    assert {call[1:] for call in called(engine).values()} == {("", "", "")}
    assert texts(engine).keys() == {name.replace("-", " ") for name in called(engine)}


def test_the_language_of_a_set_may_turn_when_icons_come_and_go(engine: Engine, folder: Path) -> None:
    draw(folder, [*ENGLISH_NAMES, *GERMAN[:1]])
    index(engine, folder)
    assert called(engine)["pfeil-links"][0] == "pfeil links"
    draw(folder, GERMAN)
    scan(engine)
    assert called(engine)["pfeil-links"][:2] == ("arrow left", "pfeil links")
    for name in GERMAN[1:]:
        (folder / f"{name}.svg").unlink()
    scan(engine)
    assert called(engine)["pfeil-links"][0] == "pfeil links"


def test_what_is_stated_holds_until_the_source_is_given_again(engine: Engine, folder: Path) -> None:
    draw(folder, ["arrow-left", "settings", "overview", "delete", "add-user", "pfeil-links"])
    index(engine, folder, language="de")
    assert called(engine)["pfeil-links"][0] == "arrow left"
    before = revision(engine)
    assert (scan(engine).read, revision(engine)) == ([ReadSet("icons", {"de": 1}, ())], before)
    index(engine, folder, language="en")
    assert called(engine)["pfeil-links"][0] == "pfeil links"
    assert revision(engine) > before


def test_another_dictionary_reads_anew_and_what_comes_out_alike_stays(
    engine: Engine, folder: Path, tmp_path: Path
) -> None:
    draw(folder, ["pfeil", "stern", "ordner"])
    dictionaries = []
    for ordner in ("order", "folder"):
        known = (("pfeil", "arrow"), ("stern", "star"), ("ordner", ordner))
        meanings = {word: [Meaning(frozenset(("de",)), ((english, 1.0),))] for word, english in known}
        write_dictionary(tmp_path / f"{ordner}.bin", meanings, names={"de": "German", ENGLISH: "English"})
        dictionaries.append(Dictionary(tmp_path / f"{ordner}.bin"))
    index(engine, folder, dictionary=dictionaries[0])
    before, ids = called(engine), _name_ids(engine)
    scan(engine, dictionary=dictionaries[0])
    assert called(engine) == before
    tally = scan(engine, dictionary=dictionaries[1])
    assert (tally.icons, tally.changed, called(engine)["ordner"][0]) == (0, 0, "folder")
    turned = _name_ids(engine).items() - ids.items()
    assert [(name, number in ids.values()) for name, number in turned] == [("ordner", False)]


def _name_ids(engine: Engine) -> dict[str, int]:
    with engine.connect() as connection:
        return {row.name: row.name_id for row in connection.execute(select(icons.c.name, icons.c.name_id))}


def test_tags_are_told_in_english_and_stay_as_they_are_stated(engine: Engine, folder: Path) -> None:
    draw(folder, ["a", "b", "c"])
    tags = {"a": ["flèche", "gauche"], "b": ["corbeille", "Paramètres"], "c": ["house"]}
    rows = [{"file_path": f"{name}.svg", "name": f"glyph {name}", "tags": tags[name]} for name in tags]
    (folder / "team.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert index(engine, folder / "team.jsonl").read == [ReadSet("team", {}, ("fr",))]
    with engine.connect() as connection:
        found = {row.name: (row.tags, row.english_tags) for row in connection.execute(select(icons))}
    assert found == {
        "glyph a": ("flèche\ngauche", "arrow\nleft"),
        "glyph b": ("corbeille\nParamètres", "trash\nsettings"),
        "glyph c": ("house", ""),
    }


def test_words_have_a_row_each_once_and_keep_it_while_no_icon_states_them(engine: Engine, folder: Path) -> None:
    draw(folder, ["dot-a", "dot-b", "arrow-up"])

    def state(**tags: str) -> dict[str, int]:
        rows = [f'{name}.svg,{name},"{tags.get(name[-1], "")}"' for name in ("dot-a", "dot-b", "arrow-up")]
        (folder / "icons.csv").write_text("\n".join(["file_path,name,tags", *rows]))
        index(engine, folder / "icons.csv")
        return texts(engine)

    named = state()
    assert named.keys() == {"dot a", "dot b", "arrow up"}
    tagged = state(a="Round, full  moon", b="round, e-mail", p="DOT A; ->")
    assert tagged.keys() == named.keys() | {"round", "full moon", "e mail", "->"}
    assert len({*tagged.values()}) == len(tagged)
    assert state(a="ROUND") == {**named, "round": tagged["round"]}
    assert state(a="Round, full  moon", b="round, e-mail", p="DOT A; ->") == tagged


NAMES = st.sampled_from([*GERMAN, *ENGLISH_NAMES, "设置", "搜索", "étoile", "slack", "figma"])
HISTORY = st.lists(
    st.tuples(st.sets(NAMES), st.sampled_from(["auto", "auto", "auto", "de", "en"])), min_size=1, max_size=5
)


@given(history=HISTORY)
@settings(max_examples=40, deadline=None)
@pytest.mark.slow
def test_whatever_was_there_before_names_are_read_as_in_a_new_catalog(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[set[str], str]]
) -> None:
    folder = tmp_path_factory.mktemp("history")
    (folder / "icons").mkdir()
    updated, anew = (open_catalog(folder / f"{name}.sqlite") for name in ("updated", "anew"))
    for wanted, language in history:
        for path in (folder / "icons").iterdir():
            path.unlink()
        draw(folder / "icons", sorted({*wanted, "always"}))
        index(updated, folder / "icons", language=language)
    index(anew, folder / "icons", language=history[-1][1])
    assert (called(updated), texts(updated).keys()) == (called(anew), texts(anew).keys())
