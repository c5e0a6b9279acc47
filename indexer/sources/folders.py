"""Pictures that are files: all of a folder, which is a set, or those that a manifest lists.

A manifest is a list with one picture a row, in the form that open_clip trains from: `file_path`, and any of name,
caption, tags, categories, set, style, size, licence. Paths are relative to its folder, and lead nowhere outside it.
"""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from unicodedata import normalize
from urllib.parse import unquote
from xml.etree import ElementTree

from indexer.errors import SourceError, StoreError
from indexer.languages.words import path_hints
from indexer.library.named import JSON_SUFFIXES, Row, read_rows, several, text_of, why_lost
from indexer.sources.records import (
    DRAWN_BY,
    MAX_BYTES,
    MAX_TEXT,
    UNREAD,
    FileScan,
    IconSet,
    Record,
    content_digest,
    licence_of,
    name_of,
    read_licence_file,
    read_regular,
    shown,
    stamp_of,
    to_text,
    why_outside,
)

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

GITIGNORE = "@gitignore"
"""Among the patterns: leave out what the .gitignore files found in the tree leave out."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """What is left out below some folder; `entering` adds what that folder says itself."""

    rules: "GitIgnoreSpec | None" = None
    honours_gitignore: bool = False
    found: "tuple[tuple[str, GitIgnoreSpec], ...]" = ()
    """(folder, rules) of the .gitignore files on the way here; the innermost one that has an opinion decides."""

    @classmethod
    def of(cls, patterns: Sequence[str]) -> "Exclusion":
        """Read patterns in the syntax of .gitignore; `.*` leaves out what is hidden, `@gitignore` what git ignores.

        Raises:
            SourceError: one of them is no pattern.
        """
        own = [pattern for pattern in patterns if pattern != GITIGNORE]
        if wrong := next((pattern for pattern in own if not _is_pattern(pattern)), None):
            raise SourceError(
                f'"{wrong}" is no pattern as in .gitignore; give --exclude one such as "drafts/" or "*.png"'
            )
        return cls(_rules(own) if own else None, honours_gitignore=GITIGNORE in patterns)

    def entering(self, folder: Path, path: str) -> "Exclusion":
        """Take in the rules of a folder, whose `path` in the source ends in a slash; an unreadable one has none."""
        if not self.honours_gitignore:
            return self
        try:
            content = read_regular(folder / ".gitignore", limit=1_000_000)
        except (OSError, SourceError):
            return self
        lines = content.decode(errors="replace").splitlines()
        # What is no pattern matches nothing, as for git itself.
        rules = _rules(line for line in lines if _is_pattern(line))
        return replace(self, found=(*self.found, (path, rules)))

    def excludes(self, path: str) -> bool:
        """Say whether a path is left out; a folder's ends in a slash."""
        if self.honours_gitignore and f"/{path}".endswith("/.git/"):
            return True
        if self.rules is not None and (is_excluded := self.rules.check_file(path).include) is not None:
            return is_excluded
        for base, rules in reversed(self.found):
            if (is_excluded := rules.check_file(path.removeprefix(base)).include) is not None:
                return is_excluded
        return False


def _is_pattern(line: str) -> bool:
    try:
        _rules([line])
    except ValueError:
        return False
    return True


def _rules(lines: Iterable[str]) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec  # render workers, which read single files, do without

    return GitIgnoreSpec.from_lines(lines)


SUFFIXES = frozenset((".svg", ".svgz", ".png", ".webp", ".avif", ".jpg", ".jpeg", ".gif", ".apng", ".bmp", ".ico"))
_OTHERS = frozenset(
    (".ai", ".eps", ".fig", ".heic", ".jxl", ".lottie", ".pdf", ".psd", ".sketch", ".tif", ".tiff", ".xd")
)
"""Of drawings that are not read."""


def find_pictures(
    root: Path, *, exclusion: Exclusion, suffixes: frozenset[str] = SUFFIXES, start: str = ""
) -> Iterator[str | FileScan]:
    """Walk a tree from `start` on, in the order of names, folders where their name stands.

    Yields the path of each picture, relative to the root and not yet text, or what cannot be looked into. A link to a
    folder of the tree is left alone, as its pictures are found where they stand; a link that leads out of the tree is
    an error.
    """
    inside_root = os.path.realpath(root)
    if start and (why_not := _outside(str(root / start), inside_root)):
        yield _unread(f"{start}/", why_not)
        return
    pending = [(f"{start}/" if start else "", exclusion)]
    while pending:
        path, rules = pending.pop()  # a folder's path ends in a slash, but for the root's
        if path and not path.endswith("/"):
            yield path
            continue
        try:
            entries = sorted(os.scandir(root / path), key=lambda entry: entry.name)
        except OSError as error:
            yield _unread(path, reason_of(error))
            continue
        rules = rules.entering(root / path, path)
        inside = []
        for entry in entries:
            is_link = entry.is_symlink()
            is_folder = os.path.isdir(entry.path) if is_link else entry.is_dir()  # noqa: PTH112 - or a link to itself
            child = f"{path}{entry.name}{'/' if is_folder else ''}"
            suffix = "" if is_folder else Path(entry.name).suffix.lower()
            is_other = suffix in _OTHERS and suffixes is SUFFIXES
            if not (is_folder or suffix in suffixes or is_other) or rules.excludes(child):
                continue
            if is_other:
                yield FileScan(to_text(child), UNREAD, other=suffix)
            elif is_link and (why_not := _outside(entry.path, inside_root)):
                yield _unread(child, why_not)
            elif not (is_link and is_folder):
                inside.append((child, rules))
        pending += reversed(inside)


