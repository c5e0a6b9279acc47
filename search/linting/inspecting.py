"""What there is to be seen of each icon: read, parsed, drawn, and looked at by an encoder."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Pixels
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.graphs import OnnxEncoder, find_graphs
from indexer.encoders.query_encoder import OnnxQueryEncoder, read_facts
from indexer.errors import ChangedError, IconsError, ModelError, SourceError
from indexer.languages.names import common_affixes, parse
from indexer.library.folder import Library
from indexer.merging.manifest import Manifest
from indexer.process import cores
from indexer.rendering.pool import RenderPool
from indexer.rendering.slots import Job
from indexer.reports.terminal import Progress
from indexer.sources.folders import reason_of
from indexer.sources.records import Record
from indexer.sources.source import Source, open_sources, read_picture
from search.generation.backend import Ability
from search.generation.opened import Opened
from search.linting.drawing import Drawing, read_drawing
from search.linting.ink import GRID, Boxes, Masks, boxes_of, depth_of, masks_of
from search.linting.markup import MarkupError
from search.query import Filters


@dataclass(frozen=True, slots=True)
class Gathered:
    """One icon, found but not read yet."""

    name: str
    words: str
    """What its name says, in English, without style and size."""
    set: str
    style: str | None
    size: int | None
    kind: str
    location: str
    path: str
    member: str
    """By these four `indexer.sources.source.read_picture` finds it."""
    digest: bytes

    @property
    def key(self) -> str:
        """As other commands take it."""
        return f"{self.set}:{self.name}"

    @property
    def place(self) -> str:
        """The file in which it lies."""
        file = str(Path(self.location, self.path)) if self.path else self.location
        return f"{file}#{self.member}" if self.member else file


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Something of a source that gave no icon, and why."""

    set: str
    place: str
    reason: str


def of_folders(folders: Sequence[Path], *, exclude: Sequence[str]) -> tuple[list[Gathered], list[Unreadable]]:
    """Find the icons below some folders, files or packages.

    Raises:
        SourceError: one of them is not there, or holds no icons.
    """
    icons: list[Gathered] = []
    unread: list[Unreadable] = []
    for source in (source for folder in folders for source in open_sources(folder, exclude=exclude)):
        found = list(_scanned(source, unread))
        by_set: dict[str, list[tuple[str, Record]]] = defaultdict(list)
        for path, record in found:
            by_set[record.set.key].append((path, record))
        for records in by_set.values():
            icons.extend(_named(source, records))
    if not icons and not unread:
        raise IconsError(f'no icons below "{folders[0]}"; give a folder of pictures, an Iconify set or an npm package')
    return icons, unread


def _scanned(source: Source, unread: list[Unreadable]) -> Iterator[tuple[str, Record]]:
    for scan in source.scan({}):
        place = str(source.location / scan.path) if scan.path else str(source.location)
        if scan.error is not None:
            unread.append(Unreadable(source.location.name, place, scan.error))
        unread.extend(Unreadable(source.location.name, f"{place}#{member}", reason) for member, reason in scan.broken)
        for record in scan.records or ():
            yield scan.path, record


def _named(source: Source, records: Sequence[tuple[str, Record]]) -> Iterator[Gathered]:
    """Read the names of one set together, as a library does."""
    affixes = common_affixes(record.name for _, record in records)
    parsed = [parse(record.name, affixes, style=record.style, size=record.size) for _, record in records]
    english = _in_english([name.words for name in parsed])
    for (path, record), name, words in zip(records, parsed, english, strict=True):
        yield Gathered(
            name=record.name,
            words=words,
            set=record.set.key,
            style=name.style,
            size=name.size,
            kind=source.kind,
            location=str(source.location),
            path=path,
            member=record.member,
            digest=record.digest,
        )


def _in_english(names: Sequence[str]) -> list[str]:
    """What the names of one set say in English; most say it already."""
    from indexer.languages.dictionary import Dictionary
    from indexer.languages.letters import AUTO
    from indexer.languages.own_names import Judge, SetReader

    dictionary = Dictionary.bundled()
    reader = SetReader(dictionary, Judge(dictionary), language=AUTO, names=names, tags=())
    return [read.words if (read := reader.name(words)) else words for words in names]


