"""A team's own icons are found by English words, whatever language their files are named in."""

import shutil
import unicodedata
from pathlib import Path

import pytest
from click.testing import CliRunner

from indexer.library.bundled import bundled
from search.cli import main
from search.engine import SearchEngine
from search.query import Filters, Query

SAMPLES = bundled("samples/lucide-static/icons")
GERMAN = {
    "pfeil-links": "arrow left", "pfeil-rechts": "arrow right", "Einstellungen": "settings", "loeschen": "trash",
    "suche": "search", "drucker": "printer", "schlüssel": "key", "btn_benutzer_24": "user", "ordner": "folder",
    "Regenschirm": "umbrella",
}  # fmt: skip
FRENCH = {
    "flèche-gauche": "arrow left", "flèche-droite": "arrow right", "parametres": "settings", "corbeille": "trash",
    "recherche": "search", "imprimante": "printer", "clé": "key", "utilisateur": "user", "dossier": "folder",
    "parapluie": "umbrella",
}  # fmt: skip
MIXED = {
    "Waschmaschine": "washing machine", "fauteuil": "armchair", "検索": "search", "カメラ": "camera", "bell": "bell",
    "star": "star", "house": "house", "cloud": "cloud", "xqvzrt" * 20: "bug",
}  # fmt: skip
"""Names of files, and what they show."""


def lay(folder: Path, names: dict[str, str]) -> None:
    """Copy samples under other names, spelt as macOS does."""
    folder.mkdir(parents=True)
    for name, shown in names.items():
        file = unicodedata.normalize("NFD", f"{name}.svg")
        shutil.copyfile(SAMPLES / f"{shown.replace(' ', '-')}.svg", folder / file)


def index(library: Path, *arguments: str | Path) -> str:
    done = CliRunner().invoke(main, ["index", *map(str, arguments), "--devices", "cpu", "--library", str(library)])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("teams")
    lay(folder / "symbole", GERMAN)
    lay(folder / "pictos", FRENCH)
    lay(folder / "vieles", MIXED)
    said = "symbole: names read as German (10)\npictos: names read as French (10)\nvieles: names read as "
    said += f"Japanese (2), German (1), French (1); 1 not read: {('xqvzrt' * 20)[:80]}… (120 characters)\n"
    assert said in index(folder / "library", *(folder / name for name in ("symbole", "pictos", "vieles")))
    return folder


@pytest.fixture(scope="module")
def engine(folder: Path) -> SearchEngine:
    return SearchEngine.open(folder / "library")


def first(engine: SearchEngine, words: str, team: str, **asked: bool) -> str:
    hits = engine.ask(Query(words=words, **asked), filters=Filters(sets=(team,))).hits
    return unicodedata.normalize("NFC", hits[0].name)


@pytest.mark.parametrize(("team", "names"), [("symbole", GERMAN), ("pictos", FRENCH), ("vieles", MIXED)])
def test_english_words_find_each_icon_first(engine: SearchEngine, team: str, names: dict[str, str]) -> None:
    read = {name: shown for name, shown in names.items() if "xqvzrt" not in name}
    assert {first(engine, shown, team): shown for shown in read.values()} == read
    for name in names:
        for words in (name, name.upper(), name.replace("-", " ").replace("_", " ")):
            hit = engine.ask(Query(words=words), filters=Filters(sets=(team,))).hits[0]
            assert (unicodedata.normalize("NFC", hit.name), hit.exact) == (name, True), words


def test_an_icon_is_called_by_its_own_key_in_any_spelling(engine: SearchEngine) -> None:
    own = engine.find("symbole:pfeil-links")
    assert own == engine.find("symbole:Pfeil Links") == engine.find("pfeil links")
    assert engine.show(engine.find("pictos:flèche gauche")).hit.words == "arrow left"


def test_show_says_how_a_name_was_read(folder: Path, engine: SearchEngine) -> None:
    read = engine.show(engine.find("symbole:ordner")).name_read
    assert (read.language, read.name, "folder" in (read.english, *read.others)) == ("de", "German", True)
    done = CliRunner().invoke(main, ["show", "symbole:pfeil-links", "--library", str(folder / "library")])
    assert "read as" in done.stdout and "arrow left (German)" in done.stdout


@pytest.mark.slow
def test_names_stay_as_they_are_where_they_are_said_to_be_english(tmp_path: Path) -> None:
    lay(tmp_path / "symbole", GERMAN)
    assert "read as" not in index(tmp_path / "library", tmp_path / "symbole", "--names-language", "en")
    hit = SearchEngine.open(tmp_path / "library").ask(Query(words="pfeil-links")).hits[0]
    assert (hit.name, hit.words, hit.exact) == ("pfeil-links", "pfeil links", True)
    listed = CliRunner().invoke(main, ["sources", "--library", str(tmp_path / "library")]).stdout
    assert listed.endswith("symbole  --names-language en\n")
    assert "names read as German" in index(tmp_path / "library", tmp_path / "symbole")


def test_a_language_that_nobody_reads_is_refused_with_those_that_are_known(tmp_path: Path) -> None:
    arguments = ["index", str(tmp_path), "--names-language", "xx", "--library", str(tmp_path / "library")]
    refused = CliRunner().invoke(main, arguments)
    assert refused.exit_code == 2 and '"xx" is none of: auto, ' in refused.stderr
    lonely = CliRunner().invoke(main, ["index", "--names-language", "de", "--library", str(tmp_path / "library")])
    assert "--names-language needs the SOURCES" in lonely.stderr
