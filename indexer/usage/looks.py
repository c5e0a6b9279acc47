"""What was seen in screenshots, as it is kept: shards, a file for some dozen of them, each with its receipt.

A shard is a safetensors file. `digests` (s, 16) are those of the screens, `facts` (s, 3) width, height and how many
icons were found, `starts` (s + 1,) where their rows begin among `corners` (n, 4), `scores` (n,) and `shown` (n,), which
is the row of each box's drawing. `drawings` (d,) are digests of what the encoder was given, `vectors` (d, dim) what it
made of that, in fp16; `crops`, bytes of PNGs, begin at `crop_starts` (d + 1,). `failed` (f, 16) are digests of what
could not be used. The metadata is the receipt.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from indexer.arrays import Floats, Halves, Ids
from indexer.errors import ShardError
from indexer.library.durable import write_file
from indexer.library.foreign import from_json
from indexer.library.shards import Failed

Tensors = dict[str, NDArray[Any]]
_DAMAGES = (SafetensorError, OSError, KeyError, TypeError, ValueError, IndexError)


@dataclass(frozen=True, slots=True)
class LookKey:
    """By what something was seen; what was seen by others is not comparable."""

    fingerprint: str
    """Of the encoder."""
    detector: str
    """Its name and version."""
    dim: int
    """Length of a vector."""

    def __str__(self) -> str:
        """The name of the folder of its shards."""
        return f"{self.fingerprint}+{self.detector}"


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen in one screenshot."""

    digest: bytes
    facts: tuple[int, int, int]
    """Width and height in pixels, and how many icons were found: there may be more than boxes."""
    corners: Floats
    """(n, 4)"""
    scores: Floats
    """(n,)"""
    drawings: Ids
    """Digest of what each box shows, (n,)."""
    vectors: Floats
    """(n, dim)"""
    crops: Sequence[bytes] | None
    """A PNG for each box; None where none are to be kept."""


@dataclass(frozen=True, slots=True)
class LookShard:
    """Several of them, as they lie in a file; equal drawings stand there once."""

    digests: NDArray[np.uint8]
    facts: NDArray[np.int32]
    starts: Ids
    corners: Floats
    scores: Floats
    shown: Ids
    drawings: Ids
    vectors: Halves
    crops: NDArray[np.uint8]
    crop_starts: Ids
    failures: Mapping[bytes, Failed]
    has_crops: bool

    def crop(self, drawing: int) -> bytes:
        """The PNG of a drawing, given by its row; nothing where none are kept."""
        return self.crops[self.crop_starts[drawing] : self.crop_starts[drawing + 1]].tobytes()

    def screens(self) -> list[bytes]:
        """Digests of its screens."""
        return [row.tobytes() for row in self.digests]


def shard_of(looks: Sequence[Look], failures: Mapping[bytes, Failed], *, dim: int, has_crops: bool) -> LookShard:
    """Lay looks out as they are kept; `dim` is the length of a vector."""
    shown = np.concatenate([look.drawings for look in looks]) if looks else np.zeros(0, np.int64)
    drawings, first, rows = np.unique(shown, return_index=True, return_inverse=True)
    vectors = np.concatenate([np.zeros((0, dim), np.float32), *(look.vectors for look in looks)])
    crops = [crop for look in looks for crop in look.crops or ()]
    kept = [crops[row] for row in first.tolist()] if has_crops else []
    return LookShard(
        digests=np.frombuffer(b"".join(look.digest for look in looks), np.uint8).reshape(-1, 16),
        facts=np.array([look.facts for look in looks], np.int32).reshape(-1, 3),
        starts=np.cumsum([0, *(len(look.corners) for look in looks)], dtype=np.int64),
        corners=np.concatenate([np.zeros((0, 4), np.float32), *(look.corners for look in looks)]),
        scores=np.concatenate([np.zeros(0, np.float32), *(look.scores for look in looks)]),
        shown=rows.astype(np.int64).reshape(-1),
        drawings=drawings,
        vectors=vectors[first].astype(np.float16),
        crops=np.frombuffer(b"".join(kept), np.uint8),
        crop_starts=np.cumsum([0, *map(len, kept)] if has_crops else [0] * (len(drawings) + 1), dtype=np.int64),
        failures=failures,
        has_crops=has_crops,
    )


