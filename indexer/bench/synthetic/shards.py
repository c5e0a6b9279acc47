"""Who embeds icons that never were? Nobody: each block of a plan becomes the shard that a rank would have written, with
vectors of the real pictures and names that its items were drawn from, each moved a little."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from zlib import crc32

import numpy as np

from indexer.arrays import Halves, Ids
from indexer.bench.synthetic.clusters import nearest_likeness, perturb
from indexer.bench.synthetic.real import Real
from indexer.bench.synthetic.sets import read_beside
from indexer.library.folder import Library
from indexer.library.plans import Block, read_blocks, read_plan
from indexer.library.shards import Shard, shard_path, write_shard


@dataclass(frozen=True, slots=True)
class _Made:
    """How vectors are made of real ones."""

    real: Real
    image_likeness: float
    name_likeness: float

    @classmethod
    def of(cls, real: Real) -> "_Made":
        mixed = np.random.default_rng(0).permutation(len(real.images))
        likeness = nearest_likeness(real.images[mixed]), nearest_likeness(real.names)
        return cls(real, *likeness)

    def images(self, block: Block, source: Path) -> Shard:
        """Vectors of pictures, and what else is known of those that they are drawn from."""
        ids = np.array([item[0] for item in block.items], np.int64)
        rows = np.array([_beside(source, item[3])[item[4]][0] for item in block.items], np.int64)
        real, likeness = self.real.images, self.image_likeness
        traits = self.real.traits[rows].copy()
        traits["drawing"] = ids
        vectors = perturb(real, real[rows], likeness=likeness, seed=(1, int(ids[0])))
        return Shard("images", ids, vectors, {}, traits)

    def names(self, block: Block) -> Shard:
        """Vectors of words: their own, or that of a name that shares a word, moved."""
        ids = np.array([item[0] for item in block.items], np.int64)
        rows = np.array([_row_like(self.real, item[1]) for item in block.items], np.int64)
        vectors = self.real.names[rows].copy()
        is_new = np.array([item[1] not in self.real.words for item in block.items])
        vectors[is_new] = self._moved(vectors[is_new], ids)
        return Shard("names", ids, vectors, {})

    def _moved(self, vectors: Halves, ids: Ids) -> Halves:
        return perturb(self.real.names, vectors, likeness=self.name_likeness, seed=(2, int(ids[0])))


def write_shards(library: Library, source: Path, real: Real) -> None:
    """Write a shard for each block of a library's plan."""
    plan_file = library.work(real.fingerprint) / "plan.jsonl"
    plan, made = read_plan(plan_file), _Made.of(real)
    folder = library.vectors(real.fingerprint)
    folder.mkdir(parents=True, exist_ok=True)
    facts = {"rank": "0", "precision": "fp32", "model": plan.model, "run": plan.run}
    for block in read_blocks(plan_file):
        shard = made.images(block, source) if block.kind == "images" else made.names(block)
        write_shard(shard_path(folder, block.name), shard, fingerprint=real.fingerprint, facts=facts)


def _row_like(real: Real, words: str) -> int:
    """The row of some words, or of a name that shares their last known word."""
    if (row := real.words.get(words)) is not None:
        return row
    number = crc32(words.encode())
    for token in reversed(words.split()):
        if (rows := real.tokens.get(token)) is not None:
            return rows[number % len(rows)]
    return number % len(real.names)


@lru_cache(maxsize=4)
def _beside(source: Path, path: str) -> Mapping[str, tuple[int, str]]:
    return read_beside(source, path)
