"""Shards: what became of the items of a plan, a file a block with its receipt, and traits of pictures.

Pictures whose pixels are equal are one drawing in other bytes: Lucide's alert-circle and circle-alert are two files of
one. A search should answer with it once.

A shard is a safetensors file (`ids` int64, `vectors` fp16, `failed` int64, `contents` int64, of images also `traits`
int8, `drawings` int64, `ink` and `roughness` int8) whose metadata is its receipt. A block that takes long leaves pieces
on the way.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from indexer.arrays import Halves, Ids, Mask, Positions, distinct, grouped
from indexer.errors import ShardError, explain_unreadable
from indexer.library.durable import write_file
from indexer.library.foreign import folders_in, from_json

FLAGS = ("coloured", "animated")


class Ink(NamedTuple):
    """How the ink of a picture lies, as `rendering.render` measures it on a grid of 64 x 64; shares are percent."""

    area: int
    """Of the grid that bears any ink."""
    pale: int
    """Of the ink: areas, and lines of 3 px or more, in a second, lighter tone."""
    solid: int
    """Of what the ink encloses from four sides: the rest is holes."""
    thick_1: int
    thick_2: int
    thick_3: int
    thick_4: int
    """Of the ink that is left once so many px are taken off every edge."""
    coloured: int
    """Of the ink."""
    n_hues: int
    """Sixths of the colour circle that hold coloured ink, 0 to 6."""


TRAITS = np.dtype(
    [
        *((flag, np.int8) for flag in FLAGS),
        ("drawing", np.int64),
        ("ink", np.int8, len(Ink._fields)),
        ("roughness", np.int8),
    ]
)
"""Flags are 1, 0, or `NOT_KNOWN`; `drawing` is `digest_of` the pixels, which equal drawings share; `ink` is an `Ink`,
`roughness` that of `rendering.render.Made`: both all `NOT_KNOWN` in shards of older programs."""
NOT_KNOWN = -1


def digest_of(array: NDArray[Any]) -> int:
    """64 bits of a C-contiguous array's content: of a million arrays two have the same with a chance of 3e-8."""
    return int.from_bytes(hashlib.blake2b(array.data, digest_size=8).digest(), "little", signed=True)


def find_drawings(traits: NDArray[np.void], vectors: Halves) -> Positions:
    """Number the drawing of each picture: the lowest place among `traits` (n,) that shows the same.

    Shards of older programs hold no digest of the pixels; there `vectors` (n, dim) that are equal tell it, which misses
    some that differ by rounding.
    """
    digests = traits["drawing"].copy()
    for place in np.flatnonzero(digests == NOT_KNOWN):
        digests[place] = digest_of(vectors[place])
    _, first, drawings = np.unique(digests, return_index=True, return_inverse=True)
    return np.asarray(first[drawings], np.intp)


@dataclass(frozen=True, slots=True)
class Accounting:
    """Where every entry of every source ended: found = embedded + failed + duplicate + missing."""

    found: int
    embedded: int
    """Distinct images with a vector."""
    failed: int
    """Entries that could not be read or rendered, each listed with its reason."""
    duplicate: int
    """Icons whose picture another icon shows already."""
    missing: int
    """Icons that have neither a vector nor a reason yet; 0 after a whole run."""
    hidden: int
    """Entries that their own source marks as hidden; left out, not counted as found."""


Kind = Literal["images", "names"]
KINDS: dict[str, Kind] = {"images": "images", "names": "names"}
ADVICE = "`icons doctor --repair` sets it aside, `icons index` makes its vectors again"
DAMAGES = (SafetensorError, OSError, LookupError, TypeError, ValueError)
"""What reading a file of tensors that is not as it was written may raise."""
_PIECE = "+"
Tensors = dict[str, NDArray[Any]]
Item = TypeVar("Item", int, bytes)
_TRAITS = {"drawings": "drawing", "ink": "ink", "roughness": "roughness"}
"""Tensors that are a field of `TRAITS` each."""
_HASHED = ("ids", "vectors", "traits", *_TRAITS)
"""In the order in which a receipt's hash takes them."""


class Failed(NamedTuple):
    """Why an item has no vector, and whether that is its own fault; else it is worth another try."""

    reason: str
    is_final: bool


