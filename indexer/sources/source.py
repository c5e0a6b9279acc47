"""What lies at a location or behind a URL, a picture of it read again; a source says what its icons are called.

No path of one machine is kept: any that reaches the store reads the same. The stamp of an object is its version there,
and the licence that lies beside it.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice, starmap
from pathlib import Path, PurePosixPath

from indexer.errors import ChangedError, SourceError, StoreError, UnreachedError
from indexer.library.durable import write_file
from indexer.library.stores import Listed, RetryingStore, asked, open_object_store, spelled, url_of
from indexer.sources import folders, iconify, npm
from indexer.sources.folders import (
    LIST_SUFFIXES,
    SUFFIXES,
    Exclusion,
    drawing_in,
    each_symbol,
    path_of_row,
    reason_of,
    record_in,
    scan_file,
)
from indexer.sources.records import (
    MAX_BYTES,
    UNREAD,
    FileScan,
    IconSet,
    PictureAddress,
    Record,
    content_digest,
    from_text,
    has_digest,
    licence_files,
    licence_of,
    read_regular,
    refuse_undecoded,
)

KINDS = PICTURES, SETS = "stored", "stored-iconify"
"""Kinds of sources, by how their pictures are read again."""
_AT_ONCE = 16
"""Requests under way: each waits for the network."""
_READ_AHEAD = 64
_PACKAGE = ("icons.json", "info.json", "metadata.json")


@contextmanager
def _as_source_errors() -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise UnreachedError(str(error)) from error


@_as_source_errors()
def kind_of(location: Path) -> str:
    """Recognise what lies at a URL: Iconify sets as a file, a package or the folder of all; else pictures.

    Raises:
        UnreachedError: the store can't be asked.
    """
    if location.suffix.lower() == ".json":
        return SETS
    store = _store(spelled(location))
    names = {name for start in ("collections.json", *_PACKAGE[:2]) for name in store.list(start)}
    return SETS if "collections.json" in names or names.issuperset(_PACKAGE[:2]) else PICTURES


def scan(kind: str, location: Path, exclusion: Exclusion, stamps: Mapping[str, str]) -> Iterator[FileScan]:
    """Yield what lies at a URL, in the order of names; see `Source.scan`.

    Raises:
        SourceError: nothing is there.
        UnreachedError: the store can't be asked.
    """
    with _as_source_errors():
        found = _list(kind, location)
        if not found:
            raise SourceError(
                f'"{spelled(location)}" holds no pictures and no Iconify set; give the URL of a folder that does'
            )
        icon_set = _set_of(location) if kind == PICTURES else None
    read = partial(_read_picture, location, icon_set) if icon_set else partial(_read_set, location)
    beside = f"+{icon_set.licence}" if icon_set and icon_set.licence else ""

    def look(path: str) -> FileScan:
        listed = found[path]
        return scan_file(path, stamps, stamp=lambda: listed.version + beside, read=partial(read, path, listed))

    rest = (path for path in found if not exclusion.excludes(path))
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="store") as threads:
        while some := list(islice(rest, _READ_AHEAD if kind == PICTURES else 1)):
            yield from threads.map(look, some)


@_as_source_errors()
def read(address: PictureAddress) -> bytes:
    """Read a picture of the digest that the scan saw.

    Raises:
        SourceError: it has gone.
        ChangedError: it is another one by now.
        UnreachedError: the store can't be asked, or a copy of a set not be kept.
    """
    location = Path(address.location)
    for _ in range(2):
        content = (
            drawing_in(_get(location, address.path), address.member)
            if address.kind == PICTURES
            else _read_from_set(location, address)
        )
        if has_digest(content, address.digest):
            return content
        _copy.cache_clear()  # a set may be a newer one there
    raise ChangedError("changed since the scan")


def read_all(addresses: Sequence[PictureAddress]) -> list[bytes | SourceError]:
    """Read pictures, several at once; in the place of one that can't be read is the reason."""

    def read_one(address: PictureAddress) -> bytes | SourceError:
        try:
            return read(address)
        except SourceError as error:
            return error

    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="store") as threads:
        return list(threads.map(read_one, addresses))


def holds_anything(location: Path) -> bool:
    """Whether anything lies at a URL, or beside the object that it names, and can be listed from here."""
    folder, _ = _split(location, "")
    try:
        return asked(open_object_store(folder).holds_anything)
    except (OSError, StoreError):
        return False


