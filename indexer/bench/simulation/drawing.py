"""How fast does this machine draw, with nothing else to do? What bounds any number of devices."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from indexer.process import cores
from indexer.rendering.pool import Job, RenderPool


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
    """Draw pictures with all cores and look at none; the clock starts with the first one that is there."""
    with RenderPool(size=size, workers=cores()) as pool:
        chunks = pool.render([jobs])
        first = next(chunks)
        started, n = time.perf_counter(), 0
        for chunk in chunks:
            n += len(chunk.ids) + len(chunk.failures)
        del first
    return Drawn(n, time.perf_counter() - started)
