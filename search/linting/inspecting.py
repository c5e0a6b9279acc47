"""What there is to be seen of each icon: read, parsed, drawn, looked at by an encoder; and where its ink is."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Pixels, grouped, in_chunks
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.graphs import OnnxEncoder, find_graphs
from indexer.encoders.query_encoder import OnnxQueryEncoder, read_facts
from indexer.errors import ChangedError, IconsError, ModelError, RenderError, SourceError
from indexer.languages.dictionary import Dictionary
from indexer.languages.letters import AUTO
from indexer.languages.own_names import SetReader
from indexer.languages.words import common_affixes, parse
from indexer.library.folder import Library
from indexer.merging.manifest import Manifest
from indexer.process import cores
from indexer.rendering.pool import Job, RenderPool
from indexer.rendering.render import BLANK
from indexer.reports.terminal import Progress, with_progress
from indexer.sources.folders import reason_of
from indexer.sources.records import PictureAddress, Record
from indexer.sources.source import Source, open_sources, read_picture
from search.generation.backend import Ability
from search.generation.opened import Opened
from search.linting.drawing import Drawing, read_drawing
from search.query import Filters


@dataclass(frozen=True, slots=True)
class IconFile:
    """One icon, found but not read yet."""

    name: str
    words: str
    """What its name says, in English, without style and size."""
    set: str
    style: str | None
    size: int | None
    address: PictureAddress

    @property
    def key(self) -> str:
        """As other commands take it."""
        return f"{self.set}:{self.name}"

    @property
    def label(self) -> str:
        """As a person finds it: its file in the source, or its name where that holds several."""
        return self.name if self.address.member else self.address.path or self.name

    @property
    def place(self) -> str:
        """The file in which it lies."""
        return self.address.place


def of_folders(folders: Sequence[Path], *, exclude: Sequence[str]) -> tuple[list[IconFile], list[tuple[str, str]]]:
    """Find the icons below some folders, files or packages; and what gave none: its set, and where and why.

    Raises:
        SourceError: one of them is not there, or holds no icons.
    """
    icons: list[IconFile] = []
    unread: list[tuple[str, str]] = []
    for source in (source for folder in folders for source in open_sources(folder, exclude=exclude)):
        records: list[tuple[str, Record]] = []
        for scan in source.scan({}):
            place = str(source.location / scan.path) if scan.path else str(source.location)
            failures = [(place, scan.error)] if scan.error is not None else []
            failures += [(f"{place}#{member}", reason) for member, reason in scan.broken]
            unread += [(source.location.name, f"{where}: {reason}") for where, reason in failures]
            records += [(scan.path, record) for record in scan.records or ()]
        for of_set in grouped(records, lambda found: found[1].set.key).values():
            icons.extend(_named(source, of_set))
    if not icons and not unread:
        raise IconsError(f'no icons below "{folders[0]}"; give a folder of pictures, an Iconify set or an npm package')
    return icons, unread


def _named(source: Source, records: Sequence[tuple[str, Record]]) -> Iterator[IconFile]:
    """Read the names of one set together, as a library does; most say it in English already."""
    affixes = common_affixes(record.name for _, record in records)
    names = [parse(record.name, affixes, style=record.style, size=record.size) for _, record in records]
    reader = SetReader(Dictionary.bundled(), language=AUTO, names=[name.words for name in names], tags=())
    for (path, record), name in zip(records, names, strict=True):
        english = reader.name(name.words)
        yield IconFile(
            name=record.name,
            words=english.words if english else name.words,
            set=record.set.key,
            style=name.style,
            size=name.size,
            address=PictureAddress(source.kind, str(source.location), path, record.member, record.digest),
        )


def of_library(opened: Opened, sets: Sequence[str]) -> list[IconFile]:
    """Find the icons of some sets of a library.

    Raises:
        IconsError: a set is unknown there; the message names near ones.
    """
    facets = opened.in_memory(Ability.LINT)
    ids = facets.every(facets.select(Filters(sets=tuple(sets))))
    rows = opened.snapshot.candidates(ids)
    looks = dict(zip(ids.tolist(), facets.looks(facets.at(ids)), strict=True))
    digests = opened.snapshot.digests(list({row.image_id for row in rows.values()}))
    return [
        IconFile(
            name=row.name,
            words=row.words,
            set=row.set,
            style=looks[row.id],
            size=row.size,
            address=row.address(digests[row.image_id]),
        )
        for row in sorted(rows.values(), key=lambda row: row.id)
    ]


_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class PairEncoder:
    """Turns pictures and words into unit vectors, (n, dim)."""

    image_size: int
    pictures: Callable[[Pixels], Floats]
    """Of (n, size, size, 3)."""
    words: Callable[[Sequence[str]], Floats]


def open_encoder(library: Library | None) -> PairEncoder:
    """Open the encoder that answers in a library, if there is one that needs no torch; else the bundled one.

    Raises:
        ModelError: the bundled one has no graphs.
    """
    checkpoint = find_checkpoint(ModelChoice.bundled())
    if library is not None and library.exists():
        with suppress(IconsError, OSError, ValueError, IndexError):  # one that can't be read has none
            fingerprint = Manifest.read(library.candidates()[0]).fingerprint
            facts = read_facts(library.encoder(fingerprint))
            if fingerprint != checkpoint.fingerprint and facts.served == "onnx":
                own = OnnxQueryEncoder(library.encoder(fingerprint), facts)
                at_once = ThreadPoolExecutor(cores(), "encode").map  # it has one thread a call
                encode = (_batched(at_once, one) for one in (own.encode_many_pictures, own.encode_many_words))
                return PairEncoder(own.image_size, *encode)
    graphs = find_graphs(checkpoint)
    if graphs is None:
        raise ModelError(f'the graphs of model "{checkpoint.name}" are missing; install `icons` again')
    # In int8 six times as many pictures a second; what is compared here are pictures of one encoder among each other.
    encoder = OnnxEncoder(graphs, precision="int8" if graphs.has_int8 else "fp32", threads=cores())
    return PairEncoder(
        encoder.image_size,
        _batched(map, encoder.encode_images),
        lambda texts: encoder.encode_texts(texts).astype(np.float32),
    )


def _batched(at_once: Callable[..., Iterable[Any]], encode: Callable[[Any], Any]) -> Callable[[Any], Floats]:
    def encode_all(whole: Any) -> Floats:
        return np.concatenate(list(at_once(encode, in_chunks(whole, _AT_ONCE)))).astype(np.float32)

    return encode_all


GRID = 128
"""Side of a mask: five pixels a unit of an icon of 24."""
_HALF = 128
"""Of 255: darkest ink counts as 255, so a pale icon is measured as a black one."""
_CHUNK = 64


@dataclass(slots=True)
class Icon:
    """One icon, and what its file says."""

    file: IconFile
    n_bytes: int = 0
    drawing: Drawing | None = None
    """None where it is no SVG, or one that can't be parsed."""
    error: str | None = None
    """Why it can't be parsed or drawn."""
    is_blank: bool = False
    is_on_dark: bool = False
    """Whether it vanishes on white."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """Icons of one set; arrays have a row for each, all zero where nothing could be drawn."""

    icons: Sequence[Icon]
    masks: NDArray[np.uint8]
    """Where the ink is: packed, a bit a pixel, (n, GRID, GRID / 8)."""
    boxes: Floats
    """(n, 4): left, top, right and bottom of the ink as shares of the canvas; all 0 where there is none."""
    drawn: NDArray[np.int64]
    """A digest of the pixels: those that show the same have the same; 0 where nothing could be drawn."""
    vectors: Floats
    """(n, dim); (n, 0) where nobody looked."""


def inspect(files: Sequence[IconFile], *, encoder: PairEncoder | None, progress: Progress) -> Inspection:
    """Look at the icons of one set, with an encoder where vectors are needed."""
    n = len(files)
    icons = list(_read_all(files, progress))
    masks = np.zeros((n, GRID, GRID // 8), np.uint8)
    boxes, drawn = np.zeros((n, 4), np.float32), np.zeros(n, np.int64)
    vectors = np.zeros((n, 0), np.float32)
    side = GRID if encoder is None else max(GRID, encoder.image_size)
    jobs = [Job(row, file.address) for row, file in enumerate(files)]
    with RenderPool(size=side, workers=max(1, cores() - 1), chunk=_CHUNK) as pool:
        n_done = 0
        for chunk in pool.render([jobs]):
            rows = chunk.ids
            if len(rows):
                depth, is_dark = depth_of(_shrunk(chunk.pixels, GRID))
                for row in rows[is_dark].tolist():
                    icons[row].is_on_dark = True
                masks[rows] = np.packbits(depth >= _HALF, axis=2)
                (left, right), (top, bottom) = _ends(depth.max(axis=1)), _ends(depth.max(axis=2))
                boxes[rows] = np.stack([left, top, right, bottom], axis=1)
                drawn[rows] = chunk.traits["drawing"]
                if encoder is not None:
                    some = encoder.pictures(_shrunk(chunk.pixels, encoder.image_size))
                    vectors = vectors if vectors.shape[1] else np.zeros((n, some.shape[1]), np.float32)
                    vectors[rows] = some
            for failure in chunk.failures:
                icons[failure.id].is_blank = failure.reason == BLANK
                icons[failure.id].error = None if failure.reason == BLANK else failure.reason
            n_done += len(rows) + len(chunk.failures)
            progress("Drawing icons", n_done, n)
    return Inspection(icons, masks, boxes, drawn, vectors)


def _read_all(files: Sequence[IconFile], progress: Progress) -> Iterator[Icon]:
    for file in with_progress(files, "Reading icons", progress):
        icon = Icon(file)
        try:
            content = read_picture(file.address)
            icon.n_bytes = len(content)
            icon.drawing = read_drawing(content)
        except (OSError, SourceError, ChangedError) as error:
            icon.error = f"can't be read: {reason_of(error)}"
        except RenderError as error:
            icon.error = str(error)
        yield icon


def _shrunk(pixels: Pixels, side: int) -> Pixels:
    """Pictures on a smaller side, by the mean of whole blocks where they fit, else by the nearest pixel."""
    n, have = pixels.shape[:2]
    if have % side:
        nearest = (np.arange(side) * have) // side
        return np.ascontiguousarray(pixels[:, nearest][:, :, nearest])
    by = have // side
    parts = (pixels[:, down::by, across::by] for down in range(by) for across in range(by))
    return np.asarray((sum(parts, np.zeros((n, side, side, 3), np.uint16)) + by * by // 2) // (by * by), np.uint8)


def depth_of(pixels: Pixels) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """How much each pixel differs from the ground, (n, side, side), and whether that is black and not white, (n,).

    The ground is what most of the rim shows; where an icon covers the whole rim, what it shows is ink.
    """
    rim = np.concatenate([pixels[:, 0], pixels[:, -1], pixels[:, :, 0], pixels[:, :, -1]], axis=1)
    n_white, n_black = ((rim == shade).all(axis=2).sum(axis=1) for shade in (255, 0))
    red, green, blue = (pixels[..., channel] for channel in range(3))  # by channels: thrice as fast as along an axis
    depth = 255 - np.minimum(np.minimum(red, green), blue)
    is_dark = n_black > n_white
    depth[is_dark] = np.maximum(np.maximum(red[is_dark], green[is_dark]), blue[is_dark])
    top = depth.max(axis=(1, 2))
    depth[top == 0] = 255
    pale = (top > 0) & (top < 255)
    depth[pale] = depth[pale] * (255 / top[pale, None, None])
    return np.asarray(depth, np.uint8), is_dark


def _ends(profile: NDArray[np.uint8]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where ink begins and ends along an axis, (n, side) -> shares of the side.

    A pixel at its edge counts by how much ink it has, so they are finer than pixels.
    """
    n, side = profile.shape
    has_ink = profile > 8
    first = has_ink.argmax(axis=1)
    last = side - 1 - has_ink[:, ::-1].argmax(axis=1)
    rows = np.arange(n)
    begins = first + 1 - profile[rows, first] / 255
    ends = last + profile[rows, last] / 255
    is_empty = ~has_ink.any(axis=1)
    begins[is_empty] = ends[is_empty] = 0
    return begins / side, ends / side
