"""Where do render workers draw? Into slots of memory that they share with their pool, a chunk of pictures each.

    python -c "from indexer.rendering.slots import work; work()" SETTINGS MEMORY CONNECTION

A slot says of each picture how far it is, so that the pool knows which one a worker died of.
"""

import json
import mmap
import os
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.errors import IconsError, SourceError
from indexer.library.traits import TRAITS, digest_of
from indexer.rendering.render import render
from indexer.rendering.worker import Worker, limited, serve
from indexer.sources.pictures import reason_of
from indexer.sources.source import read_picture

UNTOUCHED, STARTED, DRAWN, FAILED, UNREADABLE = range(5)
"""States of a picture in a slot. `UNREADABLE` is the file's or the moment's fault, and so worth another try; `FAILED`
is the picture's own."""
_REASON_BYTES = 300
_PROGRAM = "from indexer.rendering.slots import work; work()"


class Job(NamedTuple):
    """One picture to render: what `indexer.sources.read_picture` finds it by, and the digest that the scan saw."""

    id: int
    kind: str
    location: str
    path: str
    member: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class Settings:
    """What all workers of a pool are told at their start; `RenderPool` says what each means."""

    size: int
    chunk: int
    n_slots: int
    seconds_per_item: float
    memory_bytes: int


def shared_memory(settings: Settings) -> IO[bytes]:
    """Open memory for the slots that has no name.

    So there is nothing to unlink after a crash, and none of /dev/shm's limit (64 MB in a container).
    """
    if sys.platform == "linux":
        file: IO[bytes] = os.fdopen(os.memfd_create("icons-render"), "r+b", buffering=0)
    else:
        file = tempfile.TemporaryFile()  # noqa: SIM115
    file.truncate(_slot_type(settings).itemsize * settings.n_slots)
    return file


def map_slots(settings: Settings, memory: int) -> NDArray[np.void]:
    """See shared memory, given by its file descriptor, as slots with the fields of `_slot_type`."""
    return np.frombuffer(mmap.mmap(memory, 0), _slot_type(settings))


def start_worker(settings: Settings, memory: int) -> Worker:
    """Start a worker that draws into `memory`, a file descriptor. It answers an order with the number of its slot."""
    return Worker.start(_PROGRAM, json.dumps(asdict(settings)), str(memory), pass_fds=(memory,))


def work() -> None:
    """Be a worker, started by `start_worker`."""
    settings = Settings(**json.loads(sys.argv[1]))
    slots = map_slots(settings, int(sys.argv[2]))

    def draw(order: tuple[int, list[tuple[int, Job]]]) -> bytes:
        slot, jobs = order
        draw_all(slots[slot], jobs, seconds_per_item=settings.seconds_per_item)
        return b""

    serve(draw, memory_bytes=settings.memory_bytes)


def draw_all(slot: np.void, jobs: list[tuple[int, Job]], *, seconds_per_item: float | None = None) -> None:
    """Draw jobs at their positions in a slot. One that takes longer than `seconds_per_item` ends this process."""
    for position, job in jobs:
        with limited(seconds_per_item):
            _draw(slot, position, job)


def fail(slot: np.void, position: int, reason: str, *, state: int = FAILED) -> None:
    """Note in a slot that a picture gave no pixels, and why."""
    slot["reason"][position] = reason.encode(errors="replace")[:_REASON_BYTES]
    slot["state"][position] = state


def _slot_type(settings: Settings) -> np.dtype[np.void]:
    """A slot takes one chunk: for each of its pictures a state, the reason of a failure, traits, and pixels."""
    n, size = settings.chunk, settings.size
    pixels = (n, size, size, 3)
    return np.dtype(
        [("state", "u1", n), ("reason", f"S{_REASON_BYTES}", n), ("traits", TRAITS, n), ("pixels", "u1", pixels)]
    )


def _draw(slot: np.void, position: int, job: Job) -> None:
    slot["state"][position] = STARTED
    try:
        content = read_picture(job.kind, Path(job.location), job.path, job.member, digest=job.digest)
    except (OSError, SourceError) as error:
        fail(slot, position, f"can't be read: {reason_of(error)}", state=UNREADABLE)
        return
    try:
        rendered = render(content, size=slot["pixels"].shape[1])
    except (IconsError, OSError, MemoryError, RecursionError) as error:
        fail(slot, position, reason_of(error))
        return
    slot["pixels"][position] = rendered.pixels
    slot["traits"][position] = (rendered.coloured, rendered.animated, digest_of(rendered.pixels), rendered.ink)
    slot["state"][position] = DRAWN
