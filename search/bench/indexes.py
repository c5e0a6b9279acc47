"""How large, how fast, how right is each kind of index? One after the other, in a folder that is deleted afterwards."""

import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats
from indexer.errors import IconsError
from indexer.publishing.index_kinds import CHUNK, ID_MAP_BYTES, KINDS, IndexKind, recommended
from indexer.publishing.recall import least_scores, share_right
from indexer.publishing.vector_index import VectorIndex, fp32_chunks
from indexer.reports.bars import Progress
from search.bench.machine import free_memory
from search.bench.measured import IndexRow, LeftOut, SearchBench, Spread
from search.bench.options import DEFAULT_VECTORS, SIZES, SearchBenchOptions
from search.bench.supply import Supply, write_vectors
from search.ranking.gathering import N_CANDIDATES

USED_SHARE = 0.8
"""Share of the free memory and disk that an index may take."""
RECALL_K = 10
_WARM_SECONDS, _TIMED_SECONDS, _LEAST_TIMED = 2.0, 10.0, 16


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be measured: (vectors, kind), in this order; and what will not."""

    steps: Sequence[tuple[int, IndexKind]]
    left_out: Sequence[LeftOut]


def plan_indexes(options: SearchBenchOptions, *, dim: int, memory: int, disk: int) -> Plan:
    """Choose sizes and kinds that fit into so many free bytes of memory and disk.

    Raises:
        IconsError: not one kind of as many vectors as were asked for fits.
    """
    most = options.vectors or DEFAULT_VECTORS
    kinds = [kind for name, kind in KINDS.items() if name in options.kinds]
    steps, left_out = [], []
    for n in sorted({*(size for size in SIZES if size < most), most}):
        refusals = []
        for kind in kinds:
            reason = _refusal(kind, n, dim=dim, memory=memory, disk=disk)
            if reason is None:
                steps.append((n, kind))
            else:
                refusals.append(LeftOut(n, kind.name, reason))
        if len(refusals) == len(kinds) and n == options.vectors:
            fewer = _largest_fitting(kinds, n, dim=dim, memory=memory, disk=disk)
            raise IconsError(f'--vectors "{n}": {refusals[0].reason}; ask for fewer, as --vectors {fewer}')
        left_out += refusals
    left_out += [LeftOut(size, None, f"more than --vectors {most}") for size in SIZES if size > most]
    return Plan(steps, left_out)


def memory_needed(kind: IndexKind, n: int, *, dim: int) -> int:
    """Bytes that building `n` vectors takes: the index and its ids, what trains it, and a chunk on its way."""
    return kind.n_bytes(n, dim=dim) + n * ID_MAP_BYTES + 4 * dim * (kind.n_trained(n) + 4 * min(n, CHUNK))


def _refusal(kind: IndexKind, n: int, *, dim: int, memory: int, disk: int) -> str | None:
    needed = memory_needed(kind, n, dim=dim)
    if needed > USED_SHARE * memory:
        return f"{kind.name} would take {_gigabytes(needed)} of memory, {_gigabytes(memory)} are free"
    needed = 2 * dim * n + kind.n_bytes(n, dim=dim)
    if needed > USED_SHARE * disk:
        folder = tempfile.gettempdir()
        return f'{kind.name} would take {_gigabytes(needed)} in "{folder}" (TMPDIR), {_gigabytes(disk)} are free'
    return None


def _largest_fitting(kinds: Sequence[IndexKind], n: int, *, dim: int, memory: int, disk: int) -> int:
    """A round number of vectors below `n` for which some kind fits; 1,000 where none does."""
    while n > 1000 and all(_refusal(kind, n, dim=dim, memory=memory, disk=disk) for kind in kinds):
        n = max(1000, n * 3 // 4 // 1000 * 1000)
    return n


def _gigabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:,.1f} GB"


def measure_indexes(
    found: SearchBench, real: NDArray[np.float16], queries: Floats, options: SearchBenchOptions, progress: Progress
) -> None:
    """Build and ask every kind at every size that fits, over `real` vectors (m, dim) and more that are made from them.

    Each row is added to `found` as soon as it is measured.

    Raises:
        IconsError: more vectors were asked for than fit, or there are too few real ones.
    """
    with tempfile.TemporaryDirectory(prefix="icons-bench-") as name:
        folder = Path(name)
        disk = shutil.disk_usage(folder).free
        plan = plan_indexes(options, dim=real.shape[1], memory=free_memory(), disk=disk)
        found.left_out += plan.left_out
        if not plan.steps:
            return
        most = max(n for n, _ in plan.steps)
        supply = write_vectors(folder / "vectors.npy", real, n=most, seed=options.seed, progress=progress)
        found.likeness = supply.likeness
        bench = _Bench(supply, queries, folder, max(N_CANDIDATES, options.k), progress)
        for n, steps in groupby(plan.steps, key=itemgetter(0)):
            least = bench.least(n)
            for _, kind in steps:
                found.rows.append(bench.measure(kind, n, least))


@dataclass(frozen=True, slots=True)
class _Bench:
    """One supply of vectors, and what is asked of it."""

    supply: Supply
    queries: Floats
    folder: Path
    n_candidates: int
    progress: Progress

    def least(self, n: int) -> Floats:
        """What right answers score among the first `n` vectors."""
        return least_scores(self._chunks(n, f"Exact search of {n:,}"), self.queries, k=RECALL_K)

    def measure(self, kind: IndexKind, n: int, least: Floats) -> IndexRow:
        path = self.folder / "index.faiss"
        spec = kind.spec(n, dim=self.supply.vectors.shape[1])
        seconds = self._build(path, kind, n, spec)
        size = path.stat().st_size
        times, shares = self._ask(VectorIndex.open(path, spec=spec), least, f"Asking {kind.name} of {n:,}")
        path.unlink()
        return IndexRow(
            n_vectors=n,
            n_real=min(n, self.supply.n_real),
            kind=kind.name,
            spec=spec,
            n_bytes=size,
            build_seconds=round(seconds, 3),
            recall_at_10=round(float(np.mean(shares)), 4),
            query=Spread.of(times),
            n_queries=len(times),
            is_rule=kind is recommended(n),
        )

    def _build(self, path: Path, kind: IndexKind, n: int, spec: str) -> float:
        """Build an index into a file, as a merge does; the seconds."""
        vectors, n_trained = self.supply.vectors[:n], kind.n_trained(n)
        started = time.perf_counter()
        sample = vectors[:: n // n_trained][:n_trained].astype(np.float32) if n_trained else None
        chunks = self._chunks(n, f"Building {kind.name} of {n:,}")
        index = VectorIndex.build(np.arange(n), chunks, dim=vectors.shape[1], spec=spec, sample=sample)
        del sample
        index.save(path)
        return time.perf_counter() - started

    def _chunks(self, n: int, title: str) -> Iterator[Floats]:
        done = 0
        self.progress(title, 0, n)
        for chunk in fp32_chunks(self.supply.vectors[:n]):
            yield chunk
            done += len(chunk)
            self.progress(title, done, n)

    def _ask(self, index: VectorIndex, least: Floats, title: str) -> tuple[list[float], list[float]]:
        """Ask all queries, fewer of a slow index; the seconds and the share of right answers of each."""
        ends = time.perf_counter() + _WARM_SECONDS
        for query in self.queries:  # pages are mapped when they are first read
            index.search(query, k=self.n_candidates, per_hit=1)
            if time.perf_counter() > ends:
                break
        times, shares = [], []
        ends = time.perf_counter() + _TIMED_SECONDS
        for query, bound in zip(self.queries, least, strict=True):
            started = time.perf_counter()
            found = index.search(query, k=self.n_candidates, per_hit=1)
            times.append(time.perf_counter() - started)
            shares.append(share_right(found, bound, k=RECALL_K))
            self.progress(title, len(times), len(self.queries))
            if time.perf_counter() > ends and len(times) >= _LEAST_TIMED:
                break
        return times, shares
