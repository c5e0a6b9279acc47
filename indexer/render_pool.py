"""How are many pictures rendered at once, without a bad one stopping the rest? In worker processes that may die.

A worker is a fresh interpreter that imports this module and nothing of its parent's, so it never holds torch, and
libvips never sees a fork. It draws into memory that it shares with the pool, and notes there which picture it is at.
A picture that takes too long, or brings its worker down, becomes a Failure; a new worker goes on with the next one.
"""

import json
import math
import mmap
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import islice
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from indexer.errors import EmbedError, IconsError, RenderError
from indexer.render import Background, render
from indexer.sources import read_picture
from indexer.sources.records import content_digest

_UNTOUCHED, _STARTED, _LIGHT, _DARK, _FAILED = range(5)
_STATES: dict[Background, int] = {"light": _LIGHT, "dark": _DARK}
_BACKGROUNDS: dict[int, Background] = {_LIGHT: "light", _DARK: "dark"}
_READY = -1
_REASON_BYTES = 300
# -P: a file "numpy.py" in the folder where the user happens to stand is not to be imported
_WORKER = (sys.executable, "-P", "-c", "from indexer.render_pool import work; work()")
_ANY_PICTURE = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><path d="M0 0h1v1z"/></svg>'
_PIECE = 32
_PICTURES_AHEAD = 4 * _PIECE
_MAX_DEATHS_WITHOUT_CAUSE = 10


class Job(NamedTuple):
    """One picture to render: what `indexer.sources.read_picture` finds it by, and the digest that the scan saw."""

    id: int
    kind: str
    location: str
    path: str
    member: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class Failure:
    """One picture that gave no pixels, and why."""

    id: int
    reason: str


@dataclass(frozen=True, slots=True)
class RenderedChunk:
    """Some pictures of one block, in its order. Copy `pixels` before asking for the next chunk, which may reuse it."""

    block: int
    """Position of the block in what `RenderPool.render` was given."""
    ends_block: bool
    ids: NDArray[np.int64]
    """Of the pictures that went well."""
    pixels: NDArray[np.uint8]
    """RGB, (len(ids), size, size, 3)."""
    backgrounds: list[Background]
    failures: list[Failure]


@dataclass(frozen=True, slots=True)
class _Settings:
    size: int
    chunk: int
    n_slots: int
    seconds_per_item: float
    memory_bytes: int


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
class _Worker:
    process: subprocess.Popen[bytes]
    connection: "Connection[Any, Any]"
    ready: bool = False
    pieces: list[_Piece] = field(default_factory=list)
    """What it was sent and has not finished, oldest first."""


