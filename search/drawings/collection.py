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
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Annotated, Any, Literal

from indexer.errors import ExportError
from indexer.languages.letters import letters
from indexer.library.foreign import from_plain, parsed
from indexer.library.named import as_text

FORMAT: Literal["icons-collection"] = "icons-collection"
VERSION: Literal[1] = 1
MOST_ICONS = 10_000
MAX_BYTES = 5_000_000
"""Of a collection's file: 10,000 icons with all that an export notes of them take 2 MB."""
PRIVATE_USE = range(0xE000, 0xF900)
"""The 6,400 code points that are free for signs of one's own."""
_LONGEST_KEY = 1_000
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
        whole = {"format": FORMAT, "version": VERSION, "name": self.name, **about, "icons": icons}
        whole |= {"taken_code_points": taken} if taken else {}
        return (json.dumps(whole, indent=2, ensure_ascii=False) + "\n").encode()


def collected(name: str, keys: Iterable[str], code_points: Mapping[str, int] | None = None) -> tuple[Collection, int]:
    """Put keys into a collection, each once, where it stands first; tell how many were there again."""
    named = list(keys)
    once = tuple(dict.fromkeys(named))
    return Collection(name, once, code_points or {}), len(named) - len(once)


def _is_key(text: str) -> bool:
    return 0 < len(text.strip()) <= _LONGEST_KEY and text.isprintable()


Key = Annotated[str, _is_key]
Point = Annotated[int, PRIVATE_USE]


@dataclass(frozen=True, slots=True)
class _Entry:
    """An icon that a file names."""

    key: Key
    code_point: Point | None = None


@dataclass(frozen=True, slots=True)
class _File:
    """What is read of a file."""

    icons: tuple[_Entry, ...]
    name: Annotated[str, re.compile(r"(?s).{1,200}")]
    format: Literal["icons-collection"] = FORMAT
    version: Literal[1] = VERSION
    taken_code_points: Mapping[Key, Point] = field(default_factory=dict)


def read_collection(content: bytes, *, name: str) -> tuple[Collection, int]:
    """Read a collection's file, and tell how many icons stood in it again; `name` is taken where it states none.

    Raises:
        ExportError: it is none, of a later version, empty, or names what is no key.
    """
    if len(content) > MAX_BYTES:
        raise ExportError(f'collection "{name}" has {len(content) / 1e6:.1f} MB, the limit is {MAX_BYTES / 1e6:.0f} MB')
    try:
        read = _parsed(as_text(content))
        whole = {"name": name, **read} if isinstance(read, dict) else {"name": name, "icons": read}
        icons = whole.get("icons", whole.get("hits", [read]))  # "hits" of `icons search --json`, or one of them
        entries = (
            [one if isinstance(one, dict) else {"key": one} for one in icons] if isinstance(icons, list) else icons
        )
        file = from_plain(_File, {**whole, "icons": entries}, ignores_others=True)
    except ValueError as error:
        how = 'write a key a line, or {"name": "...", "icons": ["lucide:bell"]}'
        raise ExportError(f'collection "{name}" can\'t be read: {error}; {how}') from error
    points = dict(file.taken_code_points) | {
        one.key: one.code_point for one in file.icons if one.code_point is not None
    }
    if len(set(points.values())) < len(points):
        raise ExportError(f'collection "{name}" gives two icons one code point; change one of them')
    return collected(file.name, [one.key.strip() for one in file.icons], points)


def _parsed(text: str) -> Any:
    """An object or a list, as JSON, as JSON Lines, or as lines.

    Raises:
        ValueError: it looks like JSON and is none.
    """
    if not text.lstrip().startswith(("{", "[")):
        lines = (_COMMENT.sub("", line).strip() for line in text.splitlines())
        return [line for line in lines if line]
    try:
        return parsed(text)
    except ValueError:
        with suppress(ValueError):  # as `icons search` prints hits, an object with a key a line
            return [parsed(line) for line in text.splitlines() if line.strip()]
        raise


_WORD = re.compile(r"[a-z0-9]+")
_BETWEEN = re.compile(r"[\s_-]+")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST = 100
_RESERVED = frozenset(("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))))
"""What no file may be called on Windows."""


def plain_name(text: str) -> str:
    """Spell a text in small Latin letters, digits and hyphens, beginning with a letter; "icon" where none is left."""
    in_latin = "-".join(map(_in_latin, _BETWEEN.split(_HUMPS.sub("-", text))))
    name = "-".join(_WORD.findall(in_latin))[:_LONGEST].strip("-")
    if not name or name in _RESERVED:
        return f"icon-{name}".strip("-")
    return name if name[0].isalpha() else f"icon-{name}"


def _in_latin(part: str) -> str:
    """A part of a name without accents; of other scripts as it sounds, or by what Unicode calls its signs."""
    plain = unicodedata.normalize("NFKD", part).encode("ascii", "ignore").decode().lower()
    if _WORD.search(plain):
        return plain
    return "".join(map(_spelled, unicodedata.normalize("NFC", part))) or "-".join(
        f"u{ord(sign):x}" for sign in part if sign.isalnum()
    )


def _spelled(sign: str) -> str:
    name, kind = unicodedata.name(sign, ""), unicodedata.category(sign)[0]
    if name.startswith("CJK"):
        return f"-u{ord(sign):x}-"
    return f"-{name.lower()}-" if kind in "NS" and not sign.isascii() else letters(sign.lower())


def unique(names: Sequence[str], *, between: str = "-") -> list[str]:
    """Number names that were there before; none takes one that another has by itself."""
    own, found = set(names), dict[str, None]()
    numbers: defaultdict[str, Iterator[int]] = defaultdict(partial(count, 2))
    for name in names:
        others = (f"{name}{between}{number}" for number in numbers[name])
        found[name if name not in found else next(one for one in others if one not in found and one not in own)] = None
    return [*found]
