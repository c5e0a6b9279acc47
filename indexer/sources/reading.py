"""How is a file of a source read, whatever somebody put in its place? Whole, within limits, and from inside the source.

A pipe is not waited for, a device not opened, and a link that leads out of the source not followed: whoever may write
to a shared folder could otherwise have any picture of this machine indexed, and served.
"""

import json
import os
import re
import stat
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from indexer.errors import SourceError
from indexer.library.foreign import is_outside
from indexer.sources.paths import to_text

MAX_BYTES = 64 * 1024 * 1024
"""More than any icon has; a file beyond it is listed as broken instead of being read into memory."""
MAX_FACTS_BYTES = 256_000_000
"""Of an Iconify set or what a package says about its icons; the largest known has 104 MB."""
MAX_TEXT = 1000
"""Characters of a name, a key or a tag: more is no text that anybody wrote."""
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")
"""Half of a pair, escaped or as bytes that are no UTF-8."""


def read_regular(file: Path, *, limit: int = MAX_BYTES, inside: str | None = None, cut: bool = False) -> bytes:
    """Read a file's bytes, or with `cut` its first `limit` bytes.

    `inside` is the real path of the source's folder; None where the user has named this very file.

    Raises:
        OSError: it is gone or may not be read.
        SourceError: it is a device or a pipe, too large, or lies outside the source.
    """
    name = str(file)  # plain calls from here on: this is done for every picture
    facts = os.stat(name)  # noqa: PTH116
    if not stat.S_ISREG(facts.st_mode):
        raise SourceError("not a regular file")
    if facts.st_size > limit and not cut:
        raise SourceError(f"file of {facts.st_size / 1e6:.0f} MB, the limit is {limit / 1e6:.0f} MB")
    # Without waiting: a pipe may have taken the file's place a moment ago.
    opened = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
    try:
        if inside is not None:
            refuse_outside(_path_of(opened, file), inside)
        size = min(facts.st_size, limit)
        content = os.read(opened, size if cut else size + 1)  # no more: room for the whole limit costs time
        if len(content) > size:  # it grew meanwhile, or states no size, as files of the kernel do
            content += os.read(opened, limit + 1 - size)
    finally:
        os.close(opened)
    if len(content) > limit:
        raise SourceError(f"file of more than {limit / 1e6:.0f} MB")
    return content


def real_path(folder: Path) -> str:
    """Follow all links to a source's folder; quick to ask again while the same folder stands there.

    Raises:
        OSError: it is gone.
    """
    facts = folder.stat()
    return _real_path(str(folder), facts.st_dev, facts.st_ino)


@lru_cache(maxsize=256)
def _real_path(folder: str, device: int, inode: int) -> str:
    return os.path.realpath(folder)


def refuse_outside(real: str, inside: str) -> None:
    """Refuse a real path that does not lie below another one.

    Raises:
        SourceError: that is so; the message says what to do about it.
    """
    if is_outside(real, inside):
        raise SourceError(f'leads out of the source to "{to_text(real)}"; index that as well if it is wanted')


def load_facts(file: Path, *, inside: str | None) -> Any:
    """Read a JSON file; `inside` as for `read_regular`.

    Raises:
        OSError: it is gone or may not be read.
        SourceError: it is no JSON, or lies outside the source.
    """
    return _load_json(read_regular(file, limit=MAX_FACTS_BYTES, inside=inside))


def _load_json(content: bytes) -> Any:
    """Halves of a surrogate pair, which are valid JSON and no text, become question marks."""
    try:
        has_halves = _SURROGATE.search(content) is not None
        encoding = json.detect_encoding(content)
        text = content.decode(encoding, "surrogatepass" if encoding.startswith("utf-8") else "replace")
        del content  # a set may have 100 MB, and what is made of it as much
        loaded = json.loads(text)
        if has_halves:
            loaded = json.loads(json.dumps(loaded, ensure_ascii=False).encode(errors="replace"))
    except (ValueError, RecursionError) as error:
        raise SourceError(f"not valid JSON: {error}") from error
    return loaded


def as_object(value: object) -> dict[str, Any]:
    """Take what should be a JSON object; anything else says nothing."""
    return value if isinstance(value, dict) else {}


def shown(value: object) -> str:
    """Spell a value for a message: a long one is cut."""
    text = str(value)
    return text if len(text) <= 80 else f"{text[:80]}… ({len(text):,} characters)"


def _path_of(descriptor: int, file: Path) -> str:
    """Where an opened file really lies; asking its descriptor leaves no time to change a link in between."""
    if sys.platform == "linux":
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - a Path takes thrice as long
    return os.path.realpath(file)
