"""The screenshots themselves, for a page: read where they lie now; nothing of them is kept."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from indexer.errors import RenderError, SourceError
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
    rows = {paths[0]: row for row, paths in enumerate(index.files) if paths}
    with drawing() as pool:
        for number, (file, on_it) in enumerate(chosen):
            progress("Reading screenshots", number, len(chosen))
            side = min(_LONGEST_SIDE, max(on_it[0].width, on_it[0].height))
            png = None
            content = _read(on_it[0], digest=index.digests[rows[file]].tobytes())
            if content is not None:
                with suppress(RenderError):
                    png = pool.png(content, size=side)
            yield Shot(file, on_it, png)


def _read(use: Use, *, digest: bytes) -> bytes | None:
    """The bytes that were looked at, from whichever file still holds them."""
    for path in (use.file, *use.also):
        with suppress(OSError, SourceError):
            content = read_regular(Path(path), limit=MAX_BYTES)
            if content_digest(content) == digest:
                return content
    return None
