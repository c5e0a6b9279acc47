"""Writes shards in the background, so that the device need not wait for the disk: a block's own, and pieces on the way.

A block that takes long leaves pieces: after two seconds of work, then four, and so on up to half a minute. So a rank
that is ended again and again still gets on, and one that is quick writes nothing more than a shard a block.
"""

import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Self

from indexer.errors import EmbedError
from indexer.library.shards import Plan, Shard, piece_path, shard_path, write_shard
from indexer.ranks.distributed import Rank

FIRST_PIECE_SECONDS, PIECE_SECONDS = 2.0, 32.0
OVER = "another run has begun since, and this rank belongs to one before it; nothing more was written"


class ShardWriter:
    """Writes one rank's shards into the folder of an encoder's vectors; a context manager, which awaits the last.

    `run` is the folder of the run that this rank belongs to: where it has gone, nothing is written any more.
    """

    def __init__(self, folder: Path, *, plan: Plan, run: Path, rank: Rank, precision: str) -> None:
        self.folder = folder
        self.run = run
        self.fingerprint = plan.fingerprint
        facts = {"precision": precision, "model": plan.model, "run": plan.run}
        self.facts = {"rank": f"{rank.index}/{rank.world}", **facts}
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="shards")
        self.pending: list[Future[None]] = []
        self.piece_seconds = FIRST_PIECE_SECONDS
        self.written = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown(wait=True)
        for written in self.pending:
            written.result()

    def write(self, block: str, shard: Shard) -> None:
        """Begin to write the shard of a block of that name. Raises what went wrong with those before."""
        self._write(shard_path(self.folder, block), shard)

    def is_piece_due(self) -> bool:
        """Whether it is so long since something was written that what was made since is worth a piece."""
        return time.monotonic() - self.written >= self.piece_seconds

    def write_piece(self, block: str, shard: Shard) -> None:
        """Begin to write a part of a block. Raises what went wrong with those before."""
        self.piece_seconds = min(2 * self.piece_seconds, PIECE_SECONDS)
        self._write(piece_path(self.folder, block, min((*shard.ids.tolist(), *shard.failures))), shard)

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
