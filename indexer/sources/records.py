"""What a source says of its icons, files and licences, before anything is rendered; files are read within limits."""

import json
import os
import re
import stat
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from indexer.errors import SourceError
from indexer.library.foreign import is_outside

UNREAD = "unread"
"""Stamp of what could not be read; no file has it, so the next scan tries again."""


class PictureAddress(NamedTuple):
    """Where a picture is read from again."""

    kind: str
    """Of its source."""
    location: str
    """Of its source."""
    path: str
    """Of its file within the source, as `FileScan.path`."""
    member: str
    """Its key within the file, as `Record.member`."""
    digest: bytes = b""
    """What the scan saw (`content_digest`); empty: whatever lies there."""

    @property
    def place(self) -> str:
        """The file, and what is meant in it, as a person reads it."""
        return f"{self.location}/{self.path}".rstrip("/") + (f"#{self.member}" if self.member else "")


@dataclass(frozen=True, slots=True)
class IconSet:
    """A named collection of icons with one licence, as `--set` takes it."""

    key: str
    title: str
    version: str | None = None
    licence: str | None = None
    """SPDX identifier where the source gives one, else its own words."""
    author: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One icon as its source spells it; `name` is raw, naming is done later over the whole set."""

    member: str
    """Key inside the file: an Iconify icon's name, or "" where the file is the picture."""
    name: str
    digest: bytes
    """`content_digest` of the bytes that will be rendered: equal digests are one image."""
    set: IconSet
    tags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    caption: str | None = None
    style: str | None = None
    """Style that the source states beside the name (a folder, a manifest column, an Iconify suffix)."""
    size: int | None = None
    """Nominal size in pixels that the source states beside the name."""
    licence: str | None = None
    """Licence of this icon alone, where it differs from its set's."""


@dataclass(frozen=True, slots=True)
class FileScan:
    """What one file of a source was found to hold.

    Exactly one of four: `records` (new or changed), `error` (unreadable, with the reason), `other` (a drawing in a
    format that is not read), or none: its stamp equals the one already known, so it was not read again.
    """

    path: str
    """Relative to the source's location, POSIX separators, spelled by `to_text`, unique within the source; ""
    when the location is itself the file."""
    stamp: str
    """Changes whenever the file, or metadata that its records depend on, may have changed."""
    records: tuple[Record, ...] | None = None
    error: str | None = None
    other: str = ""
    """Suffix of a drawing that is only counted."""
    skipped: int = 0
    """Entries that the file itself marks as hidden."""
    broken: tuple[tuple[str, str], ...] = ()
    """Entries beside the records that cannot become icons, as (member, reason): an alias of what is not there."""


_STYLED = (
    *(b'"freeze"', b"'freeze'", b"media", b"@supports", b"@layer"),
    *(b"var(", b"lab(", b"lch(", b"color(", b"color-mix(", b"light-dark("),
    *(b"#%", b"%20", b"%C3%", b"%E", b"calc(", b"(from ", b":is(", b"transform-origin"),
)
_ROOT_AS_BOX = re.compile(rb"""<svg\b[^>]*?[\s;"'](?:transform|mask|clip-path|filter|background(?:-color)?)\s*[=:]""")
ICON_FILES = (b"\0\0\1\0", b"\0\0\2\0")
"""Beginnings of ICO files and cursors."""
DRAWN_BY = "2"
"""Part of the stamps of files: what is drawn otherwise than by older programs is read, and so embedded, again."""


def is_styled(content: bytes) -> bool:
    """Whether an SVG has something that `rendering.styles` writes out before it is drawn."""
    return any(sign in content for sign in _STYLED) or _ROOT_AS_BOX.search(content, 0, 4000) is not None


def content_digest(content: bytes) -> bytes:
    """Identify a picture's content: BLAKE2b, 16 bytes; not as older programs do where these drew it wrongly."""
    is_drawn_anew = content.startswith(ICON_FILES) or is_styled(content)
    return blake2b(content, digest_size=16, person=DRAWN_BY.encode() if is_drawn_anew else b"").digest()


def has_digest(content: bytes, digest: bytes) -> bool:
    """Whether content is what a scan saw, also one of an older program."""
    return digest in (b"", content_digest(content)) or digest == blake2b(content, digest_size=16).digest()