def of_library(opened: Opened, sets: Sequence[str]) -> list[Gathered]:
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
        Gathered(
            name=row.name,
            words=row.words,
            set=row.set,
            style=looks[row.id],
            size=row.size,
            kind=row.kind,
            location=row.location,
            path=row.path,
            member=row.member,
            digest=digests[row.image_id],
        )
        for row in sorted(rows.values(), key=lambda row: row.id)
    ]


def by_set(icons: Iterable[Gathered]) -> dict[str, list[Gathered]]:
    """Icons by their set, in the order of its first one."""
    found: dict[str, list[Gathered]] = defaultdict(list)
    for icon in icons:
        found[icon.set].append(icon)
    return dict(found)


_AT_ONCE = 32


class Seer(Protocol):
    """Turns pictures and words into unit vectors."""

    image_size: int

    def pictures(self, pixels: Pixels) -> Floats:
        """Encode pictures (n, size, size, 3), (n, dim)."""

    def words(self, texts: Sequence[str]) -> Floats:
        """Encode texts, (n, dim)."""


def open_seer(library: Library | None) -> Seer:
    """Open the encoder that answers in a library, if there is one that needs no torch; else the bundled one.

    Raises:
        ModelError: the bundled one has no graphs.
    """
    checkpoint = find_checkpoint(ModelChoice.bundled())
    fingerprint = _fingerprint(library)
    if library is not None and fingerprint not in (None, checkpoint.fingerprint):
        folder = library.encoder(fingerprint)
        with suppress(OSError, ValueError):
            facts = read_facts(folder)
            if facts.served == "onnx":
                return _OfLibrary(OnnxQueryEncoder(folder, facts))
    graphs = find_graphs(checkpoint)
    if graphs is None:
        raise ModelError(f'the graphs of model "{checkpoint.name}" are missing; install `icons` again')
    # In int8 six times as many pictures a second; what is compared here are pictures of one encoder among each other.
    return _Bundled(OnnxEncoder(graphs, precision="int8" if graphs.has_int8 else "fp32", threads=cores()))


def _fingerprint(library: Library | None) -> str | None:
    """Which encoder a library searches with; None where there is no library."""
    if library is None or not library.exists():
        return None
    for generation in library.candidates():
        with suppress(IconsError):
            return Manifest.read(generation).fingerprint
    return None


class _Bundled:
    def __init__(self, encoder: OnnxEncoder) -> None:
        self._encoder = encoder
        self.image_size = encoder.image_size

    def pictures(self, pixels: Pixels) -> Floats:
        parts = [self._encoder.encode_images(some) for some in _batches(pixels)]
        return np.concatenate(parts).astype(np.float32)

    def words(self, texts: Sequence[str]) -> Floats:
        return self._encoder.encode_texts(texts).astype(np.float32)


class _OfLibrary:
    """A query encoder has one thread a call; here so many calls run at once as there are cores."""

    def __init__(self, encoder: OnnxQueryEncoder) -> None:
        self._encoder = encoder
        self.image_size = encoder.image_size
        self._threads = ThreadPoolExecutor(cores(), "encode")

    def pictures(self, pixels: Pixels) -> Floats:
        return np.concatenate(list(self._threads.map(self._encoder.encode_many_pictures, _batches(pixels))))

    def words(self, texts: Sequence[str]) -> Floats:
        some = [texts[start : start + _AT_ONCE] for start in range(0, len(texts), _AT_ONCE)]
        return np.concatenate(list(self._threads.map(self._encoder.encode_many_words, some)))


def _batches(pixels: Pixels) -> Iterator[Pixels]:
    for start in range(0, len(pixels), _AT_ONCE):
        yield pixels[start : start + _AT_ONCE]


_CHUNK = 64


@dataclass(frozen=True, slots=True)
class Icon:
    """One icon, and what its file says."""

    found: Gathered
    n_bytes: int
    drawing: Drawing | None
    """None where it is no SVG, or one that can't be parsed."""
    error: str | None
    """Why it can't be parsed or drawn."""
    is_blank: bool
    is_on_dark: bool
    """Whether it vanishes on white."""

    @property
    def name(self) -> str:
        """As its file has it."""
        return self.found.name

    @property
    def words(self) -> str:
        """What its name says."""
        return self.found.words


