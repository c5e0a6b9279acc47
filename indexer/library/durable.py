"""How a file or folder gets its final name only when it is whole and on disk: write aside, sync, rename."""

import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from indexer.library.foreign import Count, Digest, FileName, Kind, below, from_plain

ASIDE = ".aside-"
_CLONE = 0x40049409
"""FICLONE of Linux (ioctl_ficlone(2))."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Have an error of the system name the file that it is about: of a full disk it says none."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def disk_error(error: OSError, place: Path) -> str:
    """Say which file could not be read or written, and why; `place` is where it lies if the error does not say."""
    return f'"{error.filename or place}" can\'t be read or written ({error.strerror or error})'


_CUT = 50
"""Signs of a name that its file aside has too: a name may have 255 bytes."""
_ASIDE_OF = re.compile(rf"{re.escape(ASIDE)}(\d{{1,9}})-[0-9a-f]{{8}}-(.*)", re.DOTALL)


def sync(path: Path) -> None:
    """Make what was written to a file, or the renames inside a folder, survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with naming(path):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(path: Path) -> None:
    """Make a folder and those above it that are missing, each of them there to stay."""
    missing = [folder for folder in (path, *path.parents) if not folder.is_dir()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in missing:
        sync(folder.parent)


def write_file(path: Path, content: bytes | Iterable[bytes], *, lasts: bool = True) -> None:
    """Write `content`, parts one after the other, under its final name, all or nothing; parent folders are made.

    Without `lasts` it is not synced: worth nothing after a power cut.
    """
    write_by(path, lambda file: file.writelines((content,) if isinstance(content, bytes) else content), lasts=lasts)


def write_by(path: Path, write: Callable[[IO[bytes]], object], *, lasts: bool = True) -> None:
    """Write what `write` puts into an open file, all of it or nothing; parent folders are made."""
    with _written_aside(path, write, lasts=lasts) as aside:
        aside.replace(path)


def copy_file(source: Path, target: Path) -> None:
    """Copy what is in a file, not its owner or mode; a clone, which takes no room, where the file system has such."""
    with source.open("rb") as read, target.open("xb") as written:
        try:
            fcntl.ioctl(written, _CLONE, read.fileno())
        except OSError:
            shutil.copyfileobj(read, written)


def create_file(path: Path, content: bytes, *, lasts: bool = True) -> bool:
    """Write `content` under a name that no file has yet, all of it or nothing; tell whether this did.

    A hard link is made by one of several who try, on a shared folder too. Where there are no links, the name is taken
    first, and the content follows.
    """
    if path.exists():
        return False
    with _written_aside(path, lambda file: file.write(content), lasts=lasts) as aside:
        try:
            path.hardlink_to(aside)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
                raise
            try:
                path.touch(exist_ok=False)
            except FileExistsError:
                return False
            aside.replace(path)
    return True


def replace_file(path: Path, content: bytes) -> None:
    """Put other content into a file of the user's, all of it or nothing; the rest stays. A new one is made plainly."""
    with suppress(OSError):  # they do no harm
        for left in leftovers(path.parent):
            writer = _ASIDE_OF.fullmatch(left.name)
            if writer and writer[2] == path.name[:_CUT] and not _runs(int(writer[1])):
                left.unlink()
    with _written_aside(path, lambda file: file.write(content), like=path if path.exists() else None) as aside:
        aside.replace(path)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError as error:
        return error.errno != errno.ESRCH
    return process != os.getpid()


@contextmanager
def _written_aside(
    path: Path, write: Callable[[IO[bytes]], object], *, like: Path | None = None, lasts: bool = True
) -> Iterator[Path]:
    """Yield a synced file beside `path` that no other writer uses, of whatever machine; it goes with the block.

    Owner, permissions and attributes are those of `like`.
    """
    make_folder(path.parent)
    aside = path.with_name(f"{ASIDE}{os.getpid()}-{secrets.token_hex(4)}-{path.name[:_CUT]}")
    try:
        with naming(path), aside.open("wb") as file:
            write(file)
            file.flush()
            if like is not None:
                facts, own = like.stat(), os.fstat(file.fileno())
                if (facts.st_uid, facts.st_gid) != (own.st_uid, own.st_gid):
                    os.fchown(file.fileno(), facts.st_uid, facts.st_gid)
                shutil.copystat(like, aside)
                os.utime(aside)  # its content is new
            if lasts:
                os.fsync(file.fileno())
        yield aside
    finally:
        with suppress(OSError):
            aside.unlink()  # on a full disk half a file leaves no room to say so
    if lasts:
        sync(path.parent)


@contextmanager
def folder_aside(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """Yield an empty folder that becomes `path` when the block ends without an error, and vanishes otherwise.

    With `replace` a folder that is there goes once the new one stands in its place; see `put_back`.

    Raises:
        FileExistsError: `path` exists already when the block ends, and is not to be replaced.
    """
    make_folder(path.parent)
    if replace:
        put_back(path)
    aside = path.with_name(f"{ASIDE}{path.name}")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    try:
        yield aside
        for file in aside.iterdir():
            sync(file)
        sync(aside)
        if path.exists() and not replace:
            raise FileExistsError(path)
        _put_in_place(aside, path)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _put_in_place(aside: Path, path: Path) -> None:
    """Rename a folder to where another one may stand, which goes only after that, under the name of what is aside."""
    gone = _gone(path)
    is_there = path.exists()
    if is_there:
        shutil.rmtree(gone, ignore_errors=True)
        path.rename(gone)
    try:
        aside.rename(path)
    except OSError:
        put_back(path)
        raise
    sync(path.parent)
    if is_there:
        gone.rename(aside)


def put_back(path: Path) -> None:
    """Bring back the folder that a replacement had set aside, where it was killed before another stood in its place."""
    with suppress(OSError, ValueError):  # there is none, or the place is taken: an empty folder alone gives way; or /
        _gone(path).rename(path)


def _gone(path: Path) -> Path:
    return path.with_name(f"{ASIDE}gone-{path.name}")


def remove_folder(path: Path) -> None:
    """Delete a folder so that it is never met half deleted: it loses its name first."""
    aside = path.with_name(f"{ASIDE}{path.name}")
    shutil.rmtree(aside, ignore_errors=True)
    path.rename(aside)
    sync(path.parent)
    shutil.rmtree(aside)


def leftovers(folder: Path, *, older_than_seconds: float = 0) -> list[Path]:
    """Find what interrupted writers have left aside in `folder`; younger ones may belong to one who still writes."""
    if not folder.is_dir():
        return []
    now = time.time()
    found = [path for path in folder.iterdir() if path.name.startswith(ASIDE)]
    return [path for path in found if abs(now - path.stat().st_mtime) >= older_than_seconds]


def bytes_on_disk(folder: Path) -> int:
    """Size of all files below a folder, in bytes; one that goes meanwhile, or a link, takes no room."""
    taken = 0
    for inner, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                taken += Path(inner, name).lstat().st_size
    return taken


@dataclass(frozen=True, slots=True)
class FileSum:
    """What a file's bytes add up to."""

    bytes: Count
    sha256: Digest


Files = dict[FileName, FileSum]
"""What a folder holds."""


def describe_file(path: Path) -> FileSum:
    """Size and sha256 of a file."""
    with path.open("rb") as file:
        return FileSum(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def differences(folder: Path, files: Files, *, sums: bool) -> Iterator[tuple[Path, str]]:
    """Hold files of a folder against what `describe_file` said of them; yield each that differs, and how.

    Without `sums` only sizes are looked at, which takes no time.
    """
    for name, expected in files.items():
        path, size = below(folder, name), -1
        with suppress(FileNotFoundError):  # it may go at any moment
            size = path.stat().st_size if path.is_file() else size
        if size < 0:
            yield path, "is missing"
        elif size != expected.bytes:
            yield path, f"has {size} bytes, its manifest says {expected.bytes}"
        elif sums and describe_file(path) != expected:
            yield path, "does not match its checksum"


def with_checksum(facts: dict[str, Any]) -> dict[str, Any]:
    """Add to what is to be written as JSON a checksum of itself.

    It tells accidents alone: whoever may write the file can change it, or a file whose sum it holds, and sign it anew.
    """
    return {**facts, "sha256": _checksum(facts)}


def from_signed(kind: type[Kind], plain: object) -> Kind:
    """Make a dataclass of what was written with such a checksum; what an older program wrote has none.

    Raises:
        ValueError: it is other than was written, or `from_plain` refuses it.
    """
    facts = dict(from_plain(dict[str, Any], plain))
    if facts.pop("sha256", None) not in (None, _checksum(facts)):
        raise ValueError("it does not match its checksum")
    return from_plain(kind, facts)


def _checksum(facts: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
