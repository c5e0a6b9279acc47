"""The plan of one embedding: what is to be done, in blocks, each of which becomes one shard."""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Annotated, Any

from indexer.library.durable import make_folder
from indexer.library.folder import Library
from indexer.library.foreign import Count, Name, from_json
from indexer.library.shards import Kind
from indexer.library.stores import FolderStore

BLOCK_SIZE = {"images": 2048, "names": 8192}
"""Items a block at most: large enough to keep a device busy, small enough to lose little when a rank dies."""
_LEAST_ITEMS = {"images": 64, "names": 2048}
"""Names go through a tower by their lengths, in batches that are filled up: a small block is mostly filling."""
_LEFT_SHARE = 16
"""A block takes a part of so many of what is left: ranks that claim small blocks at last end at about the same time."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one embedding has to do, without its blocks."""

    fingerprint: Name
    model: str
    """`ModelChoice` as JSON."""
    n_images: Count
    n_names: Count
    n_blocks: Count
    run: Name = "0"
    """Whose ranks may work on it (`Library.run`)."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """How the ranks embed, as `embedding.planning.EmbedOptions` has it."""


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


PLAN, OUTLINES = "plan.json", "outlines.jsonl"
_GROUP = 1000


def group_name(place: int) -> str:
    """Name the group of the block at a place of the plan: no folder holds all of them."""
    return f"{place // _GROUP:04d}"


def write_plan(library: Library, plan: Plan, blocks: Iterable[Block]) -> None:
    """Write a plan where the ranks read it, what names its run last; earlier runs are over from then on."""
    make_folder(folder := library.run(plan.fingerprint, plan.run))
    run, headers = FolderStore(folder, lasts=False), list[bytes]()
    for place, block in enumerate(blocks):
        headers.append(json.dumps([block.name, block.kind, len(block.items)]).encode())
        run.put(f"blocks/{group_name(place)}/{block.name}.json", json.dumps(block.items).encode())
    run.put(OUTLINES, b"\n".join(headers))
    FolderStore(library.work(plan.fingerprint)).put(PLAN, json.dumps(asdict(plan)).encode())
    library.end_other_runs(plan.fingerprint, plan.run)


def block_from(header: BlockHeader, items: bytes) -> Block:
    """Put together what a plan says of a block and its items as JSON. Raises ValueError: they are none."""
    kind: Any = list[_Name] if header.kind == "names" else list[_Image]
    read: list[Any] = from_json(kind, items)
    if len(read) != header.n_items:
        raise ValueError(f"it has {len(read)} items, not {header.n_items}")
    return Block(header.name, header.kind, read)
