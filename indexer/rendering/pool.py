"""Pictures rendered in worker processes, in chunks, into slots of shared memory; a bad one stops no other.

python -c "from indexer.rendering.pool import work; work()" SETTINGS MEMORY CONNECTION

Pixels of all slots lie one after the other, so that pictures of neighbouring slots are one array, which a GPU copies at
once. A slot says of each picture how far it is, so that the pool knows which one a worker died of.

A picture that takes too long, or brings its worker down, becomes a Failure; a new worker goes on with the next one.
`work` is what runs in a worker.
"""

import json
import math
import mmap
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from itertools import islice
from multiprocessing.connection import wait
from tempfile import TemporaryFile
from typing import IO, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Ids, Pixels, Positions, in_chunks
from indexer.errors import EmbedError, IconsError, SourceError
from indexer.library.shards import TRAITS, digest_of
from indexer.rendering.draw_pool import Worker, beyond_memory_limit, cause_of_end, limited, serve
from indexer.rendering.render import BLANK, Made, decode, lay
from indexer.sources.folders import reason_of
from indexer.sources.records import PictureAddress
from indexer.sources.source import KINDS, read_all, read_picture

UNTOUCHED, STARTED, DRAWN, FAILED, UNREADABLE = range(5)
"""States of a picture in a slot. `UNREADABLE` is the file's or the moment's fault, and so worth another try; `FAILED`
is the picture's own."""
_REASON_BYTES = 300
_NOTE = np.dtype([("state", "u1"), ("reason", f"S{_REASON_BYTES}"), ("traits", TRAITS)])
_LAID_AT_ONCE = 1 << 21
"""Pixels: 512 pictures of 64 px, 10 of 448."""
PROGRAM = "from indexer.rendering.pool import work; work()"
"""What a worker runs, with its settings as JSON and the descriptor of the memory."""


class Job(NamedTuple):
    """One picture to render."""

    id: int
    address: PictureAddress


@dataclass(frozen=True, slots=True)
class Settings:
    """What all workers of a pool get at their start; `RenderPool` says what each means."""

    size: int
    chunk: int
    n_slots: int
    seconds_per_item: float
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class Slots:
    """Shared memory, seen as arrays: a row a picture, the rows of a slot side by side."""

    pixels: Pixels
    """RGB, (n_slots * chunk, size, size, 3), from the beginning of a page."""
    notes: NDArray[np.void]
    """`state`, `reason` of a failure and `traits` of each picture, (n_slots * chunk,)."""

    @classmethod
    def map(cls, settings: Settings, memory: int) -> Self:
        """See shared memory by its file descriptor."""
        n, size = settings.n_slots * settings.chunk, settings.size
        memory_map = mmap.mmap(memory, 0)
        pixels = np.frombuffer(memory_map, np.uint8, n * size * size * 3).reshape(n, size, size, 3)
        return cls(pixels, np.frombuffer(memory_map, _NOTE, n, offset=pixels.nbytes))

    def fail(self, row: int, reason: str, *, state: int = FAILED) -> None:
        """Note that a picture gave no pixels, and why."""
        self.notes["reason"][row] = reason.encode(errors="replace")[:_REASON_BYTES]
        self.notes["state"][row] = state


def shared_memory(settings: Settings) -> IO[bytes]:
    """Open memory for the slots that has no name.

    So there is nothing to unlink after a crash, and none of /dev/shm's limit (64 MB in a container).
    """
    file = (
        os.fdopen(os.memfd_create("icons-render"), "r+b", buffering=0) if sys.platform == "linux" else TemporaryFile()  # noqa: SIM115
    )
    file.truncate((settings.size**2 * 3 + _NOTE.itemsize) * settings.n_slots * settings.chunk)
    return file


def work() -> None:
    """Be a worker of a `RenderPool`."""
    settings = Settings(**json.loads(sys.argv[1]))
    drawn = Slots.map(settings, int(sys.argv[2]))

    def draw(jobs: list[tuple[int, Job]]) -> bytes:
        draw_all(drawn, jobs, seconds_per_item=settings.seconds_per_item, memory_bytes=settings.memory_bytes)
        return b""

    serve(draw, memory_bytes=settings.memory_bytes)