def write_looks(folder: Path, shard: LookShard, *, key: LookKey) -> Path:
    """Write a shard under a name that follows from what it holds; return its path."""
    tensors = {name: getattr(shard, name) for name in LookShard.__dataclass_fields__ if name not in _NOT_TENSORS}
    tensors["failed"] = np.frombuffer(b"".join(shard.failures), np.uint8).reshape(-1, 16)
    digest = _content_hash(tensors)
    receipt = {
        "key": str(key),
        "sha256": digest,
        "crops": json.dumps(shard.has_crops),
        "reasons": json.dumps([failed.reason for failed in shard.failures.values()]),
        "final": json.dumps([failed.is_final for failed in shard.failures.values()]),
    }
    path = folder / f"looks-{digest[:20]}.safetensors"
    write_file(path, save(tensors, metadata=receipt))
    return path


_NOT_TENSORS = ("failures", "has_crops")


def read_looks(path: Path, *, key: LookKey) -> LookShard:
    """Read a shard and hold it against its receipt.

    Raises:
        ShardError: it is damaged, or of another encoder or detector.
    """
    try:
        with safe_open(path, framework="numpy") as file:
            receipt = file.metadata()
            tensors: Tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no dict)
        is_whole = receipt["sha256"] == _content_hash(tensors) and receipt["key"] == str(key)
        shard = _shard(tensors, receipt)
    except _DAMAGES as error:
        raise ShardError(f'"{path}" can\'t be read ({error}); `icons usage add` makes it again') from error
    if not is_whole:
        raise ShardError(f'"{path}" does not match its receipt; `icons usage add` makes it again')
    return shard


def _shard(tensors: Tensors, receipt: Mapping[str, str]) -> LookShard:
    reasons = map(Failed, from_json(list[str], receipt["reasons"]), from_json(list[bool], receipt["final"]))
    failed = [row.tobytes() for row in tensors["failed"]]
    arrays = {name: tensors[name] for name in LookShard.__dataclass_fields__ if name not in _NOT_TENSORS}
    return LookShard(
        **arrays, failures=dict(zip(failed, reasons, strict=True)), has_crops=from_json(bool, receipt["crops"])
    )


def _content_hash(tensors: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(f"{name}{tensors[name].shape}".encode())
        digest.update(np.ascontiguousarray(tensors[name]).data.cast("B") if tensors[name].size else b"")
    return digest.hexdigest()


def look_paths(folder: Path) -> list[Path]:
    """Shards of a folder, by name."""
    return sorted(folder.glob("looks-*.safetensors"))


def read_all_looks(folder: Path, *, key: LookKey) -> Iterator[tuple[Path, LookShard]]:
    """Yield the shards of a folder one by one; a damaged one is deleted, as its screenshots are looked at again."""
    for path in look_paths(folder):
        try:
            yield path, read_looks(path, key=key)
        except ShardError:
            path.unlink()


def select(shard: LookShard, digests: frozenset[bytes], *, with_crops: bool) -> LookShard:
    """Keep what was seen in some screens, and why others failed; without crops, if these are not wanted any more."""
    has_crops = with_crops and shard.has_crops
    looks = [_look(shard, row, with_crops=has_crops) for row, key in enumerate(shard.screens()) if key in digests]
    failures = {key: failed for key, failed in shard.failures.items() if key in digests}
    return shard_of(looks, failures, dim=shard.vectors.shape[1], has_crops=has_crops)


def _look(shard: LookShard, row: int, *, with_crops: bool) -> Look:
    rows = slice(int(shard.starts[row]), int(shard.starts[row + 1]))
    shown = shard.shown[rows]
    width, height, n_found = shard.facts[row].tolist()
    return Look(
        digest=shard.digests[row].tobytes(),
        facts=(width, height, n_found),
        corners=shard.corners[rows],
        scores=shard.scores[rows],
        drawings=shard.drawings[shown],
        vectors=shard.vectors[shown].astype(np.float32),
        crops=[shard.crop(drawing) for drawing in shown.tolist()] if with_crops else None,
    )
