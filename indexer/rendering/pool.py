"""How are many pictures rendered at once, without a bad one stopping the rest? In worker processes that may die.

A picture that takes too long, or brings its worker down, becomes a Failure; a new worker goes on with the next one.
`slots` is what runs in a worker.
"""

import math
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing.connection import wait

import numpy as np
from numpy.typing import NDArray

from indexer.errors import EmbedError
from indexer.rendering import slots
from indexer.rendering.slots import Job, Settings
from indexer.rendering.worker import Worker, cause_of_end

__all__ = ["Failure", "Job", "RenderPool", "RenderedChunk"]

LEAST_AT_ONCE = 16
"""Fewer pictures than this take other paths through a processor's libraries, and get other last digits."""
_PIECE = 32
_PICTURES_AHEAD = 4 * _PIECE
_MAX_DEATHS_WITHOUT_CAUSE = 10


@dataclass(frozen=True, slots=True)
class Failure:
    """One picture that gave no pixels, and why."""

    id: int
    reason: str
    is_final: bool = True
    """Whether that is the picture's own fault; else it is worth another try."""


@dataclass(frozen=True, slots=True)
class RenderedChunk:
    """Some pictures of one block, in its order. Copy `batch` before asking for the next chunk, which may reuse it."""

    block: int
    """Position of the block in what `RenderPool.render` was given."""
    ends_block: bool
    ids: NDArray[np.int64]
    """Of the pictures that went well."""
    batch: NDArray[np.uint8]
    """RGB, (n, size, size, 3): all pictures of the chunk, at least `LEAST_AT_ONCE`; of those that failed, and of rows
    that fill it up, anything. A vector's last digits depend on how many pictures go at once, so all go."""
    rows: NDArray[np.intp]
    """Rows of the batch that hold the pictures of `ids`."""
    traits: NDArray[np.void]
    """What else is known of each (`library.traits.TRAITS`), (len(ids),)."""
    failures: list[Failure]

    @property
    def pixels(self) -> NDArray[np.uint8]:
        """RGB, (len(ids), size, size, 3): the pictures that went well, and nothing else."""
        n = len(self.rows)
        return self.batch[:n] if not n or self.rows[-1] == n - 1 else self.batch[self.rows]


@dataclass(eq=False, slots=True)
class _Chunk:
    block: int
    ends_block: bool
    jobs: Sequence[Job]
    slot: int = -1
    n_pieces_left: int = 0


@dataclass(eq=False, slots=True)
class _Piece:
    """What a worker is sent at a time: some of a chunk, so that all workers draw on the one that is waited for."""

    chunk: _Chunk
    positions: range


@dataclass(eq=False, slots=True)
class _Busy:
    """A worker with what it was sent and has not finished, oldest first."""

    worker: Worker
    is_ready: bool = False
    pieces: list[_Piece] = field(default_factory=list)


