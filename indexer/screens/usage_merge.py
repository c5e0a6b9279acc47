"""Shards of looks -> a new generation of what is known of screenshots."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import numpy as np
from safetensors.numpy import save

from indexer.arrays import Floats, Halves, Ids
from indexer.errors import LibraryError
from indexer.library.shards import Failed
from indexer.merging.vector_index import build_recommended, fp32_chunks
from indexer.screens.files import FileFacts, UsageFolder, UsageGeneration
from indexer.screens.looks import (
    FORMAT,
    LookKey,
    LookShard,
    Sameness,
    Tensors,
    UsageCounts,
    UsageManifest,
    look_paths,
    read_looks,
)


@dataclass(frozen=True, slots=True)
class UsageContent:
    """What the next generation is to say."""

    files: Sequence[FileFacts]
    """By path."""
    failures: Mapping[bytes, Failed]
    """Why screens could not be used, by digest."""
    has_crops: bool
    same: Sameness

    def revision(self, key: LookKey) -> str:
        """Hash of all that a generation is made of."""
        entries = [(facts.path, facts.digest, _reason(facts, self.failures)) for facts in self.files]
        spelled = json.dumps([str(key), self.has_crops, entries])
        return hashlib.sha256(spelled.encode()).hexdigest()


@dataclass(slots=True)
class _Gathered:
    """What is gathered from shards, screen by screen."""

    screens: dict[bytes, int] = field(default_factory=dict)
    """Row of each digest, None yet where it has not been met."""
    facts: list[tuple[int, ...]] = field(default_factory=list)
    corners: list[Floats] = field(default_factory=list)
    scores: list[Floats] = field(default_factory=list)
    shown: list[Ids] = field(default_factory=list)
    rows: dict[int, int] = field(default_factory=dict)
    """Row of each drawing by its digest."""
    vectors: list[Halves] = field(default_factory=list)
    crop_sizes: list[int] = field(default_factory=list)


def merge_usage(folder: UsageFolder, key: LookKey, content: UsageContent, *, keep_before: bool) -> UsageManifest:
    """Build the next generation and make it current.

    Raises:
        ShardError: a shard is damaged.
        LibraryError: a screen was looked at and is in no shard.
    """
    with folder.next_generation(keeps_before=keep_before) as built:
        with built.crops.open("wb") as crops:
            gathered = _gather(folder, key, content, crops)
        counts = _write_places(built, content, gathered)
        if counts.missing:
            raise LibraryError(f"{counts.missing} screenshots have neither a look nor a reason; run `icons usage add`")
        _write_boxes(built, gathered)
        manifest = UsageManifest(
            number=built.number,
            format=FORMAT,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            revision=content.revision(key),
            fingerprint=key.fingerprint,
            detector=key.detector,
            dim=key.dim,
            spec=_write_index(built.drawings, gathered, key.dim),
            has_crops=content.has_crops,
            same=content.same,
            counts=counts,
            files=built.describe(),
        )
        manifest.write(built)
    return manifest


def _gather(folder: UsageFolder, key: LookKey, content: UsageContent, crops: BinaryIO) -> _Gathered:
    """Go through the shards; of a screen that stands in several, one counts."""
    left = {bytes.fromhex(facts.digest) for facts in content.files if facts.digest}
    gathered = _Gathered()
    for path in look_paths(folder.looks_of(key)):
        shard = read_looks(path, key=key)
        if content.has_crops and not shard.has_crops:
            continue
        for row, digest in enumerate(shard.screens()):
            if digest in left:
                left.remove(digest)
                _take(gathered, shard, row, crops if content.has_crops else None)
    return gathered


def _take(gathered: _Gathered, shard: LookShard, row: int, crops: BinaryIO | None) -> None:
    """Take one screen of a shard, with the drawings that are new."""
    rows = slice(int(shard.starts[row]), int(shard.starts[row + 1]))
    shown = shard.shown[rows]
    numbers = np.empty(len(shown), np.int64)
    for place, drawing in enumerate(shown.tolist()):
        digest = int(shard.drawings[drawing])
        if digest not in gathered.rows:
            gathered.rows[digest] = len(gathered.rows)
            gathered.vectors.append(shard.vectors[drawing])
            gathered.crop_sizes.append(0 if crops is None else crops.write(shard.crop(drawing)))
        numbers[place] = gathered.rows[digest]
    gathered.screens[shard.digests[row].tobytes()] = len(gathered.screens)
    gathered.facts.append(tuple(shard.facts[row].tolist()))
    gathered.corners.append(shard.corners[rows])
    gathered.scores.append(shard.scores[rows])
    gathered.shown.append(numbers)


def _write_places(built: UsageGeneration, content: UsageContent, gathered: _Gathered) -> UsageCounts:
    """Write what became of every file, and count it."""
    met: set[int] = set()
    n_duplicate = n_failed = 0
    lines = []
    for facts in content.files:
        screen = gathered.screens.get(bytes.fromhex(facts.digest)) if facts.digest else None
        reason = None if screen is not None else _reason(facts, content.failures)
        n_failed += reason is not None
        n_duplicate += screen in met
        met |= {screen} if screen is not None else set()
        lines.append(json.dumps([facts.path, screen, reason]))
    built.places.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return UsageCounts(
        found=len(content.files),
        indexed=len(met),
        duplicate=n_duplicate,
        failed=n_failed,
        icons=sum(map(len, gathered.scores)),
        drawings=len(gathered.rows),
        cut=sum(facts[2] > len(scores) for facts, scores in zip(gathered.facts, gathered.scores, strict=True)),
    )


def _reason(facts: FileFacts, failures: Mapping[bytes, Failed]) -> str | None:
    if facts.digest is None:
        return facts.error or "not read"
    failed = failures.get(bytes.fromhex(facts.digest))
    return failed.reason if failed else None


def _write_boxes(built: UsageGeneration, gathered: _Gathered) -> None:
    counts = [len(scores) for scores in gathered.scores]
    tensors: Tensors = {
        "digests": np.frombuffer(b"".join(gathered.screens), np.uint8).reshape(-1, 16),
        "facts": np.array(gathered.facts, np.int32).reshape(-1, 3),
        "starts": np.cumsum([0, *counts], dtype=np.int64),
        "corners": np.concatenate([np.zeros((0, 4), np.float32), *gathered.corners]),
        "scores": np.concatenate([np.zeros(0, np.float32), *gathered.scores]),
        "shown": np.concatenate([np.zeros(0, np.int64), *gathered.shown]),
        "crop_starts": np.cumsum([0, *gathered.crop_sizes], dtype=np.int64),
    }
    built.boxes.write_bytes(save(tensors))


def _write_index(path: Path, gathered: _Gathered, dim: int) -> str:
    """Index the vectors of all drawings; return the kind of the index, "" where there is nothing to index."""
    n = len(gathered.vectors)
    if not n:
        path.touch()
        return ""
    vectors, ids = np.stack(gathered.vectors), np.arange(n, dtype=np.int64)
    index = build_recommended(ids, fp32_chunks(vectors), lambda places: fp32_chunks(vectors[places]), dim=dim)
    index.save(path)
    return index.spec
