"""Opens what was published on a server: which generation answers, its files, fetched once, its collections.

An alias is asked which generation is current, and never searched: proxies resolve it several times for one request, and
can mix two collections (milvus-io/milvus#52351).
"""

import hashlib
import json
import os
import shutil
import zlib
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from indexer.arrays import in_chunks
from indexer.errors import LibraryError, UnknownSetError
from indexer.library.durable import FileSum, describe_file, folder_aside, make_folder, write_file
from indexer.library.folder import Generation, Library, LibraryElsewhere, Number
from indexer.library.foreign import Count, FileName, Name, Size, below, from_json
from indexer.merging.manifest import Manifest
from search.generation.backend import Engine
from search.generation.milvus.catalog import MilvusCatalog, MilvusVectors, VectorKind
from search.generation.milvus.connection import (
    COLUMNS,
    Connection,
    GoneError,
    Names,
    among,
    connection_to,
    manifest_key,
    piece_key,
)
from search.generation.milvus.table import Facts, MilvusTable
from search.generation.opened import Opened, Source

_PIECES_AT_ONCE = 32
"""Of up to 64 kB."""
_MANIFEST_NAME = "published.json"
_N_KEPT = 3
"""Generations whose files stay here."""


@dataclass(frozen=True, slots=True)
class FileFacts(FileSum):
    """One file that was published."""

    pieces: Size


@dataclass(frozen=True, slots=True)
class PublishedManifest:
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

    @property
    def files(self) -> dict[str, FileFacts]:
        """Both."""
        return {**self.generation, **self.encoder}

    def to_json(self) -> str:
        """Spell it as JSON."""
        return json.dumps(asdict(self))


def read_manifest(
    connection: Connection, names: Names, number: int, *, consistency: str = "Strong"
) -> PublishedManifest:
    """What was published of a generation; a server that is asked strongly waits for what was written a moment ago.

    Raises:
        GoneError: it was not, or is no longer there.
    """
    rows = connection.query(names.files, f'id == "{manifest_key(number)}"', ["content"], consistency_level=consistency)
    if not rows:
        raise GoneError(f'"{connection.spelling}" holds no generation {number}; `icons lab publish` sends one')
    try:
        published = from_json(PublishedManifest, rows[0]["content"])
        if published.number != number:
            raise ValueError(f"it says that it is {published.number}")  # noqa: TRY301
    except ValueError as error:
        raise LibraryError(
            f'generation {number} of "{connection.spelling}" is of another format ({error}); '
            "`pip install --upgrade icons` here, or `icons lab publish` there"
        ) from error
    return published


def find_manifest(connection: Connection, names: Names, number: int | None) -> PublishedManifest | None:
    """What was published of a generation; None where nothing was, or it is no longer whole."""
    if number is not None:
        with suppress(GoneError):
            return read_manifest(connection, names, number)
    return None


def fetch(connection: Connection, names: Names, library: Library, published: PublishedManifest) -> Generation:
    """Put the files of a generation and its encoder into the user's cache, those that are missing.

    Raises:
        LibraryError: a file can't be had as it was published, or not written here.
    """
    generation = library.generation(published.number)
    try:
        make_folder(library.root / "files")
        encoder = library.encoder(published.fingerprint)
        if not _has_files(encoder, published.encoder):
            _fill(connection, names, library.root, encoder, published.encoder)
        if not _is_there(generation.folder, published):
            _fill(connection, names, library.root, generation.folder, published.generation, published=published)
            _forget_others(library, published.number)
    except OSError as error:
        raise LibraryError(
            f'"{error.filename or library.root}" can\'t be written ({error.strerror}); '
            "XDG_CACHE_HOME names another folder for what is fetched"
        ) from error
    return generation


def _is_there(folder: Path, published: PublishedManifest) -> bool:
    """Whether a folder holds what was published; another library under the same address may have been."""
    with suppress(OSError, UnicodeDecodeError):
        is_it = (folder / _MANIFEST_NAME).read_text("utf-8") == published.to_json()
        return is_it and _has_files(folder, published.generation)
    return False


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
    published: PublishedManifest | None = None,
) -> None:
    with folder_aside(folder, replace=True) as aside:
        for name, facts in files.items():
            stored, is_stored = below(root, "files", facts.sha256), False
            with suppress(OSError):
                is_stored = describe_file(stored).sha256 == facts.sha256
            if not is_stored:
                write_file(stored, _read(connection, names, name, facts))
            try:
                os.link(stored, below(aside, name))
            except OSError:  # no links here
                shutil.copyfile(stored, below(aside, name))
        if published is not None:
            (aside / _MANIFEST_NAME).write_text(published.to_json(), "utf-8")


