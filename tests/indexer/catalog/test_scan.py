"""Scans, and the file that they fill."""

import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from conftest import disc, svg
from hypothesis import given, settings
from hypothesis import strategies as st
from old_schema import migrate
from sqlalchemy import Engine, select, text

from data.making.language.writing import write_dictionary
from indexer.catalog import contents
from indexer.catalog.contents import ReadSet, text_ids, words_of
from indexer.catalog.database import (
    REVISION,
    connect_to_read,
    files,
    icons,
    metadata,
    names,
    open_catalog,
    read_catalog,
    sets,
    sources,
)
from indexer.catalog.scan import _MANY, ScanTally, forget, move, remember, scan
from indexer.errors import LibraryError, SourceError
from indexer.languages.dictionary import ENGLISH, Dictionary, Meaning
from indexer.library.bundled import migrations


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return open_catalog(tmp_path / "catalog.sqlite")


def _remember(engine: Engine, folder: Path, *exclude: str, names_language: str = "auto") -> None:
    with engine.begin() as connection:
        remember(connection, folder, exclude=exclude, names_language=names_language)


def _index(engine: Engine, *folders: Path, language: str = "auto", dictionary: Dictionary | None = None) -> ScanTally:
    for folder in folders:
        _remember(engine, folder, names_language=language)
    return scan(engine, dictionary=dictionary)


def _forget(engine: Engine, place: Path) -> int:
    with engine.begin() as connection:
        return forget(connection, place)


def _icons(engine: Engine) -> dict[str, tuple[int, int, str]]:
    query = select(icons.c.name, icons.c.id, icons.c.image_id, names.c.words).select_from(icons.join(names))
    with engine.connect() as connection:
        return {row.name: (row.id, row.image_id, row.words) for row in connection.execute(query)}


def _revision(engine: Engine) -> int:
    with engine.connect() as connection:
        return contents.revision(connection)


def test_a_first_scan_adds_every_icon_and_a_second_finds_nothing_new(engine: Engine, icon_folder: Path) -> None:
    first = _index(engine, icon_folder)
    assert (first.files, first.icons, first.added) == (12, 12, 12)
    before, found = _revision(engine), _icons(engine)
    assert found["copy-of-dot"][1] == found["dot-a"][1], "equal pictures are one image"
    assert len({image for _, image, _ in found.values()}) == 11
    assert found["arrow-up"][2] == found["arrow-up-filled"][2] == "arrow up", "styles are variants"
    second = scan(engine)
    assert (second.files, second.icons, second.added, second.changed, second.gone) == (12, 0, 0, 0, 0)
    assert _revision(engine) == before


def test_a_renamed_a_moved_and_a_changed_icon_keep_their_ids(engine: Engine, icon_folder: Path) -> None:
    _index(engine, icon_folder)
    before = _icons(engine)
    (icon_folder / "deep").mkdir()
    (icon_folder / "dot-b.svg").rename(icon_folder / "deep" / "dot-b.svg")
    (icon_folder / "arrow-up.svg").rename(icon_folder / "north.svg")
    (icon_folder / "dot-c.svg").write_text(disc(3, 3))
    tally = scan(engine)
    assert (tally.added, tally.changed, tally.moved, tally.gone) == (0, 1, 2, 0)
    after = _icons(engine)
    assert (after["dot-b"], after["north"]) == (before["dot-b"], (*before["arrow-up"][:2], "north"))
    assert [old == new for old, new in zip(before["dot-c"], after["dot-c"], strict=True)] == [True, False, True]


EMPTY: dict[str, tuple[dict[str, str], str]] = {
    "none": ({}, '"{}" holds no pictures (.apng, '),
    "list": (
        {"none.csv": "name,tags\nbell,alarm\n"},
        '"{}/none.csv" holds no icon that can be read: no column "file_path"',
    ),
    "lucide-react": (
        {"package.json": '{"name": "lucide-react"}'},
        '"lucide-react" holds no pictures (its icons are code or a font); `npm install lucide-static` has them',
    ),
}
"""Folders, their files, and what is said of what holds no icons in them."""


@pytest.mark.parametrize("name", EMPTY)
def test_a_place_without_icons_is_told_and_not_remembered(engine: Engine, icon_folder: Path, name: str) -> None:
    place, (written, said) = icon_folder.parent / name, EMPTY[name]
    place.mkdir()
    for file, content in written.items():
        (place / file).write_text(content)
    [why] = _index(engine, icon_folder, place / "none.csv" if name == "list" else place).empty
    assert why.startswith(said.format(place))
    assert ([row[4] for row in _rows(engine)["sources"]], scan(engine).empty) == ([str(icon_folder)], [])


