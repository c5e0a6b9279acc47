"""Writes shards in the background, so that the device need not wait for the disk."""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Self

from indexer.distributed import Rank
from indexer.shards import Plan, Shard, shard_path, write_shard


class ShardWriter:
    """Writes one rank's shards into the folder of an encoder's vectors; a context manager, which awaits the last."""

    def __init__(self, folder: Path, *, plan: Plan, rank: Rank, precision: str) -> None:
        self.folder = folder
        self.fingerprint = plan.fingerprint
        self.facts = {"rank": f"{rank.index}/{rank.world}", "precision": precision, "model": plan.model}
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="shards")
        self.pending: list[Future[None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown(wait=True)
        for written in self.pending:
            written.result()

    def write(self, block: str, shard: Shard) -> None:
        """Begin to write the shard of a block of that name. Raises what went wrong with those before."""
        for written in [future for future in self.pending if future.done()]:
            self.pending.remove(written)
            written.result()
        path = shard_path(self.folder, block)
        self.pending.append(self.pool.submit(write_shard, path, shard, fingerprint=self.fingerprint, facts=self.facts))