class RenderPool:
    """Renders lists of jobs in worker processes; a context manager.

    `workers=0` renders in the calling process, without limits of time and memory: for a few pictures, and for tests.
    `chunk` is how many pictures are given out together; while the consumer is busy with some, at least two chunks, and
    128 pictures a worker, are drawn ahead. `memory_bytes` is what a worker may take beyond what it starts with (Linux
    only); shared pixels come on top of it. `waited_seconds` is how long the consumer has waited for pixels so far.
    """

    def __init__(
        self,
        *,
        size: int,
        workers: int,
        seconds_per_item: float = 10.0,
        memory_bytes: int = 1 << 30,
        chunk: int = 64,
    ) -> None:
        self.waited_seconds = 0.0
        self._n_workers = workers
        n_slots = 1 + max(2, math.ceil(workers * _PICTURES_AHEAD / chunk)) if workers else 1
        self._settings = _Settings(size, chunk, n_slots, seconds_per_item, memory_bytes)
        self._memory = _nameless_file(_slot_type(self._settings).itemsize * self._settings.n_slots)
        self._slots = _map_slots(self._settings, self._memory.fileno())
        self._workers: list[_Worker] = []
        self._deaths_without_cause = 0
        self._start_missing_workers()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the workers at once, whatever they are at. Pixels that were given out stay readable."""
        self._stop_workers()
        self._slots = self._slots[:0].copy()
        self._memory.close()

    def render(self, blocks: Iterable[Sequence[Job]]) -> Iterator[RenderedChunk]:
        """Render blocks of jobs, a block at a time and in order; an empty block gives one empty chunk.

        One call at a time. Raises EmbedError when workers do not start, or die without a picture being at fault.
        """
        self._start_missing_workers()
        todo = _cut(blocks, size=self._settings.chunk)
        under_way: deque[_Chunk] = deque()
        free = deque(range(self._settings.n_slots))
        try:
            while True:
                started = time.perf_counter()
                for chunk in islice(todo, len(free)):
                    under_way.append(chunk)
                    self._begin(chunk, slot=free.popleft())
                if not under_way:
                    return
                self._wait_for(under_way[0])
                self.waited_seconds += time.perf_counter() - started
                yield self._rendered(under_way[0])
                free.append(under_way.popleft().slot)
        finally:
            if under_way:  # given up on the way: nobody waits for what the workers are drawing
                self._stop_workers()

    def _begin(self, chunk: _Chunk, *, slot: int) -> None:
        chunk.slot = slot
        self._slots[slot]["state"] = _UNTOUCHED
        for start in range(0, len(chunk.jobs), _PIECE):
            piece = _Piece(chunk, range(start, min(start + _PIECE, len(chunk.jobs))))
            if self._workers:
                self._send(piece)
            else:
                _draw_all(self._slots[slot], [(position, chunk.jobs[position]) for position in piece.positions])

    def _send(self, piece: _Piece) -> None:
        """Give what is untouched of a piece to the worker with the least to do."""
        states = self._slots[piece.chunk.slot]["state"]
        jobs = [
            (position, piece.chunk.jobs[position]) for position in piece.positions if states[position] == _UNTOUCHED
        ]
        if not jobs:
            return
        worker = min(self._workers, key=lambda worker: len(worker.pieces))
        worker.pieces.append(piece)
        piece.chunk.n_pieces_left += 1
        with suppress(ConnectionError):  # it has died: noticed, and sent again, where its answer is waited for
            worker.connection.send((piece.chunk.slot, jobs))

    def _wait_for(self, chunk: _Chunk) -> None:
        while chunk.n_pieces_left:
            heard = wait([worker.connection for worker in self._workers])
            for worker in [worker for worker in self._workers if worker.connection in heard]:
                self._hear(worker)

    def _hear(self, worker: _Worker) -> None:
        try:
            slot = worker.connection.recv()
        except (EOFError, ConnectionError):
            self._replace(worker)
            return
        if slot == _READY:
            worker.ready = True
            return
        worker.pieces.pop(0).chunk.n_pieces_left -= 1
        self._deaths_without_cause = 0

    def _replace(self, dead: _Worker) -> None:
        """Bury a worker, note the picture that it died of, and have its other pictures drawn by the rest."""
        dead.connection.close()
        status = dead.process.wait()
        if not dead.ready:
            raise EmbedError(f"a render worker ended at its start ({_cause(status)}); its own message stands above")
        self._workers.remove(dead)
        self._start_missing_workers()
        self._blame(dead, status)
        for piece in dead.pieces:
            piece.chunk.n_pieces_left -= 1
            self._send(piece)

    def _blame(self, dead: _Worker, status: int) -> None:
        took_too_long = f"took longer than {self._settings.seconds_per_item:g} s"
        reason = took_too_long if status == -signal.SIGALRM else f"the renderer {_cause(status)}"
        for piece in dead.pieces:
            slot = self._slots[piece.chunk.slot]
            for position in piece.positions:
                if slot["state"][position] == _STARTED:
                    _fail(slot, position, reason)
                    return
        self._deaths_without_cause += 1
        if self._deaths_without_cause > _MAX_DEATHS_WITHOUT_CAUSE:
            raise EmbedError(f"render workers keep dying between pictures: the last one {_cause(status)}")

    def _rendered(self, chunk: _Chunk) -> RenderedChunk:
        slot, n_jobs = self._slots[chunk.slot], len(chunk.jobs)
        states = slot["state"][:n_jobs]
        good = states != _FAILED
        ids = np.array([job.id for job in chunk.jobs], np.int64)
        return RenderedChunk(
            block=chunk.block,
            ends_block=chunk.ends_block,
            ids=ids[good],
            pixels=slot["pixels"][:n_jobs] if good.all() else slot["pixels"][:n_jobs][good],
            backgrounds=[_BACKGROUNDS[state] for state in states[good].tolist()],
            failures=[Failure(int(ids[i]), slot["reason"][i].decode(errors="ignore")) for i in np.flatnonzero(~good)],
        )

    def _start_missing_workers(self) -> None:
        while len(self._workers) < self._n_workers:
            self._workers.append(_start_worker(self._settings, self._memory.fileno()))

    def _stop_workers(self) -> None:
        for worker in self._workers:
            worker.connection.close()
            worker.process.kill()
            worker.process.wait()
        self._workers.clear()


def _cut(blocks: Iterable[Sequence[Job]], *, size: int) -> Iterator[_Chunk]:
    for block, jobs in enumerate(blocks):
        for start in range(0, max(1, len(jobs)), size):
            yield _Chunk(block, start + size >= len(jobs), jobs[start : start + size])


def _cause(status: int) -> str:
    if status == -signal.SIGKILL:
        return "was killed (signal 9), perhaps for want of memory"
    return f"crashed (signal {-status})" if status < 0 else f"ended (exit status {status})"


def _nameless_file(n_bytes: int) -> IO[bytes]:
    """Memory without a name: nothing to unlink after a crash, and none of /dev/shm's limit (64 MB in a container)."""
    if sys.platform == "linux":
        file: IO[bytes] = os.fdopen(os.memfd_create("icons-render"), "r+b", buffering=0)
    else:
        file = tempfile.TemporaryFile()  # noqa: SIM115
    file.truncate(n_bytes)
    return file