def test_a_source_that_was_moved_keeps_ids_and_takes_its_new_name(engine: Engine, icon_folder: Path) -> None:
    _index(engine, icon_folder)
    before = _icons(engine)
    there = icon_folder.rename(icon_folder.with_name("elsewhere"))
    (there / "new.svg").write_text(disc(20, 20))
    assert f"`icons sources --move {icon_folder} NEW`" in scan(engine).kept[0].reason
    with engine.begin() as connection:
        assert move(connection, icon_folder, there) == 12
    tally = scan(engine)
    assert (tally.added, tally.changed, tally.gone, tally.kept) == (1, 12, 0, [])
    assert ({name: _icons(engine)[name] for name in before}, len(_rows(engine)["sets"])) == (before, 1)
    refusals = {(icon_folder, there): "is not a source", (there, there): "already", (there, icon_folder): "not exist"}
    for (old, new), said in refusals.items():
        with engine.begin() as connection, pytest.raises(SourceError, match=said):
            move(connection, old, new)


def test_a_gone_icon_leaves_and_its_id_is_never_given_again(engine: Engine, icon_folder: Path) -> None:
    _index(engine, icon_folder)
    newest = max(icon for icon, _, _ in _icons(engine).values())
    for path in icon_folder.glob("dot-*.svg"):
        path.unlink()
    assert scan(engine).gone == 9
    (icon_folder / "new.svg").write_text(svg('<rect width="9" height="9"/>'))
    scan(engine)
    assert _icons(engine)["new"][0] > newest


def _set_of(*names: str) -> str:
    return json.dumps(
        {"prefix": "x", "icons": {name: {"body": f'<path d="M0 0h{n}v2z"/>'} for n, name in enumerate(names)}}
    )


def _rows(engine: Engine) -> dict[str, list[tuple[object, ...]]]:
    """All that is known of sources and what they hold."""
    with engine.connect() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(select(table))]
            for table in (sources, sets, files, icons)
        }


LOSSES: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "its files": ("icons", lambda place: [path.unlink() for path in place.iterdir()], "had 2 icons and has none now"),
    "its folder": ("icons", shutil.rmtree, "is not there now"),
    "its mount": ("icons", lambda place: (shutil.rmtree(place), place.mkdir()), "had 2 icons and has none now"),
    "its rows": ("list.csv", lambda place: place.write_text("file_path\n"), "had 2 icons and has none now"),
    "its bytes": ("list.csv", lambda place: place.write_text(""), 'has none now (no column "file_path"'),
    "its form": ("set.json", lambda place: place.write_text(""), "is neither a picture"),
    "its icons": ("set.json", lambda place: place.write_text(_set_of()), "had 2 icons and has none now"),
    "its shape": ("set.json", lambda place: place.write_text('"prefix" "icons"'), "has none now (not valid JSON"),
}
"""How a source of two icons loses them: which, how, and what is said of it."""


@pytest.mark.parametrize("lost", LOSSES)
def test_a_source_that_lost_all_its_icons_stays_as_it_was_until_it_is_forgotten(
    engine: Engine, icon_folder: Path, tmp_path: Path, lost: str
) -> None:
    name, lose, said = LOSSES[lost]
    place, aside = tmp_path / "losing" / name, tmp_path / "aside"
    pictures = place if name == "icons" else place.parent
    pictures.mkdir(parents=True)
    for x in (5, 6):
        (pictures / f"ring-{x}.svg").write_text(disc(x, x))
    if pictures != place:
        place.write_text(_set_of("a", "b") if name == "set.json" else "file_path\nring-5.svg\nring-6.svg\n")
    assert _index(engine, place, icon_folder).added == 14
    before = _rows(engine)
    shutil.copytree(place.parent, aside)
    lose(place)
    (icon_folder / "new.svg").write_text(disc(20, 20))
    first, second = scan(engine), scan(engine)
    assert (first.added, first.gone, second.added, second.gone) == (1, 0, 0, 0)
    for tally in (first, second):
        [kept] = tally.kept
        assert (kept.location, kept.icons, kept.command) == (str(place), 2, f"icons sources --forget {place}")
        assert said in kept.reason
    assert {table: rows[: len(before[table])] for table, rows in _rows(engine).items()} == before
    shutil.rmtree(place.parent)
    shutil.copytree(aside, place.parent)
    back = scan(engine)
    assert (back.kept, back.added, back.gone) == ([], 0, 0)
    lose(place)
    assert (_forget(engine, place), scan(engine).kept, len(_icons(engine))) == (2, [], 13)


