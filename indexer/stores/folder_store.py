"""A store that is a folder, of this machine or shared by several: hard links and a lock make one of several win."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.errors import StoreError
from indexer.library.durable import ASIDE, create_file, write_file
from indexer.library.foreign import FILE_NAME, below
from indexer.stores.store import Listed, Stored

if TYPE_CHECKING:
    from filelock import FileLock

_LOCK = f"{ASIDE}lock"
_PATIENCE_SECONDS = 60.0
"""For the lock, which is held for as long as a small file takes to be written."""


class FolderStore:
    """Objects are files. A file's version is what the system states of it: each write makes a new file."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def url(self) -> str:
        """The folder."""
        return str(self.root)

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
        try:
            self._lock.acquire(timeout=_PATIENCE_SECONDS)
        except TimeoutError:
            raise StoreError(f'"{self.root / _LOCK}" is locked for a minute now; look at who holds it') from None
        except NotImplementedError:
            raise StoreError(
                f'the file system of "{self.root}" has no locks; mount it with them, or give an object store'
            ) from None
        try:
            yield
        finally:
            self._lock.release()

    @cached_property
    def _lock(self) -> "FileLock":
        from filelock import FileLock

        return FileLock(self.root / _LOCK)


def _version(facts: os.stat_result) -> str:
    return f"{facts.st_ino}:{facts.st_mtime_ns}:{facts.st_size}"
