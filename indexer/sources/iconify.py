"""Iconify sets: one JSON file -> its icons as records, and the SVG of each.

Takes one set as a file, the `@iconify/json` folder with all of them, or one `@iconify-json/*` package, whose
`icons.json` lies beside `info.json` and `metadata.json`.
"""

import json
import mmap
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from indexer.errors import SourceError
from indexer.languages.words import path_hints
from indexer.sources.folders import Exclusion, scan_file
from indexer.sources.records import (
    DRAWN_BY,
    MAX_TEXT,
    UNREAD,
    FileScan,
    IconSet,
    Record,
    as_object,
    as_words,
    content_digest,
    has_digest,
    is_unicode,
    load_facts,
    shown,
    stamp_of,
    to_text,
)

Json = dict[str, Any]
Look = tuple[str | None, int | None]

_BOX = {"left": 0, "top": 0, "width": 16, "height": 16}
_KEPT = (*_BOX, "body", "hidden")
_LONGEST_CHAIN = 100


def resolve_icon(icon_set: Json, name: str) -> tuple[Json, str]:
    """Follow an icon's parents to one that has a body; return all its properties, and that one's name.

    Raises:
        SourceError: a parent is missing, or an alias leads back to itself.
    """
    icons, aliases = icon_set["icons"], as_object(icon_set.get("aliases"))
    chain = [name]
    icon: Json = {}
    while True:
        here = chain[-1]
        alias = aliases.get(here)
        found = icons.get(here, alias)
        if not isinstance(found, dict):
            raise SourceError(
                f'alias of "{shown(here)}", which is not there' if len(chain) > 1 else f'no icon "{shown(here)}"'
            )
        icon = _merge(found, icon)
        if found is not alias:
            return _merge(icon_set, icon), here
        parent = str(as_object(alias).get("parent"))
        if parent in chain:
            raise SourceError(f"alias of itself: {' -> '.join(map(shown, (*chain, parent)))}")
        if len(chain) == _LONGEST_CHAIN:
            raise SourceError(f"alias over more than {_LONGEST_CHAIN} others")
        chain.append(parent)


def build_svg(icon: Json) -> bytes:
    """Wrap an icon's body in a whole SVG document, turned and flipped as the icon says.

    Raises:
        SourceError: it has no body, or a box without an area.
    """
    box = {key: icon.get(key, default) for key, default in _BOX.items()}
    body = icon.get("body")
    if not isinstance(body, str):
        raise SourceError("no body")
    if not all(_is_number(value) for value in box.values()) or box["width"] <= 0 or box["height"] <= 0:
        raise SourceError(f"no area: {' '.join(f'{key}={shown(repr(value))}' for key, value in box.items())}")
    if transform := _place(box, icon):
        body = f'<g transform="{transform}">{body}</g>'
    left, top, width, height = map(_spell, box.values())
    xlink = ' xmlns:xlink="http://www.w3.org/1999/xlink"' if "xlink:" in body else ""
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg"{xlink} width="{width}" height="{height}" '
        f'viewBox="{left} {top} {width} {height}">{body}</svg>'
    )
    return svg.encode()


def _merge(parent: Json, child: Json) -> Json:
    """Lay a child's properties over its parent's; turns add up, and two flips are none."""
    merged = {key: own[key] for own in (parent, child) for key in _KEPT if key in own}
    for flip in ("hFlip", "vFlip"):
        if bool(parent.get(flip)) != bool(child.get(flip)):
            merged[flip] = True
    if turns := (_turns(parent) + _turns(child)) % 4:
        merged["rotate"] = turns
    return merged


def _turns(icon: Json) -> int:
    turns = icon.get("rotate") or 0
    return int(turns) if _is_number(turns) else 0


def _place(box: dict[str, Any], icon: Json) -> str:
    """Write an icon's turns and flips as an SVG transform, and bring its box to where that leaves it."""
    turns = _turns(icon)
    transforms = []
    is_mirrored, is_flipped = bool(icon.get("hFlip")), bool(icon.get("vFlip"))
    if is_mirrored and is_flipped:
        turns += 2
    elif is_mirrored or is_flipped:
        right, down = (
            (box["width"] + box["left"], -box["top"]) if is_mirrored else (-box["left"], box["height"] + box["top"])
        )
        transforms = [f"translate({_spell(right)} {_spell(down)})", f"scale({'-1 1' if is_mirrored else '1 -1'})"]
        box["left"] = box["top"] = 0
    x, y = box["width"] / 2 + box["left"], box["height"] / 2 + box["top"]
    centre = {1: (90, y, y), 2: (180, x, y), 3: (-90, x, x)}.get(turns % 4)
    if turns % 2:
        box["left"], box["top"] = box["top"], box["left"]
        box["width"], box["height"] = box["height"], box["width"]
    turn = [f"rotate({' '.join(map(_spell, centre))})"] if centre else []
    return " ".join((*turn, *transforms))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9


