"""What `icons config` keeps: sets that come first for every search, and the format of code."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from click.testing import Result

from indexer.library.durable import with_checksum
from indexer.library.folder import Library
from search.engine import SearchEngine

Run = Callable[..., Result]


@pytest.fixture
def library(called: Library) -> Iterator[Library]:
    """A library of which nobody prefers a set yet."""
    yield called
    called.preferences.unlink(missing_ok=True)


def first_set(run: Run, library: Library) -> str:
    return str(json.loads(run("search", "star", "--json", library=library.root).stdout)["hits"][0]["set"])


def configured(run: Run, library: Library, *arguments: str) -> dict[str, Any]:
    done = run("config", *arguments, "--json", library=library.root)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_choice_is_kept_and_counts_for_every_search(run: Run, library: Library) -> None:
    before = first_set(run, library)
    other = next(one for one in ("mdi", "fa6-solid", "lucide") if one != before)
    chosen = run("config", "sets", other, library=library.root)
    assert (chosen.exit_code, chosen.stdout) == (0, f"sets    {other}\nformat  -\n")
    assert first_set(run, library) == other
    both = {"sets": ["fa6-solid", "mdi"], "format": "vue"}
    assert configured(run, library, "sets", "Font Awesome 6 Solid", "mdi")["sets"] == both["sets"]
    assert [hit.set for hit in SearchEngine.open(library.root).search("star", k=2)] == both["sets"]
    assert configured(run, library, "format", "VUE") == both
    assert configured(run, library, "sets", "--none") == {"sets": [], "format": "vue"}
    assert configured(run, library) == {"sets": [], "format": "vue"}
    assert configured(run, library, "format", "--none") == {"sets": [], "format": None}
    assert first_set(run, library) == before


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("sets", "mdii"), 'no set "mdii"'),
        (("sets", "mdi", "--none"), "VALUE and --none are a choice and none"),
        (("--none",), "--none needs to know of what"),
        (("format", "vue", "svg"), "code has one format"),
        (("format", "vu-e-x"), 'no format "vu-e-x"'),
        (("colours",), "'sets', 'format'"),
    ],
)
def test_what_can_not_be_chosen_changes_nothing(
    run: Run, library: Library, arguments: tuple[str, ...], reason: str
) -> None:
    configured(run, library, "sets", "mdi")
    done = run("config", *arguments, library=library.root)
    assert (done.exit_code, done.stdout) == (2, "") and reason in done.stderr
    assert configured(run, library) == {"sets": ["mdi"], "format": None}


DAMAGES = {
    "empty": "",
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
    library.preferences.write_text(DAMAGES[damage])
    done = run("search", "star", library=library.root)
    [warning] = [line for line in done.stderr.splitlines() if "Warning" in line]
    assert f'"{library.preferences}" can\'t be read' in warning and "`icons config sets SET...`" in warning
    assert (done.exit_code, run("pick", "star", "--first", library=library.root).exit_code) == (0, 0)
    shown = run("config", library=library.root)
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert configured(run, library, "sets", "mdi")["sets"] == ["mdi"]