class RenderPool(AbstractContextManager["RenderPool"]):
    """Renders lists of jobs in worker processes; a context manager.

    `workers=0` renders in the calling process, without limits of time and memory: for a few pictures, and for tests.
    `chunk` is how many pictures are given out together; while the consumer is busy with some, at least two chunks, and
    128 pictures a worker, are drawn ahead. The pixels of the last `held` chunks given out stay as they are.
    `memory_bytes` is what a worker may take beyond what it starts with (Linux only); shared pixels come on top of it.
    `waited_seconds` is how long the consumer has waited for pixels so far.
    """

    def __init__(
        self,
        *,
        size: int,
        workers: int,
        seconds_per_item: float = 10.0,
        memory_bytes: int = 1 << 30,
        chunk: int = 64,
        held: int = 1,
    ) -> None:
        self.waited_seconds = 0.0
        self._held = held
        self._waits_for: Callable[[Sequence[Job]], None] = lambda _: None
        self._n_workers = workers
        n_slots = held + (max(2, math.ceil(workers * _PICTURES_AHEAD / chunk)) if workers else 0)
        self._settings = Settings(size, chunk, n_slots, seconds_per_item, memory_bytes)
        self._memory = slots.shared_memory(self._settings)
        self._slots = slots.map_slots(self._settings, self._memory.fileno())
        self._workers: list[_Busy] = []
        self._deaths_without_cause = 0
        self._start_missing_workers()

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def memory(self) -> NDArray[np.uint8]:
        """All that the workers draw into, as bytes: a GPU reads it by itself where it is page-locked."""
        return self._slots.view(np.uint8)

    def close(self) -> None:
        """End the workers at once, whatever they are at. Pixels that were given out stay readable."""
        self._stop_workers()
        self._slots = self._slots[:0].copy()
        self._memory.close()

    def render(
        self, blocks: Iterable[Sequence[Job]], *, waits_for: Callable[[Sequence[Job]], None] = lambda _: None
    ) -> Iterator[RenderedChunk]:
        """Render blocks of jobs, a block at a time and in order; an empty block gives one empty chunk.

        `waits_for` is told the jobs of the chunk that the consumer waits for, with each sign of life of a worker.
        One call at a time. Raises EmbedError when workers do not start, or die without a picture being at fault.
        """
        self._waits_for = waits_for
        self._start_missing_workers()
        todo = _cut(blocks, size=self._settings.chunk)
        under_way: deque[_Chunk] = deque()
        free = deque(range(self._settings.n_slots))
        given: deque[int] = deque()
        try:
            while True:
                started = time.perf_counter()
                for chunk in islice(todo, len(free)):
                    under_way.append(chunk)
                    self._begin(chunk, slot=free.popleft())
                if not under_way:
                    return
                self._waits_for(under_way[0].jobs)
                self._wait_for(under_way[0])
                self.waited_seconds += time.perf_counter() - started
                yield self._rendered(under_way[0])
                given.append(under_way.popleft().slot)
                if len(given) == self._held:
                    free.append(given.popleft())
        finally:
            if under_way:  # given up on the way: nobody waits for what the workers are drawing
                self._stop_workers()

    def _begin(self, chunk: _Chunk, *, slot: int) -> None:
        chunk.slot = slot
        self._slots[slot]["state"] = slots.UNTOUCHED
        for start in range(0, len(chunk.jobs), _PIECE):
            piece = _Piece(chunk, range(start, min(start + _PIECE, len(chunk.jobs))))
            if self._workers:
                self._send(piece)
            else:
                self._waits_for(chunk.jobs)
                slots.draw_all(self._slots[slot], self._untouched(piece))

    def _send(self, piece: _Piece) -> None:
        """Give what is untouched of a piece to the worker with the least to do."""
        jobs = self._untouched(piece)
        if not jobs:
            return
        least = min(self._workers, key=lambda busy: len(busy.pieces))
        least.pieces.append(piece)
        piece.chunk.n_pieces_left += 1
        with suppress(ConnectionError):  # it has died: noticed, and sent again, where its answer is waited for
            least.worker.connection.send((piece.chunk.slot, jobs))

    def _untouched(self, piece: _Piece) -> list[tuple[int, Job]]:
        untouched = self._slots[piece.chunk.slot]["state"] == slots.UNTOUCHED
        return [(position, piece.chunk.jobs[position]) for position in piece.positions if untouched[position]]

    def _wait_for(self, chunk: _Chunk) -> None:
        while chunk.n_pieces_left:
            self._waits_for(chunk.jobs)
            heard = wait([busy.worker.connection for busy in self._workers])
            for busy in [busy for busy in self._workers if busy.worker.connection in heard]:
                self._hear(busy)

    def _hear(self, busy: _Busy) -> None:
        try:
            busy.worker.connection.recv_bytes()
        except (EOFError, ConnectionError):
            self._replace(busy)
            return
        if busy.is_ready:
            busy.pieces.pop(0).chunk.n_pieces_left -= 1
            self._deaths_without_cause = 0
        busy.is_ready = True

    def _replace(self, dead: _Busy) -> None:
        """Remove a dead worker, note the picture that it died of, and have its other pictures drawn by the rest."""
        dead.worker.connection.close()
        status = dead.worker.process.wait()
        cause = cause_of_end(status, seconds=self._settings.seconds_per_item)
        is_killed = status == -signal.SIGKILL  # no picture does this: it is the kernel short of memory, or a person
        if not dead.is_ready and not is_killed:
            raise EmbedError(f"a render worker ended at its start: {cause}; its own message stands above")
        self._workers.remove(dead)
        self._start_missing_workers()
        self._blame(dead, cause, state=slots.UNREADABLE if is_killed else slots.FAILED)
        for piece in dead.pieces:
            piece.chunk.n_pieces_left -= 1
            self._send(piece)

    def _blame(self, dead: _Busy, cause: str, *, state: int) -> None:
        for piece in dead.pieces:
            slot = self._slots[piece.chunk.slot]
            for position in piece.positions:
                if slot["state"][position] == slots.STARTED:
                    slots.fail(slot, position, cause, state=state)
                    return
        self._deaths_without_cause += 1
        if self._deaths_without_cause > _MAX_DEATHS_WITHOUT_CAUSE:
            raise EmbedError(f"render workers keep dying between pictures, the last one: {cause}")

    def _rendered(self, chunk: _Chunk) -> RenderedChunk:
        slot, n_jobs = self._slots[chunk.slot], len(chunk.jobs)
        states, reasons = slot["state"][:n_jobs], slot["reason"]
        good = states == slots.DRAWN
        ids = np.array([job.id for job in chunk.jobs], np.int64)
        return RenderedChunk(
            block=chunk.block,
            ends_block=chunk.ends_block,
            ids=ids[good],
            batch=slot["pixels"][: max(n_jobs, LEAST_AT_ONCE)],
            rows=np.flatnonzero(good),
            traits=slot["traits"][:n_jobs][good],
            failures=[
                Failure(int(ids[i]), reasons[i].decode(errors="ignore"), is_final=bool(states[i] == slots.FAILED))
                for i in np.flatnonzero(~good)
            ],
        )

    def _start_missing_workers(self) -> None:
        while len(self._workers) < self._n_workers:
            self._workers.append(_Busy(slots.start_worker(self._settings, self._memory.fileno())))

    def _stop_workers(self) -> None:
        for busy in self._workers:
            busy.worker.end()
        self._workers.clear()


def _cut(blocks: Iterable[Sequence[Job]], *, size: int) -> Iterator[_Chunk]:
    for block, jobs in enumerate(blocks):
        for start in range(0, max(1, len(jobs)), size):
            yield _Chunk(block, start + size >= len(jobs), jobs[start : start + size])
