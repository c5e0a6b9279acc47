"""Files that a person names: read as far as a limit, whatever they are; written without a loss of what they were."""

import lzma
import os
import stat
import sys
from contextlib import suppress
from io import BytesIO
from pathlib import Path

from indexer.errors import IconsError, SourceError
from indexer.library.durable import replace_file

STDIN = Path("-")
PACKED = ".xz"
MOST_BYTES = 64_000_000
"""Of a file that is read, where nothing else is said."""


def read_named(path: Path, *, limit: int = MOST_BYTES) -> bytes:
    """Read a file, a pipe until it ends, or stdin: "-".

    Raises:
        SourceError: it can't be read, or holds more.
    """
    try:
        if path == STDIN:
            content = sys.stdin.buffer.read(limit + 1)
        else:
            with path.open("rb") as file:
                content = file.read(limit + 1)
    except OSError as error:
        raise SourceError(f'"{path}" can\'t be read: {error.strerror}') from error
    return _within(content, path, limit)


def read_text(path: Path, *, limit: int = MOST_BYTES) -> str:
    """Read such a file as UTF-8, with a byte order mark or without; one whose name ends in .xz is unpacked.

    Raises:
        SourceError: it can't be read, holds more, or is something else.
    """
    content = read_named(path, limit=limit)
    if path.suffix == PACKED:
        try:
            with lzma.open(BytesIO(content)) as unpacked:
                content = _within(unpacked.read(limit + 1), path, limit)
        except (lzma.LZMAError, EOFError) as error:
            raise SourceError(f'"{path}" can\'t be read: it is no {PACKED} file') from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(f'"{path}" can\'t be read: it is not UTF-8') from error


def _within(content: bytes, path: Path, limit: int) -> bytes:
    if len(content) > limit:
        raise SourceError(f'"{path}" can\'t be read: it has more than {limit / 1e6:.0f} MB')
    return content


def write_result(path: Path, content: bytes, *, option: str) -> None:
    """Write a file that the user has named with an option.

    A regular file is replaced, and so is what a link leads to. A device or a pipe is written to where it is, and so is
    a file that would lose something: `why_kept` says what.

    Raises:
        IconsError: it can't be written there.
    """
    try:
        if goes_aside(path):
            replace_file(Path(os.path.realpath(path)), content)
        else:
            own = _own_stream(path)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_TRUNC) if own is None else os.dup(own), "wb") as file:
                file.write(content)
    except OSError as error:
        raise IconsError(f'"{path}" can\'t be written ({error.strerror or error}); choose another {option}') from error


def goes_aside(path: Path) -> bool:
    """Whether what `write_result` writes there takes the place of a regular file, or of nothing."""
    try:
        return why_kept(path) is None and _own_stream(path) is None
    except FileNotFoundError:
        return True


def why_kept(path: Path) -> str | None:
    """Say why a file of the user's can't be replaced by one that has all but its content; None: it can."""
    facts = path.stat()
    if not stat.S_ISREG(facts.st_mode):
        return "it is no regular file"
    if not facts.st_mode & 0o222:
        return "it is read-only"
    if facts.st_nlink != 1:
        return f"it has {facts.st_nlink} hard links"
    if os.geteuid() and (facts.st_uid != os.geteuid() or facts.st_gid not in (os.getegid(), *os.getgroups())):
        return "it belongs to somebody else"
    return None


def _own_stream(path: Path) -> int | None:
    """Our stdout or stderr, if that is what a path leads to: more of our own goes there."""
    facts = path.stat()
    for descriptor in (1, 2):
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), facts):
                return descriptor
    return None
