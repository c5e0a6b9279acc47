"""Where do icons come from? Folders, Iconify sets, npm packages and manifests, all told as the same records.

A source says what its icons are called and which bytes are their pictures; nothing is decoded here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Protocol

from indexer.errors import ChangedError, SourceError
from indexer.sources import folders, iconify, iconify_file, manifests, npm
from indexer.sources.exclusion import Exclusion
from indexer.sources.pictures import SUFFIXES
from indexer.sources.records import FileScan, content_digest
from indexer.sources.stamps import UNREAD

__all__ = ["Source", "open_sources", "read_indexed", "read_picture"]


class Source(Protocol):
    """Something at one location that holds icons."""

    @property
    def kind(self) -> str:
        """How its pictures are read again: the first argument of `read_picture`."""

    @property
    def location(self) -> Path:
        """The file or folder that paths are relative to."""

    def scan(self, stamps: Mapping[str, str]) -> Iterator[FileScan]:
        """Tell what is there, file by file, always in one order; what `stamps` (path -> stamp) knows is not read."""


def open_sources(location: Path, *, exclude: Sequence[str] = ()) -> list[Source]:
    """Recognise what lies at a location: one source, or for a node_modules folder one for each icon package in it.

    `exclude` takes patterns as in .gitignore, and "@gitignore" for those of the .gitignore files in the tree.

    Raises:
        SourceError: nothing is there, or nothing that holds icons.
    """
    try:
        str(location).encode()
    except UnicodeEncodeError as error:
        raise SourceError(f'the path "{location!a}" is not valid UTF-8; rename it, or give a link to it') from error
    exclusion = Exclusion.of(exclude)
    if location.is_file():
        return [_open_file(location, exclusion)]
    if not location.is_dir():
        raise SourceError(f'"{location}" does not exist; give a folder, an Iconify set, an npm package or a manifest')
    if location.name == "node_modules":
        return _open_node_modules(location, exclusion)
    return [_open_folder(location, exclusion)]


def read_picture(kind: str, location: Path, path: str, member: str, *, digest: bytes | None = None) -> bytes:
    """Read the bytes that a record's digest was taken of; given the digest, no others.

    Raises:
        OSError: the file is gone or may not be read.
        SourceError: the file no longer holds that icon.
        ChangedError: it is another one by now.
    """
    if digest is None:
        return _read(kind, location, path, member)
    content = iconify_file.read_icon_alone(location / path, member) if kind == iconify.KIND else None
    if content is None or content_digest(content) != digest:
        content = _read(kind, location, path, member)
        if content_digest(content) != digest:
            raise ChangedError("changed since the scan")
    return content


def _read(kind: str, location: Path, path: str, member: str) -> bytes:
    if kind == iconify.KIND:
        return iconify.read_icon(location, path, member)
    if kind == manifests.KIND:
        return manifests.read_row(location, path)
    if kind in (folders.KIND, npm.KIND):
        return folders.read_picture_file(location, path)
    raise SourceError(f'unknown kind of source "{kind}"')


def read_indexed(kind: str, location: Path, path: str, member: str, *, digest: bytes) -> bytes:
    """Read one picture for whoever asks a library, with errors that say what to do.

    Raises:
        SourceError: it is gone.
        ChangedError: it is another one by now.
    """
    file = location.parent / manifests.path_of_row(path) if kind == manifests.KIND else location / path
    try:
        return read_picture(kind, location, path, member, digest=digest)
    except OSError as error:
        raise SourceError(f'"{file}" can\'t be read ({error.strerror}); run `icons index`') from error
    except ChangedError as error:
        raise ChangedError(f'"{file}" has changed since it was indexed; run `icons index`') from error


def _open_file(file: Path, exclusion: Exclusion) -> Source:
    suffix = file.suffix.lower()
    if suffix in manifests.SUFFIXES:
        return manifests.ManifestSource(file)
    if suffix in SUFFIXES:
        return folders.FolderSource(file)
    if iconify.is_iconify(file):
        return iconify.IconifySource(file, exclusion)
    raise SourceError(f'"{file}" is neither a picture, an Iconify set (.json) nor a manifest (.csv, .tsv, .jsonl)')


def _open_folder(folder: Path, exclusion: Exclusion) -> Source:
    if iconify.is_iconify(folder):
        return iconify.IconifySource(folder, exclusion)
    if npm.is_package(folder):
        return npm.NpmSource(folder, exclusion)
    return folders.FolderSource(folder, exclusion)


def _open_node_modules(folder: Path, exclusion: Exclusion) -> list[Source]:
    found, unread = npm.packages_in(folder)
    packages = [package for package in found if iconify.is_iconify(package) or npm.has_icons(package)]
    if not packages:
        raise SourceError(f'no icon package in "{folder}"; give the folder of the package itself')
    return [*(_open_folder(package, exclusion) for package in packages), *starmap(_Unread, unread)]


@dataclass(frozen=True, slots=True)
class _Unread:
    """A folder of packages that can't be looked into: nothing but the reason."""

    location: Path
    reason: str
    kind: str = folders.KIND

    def scan(self, stamps: Mapping[str, str]) -> Iterator[FileScan]:
        """Yield the reason; see `Source.scan`."""
        del stamps
        yield FileScan("", UNREAD, error=self.reason)
