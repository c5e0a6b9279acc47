"""Generations are published one after another while thousands ask: no error, no warning, no mixture of two."""

import shutil
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import build_library, disc

from indexer.library.folder import Generation, Library
from indexer.merging.manifest import Manifest
from search.engine import SearchEngine
from search.query import Query, Window

Ask = Callable[[], set[str]]
"""Asks once; tells the colours that it found."""
QUERIES_EACH = 4
"""So many are answered at least between two generations."""
MOST_PUBLISHED = 100


@pytest.fixture(scope="module")
def built(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two generations: all icons of the first are called red, all of the second blue."""
    folder = tmp_path_factory.mktemp("pair")
    (folder / "icons").mkdir()
    for number in range(6):
        (folder / "icons" / f"red dot {number}.svg").write_text(disc(4 + 3 * number, 9))
    build_library(Library(folder / "library"), tiny_model, [folder / "icons"])
    for path in list((folder / "icons").iterdir()):
        path.rename(path.with_name(path.name.replace("red", "blue")))
    build_library(Library(folder / "library"), tiny_model, [])
    return folder / "library"


@pytest.fixture
def pair(built: Path, library: Library) -> Library:
    """A copy of the two, to be published after each other."""
    shutil.copytree(built, library.root)
    return library


def _publish_next(library: Library) -> None:
    """Publish what the generation before the current one says, under a number of its own, as a merge does."""
    before = library.generation(library.next_number() - 2)
    with library.next_generation() as following:
        shutil.copytree(before.folder, following.folder, dirs_exist_ok=True)
        replace(Manifest.read(before), number=following.number).write(following)


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