@dataclass(frozen=True, slots=True)
class Shard:
    """What a block became: `vectors[i]` belongs to `ids[i]`; every other item is in `failures`."""

    kind: Kind
    ids: Ids
    vectors: Halves
    failures: dict[int, Failed]
    traits: NDArray[np.void] | None = None
    """What else is known of each image (`TRAITS`), (n,); None for names, and in older shards."""
    contents: Ids | None = None
    """`content_of` what each of `ids` stands for, then each of `failures`; None in older shards."""


class Contents(NamedTuple):
    """What a library's images or names are: `content_of` each; ids ascend."""

    ids: Ids
    values: Ids


def content_of(item: bytes | str) -> int:
    """64 bits of what an id stands for: the digest of a picture, or words.

    One id is another item in another library, also in a copy that has gone its own way.
    """
    digest = item if isinstance(item, bytes) else hashlib.blake2b(item.encode(), digest_size=8).digest()
    return int.from_bytes(digest[:8], "little", signed=True)


def count_others(shard: Shard, contents: Contents) -> int:
    """How many items of a shard are others in this library; of a shard that does not say what they are, none."""
    if shard.contents is None or not len(contents.ids):
        return 0
    rows, known = _rows_of(np.concatenate([shard.ids, np.fromiter(shard.failures, np.int64)]), contents.ids)
    return int((contents.values[rows] != shard.contents[known]).sum())


def shard_name(block: str) -> str:
    """Name of the file that is the shard of a block."""
    return f"{block}.safetensors"


def partial_shard_name(block: str, ids: Iterable[int]) -> str:
    """Name of a shard that holds a part of a block, by the ids it settles; the block's own holds the rest.

    Two who do one block at once, unknown to each other, cut it in other places: none writes over another's piece.
    """
    settled = sorted(ids)
    digest = hashlib.sha256(",".join(map(str, settled)).encode()).hexdigest()[:8]
    return shard_name(f"{block}{_PIECE}{settled[0]:09d}-{digest}")


def block_of(name: str) -> str:
    """Name of the block that a shard or a piece belongs to, from the name of its file."""
    return name.removesuffix(".safetensors").partition(_PIECE)[0]


def partial_shards_by_block(folder: Path) -> dict[str, list[Path]]:
    """The pieces that are there of each block that has some."""
    return grouped(sorted(folder.glob(f"*{_PIECE}*.safetensors")), lambda path: block_of(path.name))


def pack_shard(shard: Shard, *, fingerprint: str, facts: dict[str, str]) -> bytes:
    """Make the file of a shard, with its receipt: count, hash of its arrays, fingerprint, and what made it."""
    tensors: Tensors = {"ids": shard.ids, "vectors": shard.vectors, **_columns(shard.traits)}
    receipt = {
        **facts,
        "fingerprint": fingerprint,
        "kind": shard.kind,
        "count": str(len(shard.ids)),
        "sha256": _content_hash(tensors),
        "failures_sha256": _failures_hash(shard.failures),
        **reasons_of(shard.failures),
    }
    tensors["failed"] = np.fromiter(shard.failures, dtype=np.int64)
    if shard.contents is not None:
        tensors["contents"] = shard.contents
        receipt["contents_sha256"] = _sum(shard.contents)
    return save(tensors, metadata=receipt)


def write_shard(path: Path, shard: Shard, *, fingerprint: str, facts: dict[str, str]) -> None:
    """Write a shard with its receipt."""
    write_file(path, pack_shard(shard, fingerprint=fingerprint, facts=facts))


def read_shard(path: Path, *, fingerprint: str) -> Shard:
    """Read a shard and hold it against its receipt.

    Raises:
        ShardError: the file is damaged, or belongs to another encoder.
    """
    with explain_unreadable(f'shard "{path}"', ADVICE, ShardError, damages=DAMAGES):
        receipt, tensors = _open(path)
        ids, vectors, contents = tensors["ids"], tensors["vectors"], tensors.get("contents")
        kind, owner = KINDS[receipt["kind"]], receipt["fingerprint"]
        failures = read_reasons(receipt, tensors["failed"].tolist())
        whole = len(ids) == int(receipt["count"]) and _content_hash(tensors) == receipt["sha256"]
        whole &= receipt.get("failures_sha256") in (None, _failures_hash(failures))  # older shards have none
        whole &= receipt.get("contents_sha256") == (None if contents is None else _sum(contents))
        whole &= contents is None or len(contents) == len(ids) + len(failures)
    if not whole or owner != fingerprint:
        what = "does not match its receipt" if owner == fingerprint else f'belongs to encoder "{owner}"'
        raise ShardError(f'shard "{path}" {what}; {ADVICE}')
    return Shard(kind, ids, vectors, failures, _traits(tensors), contents)


