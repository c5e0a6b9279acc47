"""How large, fast and right each kind of index is: one after the other, in a folder that is deleted afterwards.

Where a library has fewer vectors, others are made: a real one is moved along the difference of two others, as far as a
real picture is from its nearest neighbour. So it stays among directions that icons differ in, and neighbourhoods are as
close as in a larger library.
"""

import itertools
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import psutil

from indexer.arrays import Floats, Halves
from indexer.bench.report import Report, Row
from indexer.errors import IconsError, LibraryError
from indexer.merging.manifest import CHUNK, ID_MAP_BYTES, KINDS, LEAST_RECALL, IndexKind, recommended
from indexer.merging.merge import least_scores, share_right
from indexer.merging.vector_index import VectorIndex, fp32_chunks
from indexer.reports.terminal import Progress

SIZES = (20_000, 380_000, 1_000_000, 10_000_000)
USUAL = 380_000
"""At most, where nobody says: about all of Iconify, of which every kind is built in minutes."""
LEAST_REAL = 10
USED_SHARE = 0.8
"""Share of the free memory that an index may take."""
RECALL_K = 10
_N_FIRST, _TIMED_SECONDS, _LEAST_TIMED = 16, 10.0, 16
_MOST_LIKE, _TOO_SHORT = 0.999, 1e-3
_N_LOOKED_AT, _N_AMONG = 256, 20_000
"""Vectors whose nearest neighbour is looked for, and among how many."""


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Which indexes are built, and how they are asked."""

    kinds: Sequence[str] = tuple(KINDS)
    most: int | None = None
    """Vectors; None: `USUAL`, fewer where memory is short."""
    seed: int = 0


def measure_indexes(report: Report, real: Halves, queries: Floats, options: IndexOptions, progress: Progress) -> None:
    """Build and ask every kind at every size that fits, over `real` vectors (m, dim) and more that are made from them.

    Raises:
        IconsError: not one kind of as many vectors as were asked for fits, or there are too few real ones.
    """
    with tempfile.TemporaryDirectory(prefix="icons-bench-") as name:
        steps, refused = plan_indexes(options, dim=real.shape[1], free=psutil.virtual_memory().available)
        report.facts += refused
        if not steps:
            return
        vectors = write_vectors(
            Path(name, "vectors.npy"), real, n=max(n for n, _ in steps), seed=options.seed, progress=progress
        )
        bench = _Bench(vectors, queries, Path(name), progress)
        for n in sorted({n for n, _ in steps}):
            least = least_scores(bench.chunks(n, f"Exact search of {n:,}"), queries, k=RECALL_K)
            group = f"index of {n:,} vectors" + (f", {n - len(real):,} of them made" if n > len(real) else "")
            rows = [bench.measure(group, kind, n, least) for of, kind in steps if of == n]
            report.rows += rows
            report.facts.append(f"{group}: {advice(rows)}; * is what `icons index` builds")


def advice(rows: Sequence[Row]) -> str:
    """Hold the rule that `icons index --only merge` follows against what was measured at one size."""
    best = min(
        [row for row in rows if row.values("recall@10")[0] >= LEAST_RECALL],
        key=lambda row: row.values("p50, ms")[0],
        default=None,
    )
    return f"{best.name} is the fastest with recall@10 {LEAST_RECALL}" if best else f"none reaches {LEAST_RECALL}"


def plan_indexes(options: IndexOptions, *, dim: int, free: int) -> tuple[list[tuple[int, IndexKind]], list[str]]:
    """Choose (vectors, kind) that fit into so many free bytes of memory, in order; and say what does not.

    Raises:
        IconsError: not one kind of as many vectors as were asked for fits.
    """
    most, steps, refused = options.most or USUAL, list[tuple[int, IndexKind]](), list[str]()
    sizes = sorted({*(size for size in SIZES if size < most), most})
    for n, kind in itertools.product(sizes, [KINDS[name] for name in options.kinds]):
        needed = memory_needed(kind, n, dim=dim)
        if needed <= USED_SHARE * free:
            steps.append((n, kind))
        else:
            takes = f"{kind.name} would take {needed / 1e9:,.1f} GB of memory, {free / 1e9:,.1f} are free"
            refused.append(f"not measured: {n:,} vectors, {takes}")
    if options.most and not any(n == options.most for n, _ in steps):
        raise IconsError(f'--vectors "{options.most}": {refused[-1].partition("vectors, ")[2]}; ask for fewer')
    return steps, refused


def memory_needed(kind: IndexKind, n: int, *, dim: int) -> int:
    """Bytes that building `n` vectors takes: the index and its ids, what trains it, and a chunk on its way."""
    return kind.n_bytes(n, dim=dim) + n * ID_MAP_BYTES + 4 * dim * (kind.n_trained(n) + 4 * min(n, CHUNK))


def write_vectors(path: Path, real: Halves, *, n: int, seed: int, progress: Progress) -> Halves:
    """Write `n` unit vectors to a file, `real` ones (m, dim) in mixed order as far as they go, and map it.

    Raises:
        LibraryError: there are too few real ones.
    """
    if len(real) < LEAST_REAL:
        raise LibraryError(
            f'a library of "{len(real)}" pictures is too small to measure indexes on; `icons index SOURCE` '
            "adds some, and without a SOURCE the first run takes the bundled sample icons"
        )
    real = real[np.random.default_rng(seed).permutation(len(real))]
    likeness = nearest_likeness(real)
    written = np.lib.format.open_memmap(path, mode="w+", dtype=np.float16, shape=(n, real.shape[1]))
    for start in range(0, n, CHUNK):
        rows = np.arange(start, min(n, start + CHUNK))
        chunk, is_made = real[rows % len(real)], rows >= len(real)
        chunk[is_made] = perturb(real, chunk[is_made], likeness=likeness, seed=(seed, start))
        written[rows[0] : rows[-1] + 1] = chunk
        progress("Vectors", int(rows[-1]) + 1, n)
    written.flush()
    return cast(Halves, np.load(path, mmap_mode="r"))


def nearest_likeness(vectors: Halves) -> float:
    """Median cosine of a vector with its nearest other one, of vectors in no order."""
    among = vectors[:_N_AMONG].astype(np.float32)
    looked_at = min(_N_LOOKED_AT, len(among))
    cosines = among[:looked_at] @ among.T
    cosines[np.arange(looked_at), np.arange(looked_at)] = -1
    return min(_MOST_LIKE, round(float(np.median(cosines.max(axis=1))), 4))


def perturb(real: Halves, originals: Halves, *, likeness: float, seed: tuple[int, ...]) -> Halves:
    """Move each of `originals` (n, dim) along the difference of two of `real` until their cosine is `likeness`."""
    generator, start = np.random.default_rng(seed), originals.astype(np.float32)
    one, other = generator.integers(len(real), size=(2, len(start)))
    across = _across(real[one].astype(np.float32) - real[other].astype(np.float32), start)
    short = np.linalg.norm(across, axis=1) < _TOO_SHORT  # the two are the same
    across[short] = _across(generator.standard_normal((int(short.sum()), start.shape[1]), np.float32), start[short])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return (likeness * start + np.float32(np.sqrt(1 - likeness**2)) * across).astype(np.float16)


def _across(directions: Floats, vectors: Floats) -> Floats:
    """What is left of directions beside unit vectors."""
    return np.asarray(directions - np.einsum("nd,nd->n", directions, vectors)[:, None] * vectors, np.float32)


@dataclass(frozen=True, slots=True)
class _Bench:
    """Some vectors, and what is asked of them."""

    vectors: Halves
    queries: Floats
    folder: Path
    progress: Progress

    def measure(self, group: str, kind: IndexKind, n: int, least: Floats) -> Row:
        """Build an index into a file, as a merge does, and ask it; `least` is what right answers score."""
        path, spec = self.folder / "index.faiss", kind.spec(n, dim=self.vectors.shape[1])
        n_trained, vectors = kind.n_trained(n), self.vectors[:n]
        started = time.perf_counter()
        sample = vectors[:: n // n_trained][:n_trained].astype(np.float32) if n_trained else None
        index = VectorIndex.build(
            np.arange(n),
            self.chunks(n, f"Building {kind.name} of {n:,}"),
            dim=vectors.shape[1],
            spec=spec,
            sample=sample,
        )
        del sample
        index.save(path, fp32_chunks(vectors))
        seconds, size = time.perf_counter() - started, path.stat().st_size
        times, shares = self._ask(VectorIndex.open(path, spec=spec), least, f"Asking {kind.name} of {n:,}")
        path.unlink()
        p50, p95 = (round(1000 * float(value), 4) for value in np.percentile(times, (50, 95)))
        built = {"MB": size / 1e6, "built in, s": seconds, "recall@10": float(np.mean(shares))}
        run = {**built, "p50, ms": p50, "p95, ms": p95, "queries": len(times)}
        return Row(group, f"{kind.name}{' *' if kind is recommended(n) else ''}", {"kind": kind.name}, [run])

    def chunks(self, n: int, title: str) -> Iterator[Floats]:
        """The first `n` vectors, as fp32."""
        done = 0
        for chunk in fp32_chunks(self.vectors[:n]):
            yield chunk
            done += len(chunk)
            self.progress(title, done, n)

    def _ask(self, index: VectorIndex, least: Floats, title: str) -> tuple[list[float], list[float]]:
        """Ask all queries, fewer of a slow index; the seconds and the share of right answers of each."""
        for query in self.queries[:_N_FIRST]:  # pages are mapped when they are first read
            index.search(query, k=RECALL_K)
        times, shares = [], []
        ends = time.perf_counter() + _TIMED_SECONDS
        for query, bound in zip(self.queries, least, strict=True):
            started = time.perf_counter()
            found = index.search(query, k=RECALL_K)
            times.append(time.perf_counter() - started)
            shares.append(share_right(found, bound, k=RECALL_K))
            self.progress(title, len(times), len(self.queries))
            if time.perf_counter() > ends and len(times) >= _LEAST_TIMED:
                break
        return times, shares