def _unread(path: str, reason: str) -> FileScan:
    return FileScan(to_text(path), UNREAD, error=reason)


def _outside(link: str, root: str) -> str | None:
    """Say where a link leads that leaves the tree; None for one that stays, or leads nowhere at all."""
    with suppress(OSError):
        return why_outside(os.path.realpath(link, strict=True), root)
    return None


def scan_file(
    path: str, stamps: Mapping[str, str], *, stamp: Callable[[], str], read: Callable[[str], FileScan]
) -> FileScan:
    """Read a file of a source, unless its stamp is the one already known; what can't be read is tried by every scan."""
    try:
        now = stamp()
        return FileScan(path, now) if now == stamps.get(path) else read(now)
    except (OSError, SourceError, StoreError) as error:
        return FileScan(path, UNREAD, error=reason_of(error))


def scan_picture(
    file: Path,
    key: str,
    stamps: Mapping[str, str],
    *,
    inside: str | None,
    beside: str,
    record_of: Callable[[bytes], Record],
) -> FileScan:
    """Make the record of one picture file from its digest; of a sheet of symbols, one of each.

    `key` is its path as the catalog keeps it, `inside` the real path that it must lie below, `beside` the stamp of what
    else its record depends on.
    """

    def read(stamp: str) -> FileScan:
        content = read_regular(file, inside=inside)
        return FileScan(key, stamp, records=each_symbol(record_of(content_digest(content)), content))

    return scan_file(key, stamps, stamp=lambda: stamp_of(file, recipe=f"{_RECIPE}{beside}"), read=read)


_RECIPE = f"{DRAWN_BY}1"
"""Changes whenever the same file gives other records, so that it is read again."""
_SVG = "http://www.w3.org/2000/svg"
_UNDRAWN = frozenset(("defs", "desc", "linearGradient", "metadata", "radialGradient", "style", "symbol", "title"))
"""What stands in a sheet of symbols, which draws nothing by itself."""


def each_symbol(record: Record, content: bytes) -> tuple[Record, ...]:
    """Make records of a sheet's symbols, called by their ids; any other picture is one record."""
    drawings = _symbols_of(content) if b"<symbol" in content else {}
    digests = {name: content_digest(drawing) for name, drawing in drawings.items()}
    return tuple(replace(record, member=name, name=name, digest=digests[name]) for name in digests) or (record,)


def drawing_in(content: bytes, member: str) -> bytes:
    """Take a symbol out of a sheet, or where none is named the picture itself.

    Raises:
        SourceError: there is no such symbol.
    """
    if member and member not in _symbols_of(content):
        raise SourceError(f'no symbol "{shown(member)}"')
    return _symbols_of(content)[member] if member else content


@lru_cache(maxsize=1)
def _symbols_of(sheet: bytes) -> Mapping[str, bytes]:
    """Draw each symbol of a sheet, by its id, as `use` shows it; none of what is a picture itself, or broken."""
    drawings: dict[str, bytes] = {}
    with suppress(ElementTree.ParseError, LookupError, ValueError, RecursionError):
        root = ElementTree.fromstring(sheet if b"<!ENTITY" not in sheet else b"")
        for element in root.iter():
            element.tag = element.tag.removeprefix(f"{{{_SVG}}}")
        named = {name: one for one in root.iter("symbol") if 0 < len(name := one.get("id", "")) <= MAX_TEXT}
        parts = [part for one in root for part in (one if one.tag == "defs" else [one]) if part.tag != "symbol"]
        for name, symbol in named.items() if all(one.tag in _UNDRAWN for one in root) else ():
            stated = [("xmlns", _SVG), ("viewBox", root.get("viewBox", "")), *symbol.items()]
            svg = ElementTree.Element("svg", {key: value for key, value in stated if value and key != "id"})
            asked = {value[1:] for one in symbol.iter("use") for key, value in one.items() if key.endswith("href")}
            ElementTree.SubElement(svg, "defs").extend([*parts, *(one for key, one in named.items() if key in asked)])
            svg.extend(symbol)
            drawings[name] = ElementTree.tostring(svg, "unicode").encode()
            if len(drawings) * len(drawings[name]) > MAX_BYTES:  # what they share is repeated in each
                return {}
    return drawings