def read_vectors(
    folder: Path,
    kind: Kind,
    ids: Ids,
    *,
    fingerprint: str,
    contents: Contents | None = None,
    beside: Path | None = None,
) -> tuple[Halves, Mask]:
    """Put the vectors of some ids, which ascend, into one array (n, dim), whatever shard holds them.

    The second array (n,) says which of them have a vector; the rows of the others are zero. With `contents` shards are
    refused that hold something else under these ids. With `beside` the first array lies in a file without a name in
    that folder: memory then holds what is in use of it.

    Raises:
        ShardError: a shard is damaged, or belongs to another encoder or library.
    """
    vectors = np.zeros((len(ids), 0), dtype=np.float16)
    filled = np.zeros(len(ids), dtype=bool)
    for path in shard_paths(folder, kind) if len(ids) else ():
        shard = read_shard(path, fingerprint=fingerprint)
        if contents is not None and (n_others := count_others(shard, contents)):
            raise ShardError(f'shard "{path}" {of_others(n_others, kind)}; {ADVICE}')
        rows, known = _rows_of(shard.ids, ids)
        if not vectors.shape[1]:
            vectors = _zeros((len(ids), shard.vectors.shape[1]), beside)
        vectors[rows] = shard.vectors[known]
        filled[rows] = True
    return vectors, filled


def of_others(n: int, kind: Kind) -> str:
    """Say of a shard that it belongs to another library."""
    return f"belongs to another library: {n} of its {kind} are others here"


def _zeros(shape: tuple[int, int], beside: Path | None) -> Halves:
    if beside is None:
        return np.zeros(shape, np.float16)
    with TemporaryFile(dir=beside) as file:
        if hasattr(os, "posix_fallocate"):  # else a full drive would end the process at some write
            os.posix_fallocate(file.fileno(), 0, max(1, 2 * shape[0] * shape[1]))
        return np.memmap(file, np.float16, "w+", shape=shape).view(np.ndarray)


def read_traits(folder: Path, images: Ids) -> NDArray[np.void]:
    """Read what is known of some images beside their vectors (`TRAITS`), (n,); ids ascend.

    Shards are not held against their receipts: `read_vectors` does that.
    """
    traits = np.full(len(images), NOT_KNOWN, dtype=TRAITS)
    for path in shard_paths(folder, "images") if len(images) else ():
        _, tensors = _open(path, but="vectors")
        if (found := _traits(tensors)) is not None:
            rows, known = _rows_of(tensors["ids"], images)
            traits[rows] = found[known]
    return traits


