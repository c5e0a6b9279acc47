"""Which screenshots are there, which of them are new, and which folders are remembered."""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Annotated

from indexer.errors import SourceError, explain_unreadable
from indexer.library.durable import write_file
from indexer.library.folder import GenerationFolder, Generations, Library
from indexer.library.foreign import Absolute, Count, Location, below, from_json
from indexer.process import cores
from indexer.reports.terminal import Progress
from indexer.sources.folders import Exclusion, find_pictures, reason_of
from indexer.sources.records import UNREAD, content_digest, from_text, read_regular, stamp_of, to_text


class UsageGeneration(GenerationFolder):
    """Where the files of one published state lie.

    `places` has a line a file: its path, and the row of its screen or why there is none. `boxes` holds screens, their
    boxes, and the drawing that each box shows; `drawings` is an index of the vectors of distinct drawings, ids are rows
    of drawings; `crops` has PNGs of the drawings, one after the other, and is empty where no crops are kept.
    """

    def __init__(self, number: int, folder: Path) -> None:
        super().__init__(number, folder)
        self.places, self.boxes, self.drawings, self.crops = self.files = tuple(
            folder / name for name in ("places.jsonl", "boxes.safetensors", "drawings.faiss", "crops.bin")
        )


class UsageFolder(Generations[UsageGeneration]):
    """Paths of what is known of screenshots, in one library."""

    def __init__(self, library: Library) -> None:
        super().__init__(library.root / "usage", UsageGeneration, library=library.root)
        self.library = library
        self.settings = self.root / "shots.json"
        self.files = self.root / "files.jsonl"
        self.looks = self.root / "looks"

    def looks_of(self, key: object) -> Path:
        """Folder of the shards of one encoder and detector."""
        return below(self.looks, str(key))


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of screenshots, or one screenshot."""

    location: Absolute
    exclude: tuple[str, ...] = ()
    """Patterns as in .gitignore."""


@dataclass(frozen=True, slots=True)
class Shots:
    """Which screenshots `icons usage add` remembers."""

    places: tuple[Place, ...] = ()
    keeps_crops: bool = True


def read_shots(folder: UsageFolder) -> Shots:
    """Read it; nothing where nothing is remembered.

    Raises:
        LibraryError: it can't be read.
    """
    if not folder.settings.is_file():
        return Shots()
    with explain_unreadable(f'"{folder.settings}"', "delete it, and give `icons usage add` the screenshots again"):
        return from_json(Shots, folder.settings.read_bytes())


SUFFIXES = frozenset((".png", ".jpg", ".jpeg", ".webp", ".gif", ".apng", ".bmp"))
"""Of screenshots; what lies in a folder under other names is left alone. Content alone says what a file is."""
MAX_BYTES = 64 << 20
_SUM = b'{"sha256": "'


@dataclass(frozen=True, slots=True)
class FileFacts:
    """One file as the last look found it; it has a digest or an error."""

    path: Absolute
    """Spelled by `sources.records.to_text`."""
    stamp: str
    digest: Annotated[str, re.compile("[0-9a-f]{32}")] | None = None
    """`content_digest`, in hex: files of equal content are one screen."""
    error: str | None = None


def find_files(
    places: Sequence[Place], known: Sequence[FileFacts], *, progress: Progress
) -> tuple[list[FileFacts], int, tuple[str, ...]]:
    """Look at the files of all places; only those whose stamp is new are read.

    Returned are all files, by path, how many of them were read, and the places that are not there now, an unplugged
    drive perhaps: what was known of them is kept.
    """
    by_path = {facts.path: facts for facts in known}
    files: dict[str, FileFacts] = {}
    to_read: list[tuple[FileFacts, str | None]] = []
    away = tuple(place.location for place in places if not Path(place.location).exists())
    for place in places:
        if place.location in away:
            files.update((facts.path, facts) for facts in known if is_below(facts.path, place.location))
            continue
        for facts, inside in _walk(place):
            if facts.path in files:  # of a place within a place
                continue
            before = by_path.get(facts.path)
            unchanged = before if before and before.stamp == facts.stamp and not facts.error else None
            files[facts.path] = unchanged or facts
            if not unchanged and not facts.error:
                to_read.append((facts, inside))
            if len(files) % 1000 == 0:
                progress("Looking for screenshots", len(files), len(files))
    with ThreadPoolExecutor(cores()) as threads:
        for n_read, facts in enumerate(threads.map(lambda found: _read(*found), to_read), start=1):
            files[facts.path] = facts
            progress("Reading what is new", n_read, len(to_read))
    return sorted(files.values(), key=lambda facts: facts.path), len(to_read), away


def is_below(path: str, location: str) -> bool:
    """Whether a file, as `FileFacts` has it, is a place or lies in it."""
    return f"{path}/".startswith(f"{to_text(location).rstrip('/')}/")


def _walk(place: Place) -> Iterator[tuple[FileFacts, str | None]]:
    """Yield every file of a place with its stamp, and the real path that it must lie below."""
    location = Path(place.location)
    is_file, inside = location.is_file(), os.path.realpath(location)
    pictures = find_pictures(location, exclusion=Exclusion.of(place.exclude), suffixes=SUFFIXES)
    for found in [""] if is_file else pictures:
        if isinstance(found, str):
            path, stamp, error = to_text(str(location / found)), UNREAD, None
            try:
                stamp = stamp_of(location / found)
            except OSError as reason:
                error = reason_of(reason)
            yield FileFacts(path, stamp, error=error), None if is_file else inside
        else:  # a folder that can't be looked into, a link that leads out
            path = f"{to_text(place.location)}/{found.path}".rstrip("/")
            yield FileFacts(path, UNREAD, error=found.error), inside


def _read(facts: FileFacts, inside: str | None) -> FileFacts:
    """Take the digest of a file; one that can't be read now is read again by the next look."""
    try:
        content = read_regular(Path(from_text(facts.path)), limit=MAX_BYTES, inside=inside)
    except OSError as error:
        return replace(facts, stamp=UNREAD, error=reason_of(error))
    except SourceError as error:
        return replace(facts, error=reason_of(error))
    return replace(facts, digest=content_digest(content).hex())


def read_known(folder: UsageFolder) -> list[FileFacts]:
    """Read what the last look found; nothing where that was lost or damaged: then every file is read again."""
    try:
        lines = folder.files.read_bytes().splitlines(keepends=True)
        if lines and lines[-1].startswith(_SUM) and lines.pop() != _sum_line(lines):
            return []
        return [from_json(FileFacts, line) for line in lines]
    except (OSError, ValueError):
        return []


@dataclass(frozen=True, slots=True)
class Placed:
    """What a generation says of a file."""

    path: Location
    """As `FileFacts` has it."""
    screen: Count | None
    """The row of its screen."""
    reason: str | None
    """Why there is none."""


def read_places(generation: UsageGeneration) -> list[Placed]:
    """Read what a generation says of each file.

    Raises:
        LibraryError: it can't be read.
    """
    with explain_unreadable(f'"{generation.places}"', "`icons usage add` builds a new one"):
        return [from_json(Placed, line) for line in generation.places.read_bytes().splitlines()]


def write_known(folder: UsageFolder, files: Sequence[FileFacts]) -> None:
    """Keep what a look found, before the work on it begins; the last line is a checksum of the others."""
    lines = [f"{json.dumps(astuple(facts))}\n".encode() for facts in files]
    write_file(folder.files, b"".join([*lines, _sum_line(lines)]))


def _sum_line(lines: Sequence[bytes]) -> bytes:
    return _SUM + hashlib.sha256(b"".join(lines)).hexdigest().encode() + b'"}\n'
