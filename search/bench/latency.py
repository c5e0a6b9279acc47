"""How long does an answer take: from a cold start, warm, under filters, to a picture, and with others asking too?"""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import cycle, islice
from threading import Barrier

import numpy as np

from indexer.errors import IconsError, LibraryError, SourceError
from indexer.library.folder import Library
from indexer.library.traits import FLAGS
from indexer.reports.bars import Progress
from indexer.reports.measures import Figure
from search.bench.measured import Cold, Filtered, Load, Pictured, Spread, Warm
from search.bench.timed_engine import STAGES, WHOLE, TimedEngine
from search.engine import NO_FILTERS, SearchEngine
from search.generation.facets import Facets
from search.generation.icon_table import FIELDS
from search.query import Filters, Query, Window

CLIENTS = (1, 2, 4, 8, 16)
ROUNDS = 3
ROUND_SECONDS = 1.5
PASSES = 5
"""Over the queries, warm."""
N_PICTURES = 200
_EVERY = 1_000_000


def measure_cold(library: Library, *, n_runs: int, progress: Progress) -> Cold:
    """Time whole processes, alternating: `icons search arrow`, and a bare import of torch and open_clip.

    Raises:
        IconsError: one of them fails.
    """
    search = ["-c", "from search.cli import main; main()", "search", "arrow", "--library", str(library.root)]
    imports = ["-c", "import torch, open_clip"]
    _run(search), _run(imports)  # files come from the cache from now on
    runs = []
    for done in range(n_runs):
        runs.append((_run(search), _run(imports)))
        progress("Cold starts", done + 1, n_runs)
    ours, theirs = (_median(seconds) for seconds in zip(*runs, strict=True))
    return Cold(n_runs, ours, theirs)


def measure_warm(engine: TimedEngine, queries: Sequence[str], *, k: int, progress: Progress) -> Warm:
    """Time queries one after the other, split into stages, after one pass that is not counted."""
    for query in queries:
        engine.timed_search(query, k=k)
    n = PASSES * len(queries)
    taken = []
    for done, query in enumerate(islice(cycle(queries), n), 1):
        taken.append(engine.timed_search(query, k=k)[1])
        progress("Warm queries", done, n)
    stages = {stage: Spread.of([seconds[stage] for seconds in taken]) for stage in (*STAGES, WHOLE)}
    return Warm(n, engine.manifest.icons.n, k, engine.manifest.icons.spec, stages)


def measure_filtered(engine: SearchEngine, queries: Sequence[str], *, k: int, progress: Progress) -> list[Filtered]:
    """Time queries under one filter of the library's own icons after the other, facets counted, as a page asks."""
    facets = Facets(engine.generation)
    chosen = dict(choose_filters(facets))
    asked = [Query(words=words) for words in queries]
    found = []
    for done, (name, filters) in enumerate(chosen.items(), 1):
        left = facets.select(filters)
        spread = _ask_each(engine, asked, Window(k=k, facets=True), filters)
        found.append(Filtered(name, len(facets) if left is None else len(left), len(asked), spread))
        progress("Filters", done, len(chosen))
    return found


def choose_filters(facets: Facets) -> Iterator[tuple[str, Filters]]:
    """Yield no filter, the most frequent value of each kind, the rarest set, and several at once."""
    yield "none", Filters()
    counted = facets.count(None, most=_EVERY)
    most = {kind: of[0].value for kind, of in counted.items() if of}
    for kind, value in most.items():
        yield f"{kind} {value}", _filters({kind: value})
    yield f"set {counted['set'][-1].value}, the rarest", _filters({"set": counted["set"][-1].value})
    several = {kind: value for kind, value in most.items() if kind in ("style", "family", *FLAGS)}
    yield ", ".join(f"{kind} {value}" for kind, value in several.items()), _filters(several)


