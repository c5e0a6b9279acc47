"""Many pictures rendered at once in worker processes, in chunks; a bad one stops no other.

A picture that takes too long, or brings its worker down, becomes a Failure; a new worker goes on with the next one.
`slots` is what runs in a worker.
"""

import json
import math
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field
from itertools import islice
from multiprocessing.connection import wait
from tempfile import TemporaryFile

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Ids, Pixels, Positions
from indexer.errors import EmbedError
from indexer.rendering import slots
from indexer.rendering.draw_pool import Worker, cause_of_end
from indexer.rendering.slots import Job, Settings

SENT_AT_ONCE = 32
"""Pictures that a worker is sent, so that all workers draw on the chunk that is waited for."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One picture that gave no pixels, and why."""

    id: int
    reason: str
    is_final: bool = True
    """Whether that is the picture's own fault; else it is worth another try."""


@dataclass(frozen=True, slots=True)
class RenderedChunk:
    """Some pictures of one block, in its order. Copy pixels before asking for the next chunk, which may reuse them."""

    block: int
    """Position of the block among those that `RenderPool.render` got."""
    ends_block: bool
    jobs: Sequence[Job]
    """All its pictures."""
    ids: Ids
    """Of those that went well."""
    place: slice
    """Where in the pool's `memory` all pictures of the chunk are, those that failed among them."""
    rows: Positions
    """Rows of that place that hold the pictures of `ids`."""
    traits: NDArray[np.void]
    """What else is known of each (`library.traits.TRAITS`), (len(ids),)."""
    failures: list[Failure]
    memory: Pixels = field(repr=False)
    """All of the pool's pixels."""

    def unread_places(self) -> Iterator[Sequence[Job]]:
        """Yield the pictures of each place of which none could be read."""
        unread = {failure.id for failure in self.failures if not failure.is_final}
        for place in sorted({job.address[:2] for job in self.jobs if job.id in unread}):
            jobs = [job for job in self.jobs if job.address[:2] == place]
            if unread.issuperset(job.id for job in jobs):
                yield jobs

    @property
    def pixels(self) -> Pixels:
        """RGB, (len(ids), size, size, 3): the pictures that went well, and nothing else."""
        n, drawn = len(self.rows), self.memory[self.place]
        return drawn[:n] if not n or self.rows[-1] == n - 1 else drawn[self.rows]


@dataclass(eq=False, slots=True)
class _Chunk:
    """Pictures of one block that are drawn into one slot and yielded together."""

    block: int
    ends_block: bool
    jobs: Sequence[Job]
    slot: int = -1
    n_orders_left: int = 0


CHUNK = 64
_MAX_DEATHS_WITHOUT_CAUSE = 10


@dataclass(eq=False, slots=True)
class _Busy(Worker):
    """A worker with what it was sent and has not finished, oldest first: pictures of a chunk, and their rows."""

    is_ready: bool = False
    orders: list[tuple[_Chunk, list[tuple[int, Job]]]] = field(default_factory=list)


