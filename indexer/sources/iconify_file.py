"""Where does one icon stand in the file of its set? Found by its line, without parsing the rest.

Parsing the 104 MB of `fluent-emoji.json` takes 0.6 s, and a page with fifty hits wants fifty icons from twenty sets.
Sets are written with tabs, an icon at the second level: JSON has no line breaks inside strings, so a line that begins
with two tabs and a name is an icon. Where these lines stand is kept, eight bytes an icon. Sets that are laid out
otherwise are left to `indexer.sources.iconify`, and whoever reads here compares digests.
"""

import json
import mmap
import re
from array import array
from bisect import bisect_left
from functools import lru_cache
from pathlib import Path

from indexer.errors import SourceError
from indexer.sources.iconify_svg import Json, build_svg, resolve_icon
from indexer.sources.reading import as_object
from indexer.sources.records import stamp_of

_BEGIN, _END = b'\n\t"icons": {\n', b"\n\t}"
_ICON = re.compile(rb'\n\t\t("(?:[^"\\]|\\.)*"): \{')
"""The line of an icon, its name as JSON."""
_CLOSING = b"\n\t\t}"
_LONGEST_CHAIN = 100
_MOST_SETS = 512


def read_icon_alone(file: Path, name: str) -> bytes | None:
    """Build the SVG of one icon; None where it can't be found by its line.

    Raises:
        OSError: the file is gone.
    """
    stamp = stamp_of(file)
    outside = _outside(file, stamp)
    if outside is None:
        return None
    values, lines = outside
    try:
        needed = _needed(_opened(file, stamp), as_object(values.get("aliases")), lines, name)
        return build_svg(resolve_icon({**values, "icons": needed}, name)[0])
    except (SourceError, ValueError, RecursionError):
        return None


@lru_cache(maxsize=2)
def _opened(file: Path, stamp: str) -> mmap.mmap:
    """Map a set into memory; whoever reads many icons of one in turn has it mapped once."""
    del stamp
    with file.open("rb") as opened:
        return mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)


@lru_cache(maxsize=_MOST_SETS)
def _outside(file: Path, stamp: str) -> tuple[Json, "array[int]"] | None:
    """Read all of a set but its icons, and where the line of each of these begins, in the order of their names.

    The stamp keeps it fresh. None where it is laid out otherwise.
    """
    if not file.stat().st_size:
        return None  # nothing can't be mapped into memory
    content = _opened(file, stamp)
    start = content.find(_BEGIN)
    end = content.find(_END, start)
    if start < 0 or end < 0:
        return None
    try:
        values = json.loads(content[: start + len(_BEGIN)] + content[end:])
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict):
        return None
    lines = sorted((line[1], line.start()) for line in _ICON.finditer(content, start + len(_BEGIN) - 1, end))
    return values, array("q", (at for _, at in lines))


def _needed(content: mmap.mmap, aliases: Json, lines: "array[int]", name: str) -> Json:
    """The icon that a name, or what it is an alias of, leads to; its own properties, under its own name."""
    for _ in range(_LONGEST_CHAIN):
        body = _body(content, lines, json.dumps(name, ensure_ascii=False).encode())
        if body is not None:
            return {name: json.loads(body)}
        parent = as_object(aliases.get(name)).get("parent")
        if not isinstance(parent, str):
            break
        name = parent
    return {}


def _body(content: mmap.mmap, lines: "array[int]", name: bytes) -> bytes | None:
    """What stands behind a name, as JSON; None where no line bears it."""

    def name_at(line: int) -> bytes:
        found = _ICON.match(content, line)
        return found[1] if found else b""  # the file has just been changed

    place = bisect_left(lines, name, key=name_at)
    if place == len(lines) or name_at(lines[place]) != name:
        return None
    start = lines[place] + len(b"\n\t\t") + len(name) + len(b": ")
    return content[start : content.find(_CLOSING, start) + len(_CLOSING)]
