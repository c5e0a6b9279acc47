"""The files of a generation that searches read on this machine: fetched once, held against their checksums, kept.

The server holds each file in pieces, under its sha256: one that two generations share is there, and here, once.
"""

import hashlib
import json
import os
import shutil
import zlib
from base64 import b64decode
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from indexer.errors import LibraryError
from indexer.library.durable import FileSum, describe_file, folder_aside, make_folder, write_file
from indexer.library.folder import Generation, Library
from indexer.library.foreign import Count, FileName, Name, Size, below, from_json
from indexer.library.numbered import Number
from search.deadline import refuse_late
from search.generation.milvus.connection import Connection, GoneError
from search.generation.milvus.schema import Names, piece, ready

_PIECES_AT_ONCE = 32
"""Of up to 64 kB."""
_SAYS = "published.json"
_N_KEPT = 3
"""Generations whose files stay here."""


@dataclass(frozen=True, slots=True)
class FileFacts(FileSum):
    """One file that was published."""

    pieces: Size


@dataclass(frozen=True, slots=True)
class Said:
    """What was published of a generation, written last."""

    number: Number
    fingerprint: Name
    dim: Size
    is_half: bool
    n_icons: Count
    n_pictures: Count
    published_at: str
    generation: dict[FileName, FileFacts]
    """Files of the generation, by name."""
    encoder: dict[FileName, FileFacts]
    """... and of the encoder of queries."""
    sends_pictures: bool = True
    """Whether rows hold what icons show."""

    def to_json(self) -> str:
        """Spell it as JSON."""
        return json.dumps(asdict(self))


def read_said(connection: Connection, names: Names, number: int, *, consistency: str = "Strong") -> Said:
    """What was published of a generation; a server that is asked strongly waits for what was written a moment ago.

    Raises:
        GoneError: it was not, or is no longer there.
    """
    rows = connection.query(names.files, f'id == "{ready(number)}"', ["content"], consistency_level=consistency)
    if not rows:
        raise GoneError(f'"{connection.spelling}" holds no generation {number}; `icons publish` sends one')
    try:
        said = from_json(Said, rows[0]["content"])
        if said.number != number:
            raise ValueError(f"it says that it is {said.number}")  # noqa: TRY301
    except ValueError as error:
        raise LibraryError(
            f'generation {number} of "{connection.spelling}" is of another format ({error}); '
            "`pip install --upgrade icons` here, or `icons publish` there"
        ) from error
    return said


def fetch(connection: Connection, names: Names, library: Library, said: Said) -> Generation:
    """Put the files of a generation and its encoder into the user's cache, those that are missing.

    Raises:
        LibraryError: a file can't be had as it was published, or not written here.
    """
    generation = library.generation(said.number)
    try:
        make_folder(library.root / "files")
        encoder = library.encoder(said.fingerprint)
        if not _has_files(encoder, said.encoder):
            _fill(connection, names, library.root, encoder, said.encoder)
        if not _is_there(generation.folder, said):
            _fill(connection, names, library.root, generation.folder, said.generation, said=said)
            _forget_others(library, said.number)
    except OSError as error:
        raise LibraryError(
            f'"{error.filename or library.root}" can\'t be written ({error.strerror}); '
            "XDG_CACHE_HOME names another folder for what is fetched"
        ) from error
    return generation


def _is_there(folder: Path, said: Said) -> bool:
    """Whether a folder holds what was published; another library under the same address may have been."""
    try:
        is_it = (folder / _SAYS).read_text("utf-8") == said.to_json()
    except (OSError, UnicodeDecodeError):
        return False
    return is_it and _has_files(folder, said.generation)


def _has_files(folder: Path, files: dict[str, FileFacts]) -> bool:
    """Whether a folder holds files of these sizes: caches are cleared file by file."""
    try:
        return all(below(folder, name).stat().st_size == facts.bytes for name, facts in files.items())
    except OSError:
        return False


def _fill(
    connection: Connection,
    names: Names,
    root: Path,
    folder: Path,
    files: dict[str, FileFacts],
    *,
    said: Said | None = None,
) -> None:
    with folder_aside(folder, replace=True) as aside:
        for name, facts in files.items():
            stored = below(root, "files", facts.sha256)
            if not _is_stored(stored, facts):
                write_file(stored, _read(connection, names, name, facts))
            try:
                os.link(stored, below(aside, name))
            except OSError:  # no links here
                shutil.copyfile(stored, below(aside, name))
        if said is not None:
            (aside / _SAYS).write_text(said.to_json(), "utf-8")


def _is_stored(stored: Path, facts: FileFacts) -> bool:
    try:
        return describe_file(stored).sha256 == facts.sha256
    except OSError:
        return False


def _read(connection: Connection, names: Names, name: str, facts: FileFacts) -> bytes:
    """A file out of its pieces."""
    held: dict[str, str] = {}
    keys = [piece(facts.sha256, number) for number in range(facts.pieces)]
    for start in range(0, len(keys), _PIECES_AT_ONCE):
        refuse_late()
        where = f"id in {json.dumps(keys[start : start + _PIECES_AT_ONCE])}"
        found = connection.query(names.files, where, ["id", "content"])
        held.update((row["id"], row["content"]) for row in found)
        if not found:
            break
    try:
        content = zlib.decompressobj().decompress(b"".join(b64decode(held[key]) for key in keys), facts.bytes)
    except (KeyError, ValueError, zlib.error) as error:
        raise LibraryError(f'"{connection.spelling}" lacks a piece of "{name}"; `icons publish` sends it') from error
    if hashlib.sha256(content).hexdigest() != facts.sha256:
        raise LibraryError(f'"{name}" of "{connection.spelling}" does not match its checksum; `icons publish` mends it')
    return content


def _forget_others(library: Library, number: int) -> None:
    """Delete the files of old generations; a search under way keeps what it has open."""
    for old in [other for other in library.numbers() if other != number][_N_KEPT - 1 :]:
        shutil.rmtree(library.folder(old), ignore_errors=True)
    for file in (library.root / "files").iterdir():
        with suppress(OSError):
            if file.stat().st_nlink == 1:
                file.unlink()
