"""What does an Iconify set hold? One JSON file -> its icons as records, and the SVG of each.

Takes one set as a file, the `@iconify/json` folder with all of them, or one `@iconify-json/*` package, whose
`icons.json` lies beside `info.json` and `metadata.json`.
"""

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from indexer.errors import SourceError
from indexer.naming.names import path_hints
from indexer.sources.exclusion import Exclusion
from indexer.sources.iconify_svg import Json, build_svg, resolve_icon
from indexer.sources.paths import is_unicode, to_text
from indexer.sources.pictures import reason_of
from indexer.sources.reading import MAX_TEXT, as_object, load_facts, shown
from indexer.sources.records import UNREAD, FileScan, IconSet, Record, content_digest, stamp_of

_RECIPE = "1"
"""Changes whenever the same file gives other SVGs or other records, so that it is read again."""
_BESIDE = ("info.json", "metadata.json")
"""Where a package for one set keeps what a whole set has in the same file."""


def scan(location: Path, exclusion: Exclusion, stamps: Mapping[str, str]) -> Iterator[FileScan]:
    """Yield each set of a file or a folder, in the order of file names; see `Source.scan`."""
    for path in _set_paths(location):
        if not is_unicode(path):
            yield FileScan(to_text(path), UNREAD, error="its name is not UTF-8; rename it")
        elif not exclusion.excludes(path):
            yield _scan_set(location, path, stamps.get(path))


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


def read_icon(location: Path, path: str, member: str) -> bytes:
    """Build the SVG of one icon.

    Raises:
        OSError: the file is gone.
        SourceError: it no longer holds the icon, or is no set any more.
    """
    icon_set = _remembered_set(location, path, _stamp(location, path))
    return build_svg(resolve_icon(icon_set, member)[0])


def _set_paths(location: Path) -> list[str]:
    if location.is_file():
        return [""]
    if (location / "icons.json").is_file():
        return ["icons.json"]
    return sorted(f"json/{path.name}" for path in (location / "json").glob("*.json"))


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


def _scan_set(location: Path, path: str, known: str | None) -> FileScan:
    try:
        stamp = _stamp(location, path)
        if stamp == known:
            return FileScan(path, stamp)
        return _records(_load_set(location, path), path=path, stamp=stamp)
    except OSError as error:
        return FileScan(path, UNREAD, error=reason_of(error))
    except SourceError as error:
        return FileScan(path, stamp, error=reason_of(error))


def _load_set(location: Path, path: str) -> Json:
    """Read one set, with what lies beside it in a package."""
    inside = os.path.realpath(location) if path else None  # a set that the user has named may be a link
    icon_set = as_object(load_facts(location / path, inside=inside))
    if not isinstance(icon_set.get("icons"), dict) or _text(icon_set.get("prefix")) is None:
        raise SourceError('not an Iconify set: "prefix" or "icons" is missing')
    for file in _beside(location, path):
        extra = as_object(load_facts(file, inside=inside))
        icon_set = {**({"info": extra} if file.name == "info.json" else extra), **icon_set}
    return icon_set


@lru_cache(maxsize=2)
def _remembered_set(location: Path, path: str, stamp: str) -> Json:
    """Load a set, or take the one just loaded: workers ask for icons file by file. The stamp keeps it fresh."""
    del stamp
    return _load_set(location, path)


def _records(icon_set: Json, *, path: str, stamp: str) -> FileScan:
    described = _describe(icon_set)
    categories = _categories(icon_set)
    looks = _Looks(icon_set)
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
        style, size = looks.of(name)
        of_name = categories.get(name) or categories.get(origin, ())
        records.append(Record(name, name, digest, described, categories=of_name, style=style, size=size))
    return FileScan(path, stamp, records=tuple(records), skipped=n_hidden, broken=tuple(dict(broken).items()))


def _describe(icon_set: Json) -> IconSet:
    info = as_object(icon_set.get("info"))
    licence = as_object(info.get("license"))
    return IconSet(
        key=icon_set["prefix"],
        title=_text(info.get("name")) or icon_set["prefix"],
        version=_text(info.get("version")),
        licence=_text(licence.get("spdx")) or _text(licence.get("title")),
        author=_text(as_object(info.get("author")).get("name")),
    )


def _categories(icon_set: Json) -> dict[str, tuple[str, ...]]:
    """Turn "category: icons" round into "icon: categories"."""
    of_icon: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for category, names in as_object(icon_set.get("categories")).items():
        if len(category) <= MAX_TEXT and isinstance(names, list):
            for name in map(str, names):
                of_icon[name][category] = None
    return {name: tuple(categories) for name, categories in of_icon.items()}


class _Looks:
    """The styles and sizes of one set, by the prefixes and suffixes that it declares; "" stands for all other icons."""

    def __init__(self, icon_set: Json) -> None:
        self.prefixes, self.suffixes = (
            {affix: path_hints((str(title)[:MAX_TEXT],)) for affix, title in as_object(icon_set.get(key)).items()}
            for key in ("prefixes", "suffixes")
        )

    def of(self, name: str) -> tuple[str | None, int | None]:
        """Take the longest prefix that is known, else the longest suffix: as many tries as the name has hyphens."""
        hyphens = [place for place, sign in enumerate(name) if sign == "-"]
        before = (name[:place] for place in reversed(hyphens))
        after = (name[place + 1 :] for place in hyphens)
        for known, parts in ((self.prefixes, before), (self.suffixes, after)):
            for part in (*parts, ""):
                if part in known:
                    return known[part]
        return None, None


def _text(value: object) -> str | None:
    """Take what should be a text; anything else, and what is too long for one, says nothing."""
    return value if isinstance(value, str) and 0 < len(value) <= MAX_TEXT else None