def _read(connection: Connection, names: Names, name: str, facts: FileFacts) -> bytes:
    """A file out of its pieces."""
    keys = [piece_key(facts.sha256, number) for number in range(facts.pieces)]
    held: dict[str, str] = {}
    for some in in_chunks(keys, _PIECES_AT_ONCE):
        found = connection.query(names.files, among("id", some), ["id", "content"])
        held.update((row["id"], row["content"]) for row in found)
        if not found:  # whatever number of pieces a server names
            break
    try:
        content = zlib.decompressobj().decompress(b"".join(b64decode(held[key]) for key in keys), facts.bytes)
    except (KeyError, ValueError, zlib.error) as error:
        raise LibraryError(
            f'"{connection.spelling}" lacks a piece of "{name}"; `icons lab publish` sends it'
        ) from error
    if hashlib.sha256(content).hexdigest() != facts.sha256:
        raise LibraryError(
            f'"{name}" of "{connection.spelling}" does not match its checksum; `icons lab publish` mends it'
        )
    return content


def _forget_others(library: Library, number: int) -> None:
    """Delete the files of old generations; a search under way keeps what it has open."""
    for old in [other for other in library.numbers() if other != number][_N_KEPT - 1 :]:
        shutil.rmtree(library.folder(old), ignore_errors=True)
    for file in (library.root / "files").iterdir():
        with suppress(OSError):
            if file.stat().st_nlink == 1:
                file.unlink()


MILVUS = Engine("Milvus", frozenset())
"""Words, pictures and filters need no ability: each engine can do that."""


class Published(Source):
    """A library that was published on a server."""

    def __init__(self, library: LibraryElsewhere) -> None:
        super().__init__(library)
        self._address = library.address

    @cached_property
    def connection(self) -> Connection:
        """The server."""
        return connection_to(self._address)

    @cached_property
    def names(self) -> Names:
        """What its collections are called."""
        return Names(self.connection.address.library)

    def current(self) -> int | None:
        """Number of the generation that the alias stands for."""
        behind = self.connection.behind(self.names.alias)
        return None if behind is None else self.names.number_in(behind)

    def state(self, number: int) -> object:
        """Its manifest; this is asked every second, so what suffices is asked first."""
        for consistency in ("Bounded", "Strong"):
            with suppress(GoneError):
                return read_manifest(self.connection, self.names, number, consistency=consistency)
        return None

    def library(self, number: int) -> str:
        """Not known: an address belongs to one library."""
        return ""

    def open_current(self) -> Opened:
        """Open the generation that answers.

        Raises:
            LibraryError: nothing was published there, or the server does not answer.
        """
        current = self.current()
        if current is None:
            raise LibraryError(
                f'no library was published at "{self._address}" yet; `icons lab publish {self._address}` does it'
            )
        return self.open(current)

    def open(self, number: int) -> Opened:
        """Open one generation.

        Raises:
            LibraryError: it is not there, or its files can't be had.
        """
        self.connection.load(self.names.files)
        published = read_manifest(self.connection, self.names, number)
        generation = fetch(self.connection, self.names, self._library, published)
        collections = self.names.of(number)
        for collection in collections:
            self.connection.load(collection)
        facts = Facts.read(generation.folder / "facts.json")
        table = MilvusTable(generation.catalog, self.connection, collections, facts)
        snapshot = MilvusCatalog(generation.catalog, table)
        icons, pictures = (
            MilvusVectors(self.connection, collection, n, kind=VectorKind(published.dim, published.is_half))
            for collection, n in zip(collections, (published.n_icons, published.n_pictures), strict=True)
        )
        icons.fields, icons.keep = COLUMNS, table.keep_rows
        return Opened.of(
            generation,
            snapshot,
            encoder=self._library.encoder(published.fingerprint),
            manifest=Manifest.read(generation),
            facets=table,
            icons=icons,
            pictures=pictures,
            state=published,
            engine=MILVUS,
        )

    @contextmanager
    def explaining(self, opened: Opened) -> Iterator[None]:
        """Let errors pass: those of the server were mapped where they entered."""
        yield

    def refuse_unknown_set(self, opened: Opened, error: UnknownSetError) -> None:
        """Say nothing more: which sets a newer generation has is not looked at here."""
