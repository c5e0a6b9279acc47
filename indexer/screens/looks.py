"""What was seen in screenshots, as it is kept: shards, and which screenshots need no further look.

A shard is a safetensors file. `digests` (s, 16) are those of the screens, `facts` (s, 3) width, height and how many
icons were found, `starts` (s + 1,) where their rows begin among `corners` (n, 4), `scores` (n,) and `shown` (n,), which
is the row of each box's drawing. `drawings` (d,) are digests of what the encoder saw, `vectors` (d, dim) what it
made of that, in fp16; `crops`, bytes of PNGs, begin at `crop_starts` (d + 1,). `failed` (f, 16) are digests of what
could not be used. The metadata is the receipt.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from indexer.arrays import Floats, Halves, Ids
from indexer.errors import IconsError, LibraryError, ShardError
from indexer.library.durable import Files, bytes_on_disk, differences, write_file
from indexer.library.folder import Library, Number, read_manifest, require, write_manifest
from indexer.library.foreign import Count, FileName, Name, from_json
from indexer.library.shards import Failed, read_reasons, reasons_of
from indexer.merging.calibration import Curve
from indexer.screens.files import UsageFolder, UsageGeneration, is_below, read_known, read_places, read_shots

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
        """The PNG of a drawing by its row; nothing where none are kept."""
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
        **reasons_of(shard.failures),
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
    failures = read_reasons(receipt, [row.tobytes() for row in tensors["failed"]])
    arrays = {name: tensors[name] for name in LookShard.__dataclass_fields__ if name not in _NOT_TENSORS}
    return LookShard(**arrays, failures=failures, has_crops=from_json(bool, receipt["crops"]))


def _content_hash(tensors: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(f"{name}{tensors[name].shape}".encode())
        digest.update(np.ascontiguousarray(tensors[name]).data.cast("B") if tensors[name].size else b"")
    return digest.hexdigest()


def look_paths(folder: Path) -> list[Path]:
    """Shards of a folder, by name."""
    return sorted(folder.glob("looks-*.safetensors"))


def select(shard: LookShard, digests: Set[bytes], *, with_crops: bool) -> LookShard:
    """Keep what was seen in some screens, and why others failed; without crops, if these are not kept any more."""
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


@dataclass(slots=True)
class KnownScreens:
    """What the shards of one key say of screens, by digest."""

    seen: set[bytes] = field(default_factory=set)
    failures: dict[bytes, Failed] = field(default_factory=dict)
    """Of those that were never seen."""


def read_known_screens(folder: UsageFolder, key: LookKey, *, with_crops: bool) -> KnownScreens:
    """Read what the shards know, without vectors; where crops are kept, a look without them counts for nothing.

    A shard that can't be read is deleted: its screenshots are looked at again.
    """
    known = KnownScreens()
    for path in look_paths(folder.looks_of(key)):
        try:
            has_crops, seen, failures = _read_receipt(path)
        except (SafetensorError, OSError, ValueError, KeyError, TypeError):
            path.unlink()
            continue
        known.seen |= seen if has_crops or not with_crops else set()
        known.failures |= failures
    known.failures = {digest: why for digest, why in known.failures.items() if digest not in known.seen}
    return known


def _read_receipt(path: Path) -> tuple[bool, set[bytes], dict[bytes, Failed]]:
    with safe_open(path, framework="numpy") as file:
        receipt = file.metadata()
        seen = {row.tobytes() for row in file.get_tensor("digests")}
        failed = [row.tobytes() for row in file.get_tensor("failed")]
    return from_json(bool, receipt["crops"]), seen, read_reasons(receipt, failed)


def damaged(folder: UsageFolder, key: LookKey) -> list[Path]:
    """Shards of a key that do not match their receipts."""
    found = []
    for path in look_paths(folder.looks_of(key)):
        try:
            read_looks(path, key=key)
        except ShardError:
            found.append(path)
    return found


def drop_unused(folder: UsageFolder, key: LookKey, digests: Set[bytes], *, with_crops: bool) -> None:
    """Write shards anew that hold more than these screens and crops; new ones stand before old ones go."""
    for path in look_paths(folder.looks_of(key)):
        has_crops, seen, failures = _read_receipt(path)
        if (with_crops or not has_crops) and (seen | failures.keys()) <= digests:
            continue
        kept = select(read_looks(path, key=key), digests, with_crops=with_crops)
        new = write_looks(folder.looks_of(key), kept, key=key) if len(kept.digests) or kept.failures else None
        if new != path:
            path.unlink(missing_ok=True)


ADVICE = "`icons usage add` builds a new one"
FORMAT = 1
"""Of generations that this program writes and reads."""


@dataclass(frozen=True, slots=True)
class UsageCounts:
    """What became of every file: found = indexed + duplicate + failed."""

    found: int
    indexed: int
    """Screens: files of different content."""
    duplicate: int
    """Files whose content another file has."""
    failed: int
    icons: int
    """Boxes on all screens."""
    drawings: int
    """Distinct pictures in them, pixel by pixel."""
    cut: int
    """Screens that hold more icons than are kept of one."""

    @property
    def missing(self) -> int:
        """Files that are neither."""
        return self.found - self.indexed - self.duplicate - self.failed


@dataclass(frozen=True, slots=True)
class Sameness:
    """How likely a crop shows an icon of the library, as `usage.sameness` has measured it."""

    known: Curve
    """By the cosine of their vectors."""
    lead: Curve
    """By how much higher that is than with what else it may be."""
    n_pictures: int
    """Of the library, among which that was measured."""


@dataclass(frozen=True, slots=True)
class UsageManifest:
    """What a generation holds; written last."""

    number: Number
    format: Annotated[int, range(FORMAT, FORMAT + 1)]
    created_at: str
    revision: str
    """Hash of the files and settings that it was made of: equal ones need no new generation."""
    fingerprint: Name
    detector: FileName
    dim: Count
    spec: str
    """Kind of the index of drawings; "" where there are none."""
    has_crops: bool
    same: Sameness
    counts: UsageCounts
    files: Files
    """All others of the generation."""

    @property
    def key(self) -> LookKey:
        """By what its screens were seen."""
        return LookKey(self.fingerprint, self.detector, self.dim)

    def write(self, generation: UsageGeneration) -> None:
        """Write it into a generation, with a checksum of its own."""
        write_manifest(generation, self)

    @classmethod
    def read(cls, generation: UsageGeneration) -> "UsageManifest":
        """Read a generation's manifest.

        Raises:
            LibraryError: it is missing, not whole, or of another format.
        """
        return read_manifest(cls, generation, advice=ADVICE)


@contextmanager
def damage_explained(generation: UsageGeneration, manifest: UsageManifest) -> Iterator[None]:
    """Tell damage as what it is, where a file that was damaged leads to an error of any kind during the block.

    Raises:
        LibraryError: a file is not as it was written.
    """
    try:
        yield
    except IconsError:
        raise
    except Exception as error:
        for path, how in differences(generation.folder, manifest.files, sums=True):
            raise LibraryError(f'"{path}" {how} ({error}); {ADVICE}') from error
        raise


def answering_usage(folder: UsageFolder) -> UsageManifest | None:
    """Read what the generation that answers says of itself; None where none does, or this program can't read it."""
    return folder.answering(UsageManifest.read)


