"""Do icons of preferred sets come first, for one search and for all, and is what was chosen kept?"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from called_icons import build_called
from click.testing import Result

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
    assert (gone.stdout, gone.stderr) == ("", "no set is preferred; `icons prefer SET...` says which\n")
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


@pytest.mark.parametrize("written", ["", "[]", '{"sets": "mdi"}', '{"sets": [1]}', "\0"])
def test_a_damaged_file_is_an_error_that_says_what_to_do(run: Run, library: Library, written: str) -> None:
    library.preferences.write_text(written)
    done = run("search", "star", library=library.root)
    assert (done.exit_code, done.stdout) == (2, "")
    assert str(Path(library.preferences)) in done.stderr.replace("\n", "")
    assert "icons prefer SET" in done.stderr
    assert run("prefer", "mdi", library=library.root).exit_code == 0
    assert _first(run, library) == "mdi"
