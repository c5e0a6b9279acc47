"""Which icons belong to one project, under which name: a small file of keys.

The file is JSON: `{"format": "icons-collection", "version": 1, "name": "settings", "icons": ["lucide:bell"]}`. An icon
may also be an object with `key` and, once a font was made of it, `code_point`. Read are these, a JSON list of keys, and
plain text with a key a line, where `#` begins a comment.
"""

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

from indexer.errors import ExportError

FORMAT, VERSION = "icons-collection", 1
MOST_ICONS = 10_000
MAX_BYTES = 5_000_000
"""Of a collection's file: 10,000 icons with all that an export notes of them take 2 MB."""
PRIVATE_USE = range(0xE000, 0xF900)
"""The 6,400 code points that are free for signs of one's own."""
_LONGEST_KEY = 1_000
_LONGEST_NAME = 200
_COMMENT = re.compile(r"(?:^|\s)#\s.*|^#.*")


@dataclass(frozen=True, slots=True)
class Collection:
    """Icons that were chosen, in an order, each once."""

    name: str
    icons: tuple[str, ...]
    """Keys: "lucide:bell"."""
    code_points: Mapping[str, int] = field(default_factory=dict)
    """Key -> its place in a font that was made before; also of icons that have left since, so that none moves."""

    def __post_init__(self) -> None:
        if not self.icons:
            raise ExportError("the collection is empty; name an icon, as lucide:bell")
        if len(self.icons) > MOST_ICONS:
            raise ExportError(f"{len(self.icons):,} icons; a collection has {MOST_ICONS:,} at most, split it")
        if len(set(self.icons)) < len(self.icons):
            raise ExportError("an icon stands in the collection twice; name each once")

    def as_file(self, facts: Mapping[str, Mapping[str, Any]], **about: Any) -> bytes:
        """Spell it as a file that says more: of some of its icons, by key, and of all of it.

        Code points of icons that are not among these stay taken.
        """
        icons: list[Any] = []
        for key, own in facts.items():
            point = {"code_point": self.code_points[key]} if key in self.code_points else {}
            icons.append({"key": key, **own, **point} if own or point else key)
        taken = {key: point for key, point in self.code_points.items() if key not in facts}
        more = {"taken_code_points": taken} if taken else {}
        whole = {"format": FORMAT, "version": VERSION, "name": self.name, **about, "icons": icons, **more}
        return (json.dumps(whole, indent=2, ensure_ascii=False) + "\n").encode()


def collected(name: str, keys: Iterable[str], code_points: Mapping[str, int] | None = None) -> tuple[Collection, int]:
    """Put keys into a collection, each once, where it stands first; tell how many were there again."""
    named = list(keys)
    once = tuple(dict.fromkeys(named))
    return Collection(name, once, code_points or {}), len(named) - len(once)


def read_collection(content: bytes, *, name: str) -> tuple[Collection, int]:
    """Read a collection's file, and tell how many icons stood in it again; `name` is taken where it states none.

    Raises:
        ExportError: it is none, of a later version, empty, or names what is no key.
    """
    if len(content) > MAX_BYTES:
        raise ExportError(f'collection "{name}" has {len(content) / 1e6:.1f} MB, the limit is {MAX_BYTES / 1e6:.0f} MB')
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ExportError(f'collection "{name}" is not UTF-8 text; save it as UTF-8') from error
    if not text.lstrip().startswith(("{", "[")):
        lines = (_COMMENT.sub("", line).strip() for line in text.splitlines())
        return collected(name, [_key(line, name) for line in lines if line])
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as error:
        try:  # JSON Lines, as `icons search --jsonl` prints them: an object with a key a line
            read = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            raise ExportError(f'collection "{name}" is not JSON ({error}); mend it, or write a key a line') from error
    if isinstance(read, list):
        return collected(name, [_key(one, name) for one in read])
    return _of_object(read, name)


def _of_object(read: Mapping[str, Any], name: str) -> tuple[Collection, int]:
    if read.get("format", FORMAT) != FORMAT:
        raise ExportError(f'"{name}" is of the format "{str(read["format"])[:80]}", not "{FORMAT}"; give a collection')
    version = read.get("version", VERSION)
    if version != VERSION:
        raise ExportError(f'collection "{name}" is of version "{str(version)[:20]}", this program reads {VERSION}')
    icons = read.get("icons", read.get("hits", [read] if "key" in read else None))  # "hits" of `icons search --json`
    if not isinstance(icons, list):
        raise ExportError(f'collection "{name}" has no list "icons"; write {{"name": "...", "icons": ["lucide:bell"]}}')
    taken = read.get("taken_code_points", {})
    if not isinstance(taken, dict):
        raise ExportError(f'collection "{name}": "taken_code_points" is no object; leave it out')
    stated = [(_key(key, name), point) for key, point in taken.items()]
    stated += [(_key(one, name), one["code_point"]) for one in icons if isinstance(one, dict) and "code_point" in one]
    own_name = read.get("name", name)
    if not isinstance(own_name, str) or not 0 < len(own_name) <= _LONGEST_NAME:
        raise ExportError(f'collection "{name}": its "name" is no text of 1 to {_LONGEST_NAME} letters')
    return collected(own_name, [_key(one, name) for one in icons], _checked_points(stated, name))


def _key(one: object, name: str) -> str:
    """The key that an entry is, or states."""
    key = one.get("key") if isinstance(one, dict) else one
    if not isinstance(key, str) or not 0 < len(key.strip()) <= _LONGEST_KEY or not key.isprintable():
        raise ExportError(f'collection "{name}" names {str(one)[:80]!r}, which is no key; write keys as lucide:bell')
    return key.strip()


def _checked_points(stated: Iterable[tuple[str, object]], name: str) -> dict[str, int]:
    points: dict[str, int] = {}
    for key, point in stated:
        if not isinstance(point, int) or isinstance(point, bool) or point not in PRIVATE_USE:
            raise ExportError(f'collection "{name}": code point {str(point)[:20]!r} of "{key}" is not for own signs')
        points[key] = point
    if len(set(points.values())) < len(points):
        raise ExportError(f'collection "{name}" gives two icons one code point; change one of them')
    return points


_WORD = re.compile(r"[a-z0-9]+")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST = 100
_RESERVED = frozenset(("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))))
"""What no file may be called on Windows."""


def plain_name(text: str) -> str:
    """Spell a text in small Latin letters, digits and hyphens, beginning with a letter; "icon" where none is left."""
    ascii_text = unicodedata.normalize("NFKD", _HUMPS.sub("-", text)).encode("ascii", "ignore").decode().lower()
    name = "-".join(_WORD.findall(ascii_text))[:_LONGEST].strip("-")
    if not name or name in _RESERVED:
        return f"icon-{name}".strip("-")
    return name if name[0].isalpha() else f"icon-{name}"


def unique(names: Sequence[str], *, between: str = "-") -> list[str]:
    """Number names that were there before; none takes one that another has by itself."""
    own = set(names)
    taken: set[str] = set()
    numbers: defaultdict[str, Iterator[int]] = defaultdict(partial(count, 2))
    found = []
    for name in names:
        free = name
        while free in taken or (free != name and free in own):
            free = f"{name}{between}{next(numbers[name])}"
        taken.add(free)
        found.append(free)
    return found
