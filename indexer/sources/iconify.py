"""What does an Iconify set hold? One JSON file -> its icons as records, and the SVG of each.

Takes one set as a file, the `@iconify/json` folder with all of them, or one `@iconify-json/*` package, whose
`icons.json` lies beside `info.json` and `metadata.json`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from indexer.errors import SourceError
from indexer.naming import path_hints
from indexer.sources.exclusion import Exclusion
from indexer.sources.iconify_svg import Json, build_svg, resolve_icon
from indexer.sources.pictures import reason_of
from indexer.sources.records import FileScan, IconSet, Record, content_digest
from indexer.sources.stamps import UNREAD, stamp_of

KIND = "iconify"
_RECIPE = "1"
"""Changes whenever the same file gives other SVGs or other records, so that it is read again."""
_BESIDE = ("info.json", "metadata.json")
"""Where a package for one set keeps what a whole set has in the same file."""
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class IconifySource:
    """Iconify sets at a location: a file, or a folder with one or all of them."""

    location: Path
    exclusion: Exclusion = field(default_factory=Exclusion)
    kind: str = KIND

    def scan(self, stamps: Mapping[str, str]) -> Iterator[FileScan]:
        """Yield each set, in the order of file names; see `Source.scan`."""
        for path in _set_paths(self.location):
            if not self.exclusion.excludes(path):
                yield _scan_set(self.location, path, stamps.get(path))


def is_iconify(location: Path) -> bool:
    """Say whether a location is an Iconify set, or a package of them."""
    if location.is_file():
        return location.suffix.lower() == ".json" and _looks_like_set(location)
    if (location / "icons.json").is_file():
        return (location / "info.json").is_file() and _looks_like_set(location / "icons.json")
    return (location / "collections.json").is_file() and (location / "json").is_dir()


def read_icon(location: Path, path: str, member: str) -> bytes:
    """Build the SVG of one icon.

    Raises:
        OSError: the file is gone.
        SourceError: it no longer holds the icon, or is no set any more.
    """
    stamp = _stamp(location, path)
    return build_svg(resolve_icon(_remembered_set(location, path, stamp), member)[0])


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
        return _records(load_set(location, path), path=path, stamp=stamp)
    except OSError as error:
        return FileScan(path, UNREAD, error=reason_of(error))
    except SourceError as error:
        return FileScan(path, stamp, error=reason_of(error))


def load_set(location: Path, path: str) -> Json:
    """Read one set, with what lies beside it in a package.

    Raises:
        OSError: it cannot be read.
        SourceError: it is not an Iconify set.
    """
    icon_set = _load_object(location / path)
    if not isinstance(icon_set.get("icons"), dict) or not isinstance(icon_set.get("prefix"), str):
        raise SourceError('not an Iconify set: "prefix" or "icons" is missing')
    for file in _beside(location, path):
        extra = _load_object(file)
        icon_set = {**({"info": extra} if file.name == "info.json" else extra), **icon_set}
    return icon_set


def _load_object(file: Path) -> Json:
    content = file.read_bytes()
    try:
        loaded = json.loads(content)
        if _SURROGATE.search(content):
            # Halves of a pair are valid JSON and no text: neither SQLite nor a renderer takes them.
            loaded = json.loads(json.dumps(loaded, ensure_ascii=False).encode(errors="replace"))
    except (ValueError, RecursionError) as error:
        raise SourceError(f"not valid JSON: {error}") from error
    return _object(loaded)


@lru_cache(maxsize=2)
def _remembered_set(location: Path, path: str, stamp: str) -> Json:
    """Load a set, or take the one just loaded: workers ask for icons file by file. The stamp keeps it fresh."""
    del stamp
    return load_set(location, path)


def _records(icon_set: Json, *, path: str, stamp: str) -> FileScan:
    described = _describe(icon_set)
    categories = _categories(icon_set)
    looks = _Looks(icon_set)
    records, broken, n_hidden = [], [], 0
    for name in dict.fromkeys((*icon_set["icons"], *_object(icon_set.get("aliases")))):
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
    return FileScan(path, stamp, records=tuple(records), skipped=n_hidden, broken=tuple(broken))


def _describe(icon_set: Json) -> IconSet:
    info = _object(icon_set.get("info"))
    licence = _object(info.get("license"))
    return IconSet(
        key=icon_set["prefix"],
        title=_text(info.get("name")) or icon_set["prefix"],
        version=_text(info.get("version")),
        licence=_text(licence.get("spdx")) or _text(licence.get("title")),
        author=_text(_object(info.get("author")).get("name")),
    )


def _categories(icon_set: Json) -> dict[str, tuple[str, ...]]:
    """Turn "category: icons" round into "icon: categories"."""
    of_icon: dict[str, tuple[str, ...]] = {}
    for category, names in _object(icon_set.get("categories")).items():
        for name in map(str, names if isinstance(names, list) else ()):
            of_icon[name] = (*of_icon.get(name, ()), category)
    return of_icon


class _Looks:
    """The styles and sizes of one set, by the prefixes and suffixes that it declares; "" stands for all other icons."""

    def __init__(self, icon_set: Json) -> None:
        self.prefixes = self._longest_first(_object(icon_set.get("prefixes")), "{}-")
        self.suffixes = self._longest_first(_object(icon_set.get("suffixes")), "-{}")

    def of(self, name: str) -> tuple[str | None, int | None]:
        for prefix, look in self.prefixes:
            if name.startswith(prefix):
                return look
        for suffix, look in self.suffixes:
            if name.endswith(suffix):
                return look
        return None, None

    @staticmethod
    def _longest_first(titles: Json, form: str) -> Sequence[tuple[str, tuple[str | None, int | None]]]:
        affixes = sorted(titles, key=len, reverse=True)
        return [(form.format(affix) if affix else "", path_hints((str(titles[affix]),))) for affix in affixes]


def _object(value: object) -> Json:
    """Take what should be a JSON object; anything else says nothing."""
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
