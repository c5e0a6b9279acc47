"""How does the server hold up? A minute of many who use the page, then far more at once than it lets in.

Starts `icons serve` in a process of its own; only reads the library.

    icons bench serve
"""

import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count

import numpy as np

from indexer.errors import BenchError
from indexer.library.folder import Library
from indexer.reports.bars import Progress
from search.bench.client import API, KINDS, N_SVG, WORDS, Asked, Client, use_page
from search.bench.machine import describe_machine
from search.bench.measured import Machine, Spread
from search.bench.server_process import ServerProcess, serving
from search.bench.tables import Grid, megabytes, rate, spread_cells
from search.engine import SearchEngine
from search.generation.snapshot import Snapshot

N_TEXTS = 300
CROWD = 200
"""Clients at once that a server with a queue of 64 can't let in."""
CROWD_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ServeBenchOptions:
    """How many ask, and how long."""

    clients: int = 16
    seconds: float = 60.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Crowd:
    """What happens when far too many ask at once."""

    clients: int
    answered: int
    refused: int
    """With 503."""
    failed: int
    """In any other way."""
    answer: Spread | None
    refusal: Spread | None


@dataclass(frozen=True, slots=True)
class ServeBench:
    """What one run measured."""

    library: str
    n_icons: int
    machine: Machine
    options: ServeBenchOptions
    n_requests: int
    requests_per_second: float
    times: Mapping[str, Spread]
    """By kind of request, of those that were answered."""
    counts: Mapping[str, int]
    errors: Mapping[str, int]
    """Kind and status of all others, with their number."""
    memory_bytes: Sequence[int]
    """Resident, of the server process, second by second."""
    crowd: Crowd

    def grew_bytes(self) -> int:
        """By how much memory grew from the second quarter of the time to the last, in medians."""
        quarter = max(1, len(self.memory_bytes) // 4)
        return round(
            statistics.median(self.memory_bytes[-quarter:])
            - statistics.median(self.memory_bytes[quarter : 2 * quarter])
        )


def bench_serve(library: Library, options: ServeBenchOptions, progress: Progress) -> ServeBench:
    """Measure a server over a library.

    Raises:
        LibraryError: there is no library.
        BenchError: the server does not start, or the time is too short to say anything.
    """
    engine = SearchEngine.open(library.root)
    texts = _texts(Snapshot(engine.generation.catalog), seed=options.seed)
    with serving(library) as server:
        asked, memory = _load(server, texts, options, progress)
        crowd = _crowd(server, texts, progress)
    good = [one for one in asked if one.status == 200]
    by_kind = {kind: [one.seconds for one in good if one.kind == kind] for kind in KINDS}
    if not good or len(memory) < 4:
        raise BenchError(f'"{options.seconds:g}" s are too short to measure a server; try --seconds 10')
    return ServeBench(
        library=str(library.root),
        n_icons=engine.manifest.icons.n,
        machine=describe_machine(),
        options=options,
        n_requests=len(asked),
        requests_per_second=round(len(asked) / options.seconds, 1),
        times={kind: Spread.of(seconds) for kind, seconds in by_kind.items() if seconds},
        counts={kind: len(seconds) for kind, seconds in by_kind.items() if seconds},
        errors=dict(Counter(f"{one.kind} {one.status}" for one in asked if one.status != 200)),
        memory_bytes=memory,
        crowd=crowd,
    )


def _texts(snapshot: Snapshot, *, seed: int) -> list[str]:
    """Names of the library's own icons, and their beginnings, as they stand in the box while somebody types."""
    words = [text for text in snapshot.all_words().values() if text]
    order = np.random.default_rng(seed).permutation(len(words))[:N_TEXTS]
    names = [words[place] for place in order.tolist()]
    return [text for name in names for text in (name[: max(2, len(name) // 2)], name)]


def _load(
    server: ServerProcess, texts: Sequence[str], options: ServeBenchOptions, progress: Progress
) -> tuple[list[Asked], list[int]]:
    """Let clients use the page; every request, and the server's memory second by second."""
    ends = time.monotonic() + options.seconds
    n = options.clients
    with ThreadPoolExecutor(n) as pool:
        asks = [partial(use_page, texts=[*texts[c * len(texts) // n :], *texts]) for c in range(n)]
        using = [pool.submit(_ask_until, ends, server, ask) for ask in asks]
        memory = []
        while (left := ends - time.monotonic()) > 0:
            time.sleep(min(1.0, left))
            memory.append(server.memory_bytes())
            progress(f"{n} clients", len(memory), max(len(memory), round(options.seconds)))
        return [one for client in using for one in client.result()], memory


def _ask_until(ends: float, server: ServerProcess, ask: Callable[[Client], Iterator[object]]) -> list[Asked]:
    client = Client(server.host, server.port)
    for _ in ask(client):
        if time.monotonic() > ends:
            break
    client.close()
    return client.asked


def _crowd(server: ServerProcess, texts: Sequence[str], progress: Progress) -> Crowd:
    """Let far too many ask at once."""
    progress(f"{CROWD} clients", 0, 1)
    ends = time.monotonic() + CROWD_SECONDS

    def ask(number: int) -> list[Asked]:
        text = texts[number % len(texts)]
        return _ask_until(ends, server, lambda client: (client.search(WORDS, q=text, k=50) for _ in count()))

    with ThreadPoolExecutor(CROWD) as pool:
        asked = [one for client in pool.map(ask, range(CROWD)) for one in client]
    progress(f"{CROWD} clients", 1, 1)
    answered = [one.seconds for one in asked if one.status == 200]
    refused = [one.seconds for one in asked if one.status == 503]
    return Crowd(
        clients=CROWD,
        answered=len(answered),
        refused=len(refused),
        failed=len(asked) - len(answered) - len(refused),
        answer=Spread.of(answered) if answered else None,
        refusal=Spread.of(refused) if refused else None,
    )


def facts(found: ServeBench) -> list[str]:
    """Say in a few lines what was measured, and how it ended."""
    machine, options, memory = found.machine, found.options, found.memory_bytes
    errors = ", ".join(f"{what}: {n}" for what, n in found.errors.items()) or "none"
    return [
        f"{found.library}: {found.n_icons:,} icons; {machine.processor}, {machine.cores} cores",
        f"{options.clients} clients for {options.seconds:g} s: {found.n_requests:,} requests, "
        f"{rate(found.requests_per_second)}; errors: {errors}",
        f"server memory: {megabytes(memory[0])} after the first second, {megabytes(max(memory))} at most, "
        f"{found.grew_bytes() / 1e6:+.1f} MB from the second quarter to the last",
    ]


def grids(found: ServeBench) -> list[Grid]:
    """Lay out times by kind of request, and what the crowd met."""
    rows = [[kind, f"{found.counts[kind]:,}", *spread_cells(of)] for kind, of in found.times.items()]
    crowd = found.crowd
    met = [
        [what, f"{n:,}", *(spread_cells(of) if of else [""] * 3)]
        for what, n, of in (
            ("answered", crowd.answered, crowd.answer),
            ("refused with 503", crowd.refused, crowd.refusal),
            ("failed", crowd.failed, None),
        )
    ]
    head = ["requests", "p50", "p95", "p99"]
    note = f"as the page asks: {API}/search with facets, then pictures of {N_SVG} hits, one hit closely, others like it"
    return [
        Grid(f"{found.options.clients} clients", ["kind", *head], rows, [note]),
        Grid(f"{crowd.clients} clients at once", ["", *head], met, ["words only; the queue holds 64"]),
    ]
