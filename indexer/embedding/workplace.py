"""Where do workers find the blocks of a plan, and leave their shards? In a library, or in a store that many share."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Protocol

from indexer.encoders.checkpoint import ModelChoice
from indexer.library.durable import write_file
from indexer.library.folder import Library
from indexer.library.plans import Block, Outline, Plan, read_block, read_outlines, read_plan
from indexer.library.shards import pieces_by_block, read_settled, shard_path


class Workplace(Protocol):
    """What a worker needs of the place where its plan lies."""

    @property
    def plan(self) -> Plan:
        """What is to be done."""

    def choose(self) -> ModelChoice:
        """Say how the plan's encoder is chosen on this machine."""

    def missing(self) -> Iterator[Outline]:
        """Name the blocks that have no shard, in the order of the plan."""

    def read(self, outline: Outline) -> Block:
        """Read a block."""

    def settled(self, block: str) -> set[int] | None:
        """Ids of a block's items that pieces of its shard settle; None where the shard is there."""

    def write(self, block: str, name: str, content: bytes) -> None:
        """Write a shard of a block, or a piece of one, whole and for good."""

    def is_over(self) -> bool:
        """Whether another run has begun, so that nobody waits for this one's shards."""


class LibraryWork:
    """The plan and the shards of a library's own folder."""

    def __init__(self, library: Library, fingerprint: str) -> None:
        self._path = library.work(fingerprint) / "plan.jsonl"
        self.plan = read_plan(self._path)
        self.shards = library.vectors(fingerprint)
        self.run = library.run(fingerprint, self.plan.run)
        self._done: set[str] = set()

    def choose(self) -> ModelChoice:
        """Choose the encoder as the plan does."""
        return ModelChoice.from_json(self.plan.model)

    def missing(self) -> Iterator[Outline]:
        """Name the blocks that have no shard."""
        for block in self._places:
            if block.name not in self._done:
                if shard_path(self.shards, block.name).exists():
                    self._done.add(block.name)
                else:
                    yield block

    def read(self, outline: Outline) -> Block:
        """Read a block out of the plan."""
        return read_block(self._path, self._places[outline])

    def settled(self, block: str) -> set[int] | None:
        """Ids that pieces of runs settle which have ended early."""
        return None if shard_path(self.shards, block).exists() else settled_by(self._pieces.get(block, ()))

    def write(self, block: str, name: str, content: bytes) -> None:
        """Write a file of the encoder's vectors."""
        del block
        write_file(self.shards / name, content)

    def is_over(self) -> bool:
        """Whether the folder of this run has gone."""
        return not self.run.is_dir()

    @cached_property
    def _places(self) -> dict[Outline, int]:
        return dict(read_outlines(self._path))

    @cached_property
    def _pieces(self) -> dict[str, list[Path]]:
        return pieces_by_block(self.shards)


def settled_by(pieces: Iterable[Path]) -> set[int]:
    """Ids of the items that pieces hold vectors or failures of.

    Raises:
        ShardError: a piece is damaged.
    """
    return {item for _, ids, failures in map(read_settled, pieces) for item in (*ids.tolist(), *failures)}
