"""Which icons belong to one project, under which names, and what their licences ask.

The file is JSON: `{"format": "icons-collection", "version": 1, "name": "settings", "icons": ["lucide:bell"]}`. An icon
may also be an object with `key` and, once a font was made of it, `code_point`. Read are these, a JSON list of keys, and
plain text with a key a line, where `#` begins a comment.
"""

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Annotated, Any, Literal

from indexer.arrays import grouped
from indexer.errors import ExportError
from indexer.languages.letters import letters
from indexer.languages.words import counted, printable
from indexer.library.foreign import from_plain, parsed
from indexer.library.named import as_text
from indexer.sources.records import TERMS, Family, family, needs_credit
from search.query import Details, Hit

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
        raise ExportError(
            f'collection "{name}" can\'t be read: {error}; write a key a line, or '
            '{"name": "...", "icons": ["lucide:bell"]}'
        ) from error
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
        return [*filter(None, (_COMMENT.sub("", line).strip() for line in text.splitlines()))]
    try:
        return parsed(text)
    except ValueError:
        with suppress(ValueError):  # as `icons search` prints hits, an object with a key a line
            return [parsed(line) for line in text.splitlines() if line.strip()]
        raise


_WORD = re.compile(r"[a-z0-9]+")
_BETWEEN = re.compile(r"[\s_-]+")
_LONGEST_NAME = 100
_RESERVED = frozenset(("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))))
"""What no file may be called on Windows."""


def plain_name(text: str) -> str:
    """Spell a text in small Latin letters, digits and hyphens, beginning with a letter; "icon" where none is left."""
    parts = _BETWEEN.split(re.sub("(?<=[a-z0-9])(?=[A-Z])", "-", text))
    in_latin = "-".join(map(_in_latin, parts))
    name = "-".join(_WORD.findall(in_latin))[:_LONGEST_NAME].strip("-")
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


_TITLES = {
    "Apache-2.0": "Apache License 2.0",
    "BSD-2-Clause": 'BSD 2-Clause "Simplified" License',
    "BSD-3-Clause": 'BSD 3-Clause "New" or "Revised" License',
    "CC-BY-3.0": "Creative Commons Attribution 3.0",
    "CC-BY-4.0": "Creative Commons Attribution 4.0",
    "CC-BY-NC-4.0": "Creative Commons Attribution Non Commercial 4.0",
    "CC-BY-NC-SA-4.0": "Creative Commons Attribution Non Commercial Share Alike 4.0",
    "CC-BY-ND-4.0": "Creative Commons Attribution No Derivatives 4.0",
    "CC-BY-SA-3.0": "Creative Commons Attribution Share Alike 3.0",
    "CC-BY-SA-4.0": "Creative Commons Attribution Share Alike 4.0",
    "CC0-1.0": "Creative Commons Zero 1.0",
    "GPL-2.0": "GNU General Public License 2.0",
    "GPL-2.0-only": "GNU General Public License 2.0 only",
    "GPL-2.0-or-later": "GNU General Public License 2.0 or later",
    "GPL-3.0": "GNU General Public License 3.0",
    "GPL-3.0-only": "GNU General Public License 3.0 only",
    "GPL-3.0-or-later": "GNU General Public License 3.0 or later",
    "ISC": "ISC License",
    "MIT": "MIT License",
    "MPL-2.0": "Mozilla Public License 2.0",
    "OFL-1.1": "SIL Open Font License 1.1",
    "Unlicense": "The Unlicense",
}
"""Names of the licences that icon sets bear, by SPDX id."""
_WARNINGS: dict[Family, str] = {
    "non-commercial": "may not be used commercially",
    "no-derivatives": "may not be changed",
    "share-alike": "stay under their licence where you change them",
    "copyleft": "may put what you build with them under their licence",
    "withheld": "come without any rights",
    "unknown": "state no licence that is known here",
}
_HARMLESS = str.maketrans({"<": "\u2039", ">": "\u203a", "`": "'", "\n": " "})
"""Signs that would be orders in Markdown, and what stands for them; it shows HTML as such."""
HYPHENS = re.compile(r"-(?=-)")
"""Two of them end a comment."""
_LONGEST = 200
_ORDER: tuple[Family, ...] = ("share-alike", "copyleft", "non-commercial", "no-derivatives", "withheld", "unknown")


@dataclass(frozen=True, slots=True)
class SetTerms:
    """What holds for icons of one set under one licence."""

    set: str
    set_title: str
    author: str | None
    version: str | None
    licence: str | None
    """As the source states it."""
    icons: tuple[str, ...]
    """Keys of those that were chosen."""
    text: str | None = None
    """Of the licence file that lies with the source."""

    @property
    def spdx(self) -> str | None:
        """SPDX id, where it is one of those that icon sets bear."""
        return self.licence if self.licence in _TITLES else None

    @property
    def title(self) -> str:
        """The licence's name."""
        return _TITLES.get(self.licence or "", self.licence or "Unknown licence")

    @property
    def url(self) -> str | None:
        """Where its text can be read."""
        return f"https://spdx.org/licenses/{self.spdx}.html" if self.spdx else None

    @property
    def credit(self) -> str:
        """A line that names whose these are, to be pasted."""
        by = f" by {self.author}" if self.author else ""
        return f"{self.set_title} icons{by}, {self.title}{f' ({self.url})' if self.url else ''}"


def licences_summed_up(icons: Sequence["Hit | SetTerms"]) -> str:
    """Sum up the licences of some icons in a line: "3 sets; 2 need attribution; 1 unknown"."""
    licences = [licence for _, licence in dict.fromkeys((one.set, one.licence) for one in icons)]
    n_sets, families = len({one.set for one in icons}), Counter(map(family, licences))
    n_credited = sum(map(needs_credit, licences))
    parts = [counted(n_sets, "set")]
    parts += [f"{n_credited} {'needs' if n_credited == 1 else 'need'} attribution"] if n_credited else []
    return "; ".join(parts + [f"{families[one]} {one}" for one in _ORDER if families[one]])


def terms_of(
    hits: Sequence[Hit], *, show: Callable[[int], Details], text_of: Callable[[int], str | None]
) -> list[SetTerms]:
    """Put icons together by set and licence, in the order of sets; `show` and `text_of` are asked once for each."""
    groups = grouped(hits, lambda hit: (hit.set, hit.licence))
    found = []
    for (key, licence), icons in sorted(groups.items(), key=lambda group: (group[0][0], group[0][1] or "")):
        details = show(icons[0].id)
        keys = tuple(plain(hit.key) for hit in icons)
        text = text_of(icons[0].id) if licence == details.set_licence else None
        stated = (icons[0].set_title, details.author, details.version, licence)
        title, author, version, own_licence = (plain(one) if one else None for one in stated)
        found.append(SetTerms(key, title or plain(key), author, version, own_licence, keys, text))
    return found


def plain(text: str) -> str:
    """A stranger's text as it may stand in Markdown and in comments: a short line without markup."""
    return printable(text.translate(_HARMLESS))[:_LONGEST]


def notice(terms: Sequence[SetTerms]) -> str:
    """Lines of credit for all icons, for the head of a file."""
    return "\n".join(one.credit for one in terms)


def warnings_of(terms: Iterable[SetTerms]) -> list[str]:
    """A line for each set whose licence asks for more than credit or a copy of its text."""
    return [
        f"{one.set_title} ({one.licence or 'no licence'}): its icons {_WARNINGS[family(one.licence)]}"
        for one in terms
        if family(one.licence) in _WARNINGS
    ]


def licence_file(terms: Sequence[SetTerms], *, name: str) -> str:
    """Write all that an export's licences ask for: Markdown, with the texts that lay with the sources."""
    warned = "\n".join(f"- {line}." for line in warnings_of(terms))
    credited = "\n".join(one.credit for one in terms if needs_credit(one.licence))
    parts = [f"# Licences of the icons in {plain(name)}", f"{licences_summed_up(terms)}. A summary, no legal advice."]
    parts += ["## Look at these first", warned] if warned else []
    parts += ["## Credits to show", credited] if credited else []
    return "\n\n".join([*parts, *(part for one in terms for part in _section(one))]) + "\n"


def _section(one: SetTerms) -> Iterable[str]:
    author = [f"- Author: {one.author}"] if one.author else []
    yield f"## {one.set_title}"
    yield "\n".join(
        (
            f"- Set: `{plain(one.set)}`{f' {one.version}' if one.version else ''}",
            *author,
            f"- Licence: {one.title}{f' (`{one.spdx}`), {one.url}' if one.spdx else ''}",
            f"- Terms: {TERMS[family(one.licence)]}",
            f"- Icons: {', '.join(one.icons)}",
        )
    )
    if one.text:
        yield "\n".join(f"    {printable(line, keep=chr(9))}".rstrip() for line in one.text.splitlines())
