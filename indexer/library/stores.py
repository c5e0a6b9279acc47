"""Places that many machines share: objects by name, in a folder, or behind a URL through fsspec, asked again.

S3 with its conditional writes, and whatever else fsspec knows.
"""

import os
import random
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from traceback import walk_tb
from typing import Any, TypeVar

from indexer.arrays import in_chunks
from indexer.errors import StoreError, first_line
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
    size: int | None = None
    """In bytes."""


_LOCK = f"{ASIDE}lock"
_LOCK_SECONDS = 60.0
"""For the lock, which is held for as long as a small file takes to be written."""


class FolderStore:
    """Objects are files. A file's version is what the system states of it: each write makes a new file.

    What `lasts` not is worth nothing after a power cut, or once the folder has gone: that is not made anew.
    """

    def __init__(self, root: Path, *, lasts: bool = True) -> None:
        self.root, self.url, self.lasts = root, str(root), lasts

    def get(self, name: str) -> Stored | None:
        """Read a file; None where there is none."""
        try:
            with self._path(name).open("rb") as file:
                return Stored(file.read(), _file_version(os.fstat(file.fileno())))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def list(self, prefix: str) -> dict[str, Listed]:
        """Name the files whose path in the folder begins so."""
        folder, _, start = prefix.rpartition("/")
        place = self._path(folder) if folder else self.root
        return dict(sorted(self._below(place, f"{folder}/" if folder else "", start)))

    def put(self, name: str, content: bytes) -> None:
        """Write a file aside and rename it."""
        write_file(self._new_path(name), content, lasts=self.lasts)

    def create(self, name: str, content: bytes) -> str | None:
        """Write a file aside and link it to its name, which one alone can do."""
        path = self._new_path(name)
        return _file_version(path.stat()) if create_file(path, content, lasts=self.lasts) else None

    def replace(self, name: str, content: bytes, *, version: str) -> str | None:
        """Compare and rename under the folder's lock; where locks reach one machine alone, two may win."""
        path = self._path(name)
        if not path.exists():  # nothing is made anew in a folder that has gone, not even its lock
            return None
        from filelock import FileLock

        try:
            with FileLock(self.root / _LOCK, timeout=_LOCK_SECONDS):
                there = self.get(name)
                if there is None or there.version != version:
                    return None
                write_file(path, content, lasts=self.lasts)
                return _file_version(path.stat())
        except TimeoutError:
            raise StoreError(f'"{self.root / _LOCK}" is locked for a minute now; look at who holds it') from None
        except NotImplementedError:
            raise StoreError(
                f'the file system of "{self.root}" has no locks; mount it with them, or give an object store'
            ) from None

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

    def _new_path(self, name: str) -> Path:
        if not self.lasts:
            self.root.stat()
        return self._path(name)

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
            yield f"{prefix}{entry.name}", Listed(_file_version(facts), facts.st_size)


def _file_version(facts: os.stat_result) -> str:
    return f"{facts.st_ino}:{facts.st_mtime_ns}:{facts.st_size}"


_URL = re.compile(r"([a-z][a-z0-9+.-]+):/+(.*)", re.DOTALL)


def url_of(place: Path | str) -> str | None:
    """The URL that a place is, with two slashes; None for a path, and a `file://` URL is one."""
    found = _URL.fullmatch(str(place))
    return None if found is None or found[1] == "file" else f"{found[1]}://{found[2].rstrip('/')}"


def spelled(place: Path) -> str:
    """Spell a place as it is kept: a URL with its two slashes."""
    return url_of(place) or str(place)


_OPTIONS: dict[str, dict[str, Any]] = {
    "s3": {"config_kwargs": {"retries": {"total_max_attempts": 1}, "connect_timeout": 10, "read_timeout": 60}}
}
"""`RetryingStore` asks again: a client that does so itself would mistake a lost answer for another's write."""
_DELETED_AT_ONCE = 1000
_EXTRA = 'pip install "icons[cloud]"'
Answer = TypeVar("Answer")


