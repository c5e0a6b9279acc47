"""How does a step's data get ready while the one before computes? One thread reads ahead; time waited is counted."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from torch.autograd.profiler import record_function

from indexer.arrays import Ids
from indexer.finetune.corpus.lesson import Lesson
from indexer.finetune.options import FinetuneOptions
from indexer.finetune.run.batches import Draw, Part, draw_step, order_of_pass, read_part
from indexer.ranks.distributed import Rank


@dataclass(slots=True)
class Feed:
    """Draws and reads this rank's parts of each step."""

    lesson: Lesson
    options: FinetuneOptions
    rank: Rank
    waited_seconds: float = 0.0
    _orders: dict[int, Ids] = field(default_factory=dict)

    @property
    def per_pass(self) -> int:
        """Steps in a pass."""
        return len(self.lesson.train_rows) // self.options.loss.batch

    def icons_of(self, step: int) -> Ids:
        """Icons of a step, over all ranks."""
        number, place = divmod(step, self.per_pass)
        if number not in self._orders:
            grouped = self.options.loss.sampling == "grouped"
            self._orders = {
                number: order_of_pass(
                    self.lesson.train_rows,
                    self.lesson.bases if grouped else None,
                    batch=self.options.loss.batch,
                    seed=self.options.schedule.seed,
                    number=number,
                )
            }
        icons: Ids = self._orders[number][place]
        return icons

    def read(self, step: int) -> tuple[Draw, list[Part]]:
        """Draw a step and read this rank's micro-batches of it."""
        draw = draw_step(self.lesson, self.icons_of(step), self.options, step=step)
        each = self.options.distribution.accumulate
        first, parts = self.rank.index * each, self.rank.world * each
        return draw, [read_part(self.lesson, draw, part=first + place, parts=parts) for place in range(each)]

    @contextmanager
    def ahead(self, start: int, end: int) -> Iterator[Iterator[tuple[int, Draw, list[Part]]]]:
        """Yield steps `start` to `end` in order, each read while the one before computes."""
        with ThreadPoolExecutor(1, thread_name_prefix="feed") as pool:
            yield self._steps(pool, start, end)

    def _steps(self, pool: ThreadPoolExecutor, start: int, end: int) -> Iterator[tuple[int, Draw, list[Part]]]:
        pending = pool.submit(self.read, start) if start < end else None
        for step in range(start, end):
            assert pending is not None
            began = time.perf_counter()
            with record_function("icons: wait"):
                draw, parts = pending.result()
            self.waited_seconds += time.perf_counter() - began
            pending = pool.submit(self.read, step + 1) if step + 1 < end else None
            yield step, draw, parts
