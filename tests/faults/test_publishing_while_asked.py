"""Generations are published one after another while thousands ask: no error, no warning, no mixture of two."""

import shutil
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Build, disc

from indexer.library.durable import folder_aside
from indexer.library.folder import Generation, Library
from indexer.merging.manifest import Manifest
from search.engine import SearchEngine
from search.generation.opened import Opened, open_generation
from search.query import Query, Window

Ask = Callable[[], set[str]]
"""Asks once; tells the colours that it found."""
QUERIES_EACH = 4
"""So many are answered at least between two generations."""
MOST_PUBLISHED = 100


@pytest.fixture
def pair(build: Build, library: Library, tmp_path: Path) -> Library:
    """Two generations: all icons of the first are called red, all of the second blue."""
    folder = tmp_path / "icons"
    folder.mkdir()
    for number in range(6):
        (folder / f"red dot {number}.svg").write_text(disc(4 + 3 * number, 9))
    build(folder)
    for path in list(folder.iterdir()):
        path.rename(path.with_name(path.name.replace("red", "blue")))
    build()
    return library


def _publish_next(library: Library) -> None:
    """Publish what the generation before the current one says, under a number of its own, as a merge does."""
    number = library.next_number()
    before = library.generation(number - 2)
    with folder_aside(library.generation(number).folder) as aside:
        shutil.copytree(before.folder, aside, dirs_exist_ok=True)
        replace(Manifest.read(before), number=number).write(Generation(number, aside))
    library.publish(number)


def _colours(engine: SearchEngine) -> set[str]:
    """Ask all that reads a generation's files; tell the colours of one answer."""
    found = engine.ask(Query(words="dot"), window=Window(k=20, min_score=0, facets=True))
    engine.show(found.hits[0].id)
    return {hit.name.split()[0] for hit in found.hits}


def _cold(library: Library) -> Ask:
    return lambda: _colours(SearchEngine.open(library.root))


def _served(library: Library) -> Ask:
    engine = SearchEngine.open(library.root)

    def ask() -> set[str]:
        engine.refresh()
        return _colours(engine)

    return ask


def _kept(library: Library) -> Ask:
    engine = SearchEngine.open(library.root)
    return lambda: _colours(engine)


def _ask_while_publishing(library: Library, ways: list[Ask], *, n_queries: int) -> tuple[int, list[set[str]]]:
    """Ask in all ways at once, publishing all the while, thrice at least; return how often, and every answer.

    It takes as long as both generations need to be seen, but not for ever.
    """
    answers: list[set[str]] = []
    seen: set[frozenset[str]] = set()
    n_published = 0
    answered = threading.Semaphore(0)

    def ask(way: Ask) -> None:
        try:
            while len(answers) < n_queries or n_published < 3 or (len(seen) < 2 and n_published < MOST_PUBLISHED):
                answers.append(way())
                seen.add(frozenset(answers[-1]))
                answered.release()
        finally:
            answered.release(QUERIES_EACH)

    with ThreadPoolExecutor(len(ways)) as threads:
        asking = [threads.submit(ask, way) for way in ways]
        while not any(done.done() for done in asking):
            _publish_next(library)
            n_published += 1
            for _ in range(QUERIES_EACH):
                answered.acquire()
        for done in asking:
            done.result()
    return n_published, answers


@pytest.mark.parametrize("n_queries", [40, pytest.param(10_000, marks=pytest.mark.slow)])
def test_queries_while_generations_are_published_are_answered_from_one_generation_each(
    pair: Library, n_queries: int
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ways = [_cold(pair), _served(pair), _kept(pair)]
        n_published, answers = _ask_while_publishing(pair, ways, n_queries=n_queries)
    assert n_published >= 3
    assert len(answers) >= n_queries
    assert {frozenset(answer) for answer in answers} == {frozenset({"red"}), frozenset({"blue"})}


def test_a_generation_that_goes_while_it_is_opened_makes_room_for_the_one_that_answers_now(
    pair: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = SearchEngine.open(pair.root)
    _publish_next(pair)
    passing = pair.current()

    def open_late(library: Library, generation: Generation) -> Opened:
        while pair.generation(passing or 0).folder.exists():
            _publish_next(pair)
        return open_generation(library, generation)

    monkeypatch.setattr("search.generation.sources.open_generation", open_late)
    assert engine.refresh()
    assert engine.generation.number == pair.current() != passing


def test_a_pointer_that_moves_on_while_its_generation_goes_is_read_again(
    pair: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering = pair.current()
    monkeypatch.setattr(pair, "_pointed", iter([99, answering]).__next__)
    assert pair.current() == answering
    monkeypatch.setattr(pair, "_pointed", iter([98, 99, 99]).__next__)
    assert pair.current() is None


def test_an_engine_whose_generation_has_gone_answers_from_the_one_that_answers_now(pair: Library) -> None:
    """Opened and asked nothing yet; then, from another thread, everything that it would have read by now is gone."""
    engine = SearchEngine.open(pair.root)
    gone = engine.generation
    for _ in range(3):
        _publish_next(pair)
    assert not gone.folder.exists()
    with ThreadPoolExecutor(1) as thread:
        colours = thread.submit(_colours, engine).result()
    assert engine.generation.number == pair.current() == gone.number + 3
    assert colours == {"red"}


def test_an_engine_that_is_opened_while_its_generation_goes_takes_the_new_one(
    pair: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Manifest.read
    opened: list[int] = []

    def read_and_publish(generation: Generation) -> Manifest:
        manifest = read(generation)
        if not opened:
            opened.append(generation.number)
            monkeypatch.setattr(Manifest, "read", read)
            for _ in range(3):
                _publish_next(pair)
        return manifest

    monkeypatch.setattr(Manifest, "read", read_and_publish)
    engine = SearchEngine.open(pair.root)
    assert engine.generation.number == pair.current() == opened[0] + 3