def test_a_pattern_that_leaves_out_every_icon_of_a_source_leaves_it_as_it_was(
    engine: Engine, icon_folder: Path
) -> None:
    _index(engine, icon_folder)
    _remember(engine, icon_folder, "*")
    [kept] = scan(engine).kept
    assert (kept.icons, kept.command) == (12, f"icons sources --forget {icon_folder}")


def _change_set(engine: Engine, file: Path, before: int, after: int) -> tuple[int, list[str]]:
    """Let a set of many icons lose some; tell how many have gone, and which commands take what is there."""
    for n in (before, after):
        file.write_text(_set_of(*(f"icon-{number}" for number in range(n))))
        tally = scan(engine)
    return tally.gone, [kept.command for kept in tally.kept]


def test_a_source_that_lost_more_than_half_of_a_thousand_icons_stays_as_it_was(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.catalog.scan._MANY", _MANY // 50)
    file = tmp_path / "set.json"
    file.write_text(_set_of("icon-0"))
    _remember(engine, file, "it's", names_language="en")
    command = f"icons sources --forget {file} && icons index {file} --exclude 'it'\"'\"'s' --names-language en"
    for before, after, told in ((19, 1, (18, [])), (20, 10, (10, [])), (20, 9, (0, [command]))):
        assert _change_set(engine, file, before, after) == told
    file.write_text(_set_of(*(f"other-{number}" for number in range(20))))
    assert scan(engine).kept == [], "as many others are there"
    assert _change_set(engine, file, 20, 8) == (0, [command]) and _forget(engine, file) == 20
    _remember(engine, file, "it's", names_language="en")
    tally = scan(engine)
    assert (tally.added, tally.kept) == (8, [])


def test_a_package_that_left_node_modules_stays_until_it_is_forgotten(engine: Engine, tmp_path: Path) -> None:
    modules = tmp_path / "node_modules"
    for package in ("@acme/icons", "other-icons"):
        (modules / package).mkdir(parents=True)
        (modules / package / "package.json").write_text(json.dumps({"name": package}))
        (modules / package / "home.svg").write_text(disc(len(package), 5))
    assert _index(engine, modules).added == 2
    shutil.rmtree(modules / "@acme")
    [kept] = scan(engine).kept
    assert (kept.location, kept.command) == (f"{modules}/@acme/icons", f"icons sources --forget {modules}/@acme/icons")
    assert (_forget(engine, modules / "@acme" / "icons"), scan(engine).kept) == (1, [])
    assert [row[4] for row in _rows(engine)["sources"]] == [str(modules / "other-icons")]
    shutil.rmtree(modules / "other-icons")
    [kept] = scan(engine).kept
    assert (kept.location, kept.icons, kept.command) == (str(modules), 1, f"icons sources --forget {modules}")
    assert "no icon package in" in kept.reason


def test_icons_that_moved_to_another_source_keep_their_ids_and_are_not_lost(
    engine: Engine, icon_folder: Path, tmp_path: Path
) -> None:
    _index(engine, icon_folder)
    before = _icons(engine)
    shutil.copytree(icon_folder, tmp_path / "other", copy_function=shutil.move)
    tally = _index(engine, tmp_path / "other")
    assert (tally.moved, tally.gone, tally.kept, _icons(engine)) == (12, 0, [], before)


def test_a_set_whose_last_icon_goes_or_is_put_into_another_set_leaves(engine: Engine, icon_folder: Path) -> None:
    manifest = icon_folder / "list.csv"
    manifest.touch()
    _remember(engine, manifest)
    for rows, known in (
        (("dot-a.svg,one", "dot-b.svg,two", "dot-c.svg,three"), {"one", "two", "three"}),
        (("dot-a.svg,one", "dot-b.svg,two"), {"one", "two"}),
        (("dot-a.svg,one", "dot-b.svg,one"), {"one"}),
    ):
        manifest.write_text("\n".join(("file_path,set", *rows)))
        assert (scan(engine).kept, {row[2] for row in _rows(engine)["sets"]}) == ([], known)


def test_a_folder_or_file_inside_a_source_is_forgotten_alone(engine: Engine, icon_folder: Path, tmp_path: Path) -> None:
    for folder in ("deep", "Deep", "deeper"):
        (icon_folder / folder).mkdir()
        (icon_folder / folder / "home.svg").write_text(disc(len(folder), 3))
    (tmp_path / "link").symlink_to(icon_folder)
    _index(engine, icon_folder)
    with pytest.raises(SourceError, match="`icons sources` lists them"):
        _forget(engine, tmp_path)
    before = {row[2] for row in _rows(engine)["files"]}
    for part in (tmp_path / "link" / "deep", icon_folder / "dot-a.svg"):
        assert _forget(engine, part) == 1
    assert before - {row[2] for row in _rows(engine)["files"]} == {"deep/home.svg", "dot-a.svg"}
    assert scan(engine).added == 2, "what is still there is found again"


GERMAN = ["pfeil-links", "einstellungen", "Benutzer_hinzufügen", "uebersicht", "loeschen", "Drucker", "hut", "schloss"]
ENGLISH_NAMES = ["arrow-left", "settings", "add-user", "overview", "delete", "printer", "hat", "castle", "home", "mail"]
Called = tuple[str, str, str, str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "icons").mkdir()
    return tmp_path / "icons"


def draw(folder: Path, names_: Sequence[str]) -> None:
    for name in names_:
        (folder / f"{name}.svg").write_text(disc(3 + len(name), 1 + sum(map(ord, name)) % 20))


def called(engine: Engine) -> dict[str, Called]:
    columns = (names.c.words, names.c.own, names.c.language, names.c.others)
    query = select(icons.c.name, *columns).select_from(icons.join(names))
    with engine.connect() as connection:
        return {row[0]: tuple(row[1:]) for row in connection.execute(query)}


def texts(engine: Engine) -> dict[str, int]:
    """Words that have a vector, and their ids."""
    with engine.begin() as connection:
        return {words: number for number, words in words_of(connection, text_ids(connection))}


def test_a_german_folder_is_called_in_english_and_keeps_its_own_words(engine: Engine, folder: Path) -> None:
    draw(folder, [*GERMAN, "xqvzrt"])
    assert _index(engine, folder).read == [ReadSet("icons", {"de": 8}, (), ("xqvzrt",))]
    expected = {
        "pfeil-links": ("arrow left", "pfeil links", "de"),
        "Benutzer_hinzufügen": ("add user", "benutzer hinzufügen", "de"),
        "loeschen": ("delete", "loeschen", "de"),
        "schloss": ("lock", "schloss", "de", "castle"),
        "hut": ("hat", "hut", "de", "hut"),
    }
    assert {name: called(engine)[name][: len(said)] for name, said in expected.items()} == expected
    assert {"arrow left", "settings", "lock", "castle", "hut"} <= texts(engine).keys(), "what is embedded"
    assert texts(engine).keys().isdisjoint({"pfeil links", "einstellungen", "schloss"})


def test_an_english_folder_has_no_trace_of_other_languages(engine: Engine, folder: Path) -> None:
    draw(folder, [*ENGLISH_NAMES, "hut", "gift", "chat", "pfeil", "slack"])
    assert _index(engine, folder).read == [] and {call[1:] for call in called(engine).values()} == {("", "", "")}
    assert texts(engine).keys() == {name.replace("-", " ") for name in called(engine)}


def test_the_language_of_a_set_may_turn_when_icons_come_and_go(engine: Engine, folder: Path) -> None:
    draw(folder, [*ENGLISH_NAMES, *GERMAN[:1]])
    _index(engine, folder)
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
    _index(engine, folder, language="de")
    assert called(engine)["pfeil-links"][0] == "arrow left"
    before = _revision(engine)
    assert (scan(engine).read, _revision(engine)) == ([ReadSet("icons", {"de": 1}, ())], before)
    _index(engine, folder, language="en")
    assert called(engine)["pfeil-links"][0] == "pfeil links" and _revision(engine) > before


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
    _index(engine, folder, dictionary=dictionaries[0])
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
    assert _index(engine, folder / "team.jsonl").read == [ReadSet("team", {}, ("fr",))]
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
        _index(engine, folder / "icons.csv")
        return texts(engine)

    named = state()
    assert named.keys() == {"dot a", "dot b", "arrow up"}
    tagged = state(a="Round, full  moon", b="round, e-mail", p="DOT A; ->")
    assert tagged.keys() == named.keys() | {"round", "full moon", "e mail", "->"}
    assert len({*tagged.values()}) == len(tagged) and state(a="ROUND") == {**named, "round": tagged["round"]}
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
        _index(updated, folder / "icons", language=language)
    _index(anew, folder / "icons", language=history[-1][1])
    assert (called(updated), texts(updated).keys()) == (called(anew), texts(anew).keys())


def test_migrations_build_exactly_the_tables_of_the_schema(tmp_path: Path) -> None:
    with open_catalog(tmp_path / "catalog.sqlite").connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
        pragmas = ("PRAGMA integrity_check", "PRAGMA foreign_keys")
        assert [connection.execute(text(pragma)).scalar() for pragma in pragmas] == ["ok", 1]


def test_a_new_catalog_is_what_all_migrations_make_of_an_empty_one(tmp_path: Path) -> None:
    """It is laid without alembic, whose import takes a tenth of a second."""
    open_catalog(tmp_path / "new.sqlite").dispose()
    migrate(tmp_path / "migrated.sqlite", "upgrade", "head")
    schemas = []
    for name in ("new", "migrated"):
        with closing(sqlite3.connect(tmp_path / f"{name}.sqlite")) as connection:
            rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
            assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(REVISION,)]
        schemas.append(sorted((*row[:3], _parts(row[3] or "")) for row in rows))
    assert schemas[0] == schemas[1]


