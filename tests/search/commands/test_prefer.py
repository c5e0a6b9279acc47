"""Do icons of preferred sets come first, for one search and for all, and is what was chosen kept?"""

import json
from collections.abc import Callable, Iterator

import pytest
from called_icons import build_called
from click.testing import Result

from indexer.library.durable import with_checksum
from indexer.library.folder import Library
from search.engine import Query, SearchEngine

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return build_called(tmp_path_factory.mktemp("preferring"))


@pytest.fixture
def library(built: Library) -> Iterator[Library]:
    """A library of which nobody prefers a set yet."""
    yield built
    built.preferences.unlink(missing_ok=True)


def _first(run: Run, library: Library, *arguments: str) -> str:
    done = run("search", "star", "--jsonl", *arguments, library=library.root)
    assert done.exit_code == 0, done.output
    return str(json.loads(done.stdout.splitlines()[0])["set"])


@pytest.mark.slow
def test_a_choice_is_kept_and_counts_for_every_search(run: Run, library: Library) -> None:
    before = _first(run, library)
    other = next(one for one in ("mdi", "fa6-solid", "lucide") if one != before)
    assert _first(run, library, "--prefer", other) == other
    assert _first(run, library) == before  # that was for one search
    chosen = run("prefer", other, library=library.root)
    assert (chosen.exit_code, chosen.stdout) == (0, f"{other}\n")
    assert _first(run, library) == other
    assert SearchEngine.open(library.root).ask(Query(words="star")).hits[0].set == other
    assert _first(run, library, "--prefer", before) == before  # said now, it counts instead
    assert run("prefer", library=library.root).stdout == f"{other}\n"
    gone = run("prefer", "--none", library=library.root)
    assert (gone.stdout, gone.stderr) == ("", "no set is preferred; `icons config sets SET...` says which\n")
    assert _first(run, library) == before


def test_the_first_of_several_comes_first(run: Run, library: Library) -> None:
    for sets in (("mdi", "fa6-solid"), ("fa6-solid", "mdi")):
        told = run("prefer", *sets, "--json", library=library.root)
        assert json.loads(told.stdout) == {"sets": list(sets)}
        hits = SearchEngine.open(library.root).ask(Query(words="star")).hits
        assert [hit.set for hit in hits[:2]] == list(sets)


def test_a_set_may_be_called_by_its_title(run: Run, library: Library) -> None:
    assert run("prefer", "Font Awesome 6 Solid", library=library.root).stdout == "fa6-solid\n"


def test_an_unknown_set_changes_nothing(run: Run, library: Library) -> None:
    run("prefer", "mdi", library=library.root)
    done = run("prefer", "mdii", library=library.root)
    assert (done.exit_code, done.stdout) == (2, "")
    assert 'no set "mdii"' in done.stderr and "mdi" in done.stderr
    assert run("prefer", library=library.root).stdout == "mdi\n"
    both = run("prefer", "mdi", "--none", library=library.root)
    assert both.exit_code == 2 and "--none prefers no set" in both.stderr


def test_a_set_that_has_gone_is_not_missed(run: Run, library: Library) -> None:
    library.preferences.write_text(json.dumps({"sets": ["gone", "mdi"]}))
    assert _first(run, library) == "mdi"


DAMAGES = {
    "empty": "",
    "a list": "[]",
    "no list of sets": '{"sets": "mdi"}',
    "a number for a set": '{"sets": [1]}',
    "a number for a format": '{"sets": [], "format": 5}',
    "another name": '{"setz": ["mdi"]}',
    "no JSON": "\0",
    "nested without end": "[" * 100_000,
    "a changed letter": json.dumps(with_checksum({"sets": ["mdi"], "format": None})).replace("mdi", "mdj"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_search_answers_without_a_damaged_file_and_says_so_in_one_line(
    run: Run, library: Library, damage: str
) -> None:
    before = run("search", "star", "--jsonl", library=library.root).stdout
    library.preferences.write_text(DAMAGES[damage])
    done = run("search", "star", "--jsonl", library=library.root)
    assert (done.exit_code, done.stdout) == (0, before)
    said = [line for line in done.stderr.splitlines() if "Warning" in line]
    assert (
        len(said) == 1
        and f'"{library.preferences}" can\'t be read' in said[0]
        and "`icons config sets SET...`" in said[0]
    )
    assert run("pick", "star", "--first", library=library.root).exit_code == 0
    shown = run("prefer", library=library.root)
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert run("prefer", "mdi", library=library.root).stdout == "mdi\n"
    assert _first(run, library) == "mdi"
