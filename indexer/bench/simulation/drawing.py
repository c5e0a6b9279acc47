"""How fast does this machine draw, with nothing else to do? What bounds any number of devices."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from indexer.embedding.batches import Layout, hold
from indexer.embedding.queued_device import QueuedDevice
from indexer.process import cores
from indexer.rendering.slots import Job


@dataclass(frozen=True, slots=True)
class Drawn:
    """One drawing of some pictures by as many workers as there are cores."""

    images: int
    seconds: float

    @property
    def images_per_second(self) -> float:
        """Over all cores; those that failed count."""
        return self.images / self.seconds


def draw_alone(jobs: Sequence[Job], *, size: int) -> Drawn:
    """Draw pictures with all cores and look at none; the clock starts with the first one that is there.

    As much is drawn ahead as for a device that takes the largest batches.
    """
    layout, n_under_way = Layout.of(None, size=size), QueuedDevice.n_under_way
    with layout.start_pool(size=size, workers=cores(), n_under_way=n_under_way) as pool:
        chunks = pool.render([jobs])
        hold(pool, n_under_way=n_under_way, n_chunks=layout.most_chunks)
        first = next(chunks)
        started, n = time.perf_counter(), 0
        for chunk in chunks:
            n += len(chunk.ids) + len(chunk.failures)
        del first
    return Drawn(n, time.perf_counter() - started)
