"""Gathers what is made of a block and writes it in the background: the device need not wait for the disk.

A block that takes long leaves pieces: after two seconds of work, then four, and so on up to half a minute. So a rank
that is ended again and again still gets on, and one that is quick writes nothing more than a shard a block.
"""

import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Halves, Ids
from indexer.errors import EmbedError
from indexer.library.plans import Plan
from indexer.library.shards import Failed, Kind, Shard, piece_path, shard_path, write_shard
from indexer.library.traits import TRAITS
from indexer.ranks.distributed import Rank

if TYPE_CHECKING:
    from indexer.encoders.loading import AnyEncoder

FIRST_PIECE_SECONDS, PIECE_SECONDS = 2.0, 32.0
OVER = "another run has begun since, and this rank belongs to one before it; nothing more was written"


class ShardWriter:
    """Writes one rank's shards into the folder of an encoder's vectors; a context manager, which awaits the last.

    `run` is the folder of the run that this rank belongs to: where it has gone, nothing is written any more.
    """

    def __init__(self, folder: Path, *, plan: Plan, run: Path, rank: Rank, encoder: "AnyEncoder") -> None:
        self.folder = folder
        self.run = run
        self.fingerprint = plan.fingerprint
        facts = {"precision": encoder.precision, "model": plan.model, "run": plan.run}
        self.facts = {"rank": f"{rank.index}/{rank.world}", **facts}
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="shards")
        self.pending: list[Future[None]] = []
        self.piece_seconds = FIRST_PIECE_SECONDS
        self.written = time.monotonic()
        self.ids: list[Ids] = []
        self.vectors: list[Halves] = []
        self.traits: list[NDArray[np.void]] = []
        self.failures: dict[int, Failed] = {}
        self.dim = encoder.dim

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown(wait=True)
        for written in self.pending:
            written.result()

    def add(
        self,
        ids: Ids,
        vectors: Halves,
        traits: NDArray[np.void] | None = None,
        failures: Iterable[tuple[int, Failed]] = (),
    ) -> None:
        """Keep what was made of the block under way; of images with their traits, (n,)."""
        self.ids.append(ids)
        self.vectors.append(vectors)
        if traits is not None:
            self.traits.append(traits)
        self.failures.update(failures)

    def write(self, block: str, kind: Kind) -> None:
        """Begin to write what was kept as the shard of a block. Raises what went wrong with those before."""
        self._write(shard_path(self.folder, block), self._take(kind))

    def write_due_piece(self, block: str, kind: Kind) -> None:
        """Write what was kept as a part of a block, where the last writing is so long ago that it is worth that."""
        if time.monotonic() - self.written >= self.piece_seconds:
            shard, self.piece_seconds = self._take(kind), min(2 * self.piece_seconds, PIECE_SECONDS)
            self._write(piece_path(self.folder, block, min((*shard.ids.tolist(), *shard.failures))), shard)

    def _take(self, kind: Kind) -> Shard:
        """Put all that was kept into a shard, by ascending id; after that there is nothing."""
        ids = np.concatenate([np.empty(0, np.int64), *self.ids])
        vectors = np.concatenate([np.empty((0, self.dim), np.float16), *self.vectors])
        traits = np.concatenate([np.empty(0, TRAITS), *self.traits])
        order, failures = np.argsort(ids), self.failures
        self.ids, self.vectors, self.traits, self.failures = [], [], [], {}
        return Shard(kind, ids[order], vectors[order], failures, traits[order] if kind == "images" else None)

    def _write(self, path: Path, shard: Shard) -> None:
        for written in [future for future in self.pending if future.done()]:
            self.pending.remove(written)
            written.result()
        self.written = time.monotonic()
        self.pending.append(self.pool.submit(self._write_now, path, shard))

    def _write_now(self, path: Path, shard: Shard) -> None:
        if not self.run.is_dir():
            raise EmbedError(OVER)
        write_shard(path, shard, fingerprint=self.fingerprint, facts=self.facts)
