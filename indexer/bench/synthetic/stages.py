"""How is a synthetic library built? Made, scanned, planned, merged, each timed.

What is made up (sets, vectors) is timed, too, but belongs to no command.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from shutil import copytree, rmtree

import numpy as np
import psutil
from sqlalchemy import Engine

from indexer import pipeline
from indexer.bench.synthetic.real import model_of, read_real
from indexer.bench.synthetic.sets import open_tagged, write_sets
from indexer.bench.synthetic.shards import write_shards
from indexer.catalog.database import open_catalog
from indexer.catalog.questions import store_setting
from indexer.catalog.scan import remember
from indexer.catalog.scan import scan as scan_sources
from indexer.embedding.options import EmbedOptions
from indexer.embedding.planning import prepare
from indexer.library.folder import Library

N_PASSES = 3


@dataclass(frozen=True, slots=True)
class Place:
    """Where one size lies, and what it is drawn from."""

    folder: Path
    real: Library
    n: int
    server: str = ""
    """Address of a Milvus that it is published to, too."""
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
    """What a stage tells of itself."""

    seconds: dict[str, float] = field(default_factory=dict)
    """By step; the ones that begin with "made" are of no command."""
    n_bytes: dict[str, int] = field(default_factory=dict)
    """Memory of another process."""

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Time a block."""
        started = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - started

    @contextmanager
    def staged(self, name: str) -> Iterator[Callable[[str], None]]:
        """Time a block, and its steps, which it tells as they begin; one that comes again counts as one."""
        began: list[tuple[str, float]] = []
        with self.timed(name):
            yield lambda title: began.append((title, time.perf_counter()))
            began.append(("", time.perf_counter()))
        for (title, at), (_, until) in pairwise(began):
            step = f"{name}: {title}"
            self.seconds[step] = self.seconds.get(step, 0.0) + until - at

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


def make_sets(place: Place) -> Steps:
    """Write the sets."""
    steps = Steps()
    rmtree(place.source, ignore_errors=True)  # what a run that was ended has left
    with steps.timed("made: sets"):
        write_sets(place.source, read_real(place.real), n=place.n, seed=place.seed)
    return steps


def scan(place: Place) -> Steps:
    """Scan them into a catalog, and once more where nothing is new."""
    steps = Steps()
    with _writing(place.library) as engine:
        with engine.begin() as connection:
            remember(connection, place.source, exclude=())
        with steps.timed("scan"):
            scan_sources(engine, opening=open_tagged)
        with steps.timed("scan, nothing new"):
            scan_sources(engine, opening=open_tagged)
    return steps


def plan(place: Place) -> Steps:
    """Plan what is to be embedded, with the encoder of the real library."""
    fingerprint, model = model_of(place.real)
    if not place.library.encoder(fingerprint).exists():
        copytree(place.real.encoder(fingerprint), place.library.encoder(fingerprint))
    steps = Steps()
    with _writing(place.library) as engine:
        with engine.begin() as connection:
            store_setting(connection, "model", model.to_json())
        with steps.timed("plan"):
            prepare(place.library, engine, model, options=EmbedOptions(), retry_failed=False)
    return steps


def make_vectors(place: Place) -> Steps:
    """Write the shards that ranks would have written."""
    steps = Steps()
    with steps.timed("made: vectors"):
        write_shards(place.library, place.source, read_real(place.real))
    return steps


def merge(place: Place) -> Steps:
    """Merge and publish, step by step."""
    steps = Steps()
    with steps.staged("merge") as stage:
        pipeline.merge(place.library, None, stage)
    return steps


BUILDING: dict[str, Callable[[Place], Steps]] = {
    "sets": make_sets,
    "scan": scan,
    "plan": plan,
    "vectors": make_vectors,
    "merge": merge,
}


@contextmanager
def _writing(library: Library) -> Iterator[Engine]:

    with library.writing():
        engine = open_catalog(library.catalog)
        try:
            yield engine
        finally:
            engine.dispose()


def own_bytes(process: psutil.Process) -> int:
    """Memory of a process beside the files that it has mapped; all of it where the system does not tell these apart."""
    memory = process.memory_info()
    return int(memory.rss - getattr(memory, "shared", 0))