class RenderPool(AbstractContextManager["RenderPool"]):
    """Renders lists of jobs in worker processes; a context manager.

    `workers=0` renders in the calling process, without limits of time and memory: for a few pictures, and for tests.
    `chunk` is how many pictures are yielded together. `memory_bytes` is what a worker may take beyond what it starts
    with (Linux only); shared pixels come on top of it.

    Chunks go through `n_slots` slots in a circle, so that pixels of consecutive chunks lie side by side, too,
    until the circle ends. The pixels of the last `held` chunks stay as they are, and `ahead` more are drawn
    while the consumer is busy: at first `usual_ahead`, at least two, and 128 pictures a worker. Both may be changed
    within `n_slots`.
    `waited_seconds` is how long the consumer has waited for pixels so far.
    """

    def __init__(
        self,
        *,
        size: int,
        workers: int,
        seconds_per_item: float = 10.0,
        memory_bytes: int = 1 << 30,
        chunk: int = CHUNK,
        n_slots: int | None = None,
    ) -> None:
        self.waited_seconds, self.held = 0.0, 1
        self.usual_ahead = max(2, math.ceil(workers * 4 * SENT_AT_ONCE / chunk)) if workers else 0
        self.ahead = self.usual_ahead
        self.n_slots = n_slots or self.held + self.ahead
        self._waits_for: Callable[[Sequence[Job]], None] = lambda _: None
        self._n_workers = workers
        self._settings = Settings(size, chunk, self.n_slots, seconds_per_item, memory_bytes)
        self._memory = slots.shared_memory(self._settings)
        self._slots = slots.Slots.map(self._settings, self._memory.fileno())
        self._said = TemporaryFile()  # noqa: SIM115 - closed with the pool
        self._workers: list[_Busy] = []
        self._deaths_without_cause = 0
        self._under_way: deque[_Chunk] = deque()
        self._start_missing_workers()

    def close(self, *_: object) -> None:
        """End the workers at once, whatever they are at. Pixels of chunks that were yielded stay readable."""
        self._stop_workers()
        self._slots = slots.Slots(self._slots.pixels[:0].copy(), self._slots.notes[:0].copy())
        self._memory.close()
        self._said.close()

    __exit__ = close

    @property
    def memory(self) -> Pixels:
        """The pixels of all slots: RGB, (n_slots * chunk, size, size, 3), from the beginning of a page."""
        return self._slots.pixels

    def render(
        self, blocks: Iterable[Sequence[Job]], *, waits_for: Callable[[Sequence[Job]], None] = lambda _: None
    ) -> Iterator[RenderedChunk]:
        """Render blocks of jobs, a block at a time and in order; an empty block gives one empty chunk.

        Workers begin now, before the first chunk is asked for. `waits_for` gets the jobs of the chunk that the
        consumer waits for, with each sign of life of a worker. One call at a time. Raises EmbedError when workers do
        not start, or die without a picture being at fault.
        """
        if self._under_way:  # ended before its first chunk
            self._stop_workers()
        self._waits_for = waits_for
        self._start_missing_workers()
        size = self._settings.chunk
        self._todo = (
            _Chunk(block, start + size >= len(jobs), jobs[start : start + size])
            for block, jobs in enumerate(blocks)
            for start in range(0, max(1, len(jobs)), size)
        )
        self._under_way, self._free, self._n_kept = deque(), deque(range(self.n_slots)), self.n_slots
        if self._workers:
            self._begin_more()
        return self._chunks()

    def keep_to(self, n_slots: int, *, at_once: int) -> None:
        """Go on in the first slots alone, before a chunk is asked for: memory that is soon drawn on again stays near.

        They have to hold all chunks that are held, and those ahead of them. So many chunks `at_once` have to lie one
        after the other: what is drawn already is filled up to that, behind these slots, too.
        """
        first_round = max(n_slots, at_once * math.ceil(len(self._under_way) / at_once))
        self._free = deque(slot for slot in self._free if slot < first_round)
        self._n_kept = n_slots

    def _chunks(self) -> Iterator[RenderedChunk]:
        yielded: deque[int] = deque()
        try:
            while True:
                started = time.perf_counter()
                self._begin_more()
                if not self._under_way:
                    return
                chunk = self._under_way[0]
                self._waits_for(chunk.jobs)
                self._wait_for(chunk)
                self.waited_seconds += time.perf_counter() - started
                place = slice(start := chunk.slot * self._settings.chunk, start + len(chunk.jobs))
                notes = self._slots.notes[place]
                is_drawn = notes["state"] == slots.DRAWN
                yield RenderedChunk(
                    block=chunk.block,
                    ends_block=chunk.ends_block,
                    jobs=chunk.jobs,
                    ids=np.array([job.id for job in chunk.jobs], np.int64)[is_drawn],
                    place=place,
                    rows=np.flatnonzero(is_drawn),
                    traits=notes["traits"][is_drawn],
                    failures=[
                        Failure(job.id, note["reason"].decode(errors="ignore"), bool(note["state"] == slots.FAILED))
                        for job, note in zip(chunk.jobs, notes, strict=True)
                        if note["state"] != slots.DRAWN
                    ],
                    memory=self.memory,
                )
                yielded.append(self._under_way.popleft().slot)
                while len(yielded) >= self.held:
                    if (slot := yielded.popleft()) < self._n_kept:
                        self._free.append(slot)
        finally:
            if self._under_way:  # ended on the way: nobody waits for what the workers are drawing
                self._stop_workers()
                self._under_way.clear()

    def _begin_more(self) -> None:
        """Have chunks drawn: the next one to be yielded, and those ahead of it."""
        n = min(self.ahead + 1 - len(self._under_way), len(self._free))
        for chunk in islice(self._todo, max(0, n)):
            self._under_way.append(chunk)
            chunk.slot = self._free.popleft()
            start = chunk.slot * self._settings.chunk
            self._slots.notes["state"][start : start + len(chunk.jobs)] = slots.UNTOUCHED
            jobs = list(enumerate(chunk.jobs, start))
            for first in range(0, len(jobs), SENT_AT_ONCE):
                self._send(chunk, jobs[first : first + SENT_AT_ONCE])

    def _send(self, chunk: _Chunk, jobs: Sequence[tuple[int, Job]]) -> None:
        """Give what is untouched of some pictures to the worker with the least to do."""
        untouched = [(row, job) for row, job in jobs if self._slots.notes["state"][row] == slots.UNTOUCHED]
        if not self._workers:
            self._waits_for(chunk.jobs)
            slots.draw_all(self._slots, untouched)
        elif untouched:
            least = min(self._workers, key=lambda busy: len(busy.orders))
            least.orders.append((chunk, untouched))
            chunk.n_orders_left += 1
            with suppress(ConnectionError):  # it has died: noticed, and sent again, where its answer is waited for
                least.connection.send(untouched)

    def _wait_for(self, chunk: _Chunk) -> None:
        while chunk.n_orders_left:
            self._waits_for(chunk.jobs)
            heard = wait([busy.connection for busy in self._workers])
            for busy in [busy for busy in self._workers if busy.connection in heard]:
                try:
                    busy.connection.recv_bytes()
                except (EOFError, ConnectionError):
                    self._replace(busy)
                    continue
                if busy.is_ready:
                    busy.orders.pop(0)[0].n_orders_left -= 1
                    self._deaths_without_cause = 0
                busy.is_ready = True

    def _replace(self, dead: _Busy) -> None:
        """Remove a dead worker, note the picture that it died of, and have its other pictures drawn by the rest."""
        dead.connection.close()
        status = dead.process.wait()
        cause = cause_of_end(status, seconds=self._settings.seconds_per_item)
        is_killed = status == -signal.SIGKILL  # no picture does this: it is the kernel short of memory, or a person
        if not dead.is_ready and not is_killed:
            self._said.seek(0)  # its last line tells; another worker may be in the middle of a traceback
            lines = self._said.read().decode(errors="replace").strip().splitlines()
            said = next((line for line in reversed(lines) if not line.startswith((" ", "Traceback"))), cause)
            raise EmbedError(f"a render worker ended at its start: {said}")
        self._workers.remove(dead)
        self._start_missing_workers()
        rows = [row for _, jobs in dead.orders for row, _ in jobs if self._slots.notes["state"][row] == slots.STARTED]
        self._deaths_without_cause += not rows
        if self._deaths_without_cause > _MAX_DEATHS_WITHOUT_CAUSE:
            raise EmbedError(f"render workers keep dying between pictures, the last one: {cause}")
        for row in rows[:1]:
            self._slots.fail(row, cause, state=slots.UNREADABLE if is_killed else slots.FAILED)
        for chunk, jobs in dead.orders:
            chunk.n_orders_left -= 1
            self._send(chunk, jobs)

    def _start_missing_workers(self) -> None:
        settings, memory = json.dumps(asdict(self._settings)), self._memory.fileno()
        while len(self._workers) < self._n_workers:
            worker = _Busy.start(slots.PROGRAM, settings, str(memory), pass_fds=(memory,), stderr=self._said)
            self._workers.append(worker)

    def _stop_workers(self) -> None:
        for busy in self._workers:
            busy.end()
        self._workers.clear()