def reason_of(error: Exception) -> str:
    """Put into words why a picture could not be had, without the file's name."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def scan(location: Path, exclusion: Exclusion, stamps: Mapping[str, str]) -> Iterator[FileScan]:
    """Yield the pictures of a folder, folder by folder in the order of names, or one picture; see `Source.scan`."""
    is_file = location.is_file()
    name = to_text((location.parent if is_file else location).resolve().name) or "icons"
    icon_set = IconSet(name, name, licence=licence_of(read_licence_file("folder", location) or ""))
    inside = None if is_file else os.path.realpath(location)
    for found in [""] if is_file else find_pictures(location, exclusion=exclusion):
        if isinstance(found, FileScan):
            yield found
            continue
        yield scan_picture(
            location / found,
            to_text(found),
            stamps,
            inside=inside,
            beside=icon_set.licence or "",
            record_of=partial(record_in, icon_set, found or location.name),
        )


def record_in(icon_set: IconSet, path: str, digest: bytes) -> Record:
    """Make the record of a picture from its path in a folder."""
    style, size = path_hints([to_text(part) for part in PurePosixPath(path).parts[:-1]])
    return Record("", name_of(path), digest, icon_set, style=style, size=size)


LIST_SUFFIXES = (".csv", ".tsv", *JSON_SUFFIXES)

_REPEAT = re.compile(r"#[0-9]+$")
_TEXTS = ("name", "set", "style", "licence", "license")
_LISTS = ("tags", "categories")
_COLUMNS = ("file_path", "caption", "size", *_TEXTS, *_LISTS)
_LONGEST_PATH = 4096
"""More than Linux takes."""
_NO_PATH = re.compile("[\0\ud800-\udc7f\udd00-\udfff]")


def scan_list(manifest: Path, exclusion: Exclusion, stamps: Mapping[str, str]) -> Iterator[FileScan]:
    """Yield each row, in the order of the file; see `Source.scan`. A file listed again is called `path#2`."""
    times_seen: Counter[str] = Counter()
    folder, inside = manifest.parent, os.path.realpath(manifest.parent)
    try:
        with manifest.open("rb") as opened:
            for line, row, unread in read_rows(
                opened, _COLUMNS, needed=_COLUMNS[:1], is_json=manifest.suffix.lower() in JSON_SUFFIXES
            ):
                path = str(row.get("file_path") or "").strip()
                if why_not := unread or _refusal(row, path):
                    yield FileScan(f"#{line}", UNREAD, error=f"line {line}: {why_not}")
                    continue
                path = _spelt_there(folder, path)
                times_seen[path] += 1
                # A path that itself ends like a number gets one too, so that it can be taken off again.
                is_numbered = times_seen[path] > 1 or _REPEAT.search(path)
                key = to_text(path) + (f"#{times_seen[path]}" if is_numbered else "")
                record_of = partial(_record, row, manifest=manifest, path=path)
                spelled = repr(sorted(row.items(), key=str)).encode(errors="replace")
                beside = hashlib.blake2b(spelled, digest_size=8).hexdigest()
                yield scan_picture(folder / path, key, stamps, inside=inside, beside=beside, record_of=record_of)
    except (OSError, SourceError) as error:
        yield FileScan("", UNREAD, error=reason_of(error))


def _spelt_there(folder: Path, path: str) -> str:
    """Spell a path as the file is called there: Windows writes "\\", a Macintosh ü in two signs, a page %20."""
    if path.isascii() and not re.search(r"[\\%]|^file:", path):
        return path
    ways = [path, path.replace("\\", "/"), unquote(re.sub("^file:(?://(?:localhost)?)?", "", path))]
    ways += [normalize(form, way) for way in ways for form in ("NFC", "NFD")]
    with suppress(UnicodeEncodeError):
        ways += [os.fsdecode(way.encode("cp1252", "surrogateescape")) for way in ways[:2]]
    return next((way for way in ways if (folder / way).exists()), path)


def path_of_row(key: str) -> str:
    """Tell the path that a row names, relative to its manifest's folder: without what tells rows of one file apart."""
    return _REPEAT.sub("", key, count=1)


def _refusal(row: Row, path: str) -> str | None:
    """Say why a row is not read: it names no path, is no text, or a column's is longer than anybody writes."""
    if not path or len(path) > _LONGEST_PATH or _NO_PATH.search(path):
        return f'"{shown(ascii(path))}" is no path' if path else 'no "file_path"'
    texts = [(column, text_of(row.get(column))) for column in _TEXTS]
    texts += [(column, text) for column in _LISTS for text in several(row.get(column))]
    longest = max(texts, key=lambda text: len(text[1] or ""))
    is_long = len(longest[1] or "") > MAX_TEXT
    return f'"{longest[0]}" of more than {MAX_TEXT:,} characters' if is_long else why_lost(row, _COLUMNS[1:])


def _record(row: Row, digest: bytes, *, manifest: Path, path: str) -> Record:
    set_key = text_of(row.get("set")) or manifest.stem
    size = text_of(row.get("size"))
    return Record(
        member="",
        name=text_of(row.get("name")) or name_of(path),
        digest=digest,
        set=IconSet(key=set_key, title=set_key),
        tags=several(row.get("tags")),
        categories=several(row.get("categories")),
        caption=text_of(row.get("caption")),
        style=text_of(row.get("style")),
        size=int(number[0]) if size and (number := re.match(r"[0-9]{1,6}", size)) else None,
        licence=text_of(row.get("licence")) or text_of(row.get("license")),
    )