def _slot_type(settings: _Settings) -> np.dtype[np.void]:
    """A slot takes one chunk: for each of its pictures a state, the reason of a failure, and pixels."""
    n, size = settings.chunk, settings.size
    return np.dtype([("state", "u1", n), ("reason", f"S{_REASON_BYTES}", n), ("pixels", "u1", (n, size, size, 3))])


def _map_slots(settings: _Settings, memory: int) -> NDArray[np.void]:
    return np.frombuffer(mmap.mmap(memory, 0), _slot_type(settings))


def _start_worker(settings: _Settings, memory: int) -> _Worker:
    """Start a fresh interpreter; multiprocessing would import the parent's main module in it, and torch with that."""
    here, there = Pipe()
    with there:
        process = subprocess.Popen(
            [*_WORKER, json.dumps(asdict(settings)), str(memory), str(there.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(memory, there.fileno()),
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OPENBLAS_NUM_THREADS": "1"},
            process_group=0,  # Ctrl-C is for the parent, which then ends its workers
        )
    return _Worker(process, here)


def work() -> None:
    """A worker's life, from its start by RenderPool until the other end of its connection closes."""
    settings = _Settings(**json.loads(sys.argv[1]))
    slots = _map_slots(settings, int(sys.argv[2]))
    connection: Connection[Any, Any] = Connection(int(sys.argv[3]))
    _limit_this_process(settings.memory_bytes)
    with suppress(EOFError, ConnectionError):
        connection.send(_READY)
        while True:
            slot, jobs = connection.recv()
            _draw_all(slots[slot], jobs, seconds_per_item=settings.seconds_per_item)
            connection.send(slot)


def _limit_this_process(memory_bytes: int) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    render(_ANY_PICTURE, size=16)  # so that the libraries are loaded before memory and time are counted
    if sys.platform == "linux":
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        ceiling = resource.getrlimit(resource.RLIMIT_AS)[1]
        limit = taken + memory_bytes if ceiling == resource.RLIM_INFINITY else min(taken + memory_bytes, ceiling)
        resource.setrlimit(resource.RLIMIT_AS, (limit, ceiling))
    os.dup2(
        os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno()
    )  # GLib's remarks on bad files; reasons travel otherwise


def _draw_all(slot: np.void, jobs: list[tuple[int, Job]], *, seconds_per_item: float | None = None) -> None:
    for position, job in jobs:
        if seconds_per_item is not None:  # nothing handles this signal: the kernel ends the process, whatever it is in
            signal.setitimer(signal.ITIMER_REAL, seconds_per_item)
        _draw(slot, position, job)
    if seconds_per_item is not None:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _draw(slot: np.void, position: int, job: Job) -> None:
    slot["state"][position] = _STARTED
    try:
        rendered = render(_read(job), size=slot["pixels"].shape[1])
    except (IconsError, OSError, MemoryError, RecursionError) as error:
        _fail(slot, position, _reason(error))
    else:
        slot["pixels"][position] = rendered.pixels
        slot["state"][position] = _STATES[rendered.background]


def _read(job: Job) -> bytes:
    content = read_picture(job.kind, Path(job.location), job.path, job.member)
    if content_digest(content) != job.digest:
        raise RenderError("changed since the scan; run `icons index` again")
    return content


def _reason(error: BaseException) -> str:
    return (error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__


def _fail(slot: np.void, position: int, reason: str) -> None:
    slot["reason"][position] = reason.encode(errors="replace")[:_REASON_BYTES]
    slot["state"][position] = _FAILED
