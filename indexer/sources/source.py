"""Recognises what lies at a location, and reads a picture of it again. A source says what its icons are called."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from pathlib import Path

from indexer.errors import ChangedError, SourceError, UnreachedError
from indexer.library.stores import spelled, url_of
from indexer.sources import folders, iconify, npm, stored
from indexer.sources.folders import LIST_SUFFIXES, SUFFIXES, Exclusion, drawing_in, path_of_row, reason_of
from indexer.sources.records import (
    UNREAD,
    FileScan,
    PictureAddress,
    Record,
    from_text,
    has_digest,
    read_regular,
    refuse_undecoded,
)

_FOLDER, _ICONIFY, _MANIFEST, _NPM = "folder", "iconify", "manifest", "npm"


@dataclass(frozen=True, slots=True)
class Source:
    """Something at one location that holds icons."""

    kind: str
    """How its pictures are read again: the first argument of `read_picture`."""
    location: Path
    """The file or folder that paths are relative to."""
    scan: Callable[[Mapping[str, str]], Iterator[FileScan]]
    """Tells what is there, file by file, always in one order; what the stamps (path -> stamp) know is not read."""

    def address_of(self, scanned: FileScan, record: Record) -> PictureAddress:
        """Where the picture of a record is read from again."""
        return PictureAddress(self.kind, spelled(self.location), scanned.path, record.member, record.digest)


def open_sources(location: Path, *, exclude: Sequence[str] = ()) -> list[Source]:
    """Recognise what lies at a location: one source, or for a node_modules folder one for each icon package in it.

    `exclude` takes patterns as in .gitignore, and "@gitignore" for those of the .gitignore files in the tree.

    Raises:
        SourceError: nothing is there, or nothing that holds icons.
    """
    refuse_undecoded(location)
    exclusion = Exclusion.of(exclude)
    if url_of(location) is not None:
        kind = stored.kind_of(location)
        return [Source(kind, location, partial(stored.scan, kind, location, exclusion))]
    if not (location.is_file() or location.is_dir()):
        hint = npm.why_zipped(location) or "; give a folder, an Iconify set, an npm package or a manifest"
        raise SourceError(f'"{location}" does not exist{hint}')
    if location.name == "node_modules" and location.is_dir():
        return _open_node_modules(location, exclusion)
    return [_open(location, exclusion)]


def why_empty(source: Source, error: str | None = None) -> str:
    """Say of a source without icons what it lacks, or why nothing could be read; and where its icons may be."""
    packages = source.location / "node_modules"
    if error is not None:
        return f'"{spelled(source.location)}" holds no icon that can be read: {error}'
    if packages.is_dir():
        hint = f'; "{packages}" may: give that'
    elif source.kind == _NPM and (why := npm.drawn_in(source.location)):
        return why
    else:
        hint = npm.why_zipped(source.location)
    return f'"{spelled(source.location)}" holds no pictures ({", ".join(sorted(SUFFIXES))}){hint}'


def read_picture(address: PictureAddress) -> bytes:
    """Read the bytes that a record's digest was taken of, and no others.

    Raises:
        OSError: the file is gone or may not be read.
        SourceError: the file no longer holds that icon.
        ChangedError: it is another one by now.
        UnreachedError: the store that it lies in can't be asked.
    """
    content = _read(address)
    if not has_digest(content, address.digest):
        raise ChangedError("changed since the scan")
    return content


def _read(address: PictureAddress) -> bytes:
    if address.kind in stored.KINDS:
        return stored.read(address)
    if address.kind == _ICONIFY:
        return iconify.read_icon(Path(address.location), address.path, address.member, digest=address.digest)
    if address.kind not in (_FOLDER, _MANIFEST, _NPM):
        raise SourceError(f'unknown kind of source "{address.kind}"')
    folder, within = _place(address)
    content = read_regular(folder / from_text(within), inside=os.path.realpath(folder) if within else None)
    return drawing_in(content, address.member)


def _place(address: PictureAddress) -> tuple[Path, str]:
    """Split an address into the folder that the picture must lie in, and its path there; "" for a named picture."""
    location = Path(address.location)
    if address.kind == _MANIFEST:
        return location.parent, path_of_row(address.path)
    return location, address.path


def read_indexed(address: PictureAddress) -> bytes:
    """Read one picture for whoever asks a library, with errors that say what to do.

    Raises:
        SourceError: it is gone.
        ChangedError: it is another one by now.
    """
    file = Path(*_place(address))
    try:
        return read_picture(address)
    except OSError as error:
        raise SourceError(f'"{file}" can\'t be read ({error.strerror}); run `icons index`') from error
    except ChangedError as error:
        raise ChangedError(f'"{file}" has changed since it was indexed; run `icons index`') from error


def why_unreachable(address: PictureAddress) -> str | None:
    """Say why a picture could not be read that is there; None where it has gone, or is another one by now."""
    location = Path(address.location)
    try:
        read_picture(address)
    except ChangedError:
        return None
    except UnreachedError as error:
        return str(error)
    except SourceError as error:
        is_there = address.kind not in stored.KINDS or stored.holds_anything(location)
        return None if is_there else str(error)
    except OSError as error:
        is_gone = isinstance(error, FileNotFoundError | NotADirectoryError)
        return None if is_gone and _holds_others(location, Path(*_place(address))) else reason_of(error)
    return "a moment ago; now it can"


def _holds_others(location: Path, file: Path) -> bool:
    """Whether a place is there, and the nearest folder of a file holds anything: an empty one waits for a mount."""
    try:
        folder = next(folder for folder in file.parents if folder.is_dir())
        return location.exists() and any(folder.iterdir())
    except OSError:
        return False


_SCANS = {_FOLDER: folders.scan, _ICONIFY: iconify.scan, _MANIFEST: folders.scan_list, _NPM: npm.scan}


def _open(location: Path, exclusion: Exclusion) -> Source:
    suffix, kind = location.suffix.lower(), _FOLDER
    if iconify.is_iconify(location):
        kind = _ICONIFY
    elif not location.is_file():
        kind = _NPM if npm.is_package(location) else _FOLDER
    elif suffix in LIST_SUFFIXES:
        kind = _MANIFEST
    elif suffix not in SUFFIXES:
        raise SourceError(
            f'"{location}" is neither a picture, an Iconify set (.json) nor a manifest (.csv, .tsv, .jsonl)'
        )
    return Source(kind, location, partial(_SCANS[kind], location, exclusion))


def _open_node_modules(folder: Path, exclusion: Exclusion) -> list[Source]:
    found, unread = npm.packages_in(folder)
    packages = [package for package in found if iconify.is_iconify(package) or npm.has_icons(package)]
    if not packages:
        raise SourceError(f'no icon package in "{folder}"; give the folder of the package itself')
    return [*(_open(package, exclusion) for package in packages), *starmap(_unread, unread)]


def _unread(location: Path, reason: str) -> Source:
    """A folder of packages that can't be looked into: nothing but the reason."""
    return Source(_FOLDER, location, lambda _: iter([FileScan("", UNREAD, error=reason)]))
