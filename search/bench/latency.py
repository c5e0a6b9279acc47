"""How long does an answer take: from a cold start, warm, and with others asking at the same time?"""

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from threading import Barrier

from indexer.errors import IconsError
from indexer.library.folder import Library
from indexer.reports.bars import Progress
from indexer.reports.measures import Figure
from search.bench.measured import Cold, Load, Spread, Warm
from search.bench.timed_engine import STAGES, WHOLE, TimedEngine
from search.engine import SearchEngine

CLIENTS = (1, 2, 4, 8, 16)
ROUNDS = 3
ROUND_SECONDS = 1.5
PASSES = 5
"""Over the queries, warm."""


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