def usage_status(library: Library) -> dict[str, Any]:
    """Count what was found by what became of it, and list the remembered places.

    Raises:
        LibraryError: no screenshots are known, or the generation that answers can't be read.
    """
    folder, generation = answering(library)
    manifest = UsageManifest.read(generation)
    known = read_known(folder)
    shots = read_shots(folder)
    places = [
        {**asdict(place), "files": sum(is_below(facts.path, place.location) for facts in known)}
        for place in shots.places
    ]
    return {
        "library": str(library.root),
        **asdict(manifest.counts),
        "places": places,
        "crops": manifest.has_crops,
        "fingerprint": manifest.fingerprint,
        "detector": manifest.detector,
        "generation": generation.number,
        "bytes": bytes_on_disk(folder.root),
    }


def usage_failures(library: Library) -> Iterator[dict[str, str]]:
    """Yield every file that could not be used, and why."""
    _, generation = answering(library)
    with damage_explained(generation, UsageManifest.read(generation)):
        for placed in read_places(generation):
            if placed.reason is not None:
                yield {"file": placed.path, "reason": placed.reason}


def answering(library: Library) -> tuple[UsageFolder, UsageGeneration]:
    """Find the generation of screenshots that answers.

    Raises:
        LibraryError: there is none.
    """
    folder = UsageFolder(require(library))
    current = folder.current()
    if current is None:
        raise LibraryError(
            f'"{library.root}" knows no screenshots yet; `icons usage add FOLDER` looks at those of a folder'
        )
    return folder, folder.generation(current)


def usage_status_lines(facts: dict[str, Any]) -> list[str]:
    """Lay a status out for people."""
    failed = f"{facts['failed']:,}" + ("  (`icons usage failures` lists them)" if facts["failed"] else "")
    cut = f"  ({facts['cut']:,} screenshots hold more icons than are kept of one)" if facts["cut"] else ""
    rows = {
        "library": facts["library"],
        "screenshots": f"{facts['found']:,}",
        "indexed": f"{facts['indexed']:,}",
        "duplicate": f"{facts['duplicate']:,}",
        "failed": failed,
        "icons": f"{facts['icons']:,} of {facts['drawings']:,} different drawings{cut}",
        "crops": "kept" if facts["crops"] else "not kept (--no-crops)",
        "seen by": f"encoder {facts['fingerprint']}, detector {facts['detector']}",
        "generation": str(facts["generation"]),
        "on disk": f"{facts['bytes'] / 1e6:,.1f} MB",
    }
    lines = [f"{name:<11} {value}" for name, value in rows.items()]
    for place in facts["places"]:
        without = "".join(f" --exclude {pattern!r}" for pattern in place["exclude"])
        lines.append(f"{place['files']:>9,} files  {place['location']}{without}")
    return lines
