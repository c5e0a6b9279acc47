"""Render workers draw into slots of memory that they share with their pool, a chunk of pictures each.

    python -c "from indexer.rendering.slots import work; work()" SETTINGS MEMORY CONNECTION

Pixels of all slots lie one after the other, so that pictures of neighbouring slots are one array, which a GPU copies at
once. A slot says of each picture how far it is, so that the pool knows which one a worker died of.
"""

import json
import mmap
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import IO, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Pixels
from indexer.errors import IconsError, SourceError
from indexer.library.traits import TRAITS, digest_of
from indexer.rendering.render import render
from indexer.rendering.worker import Worker, beyond_memory_limit, limited, serve
from indexer.sources.folders import reason_of
from indexer.sources.records import PictureAddress
from indexer.sources.source import read_picture
from indexer.sources.stored import KINDS, read_all

UNTOUCHED, STARTED, DRAWN, FAILED, UNREADABLE = range(5)
"""States of a picture in a slot. `UNREADABLE` is the file's or the moment's fault, and so worth another try; `FAILED`
is the picture's own."""
_REASON_BYTES = 300
_NOTE = np.dtype([("state", "u1"), ("reason", f"S{_REASON_BYTES}"), ("traits", TRAITS)])
_PROGRAM = "from indexer.rendering.slots import work; work()"


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
    """Shared memory, seen as arrays."""

    pixels: Pixels
    """RGB, (n_slots * chunk, size, size, 3), from the beginning of a page."""
    notes: NDArray[np.void]
    """`state`, `reason` of a failure and `traits` of each picture, (n_slots, chunk)."""

    @classmethod
    def map(cls, settings: Settings, memory: int) -> Self:
        """See shared memory by its file descriptor."""
        n, size = settings.n_slots * settings.chunk, settings.size
        memory_map = mmap.mmap(memory, 0)
        pixels = np.frombuffer(memory_map, np.uint8, n * size * size * 3).reshape(n, size, size, 3)
        notes = np.frombuffer(memory_map, _NOTE, n, offset=pixels.nbytes)
        return cls(pixels, notes.reshape(settings.n_slots, settings.chunk))

    def of(self, slot: int) -> "Slot":
        """One slot."""
        chunk = self.notes.shape[1]
        return Slot(self.pixels[slot * chunk : (slot + 1) * chunk], self.notes[slot])


class Slot(NamedTuple):
    """The place of one chunk."""

    pixels: Pixels
    """RGB, (chunk, size, size, 3)."""
    notes: NDArray[np.void]
    """(chunk,)."""


def shared_memory(settings: Settings) -> IO[bytes]:
    """Open memory for the slots that has no name.

    So there is nothing to unlink after a crash, and none of /dev/shm's limit (64 MB in a container).
    """
    if sys.platform == "linux":
        file: IO[bytes] = os.fdopen(os.memfd_create("icons-render"), "r+b", buffering=0)
    else:
        file = tempfile.TemporaryFile()  # noqa: SIM115
    file.truncate((settings.size**2 * 3 + _NOTE.itemsize) * settings.n_slots * settings.chunk)
    return file


def start_worker(settings: Settings, memory: int, *, stderr: IO[bytes]) -> Worker:
    """Start a worker that draws into `memory`, a file descriptor; `stderr` takes what it says until it is ready."""
    return Worker.start(_PROGRAM, json.dumps(asdict(settings)), str(memory), pass_fds=(memory,), stderr=stderr)


def work() -> None:
    """Be a worker, started by `start_worker`."""
    settings = Settings(**json.loads(sys.argv[1]))
    slots = Slots.map(settings, int(sys.argv[2]))

    def draw(order: tuple[int, list[tuple[int, Job]]]) -> bytes:
        slot, jobs = order
        is_stored = any(job.address.kind in KINDS for _, job in jobs)
        with beyond_memory_limit(settings.memory_bytes) if is_stored else nullcontext():
            held = _read_stored(jobs)
        draw_all(slots.of(slot), jobs, held, seconds_per_item=settings.seconds_per_item)
        return b""

    serve(draw, memory_bytes=settings.memory_bytes)


def draw_all(
    slot: Slot,
    jobs: Sequence[tuple[int, Job]],
    held: Mapping[int, bytes | SourceError] | None = None,
    *,
    seconds_per_item: float | None = None,
) -> None:
    """Draw jobs at their positions in a slot. One that takes longer than `seconds_per_item` ends this process.

    `held` is what was read out of stores, by position.
    """
    held = _read_stored(jobs) if held is None else held
    for position, job in jobs:
        with limited(seconds_per_item):
            _draw(slot, position, job, held.get(position))


def _read_stored(jobs: Sequence[tuple[int, Job]]) -> dict[int, bytes | SourceError]:
    """Read what lies in stores, all together and before any is drawn: how long that takes is no picture's fault."""
    stored = {position: job for position, job in jobs if job.address.kind in KINDS}
    if not stored:
        return {}
    read = read_all([job.address for job in stored.values()])
    return dict(zip(stored, read, strict=True))


def fail(slot: Slot, position: int, reason: str, *, state: int = FAILED) -> None:
    """Note in a slot that a picture gave no pixels, and why."""
    slot.notes["reason"][position] = reason.encode(errors="replace")[:_REASON_BYTES]
    slot.notes["state"][position] = state


def _draw(slot: Slot, position: int, job: Job, held: bytes | SourceError | None) -> None:
    slot.notes["state"][position] = STARTED
    try:
        if isinstance(held, SourceError):
            raise held
        content = held or read_picture(job.address)
    except (OSError, SourceError) as error:
        fail(slot, position, f"can't be read: {reason_of(error)}", state=UNREADABLE)
        return
    try:
        rendered = render(content, size=slot.pixels.shape[1])
    except (IconsError, OSError, MemoryError, RecursionError) as error:
        fail(slot, position, reason_of(error))
        return
    slot.pixels[position] = rendered.pixels
    slot.notes["traits"][position] = (rendered.coloured, rendered.animated, digest_of(rendered.pixels), rendered.ink)
    slot.notes["state"][position] = DRAWN
