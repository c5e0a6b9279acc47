r"""How is a path kept as text? File names are bytes, and a catalog stores Unicode.

Bytes that are not UTF-8 (lone surrogates in Python) are spelled `\xe8`, and so a backslash itself `\\`; everything else
stands as it is. `from_text` turns it back without loss.
"""

import os
import re
from pathlib import Path

from indexer.errors import SourceError

_ODD = re.compile("[\\\\\udc80-\udcff]")
_UNDECODED = re.compile("[\udc80-\udcff]")
_ESCAPE = re.compile(r"\\(?:\\|x([0-9a-f]{2}))")


def is_unicode(path: str) -> bool:
    """Whether a path is text as it is."""
    return _UNDECODED.search(path) is None


def refuse_undecoded(path: Path) -> None:
    """Refuse what the user has named and a catalog can't store as it is.

    Raises:
        SourceError: the path is not UTF-8.
    """
    if not is_unicode(str(path)):
        raise SourceError(f'the path "{path}" is not valid UTF-8; rename it, or give a link to it')


def to_text(path: str) -> str:
    """Spell a path so that a catalog can store it."""
    return _ODD.sub(lambda sign: "\\\\" if sign[0] == "\\" else f"\\x{ord(sign[0]) - 0xDC00:02x}", path)


def from_text(text: str) -> str:
    """Give back the path that `to_text` spelled."""
    return _ESCAPE.sub(lambda escape: chr(0xDC00 + int(escape[1], 16)) if escape[1] else "\\", text)


def name_of(path: str) -> str:
    """Take an icon's name from its path: the file name without folders and suffix, in Latin-1 where it is not UTF-8."""
    stem = os.fsencode(Path(path).stem)
    try:
        return stem.decode()
    except UnicodeDecodeError:
        return stem.decode("latin-1")