def _filters(values: dict[str, str]) -> Filters:
    fields = {**FIELDS, "family": "licences"}
    among = {fields[kind]: (value,) for kind, value in values.items() if kind in fields}
    truth = {flag: values[flag] == "true" for flag in FLAGS if flag in values}
    sizes = (int(values["size"]),) if "size" in values else ()
    return Filters(**among, **truth, sizes=sizes)  # type: ignore[arg-type]


def measure_pictured(
    engine: SearchEngine, icons: list[int], *, k: int, seed: int, progress: Progress
) -> list[Pictured]:
    """Time queries by files of the library's icons, which are decoded and encoded, and by icons, which have vectors.

    Raises:
        LibraryError: no file of the library's icons can be read any more.
    """
    chosen = np.random.default_rng(seed).permutation(icons)[:N_PICTURES].tolist()
    files = []
    for icon in chosen:
        with suppress(SourceError):
            files.append(Query(picture=engine.picture(icon)))
    if not files:
        raise LibraryError("no picture of this library can be read any more; run `icons index`")
    asked = {"picture": files, "more like an icon": [Query(icon=icon) for icon in chosen]}
    found = []
    for done, (name, queries) in enumerate(asked.items(), 1):
        found.append(Pictured(name, len(queries), _ask_each(engine, queries, Window(k=k))))
        progress("Pictures", done, len(asked))
    return found


def _ask_each(engine: SearchEngine, queries: Sequence[Query], window: Window, filters: Filters = NO_FILTERS) -> Spread:
    """Time queries one after the other; the first one twice, since it opens what the others find open."""
    times = []
    for query in (queries[0], *queries):
        started = time.perf_counter()
        engine.ask(query, filters=filters, window=window)
        times.append(time.perf_counter() - started)
    return Spread.of(times[1:])


def measure_loads(engine: SearchEngine, queries: Sequence[str], *, k: int, progress: Progress) -> list[Load]:
    """Let 1 to 16 clients, each a thread, ask one engine at the same time, in several rounds over all these numbers."""
    _ask_together(engine, queries, k=k, clients=1)  # warm-up
    rounds: list[list[tuple[float, list[float]]]] = []
    for done in range(ROUNDS):
        rounds.append([_ask_together(engine, queries, k=k, clients=clients) for clients in CLIENTS])
        progress("Clients", done + 1, ROUNDS)
    loads = []
    for clients, of_rounds in zip(CLIENTS, zip(*rounds, strict=True), strict=True):
        times = [seconds for _, latencies in of_rounds for seconds in latencies]
        loads.append(Load(clients, _median([rate for rate, _ in of_rounds]), Spread.of(times)))
    return loads


def _ask_together(engine: SearchEngine, queries: Sequence[str], *, k: int, clients: int) -> tuple[float, list[float]]:
    """Queries per second of all clients together, and the seconds of every query."""
    start = Barrier(clients + 1)

    def ask(client: int) -> list[float]:
        asked = islice(cycle(queries), client * len(queries) // clients, None)
        latencies = []
        start.wait()
        ends = time.perf_counter() + ROUND_SECONDS
        while (before := time.perf_counter()) < ends:
            engine.search(next(asked), k=k)
            latencies.append(time.perf_counter() - before)
        return latencies

    with ThreadPoolExecutor(clients) as pool:
        asking = [pool.submit(ask, client) for client in range(clients)]
        start.wait()
        started = time.perf_counter()
        times = [seconds for client in asking for seconds in client.result()]
        return len(times) / (time.perf_counter() - started), times


def _run(arguments: Sequence[str]) -> float:
    started = time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], check=False, capture_output=True, text=True)
    seconds = time.perf_counter() - started
    if done.returncode:
        last_words = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise IconsError(f'"python {" ".join(arguments)}" failed: {last_words}')
    return seconds


def _median(values: Sequence[float]) -> Figure:
    """Median with the extremes, to four digits."""
    middle, low, high = statistics.median(values), min(values), max(values)
    return Figure(round(middle, 4), round(low, 4), round(high, 4))
