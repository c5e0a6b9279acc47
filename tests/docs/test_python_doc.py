"""Every example of docs/python.md prints what stands under it, and what `search` names is there."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

import search
from indexer.errors import IconsError, LibraryError
from search import Filters, Query, Window, open_library

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


def test_every_example_in_python_prints_what_the_page_shows(bundled_samples: Path) -> None:
    text = PAGE.read_text("utf-8").replace("~/.local/share/icons", str(bundled_samples))
    page = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(page.examples) >= 15
    told: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(page, out=told.append)
    assert failed == 0, "".join(told)


def test_importing_search_costs_nothing_and_has_what_it_names() -> None:
    program = "import sys, search; print('numpy' in sys.modules, 'search.engine' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
    assert all(hasattr(search, name) for name in search.__all__)
    assert not hasattr(search, "no_such_name")


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda icons: icons.search(None), '"None" is no text; give words, as "arrow"'),
        (lambda icons: icons.search(""), "the query is empty"),
        (lambda icons: icons.search("house", k="3"), 'k is "3"; give a whole number'),
        (lambda icons: icons.search("house", sets=[3]), '"3" is no text'),
        (lambda icons: icons.ask("house"), '"house" is no query; give Query(words="arrow")'),
        (lambda icons: icons.show("own:house"), 'no icon has the id "own:house"'),
        (lambda _: Filters(sets="own"), 'give ("own",)'),
        (lambda _: Filters(coloured="yes"), 'coloured is "yes"; give True or False'),
        (lambda _: Query(picture="shot.png"), '"shot.png" is no picture; give its bytes'),
        (lambda _: Window(k=True + 0.5), 'k is "1.5"'),
    ],
)
def test_an_argument_of_another_kind_is_refused_by_its_value(asked: Path, ask: object, told: str) -> None:
    with open_library(asked) as icons, pytest.raises(IconsError) as refused:
        ask(icons)  # type: ignore[operator]
    assert told in str(refused.value)


def test_a_library_is_open_as_long_as_it_is_asked_for(asked: Path) -> None:
    with open_library(str(asked)) as icons:
        assert icons.search("house", sets="own")[0].key == "own:house"
    with pytest.raises(LibraryError, match="this library was closed; open it again"):
        icons.search("house")