@dataclass(frozen=True, slots=True)
class Inspection:
    """Icons of one set; arrays have a row for each, all zero where nothing could be drawn."""

    icons: Sequence[Icon]
    masks: Masks
    boxes: Boxes
    drawn: NDArray[np.int64]
    """A digest of the pixels: those that show the same have the same; 0 where nothing could be drawn."""
    vectors: Floats
    """(n, dim); (n, 0) where nobody looked."""


def inspect(icons: Sequence[Gathered], *, seer: Seer | None, progress: Progress) -> Inspection:
    """Look at the icons of one set, with an encoder where vectors are wanted."""
    n = len(icons)
    read = list(_read_all(icons, progress))
    masks = np.zeros((n, GRID, GRID // 8), np.uint8)
    boxes, drawn = np.zeros((n, 4), np.float32), np.zeros(n, np.int64)
    vectors: list[tuple[NDArray[np.int64], Floats]] = []
    failures: dict[int, str] = {}
    on_dark: set[int] = set()
    side = GRID if seer is None else max(GRID, seer.image_size)
    with RenderPool(size=side, workers=max(1, cores() - 1), chunk=_CHUNK) as pool:
        n_done = 0
        for chunk in pool.render([_jobs(icons)]):
            rows = chunk.ids
            if len(rows):
                pixels = chunk.pixels
                depth, is_dark = depth_of(_shrunk(pixels, GRID))
                on_dark.update(rows[is_dark].tolist())
                masks[rows], boxes[rows], drawn[rows] = masks_of(depth), boxes_of(depth), chunk.traits["drawing"]
                if seer is not None:
                    vectors.append((rows, seer.pictures(_shrunk(pixels, seer.image_size))))
            failures.update({failure.id: failure.reason for failure in chunk.failures})
            n_done += len(rows) + len(chunk.failures)
            progress("Drawing icons", n_done, n)
    return Inspection(
        [
            _icon(found, facts, failures.get(row), is_on_dark=row in on_dark)
            for row, (found, facts) in enumerate(zip(icons, read, strict=True))
        ],
        masks,
        boxes,
        drawn,
        _gathered(n, vectors),
    )


_Facts = tuple[int, Drawing | None, str | None]


def _read_all(icons: Sequence[Gathered], progress: Progress) -> Iterator[_Facts]:
    for number, icon in enumerate(icons):
        progress("Reading icons", number, len(icons))
        try:
            content = read_picture(icon.kind, Path(icon.location), icon.path, icon.member, digest=icon.digest)
        except (OSError, SourceError, ChangedError) as error:
            yield 0, None, f"can't be read: {reason_of(error)}"
            continue
        try:
            yield len(content), read_drawing(content), None
        except MarkupError as error:
            yield len(content), None, str(error)


def _icon(found: Gathered, facts: _Facts, failure: str | None, *, is_on_dark: bool) -> Icon:
    from indexer.rendering.render import BLANK

    n_bytes, drawing, error = facts
    is_blank = failure == BLANK
    return Icon(found, n_bytes, drawing, None if is_blank else failure or error, is_blank, is_on_dark)


def _jobs(icons: Sequence[Gathered]) -> list[Job]:
    return [Job(row, icon.kind, icon.location, icon.path, icon.member, icon.digest) for row, icon in enumerate(icons)]


def _shrunk(pixels: Pixels, side: int) -> Pixels:
    """Pictures on a smaller side, by the mean of whole blocks where they fit, else by the nearest pixel."""
    n, have = pixels.shape[:2]
    if side == have:
        return pixels
    if have % side:
        nearest = (np.arange(side) * have) // side
        return np.ascontiguousarray(pixels[:, nearest][:, :, nearest])
    by = have // side
    total = np.zeros((n, side, side, 3), np.uint16)
    for down in range(by):
        for across in range(by):
            total += pixels[:, down::by, across::by]
    return np.asarray((total + by * by // 2) // (by * by), np.uint8)


def _gathered(n: int, parts: Sequence[tuple[NDArray[np.int64], Floats]]) -> Floats:
    vectors = np.zeros((n, parts[0][1].shape[1] if parts else 0), np.float32)
    for rows, some in parts:
        vectors[rows] = some
    return vectors
