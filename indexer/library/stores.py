"""Places that many machines share: objects by name; a folder as such a place."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from indexer.errors import StoreError
from indexer.library.durable import ASIDE, create_file, write_file
from indexer.library.foreign import FILE_NAME, below


@dataclass(frozen=True, slots=True)
class Stored:
    """An object as it was read, and the version that `Store.replace` takes."""

    content: bytes
    version: str


@dataclass(frozen=True, slots=True)
class Listed:
    """What a listing says of an object."""

    version: str
    """As `Store.replace` takes it."""
    written_at: float | None
    """Seconds since 1970 by the store's clock, whole ones in some stores; None where the store does not tell."""
    size: int | None = None
    """In bytes."""


_LOCK = f"{ASIDE}lock"
_PATIENCE_SECONDS = 60.0
"""For the lock, which is held for as long as a small file takes to be written."""


class FolderStore:
    """Objects are files. A file's version is what the system states of it: each write makes a new file."""

    def __init__(self, root: Path) -> None:
        self.root, self.url = root, str(root)

    def get(self, name: str) -> Stored | None:
        """Read a file; None where there is none."""
        try:
            with self._path(name).open("rb") as file:
                return Stored(file.read(), _version(os.fstat(file.fileno())))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def list(self, prefix: str) -> dict[str, Listed]:
        """Name the files whose path in the folder begins so."""
        folder, _, start = prefix.rpartition("/")
        place = self._path(folder) if folder else self.root
        return dict(sorted(self._below(place, f"{folder}/" if folder else "", start)))

    def put(self, name: str, content: bytes) -> None:
        """Write a file aside and rename it."""
        write_file(self._path(name), content)

    def create(self, name: str, content: bytes) -> str | None:
        """Write a file aside and link it to its name, which one alone can do."""
        path = self._path(name)
        return _version(path.stat()) if create_file(path, content) else None

    def replace(self, name: str, content: bytes, *, version: str) -> str | None:
        """Compare and rename under the folder's lock; where locks reach one machine alone, two may win."""
        path = self._path(name)
        if not path.exists():  # nothing is made anew in a folder that has gone, not even its lock
            return None
        with self._locked():
            there = self.get(name)
            if there is None or there.version != version:
                return None
            write_file(path, content)
            return _version(path.stat())

    def delete(self, *names: str) -> None:
        """Remove files."""
        for name in names:
            self._path(name).unlink(missing_ok=True)

    def clear(self, prefix: str) -> None:
        """Remove a folder, with what killed writers have left aside in it, and the one above it if that is empty."""
        folder = self._path(prefix.removesuffix("/"))
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            folder.parent.rmdir()

    def _path(self, name: str) -> Path:
        """Where an object lies, as no other name and no link leads out of the folder."""
        return below(self.root, *name.split("/"))

    def _below(self, folder: Path, prefix: str, start: str) -> Iterator[tuple[str, Listed]]:
        try:
            entries = list(os.scandir(folder))
        except (FileNotFoundError, NotADirectoryError):
            return
        for entry in entries:
            if not entry.name.startswith(start) or not FILE_NAME.fullmatch(entry.name) or entry.is_symlink():
                continue
            if entry.is_dir():
                yield from self._below(folder / entry.name, f"{prefix}{entry.name}/", "")
                continue
            try:
                facts = os.stat(entry.path)  # noqa: PTH116 - a Path takes longer
            except FileNotFoundError:  # it has been removed just now
                continue
            yield f"{prefix}{entry.name}", Listed(_version(facts), facts.st_mtime, facts.st_size)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        from filelock import FileLock

        try:
            with FileLock(self.root / _LOCK, timeout=_PATIENCE_SECONDS):
                yield
        except TimeoutError:
            raise StoreError(f'"{self.root / _LOCK}" is locked for a minute now; look at who holds it') from None
        except NotImplementedError:
            raise StoreError(
                f'the file system of "{self.root}" has no locks; mount it with them, or give an object store'
            ) from None


def _version(facts: os.stat_result) -> str:
    return f"{facts.st_ino}:{facts.st_mtime_ns}:{facts.st_size}"


_URL = re.compile(r"([a-z][a-z0-9+.-]+):/+(.*)", re.DOTALL)


def url_of(place: Path | str) -> str | None:
    """The URL that a place is, with two slashes; None for a path, and a `file://` URL is one."""
    found = _URL.fullmatch(str(place))
    return None if found is None or found[1] == "file" else f"{found[1]}://{found[2].rstrip('/')}"


def spelled(place: Path) -> str:
    """Spell a place as it is kept: a URL with its two slashes."""
    return url_of(place) or str(place)


def local_path(place: str) -> Path:
    """The path that a place is which is no URL of a store."""
    return Path(place.removeprefix("file://")).expanduser()
