"""Which icons are in many pictures? One after the other; a file that can't be read is told, and the rest goes on."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexer.errors import IconsError, RenderError
from indexer.reports.bars import Progress
from search.locating.results import LocatedPicture
from search.pictures import drawing, screenshot_of

if TYPE_CHECKING:
    from indexer.rendering.draw_pool import DrawPool
    from indexer.rendering.screenshot import Screenshot


@dataclass(frozen=True, slots=True)
class ShotFile:
    """A picture that is yet to be read."""

    name: str
    """What people call it."""
    read: Callable[[], bytes]
    """Raises an `IconsError` where it can't."""


@dataclass(frozen=True, slots=True)
class LocatedFile:
    """What one file holds, or why that is not known."""

    name: str
    located: LocatedPicture | None = None
    seconds: float = 0.0
    png: bytes | None = None
    """The picture itself, where it is to be shown."""
    error: str | None = None


def locate_files(
    files: Sequence[ShotFile],
    look: Callable[["Screenshot"], LocatedPicture],
    *,
    size: int,
    shows: bool,
    progress: Progress,
) -> Iterable[LocatedFile]:
    """Look at some pictures, `size` is that of the encoder; with the pictures themselves where it `shows` them."""
    with drawing() as pool:
        for number, file in enumerate(files):
            progress("Looking for icons", number, len(files))
            try:
                yield _located(pool, file, look, size=size, shows=shows)
            except IconsError as error:
                yield LocatedFile(file.name, error=str(error))


def _located(
    pool: "DrawPool", file: ShotFile, look: Callable[["Screenshot"], LocatedPicture], *, size: int, shows: bool
) -> LocatedFile:
    content = file.read()
    started = time.perf_counter()
    found = look(screenshot_of(pool, content, name=file.name, size=size))
    seconds = time.perf_counter() - started
    png = None
    if shows:
        with suppress(RenderError):
            png = pool.png(content, size=max(found.width, found.height))
    return LocatedFile(file.name, found, seconds, png)
