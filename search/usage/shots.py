"""The screenshots themselves, for a page: read where they lie now; nothing of them is kept."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from indexer.errors import RenderError, SourceError
from indexer.rendering.draw_pool import DrawPool
from indexer.reports.bars import Progress
from indexer.sources.reading import read_regular
from indexer.sources.records import content_digest
from indexer.usage.files import MAX_BYTES
from search.pictures import drawing
from search.usage.opened import UsageIndex
from search.usage.results import Use

_LONGEST_SIDE = 1_600
"""Pixels on a page."""


@dataclass(frozen=True, slots=True)
class Shot:
    """A screenshot with what was found on it."""

    file: str
    uses: Sequence[Use]
    png: bytes | None
    """None where the file has gone, or is another one by now."""


def read_shots(index: UsageIndex, uses: Sequence[Use], *, most: int, progress: Progress) -> Iterator[Shot]:
    """Read the first screenshots of some uses, each once."""
    by_file: dict[str, list[Use]] = {}
    for use in uses:
        by_file.setdefault(use.file, []).append(use)
    chosen = list(by_file.items())[:most]
    with drawing() as pool:
        for number, (file, on_it) in enumerate(chosen):
            progress("Reading screenshots", number, len(chosen))
            png = None
            with suppress(RenderError):
                png = shot_png(index, index.screen_of[file], pool)
            yield Shot(file, on_it, png)


def shot_png(index: UsageIndex, screen: int, pool: DrawPool) -> bytes | None:
    """Draw a screen, no larger than a page wants it; None where its file has gone, or is another one by now.

    Raises:
        RenderError: it can't be drawn.
    """
    content = _read(index.files[screen], digest=index.digests[screen].tobytes())
    if content is None:
        return None
    return pool.png(content, size=min(_LONGEST_SIDE, int(index.sizes[screen].max())))


def _read(files: Sequence[str], *, digest: bytes) -> bytes | None:
    """The bytes that were looked at, from whichever file still holds them."""
    for path in files:
        with suppress(OSError, SourceError):
            content = read_regular(Path(path), limit=MAX_BYTES)
            if content_digest(content) == digest:
                return content
    return None