def _rows_of(ids: Ids, among: Ids) -> tuple[Positions, Mask]:
    """Rows that ids have among others, which ascend, and which of them are there."""
    rows = np.searchsorted(among, ids)
    known = among[np.minimum(rows, len(among) - 1)] == ids
    return rows[known], np.asarray(known)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which ids the shards of one encoder settle; ids ascending. A vector outweighs an earlier failure."""

    images: Ids
    names: Ids
    failures: dict[int, Failed]


def read_coverage(folder: Path) -> Coverage:
    """Read ids and failures of all shards, without their vectors.

    Raises:
        ShardError: a shard is damaged.
    """
    embedded: dict[Kind, list[Ids]] = {"images": [], "names": []}
    failures: dict[int, Failed] = {}
    for path in shard_paths(folder):
        shard = read_finished(path)
        embedded[shard.kind].append(shard.ids)
        failures.update((item, why) for item, why in shard.failures.items() if why.is_final or item not in failures)
    images, names = (distinct(np.concatenate([np.empty(0, np.int64), *ids])) for ids in embedded.values())
    for image in np.intersect1d(images, np.fromiter(failures, dtype=np.int64), assume_unique=True).tolist():
        del failures[image]
    return Coverage(images, names, failures)


def unread_images(vectors: Path) -> Iterator[int]:
    """Yield images that some encoder lacks because of their files, which then deserve another look.

    `vectors` is the folder that holds a folder of shards for each encoder.
    """
    for folder in folders_in(vectors):
        with suppress(ShardError):
            yield from (image for image, failed in read_coverage(folder).failures.items() if not failed.is_final)


class Finished(NamedTuple):
    """Which ids of which kind a shard has vectors for, what failed, and in which precision it was embedded."""

    kind: Kind
    ids: Ids
    failures: Mapping[int, Failed]
    precision: str


def read_finished(path: Path) -> Finished:
    """Read what became of a block's items, without the vectors; remembered while the file is the same.

    Raises:
        ShardError: the file is damaged.
    """
    with explain_unreadable(f'shard "{path}"', ADVICE, ShardError, damages=DAMAGES):
        found = path.stat()
        return _remembered(path, (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))


@cache
def _remembered(path: Path, _: tuple[int, ...]) -> Finished:
    receipt, tensors = _open(path, but="vectors")
    failures = read_reasons(receipt, tensors["failed"].tolist())
    return Finished(KINDS[receipt["kind"]], tensors["ids"], failures, receipt.get("precision", ""))


def precisions(folder: Path) -> set[str]:
    """In which precisions the pictures were embedded that a folder's shards hold; "" where an older program says none.

    Raises:
        ShardError: a shard is damaged.
    """
    return {read_finished(path).precision for path in shard_paths(folder, "images")}


def shard_paths(folder: Path, kind: Kind | None = None) -> list[Path]:
    """Shards of a folder, of one kind or all, in the order of their names."""
    return sorted(folder.glob(f"{kind or '[!.]'}*.safetensors"))


def _open(path: Path, *, but: str = "") -> tuple[dict[str, str], Tensors]:
    """Read a shard's receipt and its tensors, all but one."""
    with safe_open(path, framework="numpy") as file:
        return file.metadata(), {name: file.get_tensor(name) for name in file.keys() if name != but}  # noqa: SIM118


def reasons_of(failures: Mapping[Any, Failed]) -> dict[str, str]:
    """What a receipt says of items that failed."""
    reasons, final = zip(*failures.values(), strict=True) if failures else ((), ())
    return {"reasons": json.dumps(reasons), "final": json.dumps(final)}


def read_reasons(receipt: Mapping[str, str], items: Sequence[Item]) -> dict[Item, Failed]:
    """Read why some items failed; receipts of older programs do not say whether that is final, so it is tried again.

    Raises:
        ValueError: it says something else.
    """
    final = from_json(list[bool], receipt["final"]) if "final" in receipt else [False] * len(items)
    return dict(zip(items, map(Failed, from_json(list[str], receipt["reasons"]), final), strict=True))


def _columns(traits: NDArray[np.void] | None) -> Tensors:
    """Lay traits out as tensors: safetensors hold no structures."""
    if traits is None:
        return {}
    flags = np.stack([traits[flag] for flag in FLAGS], axis=1)
    return {"traits": flags, **{name: traits[field].copy() for name, field in _TRAITS.items()}}


def _traits(tensors: Tensors) -> NDArray[np.void] | None:
    """Read traits; older shards have none, or no drawings, no ink or no roughness."""
    if "traits" not in tensors:
        return None
    traits = np.full(len(tensors["traits"]), NOT_KNOWN, dtype=TRAITS)
    held = {field: tensors[name] for name, field in _TRAITS.items() if name in tensors}
    for field, column in (*zip(FLAGS, tensors["traits"].T, strict=True), *held.items()):
        traits[field] = column
    return traits


def _content_hash(tensors: Tensors) -> str:
    return _sum(*(np.ascontiguousarray(tensors[name]) for name in _HASHED if name in tensors))


def _sum(*arrays: NDArray[Any]) -> str:
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def _failures_hash(failures: Mapping[int, Failed]) -> str:
    return hashlib.sha256(json.dumps([(item, *failed) for item, failed in failures.items()]).encode()).hexdigest()
