"""How long does an answer to a picture take? To files of a library's own icons, and to "more like this icon"."""

import time

import numpy as np

from indexer.errors import LibraryError, SourceError
from indexer.reports.bars import Progress
from search.bench.measured import Pictured, Spread
from search.engine import SearchEngine
from search.query import Query, Window

N_PICTURES = 200


def measure_pictured(
    engine: SearchEngine, icons: list[int], *, k: int, seed: int, progress: Progress
) -> list[Pictured]:
    """Time queries one after the other: a picture is decoded, cut out and encoded, an icon has a vector already.

    Raises:
        LibraryError: no file of the library's icons can be read any more.
    """
    chosen = np.random.default_rng(seed).permutation(icons)[:N_PICTURES].tolist()
    files = [Query(picture=content) for icon in chosen if (content := _stored(engine, icon)) is not None]
    if not files:
        raise LibraryError("no picture of this library can be read any more; run `icons index`")
    asked = {"picture": files, "more like an icon": [Query(icon=icon) for icon in chosen]}
    found = []
    for done, (name, queries) in enumerate(asked.items(), 1):
        times = [_seconds(engine, query, Window(k=k)) for query in (queries[0], *queries)]
        found.append(Pictured(name, len(queries), Spread.of(times[1:])))  # the first one opens the tower
        progress("Pictures", done, len(asked))
    return found


def _stored(engine: SearchEngine, icon: int) -> bytes | None:
    try:
        return engine.picture(icon)
    except SourceError:
        return None


def _seconds(engine: SearchEngine, query: Query, window: Window) -> float:
    started = time.perf_counter()
    engine.ask(query, window=window)
    return time.perf_counter() - started