def draw_all(
    drawn: Slots,
    jobs: Sequence[tuple[int, Job]],
    *,
    seconds_per_item: float | None = None,
    memory_bytes: int | None = None,
) -> None:
    """Draw jobs at their rows. One that takes longer than `seconds_per_item` ends this process.

    What lies in stores is read all together and before any is drawn: how long that takes is no picture's fault.
    """
    stored = {row: job.address for row, job in jobs if job.address.kind in KINDS}
    read: Mapping[int, bytes | SourceError] = {}
    if stored:
        with beyond_memory_limit(memory_bytes) if memory_bytes else nullcontext():
            read = dict(zip(stored, read_all([*stored.values()]), strict=True))
    decoded: list[tuple[int, tuple[Pixels, Made]]] = []
    for row, job in jobs:
        drawn.notes["state"][row] = STARTED
        with limited(seconds_per_item) if seconds_per_item else nullcontext():
            decoded += _decode(drawn, row, job, read.get(row))
    at_once, size = max(1, _LAID_AT_ONCE // drawn.pixels.shape[1] ** 2), drawn.pixels.shape[1]
    for some in in_chunks(decoded, at_once):
        for (row, _), laid in zip(some, lay([picture for _, picture in some], size=size), strict=True):
            if laid is None:
                drawn.fail(row, BLANK)
            else:
                drawn.pixels[row] = laid.pixels
                moves, roughness = laid.made
                traits = (laid.coloured, moves, digest_of(laid.pixels), laid.ink, roughness)
                drawn.notes["traits"][row], drawn.notes["state"][row] = traits, DRAWN


def _decode(
    drawn: Slots, row: int, job: Job, read: bytes | SourceError | None
) -> Iterator[tuple[int, tuple[Pixels, Made]]]:
    try:
        if isinstance(read, SourceError):
            raise read
        content = read or read_picture(job.address)
    except (OSError, SourceError) as error:
        drawn.fail(row, f"can't be read: {reason_of(error)}", state=UNREADABLE)
        return
    try:
        yield row, decode(content, size=drawn.pixels.shape[1])
        drawn.notes["state"][row] = UNTOUCHED  # until it is laid: another one may end this process
    except (IconsError, OSError, MemoryError, RecursionError) as error:
        drawn.fail(row, reason_of(error))


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
    """What else is known of each (`library.shards.TRAITS`), (len(ids),)."""
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
        self._memory = shared_memory(self._settings)
        self._slots = Slots.map(self._settings, self._memory.fileno())
        self._said = TemporaryFile()  # noqa: SIM115 - closed with the pool
        self._workers: list[_Busy] = []
        self._deaths_without_cause = 0
        self._under_way: deque[_Chunk] = deque()
        self._start_missing_workers()

    def close(self, *_: object) -> None:
        """End the workers at once, whatever they are at. Pixels of chunks that were yielded stay readable."""
        self._stop_workers()
        self._slots = Slots(self._slots.pixels[:0].copy(), self._slots.notes[:0].copy())
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
                is_drawn = notes["state"] == DRAWN
                yield RenderedChunk(
                    block=chunk.block,
                    ends_block=chunk.ends_block,
                    jobs=chunk.jobs,
                    ids=np.array([job.id for job in chunk.jobs], np.int64)[is_drawn],
                    place=place,
                    rows=np.flatnonzero(is_drawn),
                    traits=notes["traits"][is_drawn],
                    failures=[
                        Failure(job.id, note["reason"].decode(errors="ignore"), bool(note["state"] == FAILED))
                        for job, note in zip(chunk.jobs, notes, strict=True)
                        if note["state"] != DRAWN
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
            self._slots.notes["state"][start : start + len(chunk.jobs)] = UNTOUCHED
            jobs = list(enumerate(chunk.jobs, start))
            for some in in_chunks(jobs, SENT_AT_ONCE):
                self._send(chunk, some)

    def _send(self, chunk: _Chunk, jobs: Sequence[tuple[int, Job]]) -> None:
        """Give what is untouched of some pictures to the worker with the least to do."""
        untouched = [(row, job) for row, job in jobs if self._slots.notes["state"][row] == UNTOUCHED]
        if not self._workers:
            self._waits_for(chunk.jobs)
            draw_all(self._slots, untouched)
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
        rows = [row for _, jobs in dead.orders for row, _ in jobs if self._slots.notes["state"][row] == STARTED]
        self._deaths_without_cause += not rows
        if self._deaths_without_cause > 10:
            raise EmbedError(f"render workers keep dying between pictures, the last one: {cause}")
        for row in rows[:1]:
            self._slots.fail(row, cause, state=UNREADABLE if is_killed else FAILED)
        for chunk, jobs in dead.orders:
            chunk.n_orders_left -= 1
            self._send(chunk, jobs)

    def _start_missing_workers(self) -> None:
        settings, memory = json.dumps(asdict(self._settings)), self._memory.fileno()
        while len(self._workers) < self._n_workers:
            self._workers.append(_Busy.start(PROGRAM, settings, str(memory), pass_fds=(memory,), stderr=self._said))

    def _stop_workers(self) -> None:
        for busy in self._workers:
            busy.end()
        self._workers.clear()