def stamp_of(*files: Path, recipe: str = "") -> str:
    """Join what tells states of the files that records depend on apart, and the version of the code that reads them.

    It says without reading a file whether it has changed: its size and time of modification can be set to what they
    were, its time of change and inode can't.

    Raises:
        OSError: one of them is gone.
    """
    facts = [file.stat() for file in files]
    spelled = (f"{fact.st_size}:{fact.st_mtime_ns}:{fact.st_ctime_ns}:{fact.st_ino}" for fact in facts)
    return "+".join((*spelled, *((recipe,) if recipe else ())))


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
        if inside is not None:  # asking the descriptor leaves no time to change a link in between
            is_linux = sys.platform == "linux"
            real = os.readlink(f"/proc/self/fd/{opened}") if is_linux else os.path.realpath(file)  # noqa: PTH115
            if why_not := why_outside(real, inside):
                raise SourceError(why_not)
        content, most = b"", limit if cut else limit + 1
        wanted = min(facts.st_size + 1, most)  # no more at first: room for the whole limit costs time
        while len(content) < wanted and (part := os.read(opened, wanted - len(content))):
            content += part
            if len(content) == wanted:  # it grew meanwhile, or states no size, as files of the kernel do
                wanted = most
    finally:
        os.close(opened)
    if len(content) > limit:
        raise SourceError(f"file of more than {limit / 1e6:.0f} MB")
    return content


def why_outside(real: str, inside: str) -> str | None:
    """Say of a real path that does not lie below another one where it leads, and what to do about it."""
    return (
        f'leads out of the source to "{to_text(real)}"; index that as well if it is wanted'
        if is_outside(real, inside)
        else None
    )


def load_facts(file: Path, *, inside: str | None) -> Any:
    """Read a JSON file; `inside` as for `read_regular`.

    Halves of a surrogate pair, which are valid JSON and no text, become question marks.

    Raises:
        OSError: it is gone or may not be read.
        SourceError: it is no JSON, or lies outside the source.
    """
    content = read_regular(file, limit=MAX_FACTS_BYTES, inside=inside)
    try:
        has_halves = _SURROGATE.search(content) is not None
        encoding = json.detect_encoding(content)
        text = content.decode(encoding, "surrogatepass" if encoding.startswith("utf-8") else "replace")
        del content  # a set may have 100 MB, and what is made of it as much
        loaded = json.loads(text)
        return json.loads(json.dumps(loaded, ensure_ascii=False).encode(errors="replace")) if has_halves else loaded
    except (ValueError, RecursionError) as error:
        raise SourceError(f"not valid JSON: {error}") from error


def as_object(value: object) -> dict[str, Any]:
    """Take what should be a JSON object; anything else says nothing."""
    return value if isinstance(value, dict) else {}


def as_words(value: object) -> str | None:
    """Take what should be a text; anything else, and what is too long for one, says nothing."""
    return value if isinstance(value, str) and 0 < len(value) <= MAX_TEXT else None


def shown(value: object) -> str:
    """Spell a value for a message: a long one is cut."""
    text = str(value)
    return text if len(text) <= 80 else f"{text[:80]}… ({len(text):,} characters)"


Family = Literal[
    "permissive", "attribution", "share-alike", "copyleft", "non-commercial", "no-derivatives", "withheld", "unknown"
]
FAMILIES: tuple[Family, ...] = get_args(Family)
"""Freest first: free to use (MIT, CC0); naming the author (CC-BY); what is made of it stays under the
licence (CC-BY-SA, OFL, MPL); and so does what it is built into (GPL); not for business; not to be changed; no rights
at all. Last, a text that says nothing to this program, or none."""

TERMS: Mapping[Family, str] = {
    "permissive": "Free to use, also commercially. Keep the licence text.",
    "attribution": "Free to use, also commercially, if you credit the author.",
    "share-alike": "Free to use with credit; what you change stays under the same licence.",
    "copyleft": "What you build with it may have to carry the same licence.",
    "non-commercial": "Not for commercial use.",
    "no-derivatives": "Free to use as it is; it must not be changed.",
    "withheld": "The author gives no rights. Ask before you use it.",
    "unknown": "No licence is known to us. Ask the author before you use it.",
}
"""What each family asks for, in a sentence for whoever is about to use an icon."""

