"""What is left to be embedded? The plan of one embedding, and its blocks, each of which becomes one shard."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import Any

from indexer.library.durable import write_file
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

    fingerprint: str
    model: str
    """`ModelChoice` as JSON."""
    n_images: int
    n_names: int
    n_blocks: int
    run: str = "0"
    """Whose ranks may work on it (`Library.run`)."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """How the ranks embed, as `embedding.options.EmbedOptions` has it."""


@dataclass(frozen=True, slots=True)
class Block:
    """One unit of work and the name of its shard.

    An item is (id, words) for names, (id, kind, location, path, member, hex digest) for images.
    """

    name: str
    kind: Kind
    items: Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Outline:
    """What a plan says of a block before its items."""

    name: str
    kind: Kind
    n_items: int


def cut_blocks(kind: Kind, items: Sequence[Sequence[Any]], *, attempt: str) -> Iterator[Block]:
    """Cut items into blocks, smaller ones towards the end (guided self-scheduling, Polychronopoulos and Kuck 1987).

    They are named by what they hold, so that a rerun finds the shards it already has. `attempt` sets a retry of failed
    images apart from the shard that says they failed.
    """
    start, least = 0, _LEAST_ITEMS[kind]
    while start < len(items):
        part = least * math.ceil((len(items) - start) / (least * _LEFT_SHARE))
        block = items[start : start + min(BLOCK_SIZE[kind], part)]
        start += len(block)
        ids = ",".join(str(item[0]) for item in block)
        digest = hashlib.sha256(f"{attempt}:{ids}".encode()).hexdigest()[:12]
        yield Block(f"{kind}-{block[0][0]:09d}-{digest}", kind, block)


def write_plan(folder: Path, plan: Plan, blocks: Sequence[Block]) -> Path:
    """Write a plan where the ranks will read it; return its path. `Library.begin_run` lets them begin."""
    path = folder / "plan.jsonl"
    lines = [json.dumps(asdict(plan))]
    for block in blocks:
        outline = Outline(block.name, block.kind, len(block.items))
        lines.append(f"{json.dumps(astuple(outline))}\t{json.dumps(block.items)}")
    write_file(path, "\n".join(lines).encode("utf-8"))
    return path


def read_plan(path: Path) -> Plan:
    """Read what a plan is about, without its blocks."""
    with path.open(encoding="utf-8") as file:
        return Plan(**json.loads(file.readline()))


def read_outlines(path: Path) -> Iterator[Outline]:
    """Yield what blocks a plan has, in order."""
    for outline, _ in _lines(path):
        yield outline


def read_blocks(path: Path, *, wanted: Callable[[str], bool] = lambda _: True) -> Iterator[Block]:
    """Yield blocks in order: those whose name is wanted, asked when its turn comes; items of others are not parsed."""
    for outline, items in _lines(path):
        if wanted(outline.name):
            yield Block(outline.name, outline.kind, json.loads(items))


def _lines(path: Path) -> Iterator[tuple[Outline, str]]:
    with path.open(encoding="utf-8") as file:
        file.readline()
        for line in file:
            outline, _, items = line.partition("\t")  # JSON has no tab in its texts
            yield Outline(*json.loads(outline)), items