def _list(kind: str, location: Path) -> dict[str, Listed]:
    """Paths of pictures or sets, with their stamps as versions; "" where the location is one itself."""
    folder, name = _split(location, "")
    store = _store(folder)
    if name:
        found = store.list(name)
        return {"": found[name]} if name in found else {}
    if kind == PICTURES:
        return {
            path: listed for path, listed in store.list("").items() if PurePosixPath(path).suffix.lower() in SUFFIXES
        }
    package = store.list("icons.json").get("icons.json")
    if package is not None:
        beside = [*store.list("info.json").values(), *store.list("metadata.json").values()]
        return {"icons.json": replace(package, version="+".join(listed.version for listed in (package, *beside)))}
    return {
        path: listed for path, listed in store.list("json/").items() if PurePosixPath(path).suffix.lower() == ".json"
    }


def _set_of(location: Path) -> IconSet:
    """The set that the pictures of a folder are, with the licence whose text lies there."""
    folder, name = _split(location, "")
    store, title = _store(folder), PurePosixPath(folder).name
    names = licence_files(found for start in ("LICEN", "COPYING") for found in store.list(start)) if not name else ()
    texts = (stored.content.decode(errors="replace") for file in names if (stored := store.get(file)))
    return IconSet(title, title, licence=licence_of(next(texts, "")))


def _read_picture(location: Path, icon_set: IconSet, path: str, listed: Listed, stamp: str) -> FileScan:
    if (n_bytes := listed.size or 0) > MAX_BYTES:  # before it is read: several are held at once
        raise SourceError(f"file of {n_bytes / 1e6:.0f} MB, the limit is {MAX_BYTES / 1e6:.0f} MB")
    content = _get(location, path)
    record = record_in(icon_set, path or location.name, content_digest(content))
    return FileScan(path, stamp, records=each_symbol(record, content))


def _read_set(location: Path, path: str, _: Listed, stamp: str) -> FileScan:
    [scanned] = iconify.scan(_fetch(location, path), Exclusion(), {})
    return replace(scanned, path=path, stamp=stamp)


def _read_from_set(location: Path, address: PictureAddress) -> bytes:
    copy = _copy(location, address.path)
    within = "icons.json" if copy.is_dir() else ""
    return iconify.read_icon(copy, within, address.member, digest=address.digest)


@lru_cache(maxsize=512)
def _copy(location: Path, path: str) -> Path:
    """The copy of a set, asked for once in a process; `read` has it asked for again where an icon has changed."""
    return _fetch(location, path)


def _fetch(location: Path, path: str) -> Path:
    """Bring a set to this machine unless it is here, and tell where it lies: a file, or a package's folder."""
    from platformdirs import user_cache_path

    folder, name = _split(location, path)
    key = hashlib.sha256(f"{folder}/{name}".encode()).hexdigest()[:24]
    names = _PACKAGE if name == "icons.json" else (name,)
    copies = user_cache_path("icons") / "sets"
    for one in names:
        file = copies / key / PurePosixPath(one).name
        listed = _store(folder).list(one).get(one)
        noted = file.with_suffix(".version")
        if listed is None:
            if one == name:
                raise SourceError(f'"{folder}/{name}" is not there any more')
            continue
        try:
            if file.is_file() and noted.is_file() and noted.read_bytes() == listed.version.encode():
                continue
            content = _get(location, path if one == name else one)
            write_file(file, content)
            write_file(noted, listed.version.encode())
        except OSError as error:
            raise UnreachedError(
                f'"{file.parent}" can\'t be read or written ({error.strerror}); XDG_CACHE_HOME names another place'
            ) from error
    return copies / key if name == "icons.json" else copies / key / PurePosixPath(name).name


def _get(location: Path, path: str) -> bytes:
    folder, name = _split(location, path)
    stored = _store(folder).get(name)
    if stored is None:
        raise SourceError(f'"{folder}/{name}" is not there any more')
    return stored.content


def _split(location: Path, path: str) -> tuple[str, str]:
    """Tell the URL of a folder, and the name of an object below it; "" where the location is a folder itself."""
    url = spelled(location)
    if path:
        return url, path
    folder, _, name = url.rpartition("/")
    return (folder, name) if PurePosixPath(name).suffix.lower() in (".json", *SUFFIXES) else (url, "")


@lru_cache(maxsize=64)
def _store(url: str) -> RetryingStore:
    return RetryingStore(open_object_store(url))


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
        kind = kind_of(location)
        return [Source(kind, location, partial(scan, kind, location, exclusion))]
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
    if address.kind in KINDS:
        return read(address)
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
        is_there = address.kind not in KINDS or holds_anything(location)
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
        nowhere = f'no icon package in "{folder}"; give the folder of the package itself'
        raise SourceError(next(filter(None, map(npm.drawn_in, found)), nowhere))
    return [*(_open(package, exclusion) for package in packages), *starmap(_unread, unread)]


def _unread(location: Path, reason: str) -> Source:
    """A folder of packages that can't be looked into: nothing but the reason."""
    return Source(_FOLDER, location, lambda _: iter([FileScan("", UNREAD, error=reason)]))