# The first that matches names the family. Spaces stand for any of the signs between the parts of an id.
_FAMILIES: tuple[tuple[Family, str], ...] = (
    ("withheld", r"no licen|proprietary|unlicensed|all rights reserved"),
    ("copyleft", r"gpl|gfdl|gnu"),
    ("non-commercial", r"\bnc\b|non commercial|noncommercial"),
    ("no-derivatives", r"\bnd\b|no ?deriv"),
    ("share-alike", r"\bsa\b|share ?alike|\bofl\b|open font|\bmpl\b|mozilla|\bepl\b|eclipse|\bcddl\b|\beupl\b"),
    ("permissive", r"\bcc0\b|public domain|\bcc pddc\b|\bunlicense\b|\b0bsd\b|\bpd\b"),
    ("attribution", r"\bcc by\b|creative commons attribution|\bcc attribution\b"),
    ("permissive", r"\b(?:mit|x11|expat|apache|bsd|isc|zlib|wtfpl|bsl 1|boost|blueoak|w3c)\b"),
)
_PATTERNS = tuple((family, re.compile(pattern)) for family, pattern in _FAMILIES)
_SIGNS = re.compile(r"[^a-z0-9]+")


@lru_cache(maxsize=1024)
def family(licence: str | None) -> Family:
    """Tell the family of a licence: an SPDX id or expression, a licence's name, or what a package says instead.

    Of several licences at once the strictest part counts.
    """
    text = _SIGNS.sub(" ", (licence or "").lower())
    return next((name for name, pattern in _PATTERNS if pattern.search(text)), "unknown")


_CREDIT = re.compile(r"\bby\b|attribution")


def needs_credit(licence: str | None) -> bool:
    """Tell whether whoever uses an icon has to name its author where it is seen, as Creative Commons BY asks."""
    return _CREDIT.search(_SIGNS.sub(" ", (licence or "").lower())) is not None


MAX_LICENCE_BYTES = 200_000
"""The GPL has 35 kB."""
_FILE = re.compile(r"(?:(?:un)?licen[sc]e|copying)(?:\.(?:txt|md|rst))?", re.IGNORECASE)
_SENTENCES = {
    "MIT": r"Permission is hereby granted, free of charge, to any person obtaining a copy",
    "ISC": r"Permission to use, copy, modify, and(?:/or)? distribute this software for any purpose with or without fee",
    "Apache-2.0": r"Apache License\s+Version 2\.0",
    "OFL-1.1": r"SIL OPEN FONT LICENSE Version 1\.1",
    "CC0-1.0": r"CC0 1\.0 Universal",
    "CC-BY-SA-4.0": r"Attribution-ShareAlike 4\.0 International",
    "CC-BY-4.0": r"Attribution 4\.0 International",
    "Unlicense": r"This is free and unencumbered software released into the public domain",
}
"""A sentence that only this licence has; a file with the sentences of two licences is left to its reader."""


def licence_files(names: Iterable[str]) -> list[str]:
    """Take the names in a folder that are those of licence files, in the order in which they are tried."""
    return sorted(filter(_FILE.fullmatch, names))


def read_licence_file(kind: str, location: Path) -> str | None:
    """Read the text of the licence file beside a source's pictures; None where there is none, or it can't be read."""
    if kind == "iconify":  # it would be about the collection, not about the sets in it
        return None
    folder = location.parent if kind == "manifest" or location.is_file() else location
    with suppress(OSError):
        inside = os.path.realpath(folder)
        for name in licence_files(entry.name for entry in folder.iterdir()):
            with suppress(OSError, SourceError, UnicodeDecodeError):
                if (
                    text := read_regular(folder / name, limit=MAX_LICENCE_BYTES, inside=inside)
                    .decode("utf-8-sig")
                    .strip()
                ):
                    return text
    return None


def licence_of(text: str) -> str | None:
    """Name the licence that a text is, if it has a sentence that no other has."""
    text = " ".join(text.split())
    named = [spdx for spdx, sentence in _SENTENCES.items() if re.search(sentence, text, re.IGNORECASE)]
    return named[0] if len(named) == 1 else None
