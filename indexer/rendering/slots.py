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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import IO, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Pixels
from indexer.errors import IconsError, SourceError
from indexer.library.traits import TRAITS, digest_of
from indexer.rendering.draw_pool import beyond_memory_limit, limited, serve
from indexer.rendering.render import BLANK, decode, lay
from indexer.sources.folders import reason_of
from indexer.sources.records import PictureAddress
from indexer.sources.source import read_picture
from indexer.sources.stored import KINDS, read_all

UNTOUCHED, STARTED, DRAWN, FAILED, UNREADABLE = range(5)
"""States of a picture in a slot. `UNREADABLE` is the file's or the moment's fault, and so worth another try; `FAILED`
is the picture's own."""
_REASON_BYTES = 300
_NOTE = np.dtype([("state", "u1"), ("reason", f"S{_REASON_BYTES}"), ("traits", TRAITS)])
_LAID_AT_ONCE = 1 << 21
"""Pixels: 512 pictures of 64 px, 10 of 448."""
PROGRAM = "from indexer.rendering.slots import work; work()"
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
    if sys.platform == "linux":
        file: IO[bytes] = os.fdopen(os.memfd_create("icons-render"), "r+b", buffering=0)
    else:
        file = tempfile.TemporaryFile()  # noqa: SIM115
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
    decoded: list[tuple[int, tuple[Pixels, bool]]] = []
    for row, job in jobs:
        drawn.notes["state"][row] = STARTED
        with limited(seconds_per_item) if seconds_per_item else nullcontext():
            decoded += _decode(drawn, row, job, read.get(row))
    at_once, size = max(1, _LAID_AT_ONCE // drawn.pixels.shape[1] ** 2), drawn.pixels.shape[1]
    for some in (decoded[start : start + at_once] for start in range(0, len(decoded), at_once)):
        for (row, _), laid in zip(some, lay([picture for _, picture in some], size=size), strict=True):
            if laid is None:
                drawn.fail(row, BLANK)
            else:
                drawn.pixels[row] = laid.pixels
                traits = (laid.coloured, laid.animated, digest_of(laid.pixels), laid.ink)
                drawn.notes["traits"][row], drawn.notes["state"][row] = traits, DRAWN


def _decode(
    drawn: Slots, row: int, job: Job, read: bytes | SourceError | None
) -> Iterator[tuple[int, tuple[Pixels, bool]]]:
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
