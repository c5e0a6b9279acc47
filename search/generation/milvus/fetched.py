"""The files of a generation that searches read on this machine: fetched once, held against their checksums, kept.

The server holds each file in pieces, under its sha256: one that two generations share is there, and here, once.
"""

import hashlib
import json
import os
import re
import shutil
import zlib
from base64 import b64decode
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from indexer.errors import LibraryError
from indexer.library.durable import describe_file, folder_aside, make_folder, write_file
from indexer.library.folder import Generation, Library
from search.deadline import refuse_late
from search.generation.milvus.connection import Connection, GoneError
from search.generation.milvus.schema import Names, piece, ready

_PIECES_AT_ONCE = 32
"""Of up to 64 kB."""
_SAYS = "published.json"
_N_KEPT = 3
"""Generations whose files stay here."""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """One file that was published."""

    bytes: int
    sha256: str
    pieces: int


@dataclass(frozen=True, slots=True)
class Said:
    """What was published of a generation, written last."""

    number: int
    fingerprint: str
    dim: int
    is_half: bool
    n_icons: int
    n_pictures: int
    published_at: str
    generation: dict[str, FileFacts]
    """Files of the generation, by name."""
    encoder: dict[str, FileFacts]
    """... and of the encoder of queries."""
    sends_pictures: bool = True
    """Whether rows hold what icons show."""

    def to_json(self) -> str:
        """Spell it as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Said":
        """Read it.

        Raises:
            ValueError, TypeError, LookupError: it is none.
        """
        told: dict[str, Any] = json.loads(text)
        for name in ("generation", "encoder"):
            told[name] = {file: FileFacts(**facts) for file, facts in told[name].items()}
        said = cls(**told)
        sums = [facts.sha256 for facts in (*said.generation.values(), *said.encoder.values())]
        names = [*said.generation, *said.encoder]
        # They become names of files here, whatever the server is.
        if not all(re.fullmatch("[0-9a-f]{64}", sha256) for sha256 in sums):
            raise ValueError("a checksum is none")
        if not re.fullmatch("[0-9a-f]{4,64}", said.fingerprint) or any(Path(name).name != name for name in names):
            raise ValueError("a file has a name that is none")
        return said


def read_said(connection: Connection, names: Names, number: int, *, consistency: str = "Strong") -> Said:
    """What was published of a generation; a server that is asked strongly waits for what was written a moment ago.

    Raises:
        GoneError: it was not, or is no longer there.
    """
    rows = connection.query(names.files, f'id == "{ready(number)}"', ["content"], consistency_level=consistency)
    if not rows:
        raise GoneError(f'"{connection.spelling}" holds no generation {number}; `icons publish` sends one')
    try:
        return Said.from_json(rows[0]["content"])
    except (ValueError, TypeError, LookupError) as error:
        raise LibraryError(
            f'generation {number} of "{connection.spelling}" is of another format ({error}); '
            "`pip install --upgrade icons` here, or `icons publish` there"
        ) from error


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
        return all((folder / name).stat().st_size == facts.bytes for name, facts in files.items())
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
            stored = root / "files" / facts.sha256
            if not _is_stored(stored, facts):
                write_file(stored, _read(connection, names, name, facts))
            try:
                os.link(stored, aside / name)
            except OSError:  # no links here
                shutil.copyfile(stored, aside / name)
        if said is not None:
            (aside / _SAYS).write_text(said.to_json(), "utf-8")


def _is_stored(stored: Path, facts: FileFacts) -> bool:
    try:
        return describe_file(stored)["sha256"] == facts.sha256
    except OSError:
        return False


def _read(connection: Connection, names: Names, name: str, facts: FileFacts) -> bytes:
    """A file out of its pieces."""
    held: dict[str, str] = {}
    keys = [piece(facts.sha256, number) for number in range(facts.pieces)]
    for start in range(0, len(keys), _PIECES_AT_ONCE):
        refuse_late()
        where = f"id in {json.dumps(keys[start : start + _PIECES_AT_ONCE])}"
        held.update((row["id"], row["content"]) for row in connection.query(names.files, where, ["id", "content"]))
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