class ObjectStore:
    """Objects below a URL, of a store that has no conditional writes: of two who write at once, both may win."""

    def __init__(self, url: str) -> None:
        """Find fsspec's file system for it, which remembers no listings: others write here too."""
        self.url = url = url.rstrip("/")
        try:
            import fsspec

            options = _OPTIONS.get(url.partition("://")[0], {})
            self.fs, root = fsspec.url_to_fs(url, use_listings_cache=False, **options)
        except ImportError as error:
            raise StoreError(f'"{url}" needs a package that is not installed ({error}); `{_EXTRA}`') from error
        except Exception as error:  # each client has its own, of access that it does not find for one
            raise StoreError(f'"{url}" can\'t be opened ({first_line(error)})') from error
        self.root = str(root).rstrip("/")

    def get(self, name: str) -> Stored | None:
        """Read an object; None where there is none."""
        path = self._path(name)
        try:
            version = self._version(self.fs.info(path))
            return Stored(self.fs.cat_file(path), version)
        except FileNotFoundError:
            return None

    def list(self, prefix: str) -> dict[str, Listed]:
        """Name the objects whose names begin so."""
        folder, _, start = self._path(prefix).rpartition("/")
        try:
            found = self.fs.find(folder, prefix=start, detail=True, withdirs=False)
        except FileNotFoundError:
            return {}
        n_root = len(self.root.lstrip("/")) + 1
        facts = ((str(path).lstrip("/")[n_root:], fact) for path, fact in found.items())
        return {
            name: Listed(self._version(fact), fact.get("size"))
            for name, fact in sorted(facts, key=itemgetter(0))
            if name.startswith(prefix)
        }

    def put(self, name: str, content: bytes) -> None:
        """Write an object."""
        self.fs.pipe_file(self._path(name), content)

    def create(self, name: str, content: bytes) -> str | None:
        """Write an object unless it is there: Google's storage looks by itself, other stores are asked before."""
        path = self._path(name)
        try:
            self.fs.pipe_file(path, content, mode="create")
        except FileExistsError:
            return None
        return self._version(self.fs.info(path))

    def replace(self, name: str, content: bytes, *, version: str) -> str | None:
        """Write an object if it had a version a moment ago."""
        there = self.get(name)
        if there is None or there.version != version:
            return None
        self.put(name, content)
        return self._version(self.fs.info(self._path(name)))

    def delete(self, *names: str) -> None:
        """Remove objects, one by one."""
        for name in names:
            with suppress(FileNotFoundError):
                self.fs.rm_file(self._path(name))

    def holds_anything(self) -> bool:
        """Whether anything is there: of an object in a bucket that it does not know, a store says that it has gone."""
        return bool(self.fs.exists(self.root))

    def clear(self, prefix: str) -> None:
        """Remove the objects of a listing."""
        assert prefix.strip("/"), "all of a store"
        self.delete(*self.list(prefix))

    def _path(self, name: str) -> str:
        return f"{self.root}/{name}"

    def _version(self, facts: dict[str, Any]) -> str:
        for key in ("ETag", "etag", "generation", "mtime", "created"):
            if (value := facts.get(key)) is not None:
                return str(value.timestamp() if isinstance(value, datetime) else value).strip('"')
        return str(facts.get("size"))


class S3Store(ObjectStore):
    """Objects of S3, or of a store that speaks its language with If-Match and If-None-Match."""

    def get(self, name: str) -> Stored | None:
        """Read an object and its version in one request, so that they belong together."""
        from fsspec.asyn import sync

        bucket, key, _ = self.fs.split_path(self._path(name))

        async def read() -> Stored:
            answer = await self.fs._call_s3("get_object", Bucket=bucket, Key=key)
            async with answer["Body"] as body:
                return Stored(await body.read(), self._version(answer))

        try:
            stored: Stored = sync(self.fs.loop, read)
        except FileNotFoundError:
            return None
        return stored

    def create(self, name: str, content: bytes) -> str | None:
        """Write an object that is not there, by `If-None-Match: *`."""
        return self._write_if(name, content, IfNoneMatch="*")

    def replace(self, name: str, content: bytes, *, version: str) -> str | None:
        """Write an object that still has a version, by `If-Match`."""
        return self._write_if(name, content, IfMatch=f'"{version}"')

    def delete(self, *names: str) -> None:
        """Remove objects, a thousand a request."""
        bucket = self.fs.split_path(self.root)[0]
        keys = [{"Key": self.fs.split_path(self._path(name))[1]} for name in names]
        for some in in_chunks(keys, _DELETED_AT_ONCE):
            answer = self.fs.call_s3("delete_objects", Bucket=bucket, Delete={"Objects": some, "Quiet": True})
            if refused := answer.get("Errors"):
                raise OSError(f"{refused[0].get('Code')}: {refused[0].get('Key')}")

    def _write_if(self, name: str, content: bytes, **condition: str) -> str | None:
        try:
            answer = self.fs.pipe_file(self._path(name), content, **condition)
        except (FileExistsError, FileNotFoundError):
            return None
        except OSError as error:
            if _is_refused(error):
                return None
            raise
        return self._version(answer)


