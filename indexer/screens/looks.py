"""What was seen in screenshots, as it is kept: shards, and which screenshots need no further look.

A shard is a safetensors file. `digests` (s, 16) are those of the screens, `facts` (s, 3) width, height and how many
icons were found, `starts` (s + 1,) where their rows begin among `corners` (n, 4), `scores` (n,) and `shown` (n,), which
is the row of each box's drawing. `drawings` (d,) are digests of what the encoder saw, `vectors` (d, dim) what it
made of that, in fp16; `crops`, bytes of PNGs, begin at `crop_starts` (d + 1,). `failed` (f, 16) are digests of what
could not be used. The metadata is the receipt.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save

from indexer.arrays import Floats, Halves, Ids
from indexer.errors import IconsError, LibraryError, ShardError, explain_unreadable
from indexer.library.durable import Files, bytes_on_disk, differences, write_file
from indexer.library.folder import Library, Number, read_manifest, require
from indexer.library.foreign import Count, FileName, Name, from_json
from indexer.library.shards import DAMAGES, Failed, Tensors, read_reasons, reasons_of
from indexer.merging.manifest import Curve
from indexer.screens.files import UsageFolder, UsageGeneration, is_below, read_known, read_places, read_shots


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
    facts: tuple[int, ...]
    """Width and height in pixels, and how many icons were found: there may be more than boxes."""
    corners: Floats
    """(n, 4)"""
    scores: Floats
    """(n,)"""
    drawings: Ids
    """Digest of what each box shows, (n,)."""
    vectors: Floats | Halves
    """(n, dim), kept in fp16."""
    crops: Sequence[bytes] | None
    """A PNG for each box; None where none are to be kept."""


class LookShard(NamedTuple):
    """Several of them, as they lie in a file; equal drawings stand there once."""

    tensors: Tensors
    failures: Mapping[bytes, Failed]
    has_crops: bool

    def screens(self) -> list[bytes]:
        """Digests of its screens."""
        return _digests(self.tensors["digests"])

    def look(self, row: int, *, with_crops: bool) -> Look:
        """What was seen in the screen of a row; without crops, if these are not kept any more."""
        at = self.tensors
        rows = slice(*at["starts"][row : row + 2].tolist())
        shown = at["shown"][rows]
        places = [slice(*at["crop_starts"][drawing : drawing + 2].tolist()) for drawing in shown.tolist()]
        return Look(
            digest=at["digests"][row].tobytes(),
            facts=tuple(at["facts"][row].tolist()),
            corners=at["corners"][rows],
            scores=at["scores"][rows],
            drawings=at["drawings"][shown],
            vectors=at["vectors"][shown],
            crops=[at["crops"][place].tobytes() for place in places] if with_crops and self.has_crops else None,
        )


_TENSORS = {"digests", "facts", "starts", "corners", "scores", "shown", "drawings", "vectors", "crops", "crop_starts"}


def laid_out(looks: Sequence[Look]) -> Tensors:
    """What the files of shards and of generations have in common: screens and their boxes."""
    return {
        "digests": _rows(look.digest for look in looks),
        "facts": np.array([look.facts for look in looks], np.int32).reshape(-1, 3),
        "starts": np.cumsum([0, *(len(look.scores) for look in looks)], dtype=np.int64),
        "corners": np.concatenate([np.zeros((0, 4), np.float32), *(look.corners for look in looks)]),
        "scores": np.concatenate([np.zeros(0, np.float32), *(look.scores for look in looks)]),
    }


def write_looks(
    folder: Path, key: LookKey, looks: Sequence[Look], failures: Mapping[bytes, Failed], *, has_crops: bool
) -> Path:
    """Write a shard under a name that follows from what it holds; return its path."""
    shown = np.concatenate([np.zeros(0, np.int64), *(look.drawings for look in looks)])
    drawings, first, rows = np.unique(shown, return_index=True, return_inverse=True)
    vectors = np.concatenate([np.zeros((0, key.dim), np.float16), *(look.vectors for look in looks)])
    crops = [crop for look in looks for crop in look.crops or ()]
    kept = [crops[row] for row in first.tolist()] if has_crops else [b""] * len(drawings)
    tensors = laid_out(looks) | {
        "shown": rows.astype(np.int64).reshape(-1),
        "drawings": drawings,
        "vectors": vectors[first].astype(np.float16),
        "crops": np.frombuffer(b"".join(kept), np.uint8),
        "crop_starts": np.cumsum([0, *map(len, kept)], dtype=np.int64),
        "failed": _rows(failures),
    }
    digest = _content_hash(tensors)
    receipt = {"key": str(key), "sha256": digest, "crops": json.dumps(has_crops), **reasons_of(failures)}
    path = folder / f"looks-{digest[:20]}.safetensors"
    write_file(path, save(tensors, metadata=receipt))
    return path


def _rows(digests: Iterable[bytes]) -> NDArray[np.uint8]:
    return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 16)


def _digests(rows: NDArray[np.uint8]) -> list[bytes]:
    return [row.tobytes() for row in rows]


def read_looks(path: Path, *, key: LookKey) -> LookShard:
    """Read a shard and hold it against its receipt.

    Raises:
        ShardError: it is damaged, or of another encoder or detector.
    """
    with explain_unreadable(f'"{path}"', "`icons usage add` makes it again", ShardError, damages=DAMAGES):
        with safe_open(path, framework="numpy") as file:
            receipt = file.metadata()
            tensors: Tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no dict)
        is_whole = receipt["sha256"] == _content_hash(tensors) and receipt["key"] == str(key)
        failures = read_reasons(receipt, _digests(tensors.pop("failed")))
        shard = LookShard(tensors, failures, from_json(bool, receipt["crops"]))
    if not is_whole or tensors.keys() != _TENSORS:
        raise ShardError(f'"{path}" does not match its receipt; `icons usage add` makes it again')
    return shard


def _content_hash(tensors: Tensors) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(f"{name}{tensors[name].shape}".encode())
        digest.update(np.ascontiguousarray(tensors[name]).data.cast("B") if tensors[name].size else b"")
    return digest.hexdigest()


def look_paths(folder: Path) -> list[Path]:
    """Shards of a folder, by name."""
    return sorted(folder.glob("looks-*.safetensors"))


def read_known_screens(
    folder: UsageFolder, key: LookKey, *, with_crops: bool
) -> tuple[set[bytes], dict[bytes, Failed]]:
    """Read which screens the shards of a key have seen, by digest, and why others failed that were never seen.

    No vector is read. Where crops are kept, a look without them counts for nothing.
    A shard that can't be read is deleted: its screenshots are looked at again.
    """
    known_seen, known_failures = set[bytes](), dict[bytes, Failed]()
    for path in look_paths(folder.looks_of(key)):
        try:
            has_crops, seen, failures = _read_receipt(path)
        except DAMAGES:
            path.unlink()
            continue
        known_seen.update(seen if has_crops or not with_crops else ())
        known_failures.update(failures)
    return known_seen, {digest: why for digest, why in known_failures.items() if digest not in known_seen}


def _read_receipt(path: Path) -> tuple[bool, set[bytes], dict[bytes, Failed]]:
    with safe_open(path, framework="numpy") as file:
        receipt = file.metadata()
        seen, failed = (_digests(file.get_tensor(name)) for name in ("digests", "failed"))
    return from_json(bool, receipt["crops"]), set(seen), read_reasons(receipt, failed)


def drop_damaged(folder: UsageFolder, key: LookKey) -> None:
    """Delete the shards of a key that do not match their receipts."""
    for path in look_paths(folder.looks_of(key)):
        try:
            read_looks(path, key=key)
        except ShardError:
            path.unlink()


def drop_unused(folder: UsageFolder, key: LookKey, digests: Set[bytes], *, with_crops: bool) -> None:
    """Write shards anew that hold more than these screens and crops; new ones stand before old ones go."""
    for path in look_paths(folder.looks_of(key)):
        has_crops, seen, failures = _read_receipt(path)
        if (with_crops or not has_crops) and (seen | failures.keys()) <= digests:
            continue
        shard, has_crops = read_looks(path, key=key), with_crops and has_crops
        rows = [row for row, digest in enumerate(shard.screens()) if digest in digests]
        looks = [shard.look(row, with_crops=has_crops) for row in rows]
        failures = {digest: why for digest, why in failures.items() if digest in digests}
        new = (
            write_looks(folder.looks_of(key), key, looks, failures, has_crops=has_crops)
            if (looks or failures)
            else None
        )
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


@dataclass(frozen=True, slots=True)
class Sameness:
    """How likely a crop shows an icon of the library, as `usage_merge` has measured it."""

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
    places = [
        {**asdict(place), "files": sum(is_below(facts.path, place.location) for facts in read_known(folder))}
        for place in read_shots(folder).places
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
        "icons": f"{facts['icons']:,}  (different drawings: {facts['drawings']:,}){cut}",
        "crops": "kept" if facts["crops"] else "not kept (--no-crops)",
        "seen by": f"encoder {facts['fingerprint']}, detector {facts['detector']}",
        "generation": str(facts["generation"]),
        "on disk": f"{facts['bytes'] / 1e6:,.1f} MB",
    }
    lines = [f"{name:<11} {value}" for name, value in rows.items()]
    for place in facts["places"]:
        without = "".join(f" --exclude {pattern!r}" for pattern in place["exclude"])
        lines.append(f"{place['files']:>9,} in {place['location']}{without}")
    return lines
