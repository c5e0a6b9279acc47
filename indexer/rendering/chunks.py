"""In which portions are pictures drawn and given out? Blocks are cut into chunks, and these into pieces for workers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Ids, Pixels, Positions
from indexer.rendering import slots
from indexer.rendering.slots import Job, Slots

PIECE = 32


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
    """Position of the block in what `RenderPool.render` was given."""
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
        if not unread:
            return
        for _, group in groupby(sorted(self.jobs, key=_place_of), key=_place_of):
            jobs = list(group)
            if unread.issuperset(job.id for job in jobs):
                yield jobs

    @property
    def pixels(self) -> Pixels:
        """RGB, (len(ids), size, size, 3): the pictures that went well, and nothing else."""
        n, drawn = len(self.rows), self.memory[self.place]
        return drawn[:n] if not n or self.rows[-1] == n - 1 else drawn[self.rows]


def _place_of(job: Job) -> tuple[str, str]:
    return job.kind, job.location


@dataclass(eq=False, slots=True)
class Chunk:
    """Pictures of one block that are drawn into one slot and given out together."""

    block: int
    ends_block: bool
    jobs: Sequence[Job]
    slot: int = -1
    n_pieces_left: int = 0


@dataclass(eq=False, slots=True)
class Piece:
    """What a worker is sent at a time: some of a chunk, so that all workers draw on the one that is waited for."""

    chunk: Chunk
    positions: range

    @classmethod
    def all_of(cls, chunk: Chunk) -> "Iterator[Piece]":
        """A chunk in pieces."""
        for start in range(0, len(chunk.jobs), PIECE):
            yield cls(chunk, range(start, min(start + PIECE, len(chunk.jobs))))


def cut(blocks: Iterable[Sequence[Job]], *, size: int) -> Iterator[Chunk]:
    """Cut blocks into chunks of at most `size` pictures; an empty block is one empty chunk."""
    for block, jobs in enumerate(blocks):
        for start in range(0, max(1, len(jobs)), size):
            yield Chunk(block, start + size >= len(jobs), jobs[start : start + size])


def rendered(chunk: Chunk, drawn: Slots) -> RenderedChunk:
    """What has come of a chunk in its slot."""
    n_jobs, start = len(chunk.jobs), chunk.slot * drawn.notes.shape[1]
    notes = drawn.notes[chunk.slot, :n_jobs]
    good = notes["state"] == slots.DRAWN
    ids = np.array([job.id for job in chunk.jobs], np.int64)
    return RenderedChunk(
        block=chunk.block,
        ends_block=chunk.ends_block,
        jobs=chunk.jobs,
        ids=ids[good],
        place=slice(start, start + n_jobs),
        rows=np.flatnonzero(good),
        traits=notes["traits"][good],
        failures=[
            Failure(
                int(ids[i]),
                notes["reason"][i].decode(errors="ignore"),
                is_final=bool(notes["state"][i] == slots.FAILED),
            )
            for i in np.flatnonzero(~good)
        ],
        memory=drawn.pixels,
    )
