"""Does an answer fit the terminal that it is printed in, with every key and path whole?"""

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from indexer.library.folder import Library
from search.engine import Hit, SearchEngine
from search.showing.tables import print_hits, print_long_hits

LONG = "material-symbols-light:keyboard-double-arrow-right-outline-rounded-and-then-some"


@pytest.fixture(scope="module")
def hits(called: Library) -> Sequence[Hit]:
    return SearchEngine.open(called.root).search("home", k=4)


def _lines(hits: Sequence[Hit], *, width: int, long: bool = False, **options: int | bool) -> list[str]:
    console = Console(width=width, file=io.StringIO())
    (print_long_hits if long else print_hits)(console, hits, **options)  # type: ignore[arg-type]
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [80, 60, 40])
def test_lines_fit_and_keys_are_whole(hits: Sequence[Hit], width: int) -> None:
    head, *rows = _lines(hits, width=width)
    assert all(cell_len(line) <= width for line in [head, *rows])
    assert [row.split()[2] for row in rows] == [hit.key for hit in hits]
    assert "key" in head and "licence" in head and ("set" in head) is (width > 40)


def test_a_pipe_gets_lines_of_80_columns(hits: Sequence[Hit]) -> None:
    wide = [
        replace(hit, set_title="A set with a long title", licence="LicenseRef-of-its-own", style="sharp outline")
        for hit in hits
    ]
    wide = [replace(wide[0], key="a-set-of-icons:arrow-bend-double-up-right-outline"), *wide]
    assert max(map(cell_len, _lines(wide, width=200))) <= 80


def test_a_key_that_is_too_long_has_a_line_of_its_own(hits: Sequence[Hit]) -> None:
    told = [
        replace(hits[0], key=LONG, licence="Apache-2.0", style="rounded outline"),
        replace(hits[1], licence="LicenseRef-a-very-long-name-of-a-licence", set_title="Sätze " * 9 + "図形"),
    ]
    _, first, rest, second = _lines(told, width=80)
    assert (first.split()[-1], rest.split()[-1]) == (LONG, "Apache-2.0")
    assert cell_len(second) <= 80 and "…" in second


def test_icons_that_were_not_ranked_have_no_score(hits: Sequence[Hit]) -> None:
    head, *rows = _lines(hits, width=80, is_ranked=False)
    assert "score" not in head
    assert [row.split()[1] for row in rows] == [hit.key for hit in hits]


def test_a_path_is_one_word_however_narrow_the_terminal_is(hits: Sequence[Hit]) -> None:
    deep = replace(hits[0], path=str(Path("/", *["a folder with a long name"] * 9, "home.svg")), member="")
    assert deep.path in [line.strip() for line in _lines([deep], width=40, long=True)]