def _spell(number: float) -> str:
    return repr(int(number)) if number == int(number) else repr(number)


_RECIPE = f"1{DRAWN_BY}"
"""Changes whenever the same file gives other SVGs or other records, so that it is read again."""
_BESIDE = ("info.json", "metadata.json")
"""Where a package for one set keeps what a whole set has in the same file."""


def scan(location: Path, exclusion: Exclusion, stamps: Mapping[str, str]) -> Iterator[FileScan]:
    """Yield each set of a file or a folder, in the order of file names; see `Source.scan`."""
    is_package = location.is_dir() and (location / "icons.json").is_file()
    every = ["icons.json"] if is_package else sorted(f"json/{path.name}" for path in (location / "json").glob("*.json"))
    for path in [""] if location.is_file() else every:
        if not is_unicode(path):
            yield FileScan(to_text(path), UNREAD, error="its name is not UTF-8; rename it")
        elif not exclusion.excludes(path):
            read = partial(_scan_set, location, path)
            yield scan_file(path, stamps, stamp=partial(_stamp, location, path), read=read)


def is_iconify(location: Path) -> bool:
    """Say whether a location is an Iconify set, or a package of them."""
    try:
        if location.is_file():
            return location.suffix.lower() == ".json" and _looks_like_set(location)
        if (location / "icons.json").is_file():
            return (location / "info.json").is_file() and _looks_like_set(location / "icons.json")
        return (location / "collections.json").is_file() and (location / "json").is_dir()
    except PermissionError:  # a folder of pictures says so
        return False


def read_icon(location: Path, path: str, member: str, *, digest: bytes = b"") -> bytes:
    """Build the SVG of one icon, by its line alone where that gives the `digest`.

    Raises:
        OSError: the file is gone.
        SourceError: it no longer holds the icon, or is no set any more.
    """
    alone = read_icon_alone(location / path, member) if digest else None
    if alone is not None and has_digest(alone, digest):
        return alone
    icon_set = _remembered_set(location, path, _stamp(location, path))
    return build_svg(resolve_icon(icon_set, member)[0])


def _looks_like_set(file: Path) -> bool:
    """Judge by the start of a file; one that can't be read is left to the scan, which reports it."""
    try:
        with file.open("rb") as opened:
            start = opened.read(1 << 20)
    except OSError:
        return True
    return b'"prefix"' in start and b'"icons"' in start


def _beside(location: Path, path: str) -> list[Path]:
    return [location / name for name in _BESIDE if (location / name).is_file()] if path == "icons.json" else []


def _stamp(location: Path, path: str) -> str:
    return stamp_of(location / path, *_beside(location, path), recipe=_RECIPE)


def _load_set(location: Path, path: str) -> Json:
    """Read one set, with what lies beside it in a package."""
    inside = os.path.realpath(location) if path else None  # a set that the user has named may be a link
    icon_set = as_object(load_facts(location / path, inside=inside))
    if not isinstance(icon_set.get("icons"), dict) or as_words(icon_set.get("prefix")) is None:
        raise SourceError('not an Iconify set: "prefix" or "icons" is missing')
    for file in _beside(location, path):
        extra = as_object(load_facts(file, inside=inside))
        icon_set = {**({"info": extra} if file.name == "info.json" else extra), **icon_set}
    return icon_set


@lru_cache(maxsize=2)
def _remembered_set(location: Path, path: str, _stamp: str) -> Json:
    """Load a set, or take the one just loaded: workers ask for icons file by file. The stamp keeps it fresh."""
    return _load_set(location, path)