def _parts(sql: str) -> list[str]:
    """Columns and constraints, in any order: those of a table have none."""
    columns = r",(?=CONSTRAINT|\w+(?:INTEGER|TEXT|BLOB))"
    return sorted(part.rstrip(")") for part in re.split(columns, re.sub(r"\s", "", sql)))


@pytest.mark.parametrize(
    ("opened", "revision", "advice"),
    [
        (read_catalog, "0001", "`icons index` brings it there"),
        (read_catalog, "9999", "pip install --upgrade icons"),
        (open_catalog, "0000", "can't be brought to schema"),
        (open_catalog, "9999", "pip install --upgrade icons"),
    ],
)
def test_whoever_reads_refuses_another_schema_with_the_command_to_run(
    tmp_path: Path, opened: Callable[[Path], object], revision: str, advice: str
) -> None:
    path = tmp_path / "catalog.sqlite"
    open_catalog(path).dispose()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
    before = path.read_bytes()
    with pytest.raises(LibraryError, match=advice):
        opened(path)
    assert path.read_bytes() == before or opened is open_catalog


@pytest.mark.parametrize("folder", ["a?mode=memory&b", "a%41", "a#b", "file:a?b", "%(here)s", "a%"])
def test_a_catalog_lies_where_its_path_says_whatever_that_means_in_an_address(
    tmp_path: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / folder / "catalog?%41.sqlite"
    shutil.copytree(migrations(), path.parent / "migrations")
    monkeypatch.setattr("indexer.library.bundled.migrations", lambda: path.parent / "migrations")
    migrate(tmp_path / "old.sqlite", "upgrade", "0001")
    (tmp_path / "old.sqlite").rename(path)
    open_catalog(path).dispose()
    with closing(connect_to_read(path)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM icons").fetchone() == (0,)
    assert ([there.name for there in tmp_path.iterdir()], path.is_file()) == ([folder], True)


def test_names_keep_their_ids_and_bearers_when_they_learn_other_languages(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    migrate(path, "upgrade", "0001")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(_OF_0001)
    open_catalog(path).dispose()
    with closing(sqlite3.connect(path)) as connection:
        columns = "icons.name, names.id, words, own, language, others"
        assert connection.execute(f"SELECT {columns} FROM icons LEFT JOIN names ON names.id = name_id").fetchall() == [
            ("pfeil", 7, "pfeil", "", "", ""),
            ("star", 3, "star", "", "", ""),
            ("new", None, None, None, None, None),
        ]
        for query, row in (
            ("SELECT seq FROM sqlite_sequence WHERE name = 'names'", (41,)),
            ("SELECT read_by, tag_languages FROM sets", (None, "")),
            ("SELECT names_language FROM sources", ("auto",)),
            ("PRAGMA foreign_key_check", None),
        ):
            assert connection.execute(query).fetchone() == row


_OF_0001 = """
INSERT INTO sources (id, given, kind, location) VALUES (1, '/icons', 'folder', '/icons');
INSERT INTO sets (id, source_id, key, title) VALUES (1, 1, 'icons', 'icons');
INSERT INTO files (id, source_id, path, stamp) VALUES (1, 1, 'a.svg', '1');
INSERT INTO images (id, digest) VALUES (1, x'00');
INSERT INTO names (id, words) VALUES (3, 'star'), (7, 'pfeil'), (41, 'gone');
DELETE FROM names WHERE id = 41;
INSERT INTO icons (file_id, member, set_id, image_id, name_id, name)
    VALUES (1, 'a', 1, 1, 7, 'pfeil'), (1, 'b', 1, 1, 3, 'star'), (1, 'c', 1, 1, NULL, 'new');
"""
