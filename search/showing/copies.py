"""How do hits become files of one's own? Each under a name that nothing else has, whole or not at all."""

import re
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path

from indexer.errors import IconsError
from indexer.library.durable import write_file
from search.results import Hit
from search.showing.sheets import media_type

_SUFFIXES = {
    "image/svg+xml": ".svg",
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/bmp": ".bmp",
    "image/webp": ".webp",
    "image/x-icon": ".ico",
}
_UNSAFE = re.compile(r"[^\w.+#@=,()&-]+")
_LONGEST_STEM = 100


def copy_hits(folder: Path, hits: Iterable[tuple[Hit, bytes]]) -> Iterator[tuple[Path, bool]]:
    """Copy pictures into a folder; yield where each one lies, and whether it was written now or lay there already.

    A name that another picture has, in the folder or among the hits, is joined by the set, then by a number. Names that
    differ in case alone count as the same, as they are on many disks.

    Raises:
        IconsError: the folder can't be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = {path.name.casefold(): path for path in folder.iterdir()}
        for hit, content in hits:
            for name in _names(hit, content):
                there = taken.get(name.casefold())
                if there is None:
                    taken[name.casefold()] = path = folder / name
                    write_file(path, content)
                    yield path, True
                    break
                if there.is_file() and there.read_bytes() == content:
                    yield there, False
                    break
    except OSError as error:
        raise IconsError(f'"{folder}" can\'t be written ({error.strerror}); choose another --copy-to') from error


def _names(hit: Hit, content: bytes) -> Iterator[str]:
    """Names that a copy could have, the plainest first."""
    suffix = suffix_of(content)
    stem, key = _safe(hit.name), _safe(hit.set)
    yield stem + suffix
    yield f"{stem}-{key}{suffix}"
    for number in count(2):
        yield f"{stem}-{key}-{number}{suffix}"


def suffix_of(content: bytes) -> str:
    """How the name of a picture's file ends."""
    return ".svgz" if content.startswith(b"\x1f\x8b") else _SUFFIXES[media_type(content)]


def _safe(text: str) -> str:
    """Keep of a name what every file system takes."""
    return _UNSAFE.sub("-", text).strip(".-")[:_LONGEST_STEM] or "icon"
