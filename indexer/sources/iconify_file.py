"""Where does one icon stand in the file of its set? Found by its line, without parsing the rest.

Parsing the 104 MB of `fluent-emoji.json` takes 0.6 s, and a page with fifty hits wants fifty icons from twenty sets.
Sets are written with tabs, an icon at the second level: JSON has no line breaks inside strings, so a line that begins
with two tabs and a name is an icon. They are written by JavaScript, their icons in its order, so a line is found by
halving; where they stand in another order, their lines are noted once. Sets that are laid out otherwise are left to
`indexer.sources.iconify`, and whoever reads here compares digests.
"""

import json
import mmap
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from indexer.errors import SourceError
from indexer.sources.iconify_svg import Json, build_svg, resolve_icon
from indexer.sources.reading import as_object
from indexer.sources.records import stamp_of

_BEGIN = b'\n\t"icons": {\n'
_END = re.compile(rb"\n\t\}")  # twice as quick as `mmap.find`
_ICON = re.compile(rb'\n\t\t("(?:[^"\\]|\\.)*"): \{')
"""The line of an icon, its name as JSON."""
_CLOSING = b"\n\t\t}"
_INDEX = re.compile(rb'"(0|[1-9][0-9]{0,8})"')
"""A name that JavaScript takes for a number: these come first."""
_LONGEST_CHAIN = 100
_MOST_SETS = 512
_MOST_OPEN = 64


def read_icon_alone(file: Path, name: str) -> bytes | None:
    """Build the SVG of one icon; None where it can't be found by its line.

    Raises:
        OSError: the file is gone.
    """
    icons = _icons_of(file, stamp_of(file))
    if icons is None:
        return None
    try:
        return build_svg(resolve_icon({**icons.values, "icons": _needed(icons, name)}, name)[0])
    except (SourceError, ValueError, RecursionError):
        return None


@dataclass(frozen=True, slots=True, eq=False)
class _Icons:
    """The lines of a set that are icons."""

    file: Path
    stamp: str
    values: Json
    """All else that stands in the set."""
    start: int
    end: int

    def body(self, name: str) -> bytes | None:
        """What stands behind a name, as JSON; None where no line has been found that bears it."""
        content, wanted = _opened(self.file, self.stamp), _order(_spelt(name))
        low, high = self.start, self.end
        while low < high:
            middle = (low + high) // 2
            line = _ICON.search(content, middle, self.end)
            if line is None or line.start() >= high or (found := _order(line[1])) > wanted:
                high = middle
            elif found < wanted:
                low = line.end()
            else:
                return _behind(content, line)
        return None

    def body_anywhere(self, name: str) -> bytes | None:
        """The same, in whatever order the icons stand."""
        line = _lines_of(self).get(_spelt(name))
        content = _opened(self.file, self.stamp)
        found = None if line is None else _ICON.match(content, line)
        return _behind(content, found) if found else None


def _spelt(name: str) -> bytes:
    return json.dumps(name, ensure_ascii=False).encode()


def _order(name: bytes) -> tuple[bool, int, bytes]:
    number = _INDEX.fullmatch(name)
    return (False, int(number[1]), b"") if number else (True, 0, name[1:-1])


def _behind(content: mmap.mmap, line: re.Match[bytes]) -> bytes:
    start = line.end() - 1
    return content[start : content.find(_CLOSING, start) + len(_CLOSING)]


@lru_cache(maxsize=_MOST_OPEN)
def _opened(file: Path, stamp: str) -> mmap.mmap:
    """Map a set into memory; the icons of a page are of many sets, in turn."""
    del stamp
    with file.open("rb") as opened:
        return mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)


@lru_cache(maxsize=_MOST_SETS)
def _icons_of(file: Path, stamp: str) -> _Icons | None:
    """Read all of a set but its icons. The stamp keeps it fresh. None where it is laid out otherwise."""
    if not file.stat().st_size:
        return None  # nothing can't be mapped into memory
    content = _opened(file, stamp)
    start = content.find(_BEGIN)
    end = _END.search(content, start) if start >= 0 else None
    if end is None:
        return None
    try:
        values = json.loads(content[: start + len(_BEGIN)] + content[end.start() :])
    except (ValueError, RecursionError):
        return None
    return _Icons(file, stamp, values, start + len(_BEGIN) - 1, end.start()) if isinstance(values, dict) else None


@lru_cache(maxsize=_MOST_SETS)
def _lines_of(icons: _Icons) -> dict[bytes, int]:
    content = _opened(icons.file, icons.stamp)
    return {line[1]: line.start() for line in _ICON.finditer(content, icons.start, icons.end)}


def _needed(icons: _Icons, name: str) -> Json:
    """The icon that a name, or what it is an alias of, leads to; its own properties, under its own name."""
    aliases = as_object(icons.values.get("aliases"))
    for _ in range(_LONGEST_CHAIN):
        body = icons.body(name) or (None if name in aliases else icons.body_anywhere(name))
        if body is not None:
            return {name: json.loads(body)}
        parent = as_object(aliases.get(name)).get("parent")
        if not isinstance(parent, str):
            break
        name = parent
    return {}
