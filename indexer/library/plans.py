"""The plan of one embedding: what is to be done, in blocks, each of which becomes one shard."""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, Self

from indexer.errors import EmbedError
from indexer.library.durable import write_file
from indexer.library.foreign import Count, Name, from_json
from indexer.library.shards import Kind

BLOCK_SIZE = {"images": 2048, "names": 8192}
"""Items a block at most: large enough to keep a device busy, small enough to lose little when a rank dies."""
_LEAST_ITEMS = {"images": 64, "names": 2048}
"""Names go through a tower by their lengths, in batches that are filled up: a small block is mostly filling."""
_LEFT_SHARE = 16
"""A block takes a part of so many of what is left: ranks that claim small blocks at last end at about the same time."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one embedding has to do; the first line of `plan.jsonl`, its blocks follow."""

    fingerprint: Name
    model: str
    """`ModelChoice` as JSON."""
    n_images: Count
    n_names: Count
    n_blocks: Count
    run: Name = "0"
    """Whose ranks may work on it (`Library.run`)."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """How the ranks embed, as `embedding.options.EmbedOptions` has it."""


_Name = tuple[Count, str]
_Image = tuple[Count, str, str, str, str, Annotated[str, re.compile("[0-9a-f]{32}")]]


@dataclass(frozen=True, slots=True)
class Block:
    """One unit of work and the name of its shard.

    An item is (id, words) for names, (id, kind, location, path, member, hex digest) for images.
    """

    name: Name
    kind: Kind
    items: Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class BlockHeader:
    """What a plan says of a block before its items."""

    name: Name
    kind: Kind
    n_items: Annotated[int, range(1, 1 << 32)]

    @classmethod
    def of(cls, block: Block) -> Self:
        """That of a block."""
        return cls(block.name, block.kind, len(block.items))


def cut_blocks(kind: Kind, items: Iterable[Sequence[Any]], *, n: int, attempt: str) -> Iterator[Block]:
    """Cut `n` items into blocks, smaller ones towards the end (guided self-scheduling, Polychronopoulos and Kuck 1987).

    They are named by what they hold, ids and contents, so that a rerun finds the shards it already has, and no other
    library's. `attempt` sets a retry of failed images apart from the shard that says they failed.
    """
    left = iter(items)
    for size in block_sizes(kind, n):
        block = list(islice(left, size))
        held = json.dumps([(item[0], item[-1]) for item in block])
        digest = hashlib.sha256(f"{attempt}:{held}".encode()).hexdigest()[:12]
        yield Block(f"{kind}-{block[0][0]:09d}-{digest}", kind, block)


def block_sizes(kind: Kind, n: int) -> Iterator[int]:
    """How many of `n` items each block takes."""
    least = _LEAST_ITEMS[kind]
    while n > 0:
        size = min(n, BLOCK_SIZE[kind], least * math.ceil(n / (least * _LEFT_SHARE)))
        yield size
        n -= size


def write_plan(folder: Path, plan: Plan, blocks: Iterable[Block]) -> Path:
    """Write a plan where the ranks will read it; return its path. `Library.begin_run` lets them begin."""
    path = folder / "plan.jsonl"
    lines = (f"{json.dumps(astuple(BlockHeader.of(block)))}\t{json.dumps(block.items)}" for block in blocks)
    write_file(path, (line.encode() + b"\n" for line in chain([json.dumps(asdict(plan))], lines)))
    return path


def read_plan(path: Path) -> Plan:
    """Read what a plan is about, without its blocks.

    Raises:
        EmbedError: it can't be read.
    """
    with as_embed_error(path), path.open("rb") as file:
        return from_json(Plan, file.readline())


def read_headers(path: Path) -> Iterator[tuple[BlockHeader, int]]:
    """Yield what blocks a plan has, in order, each with its place in the file, which `read_block` takes.

    Raises:
        EmbedError: one can't be read.
    """
    return ((header, place) for header, _, place in _lines(path))


def read_block(path: Path, place: int) -> Block:
    """Read the block at a place in the file of a plan."""
    return next(read_blocks(path, place))


def read_blocks(path: Path, start: int = 0) -> Iterator[Block]:
    """Yield all blocks in order, or those from a place on."""
    for header, items, _ in _lines(path, start):
        with as_embed_error(path):
            yield block_from(header, items)


def block_from(header: BlockHeader, items: bytes) -> Block:
    """Put together what a plan says of a block and its items as JSON.

    Raises:
        ValueError: they are none.
    """
    kind: Any = list[_Name] if header.kind == "names" else list[_Image]
    read: list[Any] = from_json(kind, items)
    if len(read) != header.n_items:
        raise ValueError(f"it has {len(read)} items, not {header.n_items}")
    return Block(header.name, header.kind, read)


@contextmanager
def as_embed_error(path: Path) -> Iterator[None]:
    """Say of what goes wrong in the block that it is about the plan at a path."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise EmbedError(f'plan "{path}" can\'t be read ({error}); `icons index` writes another one') from error


def _lines(path: Path, start: int = 0) -> Iterator[tuple[BlockHeader, bytes, int]]:
    """Yield what lines say of blocks, their items, and where they begin."""
    with as_embed_error(path), path.open("rb") as file:
        place = start or len(file.readline())
        file.seek(place)
        for line in file:
            header, _, items = line.partition(b"\t")  # JSON has no tab in its texts
            yield from_json(BlockHeader, header), items, place
            place += len(line)