def _is_refused(error: BaseException | None) -> bool:
    """Whether S3 says that a condition does not hold, or that another's conditional write is under way."""
    while error is not None:
        answer = getattr(error, "response", None) or {}
        if answer.get("Error", {}).get("Code") in ("PreconditionFailed", "412", "ConditionalRequestConflict", "409"):
            return True
        error = error.__cause__
    return False


def open_object_store(url: str) -> ObjectStore:
    """Open the store of a URL. Raises StoreError: its protocol is unknown, or what speaks it is not installed."""
    return (S3Store if url.startswith("s3://") else ObjectStore)(url)


def asked(ask: Callable[[], Answer]) -> Answer:
    """Ask a store's client something; what else it raises becomes an OSError."""
    try:
        return ask()
    except (OSError, StoreError):
        raise
    except Exception as error:
        rooms = {str(frame.f_globals.get("__name__")).partition(".")[0] for frame, _ in walk_tb(error.__traceback__)}
        if rooms <= {__name__.partition(".")[0], *sys.stdlib_module_names}:
            raise  # a defect: it has not come through a client's package
        raise OSError(f"{type(error).__name__}: {error}") from error


PATIENCE_SECONDS = 60.0
"""After the first failure; then the command ends, and can be run again."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
_HOPELESS = (PermissionError, NotADirectoryError, IsADirectoryError)


@dataclass(frozen=True, slots=True)
class RetryingStore:
    """Passes all on to a store, or to a part of one, whose names begin with a prefix that ends in a slash.

    What fails is asked again. What is created or replaced must be unlike others' writes.
    """

    store: FolderStore | ObjectStore
    patience_seconds: float = PATIENCE_SECONDS
    prefix: str = ""

    @property
    def url(self) -> str:
        """How a person names it."""
        return f"{self.store.url}/{self.prefix}".rstrip("/")

    def part(self, prefix: str) -> "RetryingStore":
        """A part of this one."""
        return replace(self, prefix=self.prefix + prefix)

    def get(self, name: str) -> Stored | None:
        """Read an object; None where there is none."""
        return self._ask(self.store.get, name)

    def list(self, prefix: str) -> dict[str, Listed]:
        """Name the objects whose names begin so, in the order of names."""
        return {n.removeprefix(self.prefix): listed for n, listed in self._ask(self.store.list, prefix).items()}

    def put(self, name: str, content: bytes) -> None:
        """Write an object, whatever is there."""
        self._ask(self.store.put, name, content=content)

    def create(self, name: str, content: bytes) -> str | None:
        """Write an object that is not there yet, and return its version; None where it is: of several, one wins."""
        return self._ask(self.store.create, name, content=content) or self._own(name, content)

    def replace(self, name: str, content: bytes, *, version: str) -> str | None:
        """Write an object that still has a version, and return its new one; None where it has another, or is gone."""
        return self._ask(self.store.replace, name, content=content, version=version) or self._own(name, content)

    def delete(self, *names: str) -> None:
        """Remove objects; one that is not there is none the less removed."""
        self._ask(self.store.delete, *names)

    def clear(self, prefix: str) -> None:
        """Remove what has a name that begins so, to a slash; what is written meanwhile may stay."""
        self._ask(self.store.clear, prefix)

    def _own(self, name: str, content: bytes) -> str | None:
        there = self.get(name)
        return there.version if there is not None and there.content == content else None

    def _ask(self, ask: Callable[..., Answer], *names: str, **others: Any) -> Answer:
        """Ask until there is an answer. Raises StoreError: there is none in time, or none can be expected."""
        pause, until = _FIRST_PAUSE, None
        while True:
            try:
                return asked(lambda: ask(*(self.prefix + name for name in names), **others))
            except OSError as error:
                until = until or time.monotonic() + self.patience_seconds
                if isinstance(error, _HOPELESS) or time.monotonic() + pause > until:
                    raise StoreError(
                        f'"{self.url}" can\'t be read or written ({first_line(error)}); '
                        "what is finished is kept, and the same command goes on from there"
                    ) from error
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, _LONGEST_PAUSE)


Store = FolderStore | ObjectStore | RetryingStore
"""Objects by names such as "claims/a.json"; each is written whole or not at all, whoever else writes beside."""


def open_store(place: str) -> RetryingStore:
    """Open the store of a folder or URL, as `open_object_store` does: one that is asked again where it fails."""
    url = url_of(place)
    folder = Path(place.removeprefix("file://")).expanduser().absolute()
    return RetryingStore(FolderStore(folder) if url is None else open_object_store(url))
