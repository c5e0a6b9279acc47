"""Files that a person names: read as far as a limit, whatever they are; written without a loss of what they were.

Text is UTF-8, UTF-16 or, line by line, Windows-1252: what editors, Excel and pandas write.
"""

import codecs
import lzma
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import BinaryIO

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


def read_unpacked(path: Path, *, limit: int = MOST_BYTES) -> bytes:
    """Read such a file; one whose name ends in .xz is unpacked.

    Raises:
        SourceError: it can't be read, or holds more.
    """
    content = read_named(path, limit=limit)
    if path.suffix != PACKED:
        return content
    try:
        with lzma.open(BytesIO(content)) as unpacked:
            return _within(unpacked.read(limit + 1), path, limit)
    except (lzma.LZMAError, EOFError) as error:
        raise SourceError(f'"{path}" can\'t be read: it is no {PACKED} file') from error


def read_text(path: Path, *, limit: int = MOST_BYTES) -> str:
    """Read such a file as text.

    Raises:
        SourceError: it can't be read, holds more, or is something else.
    """
    try:
        return as_text(read_unpacked(path, limit=limit))
    except ValueError as error:
        raise SourceError(f'"{path}" can\'t be read: {error}') from error


NOT_TEXT = "neither UTF-8, UTF-16 nor Windows-1252; save it as UTF-8"
LOST = re.compile("[\0\udc80-\udcff]")
"""What a decoded text has of bytes that are no letters."""
_OTHER = re.compile(rb"\x83|[\xa1-\xff]{3}|\xc3[\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}")
"""What no text in Windows-1252 has: three letters in a row that are not ASCII, as Russian, Chinese and Japanese code
pages have; and pieces of UTF-8, of which another part is damaged."""


def as_text(content: bytes) -> str:
    """Decode a text.

    Raises:
        ValueError: it is none, or in another encoding; the message names the line.
    """
    text = "".join(lines_of(BytesIO(content)))
    if lost := LOST.search(text):
        raise ValueError(f"line {text.count(chr(10), 0, lost.start()) + 1:,} is {NOT_TEXT}")
    return text


def lines_of(opened: BinaryIO, *, longest: int = -1) -> Iterator[str]:
    """Decode the lines of a file, and close it; bytes that are no letters become halves of pairs, as in paths.

    Raises:
        SourceError: a line is longer than `longest`.
        ValueError: what begins as UTF-16 is none.
    """
    encoding = _wide(opened.read(4096)) or "latin-1"
    opened.seek(0)
    try:
        with TextIOWrapper(opened, encoding, newline="") as lines:
            while line := lines.readline(longest):
                if len(line) == longest:
                    raise SourceError(f"a line of more than {longest // 1_000_000} million characters")
                yield (line if encoding != "latin-1" else _decoded(line.encode("latin-1"))).lstrip("\ufeff")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is {NOT_TEXT}") from error


def _wide(start: bytes) -> str | None:
    """The encoding of what has several bytes a sign, by its mark, or by the zeros beside letters of ASCII."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    big, little = start[::2].count(0), start[1::2].count(0)
    is_wide = max(big, little) > max(8 * min(big, little), len(start) // 30)
    return ("utf-16-le" if little > big else "utf-16-be") if is_wide else None


def _decoded(line: bytes) -> str:
    """UTF-8, else Windows-1252; lines that end as on an old Macintosh are in its letters."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        own = "mac-roman" if line.endswith(b"\r") else "cp1252"
        return line.decode("utf-8" if _OTHER.search(line) else own, "surrogateescape")


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
