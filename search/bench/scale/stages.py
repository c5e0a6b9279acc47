"""What is done with a library of one size, each in a process of its own: made, scanned, planned, merged, asked.

A stage tells the seconds of its steps. What is made up (sets, vectors) is told, too, but belongs to no command.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING

import numpy as np

from indexer.library.folder import Library

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from search.engine import SearchEngine

N_QUERIES, N_PASSES = 100, 3
_PAGE_HITS = 50
"""As many as the page asks for at a time."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one size lies, and what it is drawn from."""

    folder: Path
    real: Library
    n: int
    seed: int = 0

    @property
    def source(self) -> Path:
        """The sets, as a user would have them."""
        return self.folder / "sets"

    @property
    def library(self) -> Library:
        """What is built of them."""
        return Library(self.folder / "library")


@dataclass(slots=True)
class Steps:
    """Seconds by step; the ones that begin with "made" are of no command."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Time a block."""
        started = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - started

    def each(self, name: str, questions: Sequence[Callable[[], object]]) -> None:
        """Time some questions, several times over, after a pass that is not counted; p50 and p95."""
        times = []
        for pass_ in range(N_PASSES + 1):
            for question in questions:
                started = time.perf_counter()
                question()
                if pass_:
                    times.append(time.perf_counter() - started)
        p50, p95 = np.percentile(times, (50, 95)).tolist()
        self.seconds |= {name: p50, f"{name}, p95": p95}


def make_sets(place: Place) -> Mapping[str, float]:
    """Write the sets."""
    from indexer.bench.synthetic.real import read_real
    from indexer.bench.synthetic.sets import write_sets

    steps = Steps()
    with steps.timed("made: sets"):
        for _ in write_sets(place.source, read_real(place.real), n=place.n, seed=place.seed):
            pass
    return steps.seconds


def scan(place: Place) -> Mapping[str, float]:
    """Scan them into a catalog, and once more where nothing is new."""
    from indexer.bench.synthetic.sets import open_tagged
    from indexer.catalog.scan import remember
    from indexer.catalog.scan import scan as scan_sources

    steps = Steps()
    with _writing(place.library) as engine:
        with engine.begin() as connection:
            remember(connection, place.source, exclude=())
        with steps.timed("scan"):
            scan_sources(engine, opening=open_tagged)
        with steps.timed("scan, nothing new"):
            scan_sources(engine, opening=open_tagged)
    return steps.seconds


def plan(place: Place) -> Mapping[str, float]:
    """Plan what is to be embedded, with the encoder of the real library."""
    from indexer.embedding.options import EmbedOptions
    from indexer.embedding.planning import choice_in_use, prepare
    from indexer.publishing.manifest import answering_manifest

    manifest = answering_manifest(place.real)
    assert manifest is not None  # the sets were drawn from it
    if not place.library.encoder(manifest.fingerprint).exists():
        copytree(place.real.encoder(manifest.fingerprint), place.library.encoder(manifest.fingerprint))
    steps = Steps()
    with _writing(place.real) as engine:
        choice = choice_in_use(engine)
    with _writing(place.library) as engine, steps.timed("plan"):
        prepare(place.library, engine, choice, options=EmbedOptions(), retry_failed=False, stage=lambda _: None)
    return steps.seconds


def make_vectors(place: Place) -> Mapping[str, float]:
    """Write the shards that ranks would have written."""
    from indexer.bench.synthetic.real import read_real
    from indexer.bench.synthetic.shards import write_shards

    steps = Steps()
    with steps.timed("made: vectors"):
        for _ in write_shards(place.library, place.source, read_real(place.real)):
            pass
    return steps.seconds


def merge(place: Place) -> Mapping[str, float]:
    """Merge and publish, step by step."""
    from indexer import pipeline

    began: list[tuple[str, float]] = []
    steps = Steps()
    with steps.timed("merge"):
        pipeline.merge(place.library, None, lambda title: began.append((title, time.perf_counter())))
        began.append(("", time.perf_counter()))
    for (title, at), (_, until) in zip(began, began[1:], strict=False):
        steps.seconds[f"merge: {title}"] = until - at
    return steps.seconds


def ask(place: Place) -> Mapping[str, float]:
    """Open the library as a search does, and ask it for words, under filters, with counts, and for pictures alike."""
    from search.engine import SearchEngine

    steps = Steps()
    with steps.timed("open"):
        engine = SearchEngine.open(place.library.root)
    with steps.timed("first query"):
        engine.search("arrow", k=10)
    texts, icons = _chosen(engine, place.seed)
    _ask_all(engine, steps, texts, icons)
    return steps.seconds


def _ask_all(engine: "SearchEngine", steps: Steps, texts: Sequence[str], icons: Sequence[int]) -> None:
    from search.engine import Filters, Query, Window

    plain, page = Window(k=10), Window(k=_PAGE_HITS, facets=True)
    largest = engine.facets()["set"][0].value
    commercial = Filters(styles=("outline",))
    for name, window, filters in (
        ("words", plain, Filters()),
        ("words, page with counts", page, Filters()),
        ("words, one style", plain, commercial),
        ("words, one set", plain, Filters(sets=(largest,))),
    ):
        asking = [lambda text=text: engine.ask(Query(words=text), window=window, filters=filters) for text in texts]
        steps.each(name, asking)
    steps.each("more like an icon", [lambda icon=icon: engine.ask(Query(icon=icon), window=plain) for icon in icons])
    with steps.timed("browse, first time"):
        engine.ask(Query(), window=page)
    steps.each("browse", [lambda: engine.ask(Query(), window=page)] * 10)


def serve(place: Place) -> Mapping[str, float]:
    """Ask a server what the page asks with each keystroke, and for the pictures of the hits."""
    from search.bench.client import Client
    from search.bench.server_process import serving
    from search.engine import SearchEngine

    texts, _ = _chosen(SearchEngine.open(place.library.root), place.seed)
    steps = Steps()
    started = time.perf_counter()
    with serving(place.library) as server:
        steps.seconds["server answers"] = time.perf_counter() - started
        client = Client(server.host, server.port)
        steps.each("page", [lambda text=text: client.search("words", q=text, k=_PAGE_HITS) for text in texts])
        client.close()
        steps.seconds["server, bytes of its own"] = _own_bytes(server.process.pid)
        steps.seconds["server, bytes with mapped files"] = server.memory_bytes()
    return steps.seconds


STAGES: dict[str, Callable[[Place], Mapping[str, float]]] = {
    "sets": make_sets,
    "scan": scan,
    "plan": plan,
    "vectors": make_vectors,
    "merge": merge,
    "ask": ask,
    "serve": serve,
}


@contextmanager
def _writing(library: Library) -> "Iterator[Engine]":
    from indexer.catalog.database import open_catalog

    with library.writing():
        engine = open_catalog(library.catalog)
        try:
            yield engine
        finally:
            engine.dispose()


def _chosen(engine: "SearchEngine", seed: int) -> tuple[list[str], list[int]]:
    """Words of names as queries, and icons, both spread over the library."""
    from search.generation.facets import Facets

    facets = engine.put(lambda opened: opened.facets)
    assert isinstance(facets, Facets)
    random = np.random.default_rng(seed)
    icons = facets.column("icon")[random.integers(len(facets), size=N_QUERIES)]
    rows = engine.put(lambda opened: opened.snapshot.candidates(np.sort(icons)))
    return [row.words for row in rows.values()], icons.tolist()


def _own_bytes(pid: int) -> float:
    import psutil

    memory = psutil.Process(pid).memory_info()
    return float(memory.rss - memory.shared)