def _scan_set(location: Path, path: str, stamp: str) -> FileScan:
    icon_set = _load_set(location, path)
    described = _describe(icon_set)
    categories = _categories(icon_set)
    affixes = [
        {affix: path_hints((str(title)[:MAX_TEXT],)) for affix, title in as_object(icon_set.get(key)).items()}
        for key in ("prefixes", "suffixes")
    ]
    records, broken, n_hidden = [], [], 0
    for name in dict.fromkeys((*icon_set["icons"], *as_object(icon_set.get("aliases")))):
        if len(name) > MAX_TEXT:
            broken.append((shown(name), f"name of more than {MAX_TEXT:,} characters"))
            continue
        try:
            icon, origin = resolve_icon(icon_set, name)
            if icon.get("hidden"):
                n_hidden += 1
                continue
            digest = content_digest(build_svg(icon))
        except SourceError as error:
            broken.append((name, str(error)))
            continue
        style, size = _look_of(name, *affixes)
        of_name = categories.get(name) or categories.get(origin, ())
        records.append(Record(name, name, digest, described, categories=of_name, style=style, size=size))
    return FileScan(path, stamp, records=tuple(records), skipped=n_hidden, broken=tuple(dict(broken).items()))


def _describe(icon_set: Json) -> IconSet:
    info = as_object(icon_set.get("info"))
    licence = as_object(info.get("license"))
    return IconSet(
        key=icon_set["prefix"],
        title=as_words(info.get("name")) or icon_set["prefix"],
        version=as_words(info.get("version")),
        licence=as_words(licence.get("spdx")) or as_words(licence.get("title")),
        author=as_words(as_object(info.get("author")).get("name")),
    )


def _categories(icon_set: Json) -> dict[str, tuple[str, ...]]:
    """Turn "category: icons" round into "icon: categories"."""
    of_icon: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for category, names in as_object(icon_set.get("categories")).items():
        if len(category) <= MAX_TEXT and isinstance(names, list):
            for name in map(str, names):
                of_icon[name][category] = None
    return {name: tuple(categories) for name, categories in of_icon.items()}


def _look_of(name: str, prefixes: Mapping[str, Look], suffixes: Mapping[str, Look]) -> Look:
    """Style and size by the longest prefix that a set declares, else the longest suffix; "" stands for all others."""
    hyphens = [place for place, sign in enumerate(name) if sign == "-"]
    before = [name[:place] for place in reversed(hyphens)]
    after = [name[place + 1 :] for place in hyphens]
    found = [
        known[part]
        for known, parts in ((prefixes, before), (suffixes, after))
        for part in (*parts, "")
        if part in known
    ]
    return found[0] if found else (None, None)


_BEGIN = b'\n\t"icons": {\n'
_END = re.compile(rb"\n\t\}")  # twice as quick as `mmap.find`
_ICON = re.compile(rb'\n\t\t("(?:[^"\\]|\\.)*"): \{')
"""The line of an icon, its name as JSON."""
_CLOSING = b"\n\t\t}"
_INDEX = re.compile(rb'"(0|[1-9][0-9]{0,8})"')
"""A name that JavaScript takes for a number: these come first."""


def read_icon_alone(file: Path, name: str) -> bytes | None:
    """Build the SVG of one icon; None where it can't be found by its line.

    Raises:
        OSError: the file is gone.
    """
    icons = _icons_of(file, stamp_of(file))
    if icons is None:
        return None
    try:
        return build_svg(resolve_icon({**icons.values, "icons": icons}, name)[0])
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

    def get(self, name: str, default: object = None) -> Any:
        """Read what stands behind a name; the default where no line bears it, in the order that Iconify writes."""
        content, target = _opened(self.file, self.stamp), _order(json.dumps(name, ensure_ascii=False).encode())
        low, high = self.start, self.end
        while low < high:
            middle = (low + high) // 2
            line = _ICON.search(content, middle, self.end)
            if line is None or line.start() >= high or (found := _order(line[1])) > target:
                high = middle
            elif found < target:
                low = line.end()
            else:
                start = line.end() - 1
                return json.loads(content[start : content.find(_CLOSING, start) + len(_CLOSING)])
        return default


def _order(name: bytes) -> tuple[bool, int, bytes]:
    number = _INDEX.fullmatch(name)
    return (False, int(number[1]), b"") if number else (True, 0, name[1:-1])


@lru_cache(maxsize=64)
def _opened(file: Path, _stamp: str) -> mmap.mmap:
    """Map a set into memory; the icons of a page are of many sets, in turn."""
    with file.open("rb") as opened:
        return mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)


@lru_cache(maxsize=512)
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
