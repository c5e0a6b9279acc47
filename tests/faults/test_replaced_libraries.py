"""A library that is replaced, or publishes, while it is asked: no error, never parts of two in one answer."""

import json
import shutil
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import build_library, disc
from serving import serving

from indexer.errors import LibraryError
from indexer.library.folder import Library, write_manifest
from indexer.merging.manifest import Manifest
from search import engine as engine_module
from search.engine import SearchEngine
from search.query import Query, Window


@pytest.fixture(scope="module")
def built(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Libraries whose icons are called by a colour and drawn as no other's; ids and sizes of files are the same."""
    folder = tmp_path_factory.mktemp("colours")
    for colour, y in (("red", 9), ("blue", 15)):
        (folder / f"{colour} icons").mkdir()
        for number in range(6):
            (folder / f"{colour} icons" / f"{colour} dot {number}.svg").write_text(disc(4 + 3 * number, y))
        build_library(Library(folder / colour), tiny_model, [folder / f"{colour} icons"])
    return folder


@pytest.fixture
def red(built: Path, tmp_path: Path) -> Library:
    return Library(Path(shutil.copytree(built / "red", tmp_path / "red")))


@pytest.fixture
def blue(built: Path, tmp_path: Path) -> Library:
    return Library(Path(shutil.copytree(built / "blue", tmp_path / "blue")))


def _asked(engine: SearchEngine) -> set[str]:
    """Colours of what is found and of what is told of it by its id, in a thread that has asked nothing yet."""

    def ask() -> set[str]:
        hits = engine.ask(Query(words="dot"), window=Window(k=20, min_score=0)).hits
        told = [engine.show(hit.id).hit for hit in hits]
        return {hit.name.split()[0] for hit in (*hits, *told)} | (
            {"red" if b'cy="9"' in engine.picture(hit.id) else "blue" for hit in hits}
        )

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(ask).result()


def _pieces(source: Path) -> Iterator[tuple[Path, bytes]]:
    """Files of a folder in the order in which `cp -r` may bring them, each first by half."""
    for file in sorted(path for path in source.rglob("*") if path.is_file()):
        content = file.read_bytes()
        yield file.relative_to(source), content[: len(content) // 2]
        yield file.relative_to(source), content


def test_a_library_whose_files_are_exchanged_one_by_one_is_never_answered_with_in_parts(
    red: Library, blue: Library
) -> None:
    engine, answers = SearchEngine.open(red.root), []
    for path in sorted(path.relative_to(blue.root) for path in blue.root.rglob("*") if path.is_file()):
        (red.root / path).parent.mkdir(parents=True, exist_ok=True)
        Path(shutil.copy(blue.root / path, red.root / "aside")).replace(red.root / path)
        try:
            engine.refresh()
            answers.append(_asked(engine))
        except LibraryError:
            continue
    assert ([answer for answer in answers if len(answer) > 1], _asked(engine)) == ([], {"blue"})
    assert engine.manifest.library == SearchEngine.open(blue.root).manifest.library


def test_an_engine_does_not_go_over_to_another_library_by_itself(red: Library, blue: Library) -> None:
    engine = SearchEngine.open(red.root)
    icon = engine.find("red dot 3")
    red.root.rename(red.root.with_name("away"))
    shutil.copytree(blue.root, red.root)
    for ask in (engine.picture, engine.show):
        with pytest.raises(LibraryError, match="another one lies there by now"):
            ask(icon)
    assert engine.refresh() and _asked(engine) == {"blue"}


def test_a_library_that_comes_back_answers_again(red: Library) -> None:
    engine = SearchEngine.open(red.root)
    away = red.root.with_name("away")
    for is_copied in (False, True):
        red.root.rename(away)
        for _ in range(2):
            with pytest.raises(LibraryError, match="no longer holds what answered"):
                engine.refresh()
            with pytest.raises(LibraryError, match="generations/1"):
                _asked(engine)
        if is_copied:
            shutil.copytree(away, red.root)
        else:
            away.rename(red.root)
        assert (engine.refresh(), _asked(engine)) == (is_copied, {"red"})


def test_what_a_generation_lacked_is_found_when_it_has_come(
    red: Library, blue: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "_RETRY_SECONDS", 0.5)
    engine = SearchEngine.open(red.root)
    shutil.rmtree(red.root)
    shutil.copytree(blue.root, red.root, ignore=shutil.ignore_patterns("encoders"))
    with pytest.raises(LibraryError):
        engine.refresh()
    shutil.copytree(blue.root / "encoders", red.root / "encoders")
    time.sleep(0.5)
    assert engine.refresh() and _asked(engine) == {"blue"}


def test_questions_that_belong_together_are_put_to_one_library(red: Library, blue: Library) -> None:
    engine = SearchEngine.open(red.root)
    away = red.root.with_name("away")
    told = []

    def ask(one: SearchEngine) -> None:
        hits = one.search("dot", k=3)
        if not away.exists():
            red.root.rename(away)
            shutil.copytree(blue.root, red.root)
            assert engine.refresh()
        told.extend((hit.name, other.name) for hit, other in zip(hits, one.hits([hit.id for hit in hits]), strict=True))

    engine.together(ask)
    assert len(told) == 3 and all(name == other and name.startswith("blue") for name, other in told)


def test_a_server_tells_that_its_library_has_gone_and_answers_with_the_next_one(red: Library, blue: Library) -> None:
    search = "/api/v1/search?q=dot&min_score=0"
    with serving(red) as (client, _):
        before = client.get(search).json()["hits"]
        assert client.get("/health").json()["reason"] is None
        shutil.rmtree(red.root)
        health = _health(client, status=503)
        assert (health["status"], health["reason"].startswith("the library has gone")) == ("failing", True)
        refused = [client.get(path) for path in (search, f"/api/v1/icons/{before[0]['id']}", before[0]["svg_url"])]
        assert {answer.status_code for answer in refused} == {503}
        assert not [answer for answer in refused if str(red.root) in answer.text + json.dumps(health)]
        for path, content in _pieces(blue.root):
            (red.root / path).parent.mkdir(parents=True, exist_ok=True)
            (red.root / path).write_bytes(content)
            answer = client.get(search)
            hits = answer.json().get("hits", [])
            assert answer.status_code in (200, 503) and {hit["name"].split()[0] for hit in hits} <= {"blue"}
        assert _health(client, status=200)["reason"] is None
        hits = client.get(search).json()["hits"]
        assert {hit["name"].split()[0] for hit in hits} == {"blue"}
        assert ['cy="15"' in client.get(hit["svg_url"]).text for hit in hits] == [True] * 6
        assert {hit["svg_url"] for hit in hits}.isdisjoint(hit["svg_url"] for hit in before)


def _health(client: httpx.Client, *, status: int) -> dict[str, Any]:
    """What the server says of itself once its status is this one."""
    ends = time.monotonic() + 30
    while (answer := client.get("/health")).status_code != status:
        assert time.monotonic() < ends
        time.sleep(0.1)
    return answer.json()


QUERIES_EACH = 4
"""So many are answered at least between two generations."""
MOST_PUBLISHED = 100


@pytest.fixture(scope="module")
def built_pair(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
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
def pair(built_pair: Path, library: Library) -> Library:
    """A copy of the two, to be published after each other."""
    shutil.copytree(built_pair, library.root)
    return library


def _publish_next(library: Library) -> None:
    """Publish what the generation before the current one says, under a number of its own, as a merge does."""
    before = library.generation(library.next_number() - 2)
    with library.next_generation() as following:
        shutil.copytree(before.folder, following.folder, dirs_exist_ok=True)
        write_manifest(following, replace(Manifest.read(before), number=following.number))


def _colours(engine: SearchEngine) -> set[str]:
    """Ask all that reads a generation's files; tell the colours of one answer."""
    found = engine.ask(Query(words="dot"), window=Window(k=20, min_score=0, facets=True))
    engine.show(found.hits[0].id)
    return {hit.name.split()[0] for hit in found.hits}


@pytest.mark.parametrize("n_queries", [40, pytest.param(10_000, marks=pytest.mark.slow)])
def test_queries_while_generations_are_published_are_answered_from_one_generation_each(
    pair: Library, n_queries: int
) -> None:
    """By an engine that is opened for each, one that looks for a new generation, and one that does not."""
    looking, kept = SearchEngine.open(pair.root), SearchEngine.open(pair.root)
    answers: list[frozenset[str]] = []
    is_over = threading.Event()

    def ask(open_engine: Callable[[], SearchEngine]) -> None:
        while not is_over.is_set():
            answers.append(frozenset(_colours(open_engine())))

    ways = (lambda: SearchEngine.open(pair.root), lambda: (looking.refresh(), looking)[1], lambda: kept)
    with warnings.catch_warnings(), ThreadPoolExecutor(len(ways)) as threads:
        warnings.simplefilter("error")
        asking = [threads.submit(ask, way) for way in ways]
        n_published = 0
        while len(answers) < n_queries or n_published < 3 or (len(set(answers)) < 2 and n_published < MOST_PUBLISHED):
            _publish_next(pair)
            n_published, n_before = n_published + 1, len(answers)
            while len(answers) < n_before + QUERIES_EACH and not any(one.done() for one in asking):
                time.sleep(0.005)
            if any(one.done() for one in asking):
                break
        is_over.set()
        for one in asking:
            one.result()
    assert set(answers) == {frozenset({"red"}), frozenset({"blue"})}


def test_an_engine_whose_generation_has_gone_answers_from_the_one_that_answers_now(pair: Library) -> None:
    """Opened and asked nothing yet; then, from another thread, everything that it would have read by now is gone."""
    engine = SearchEngine.open(pair.root)
    gone = engine.generation
    for _ in range(3):
        _publish_next(pair)
    assert not gone.folder.exists()
    with ThreadPoolExecutor(1) as thread:
        colours = thread.submit(_colours, engine).result()
    assert engine.generation.number == pair.current() == gone.number + 3 and colours == {"red"}
