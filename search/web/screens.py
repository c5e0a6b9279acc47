"""Screenshots over HTTP: where an icon is used, crops, and whole ones that were indexed."""

import logging
from pathlib import Path
from threading import Lock
from typing import Any

from indexer.errors import LibraryError
from indexer.rendering.draw_pool import DrawPool
from indexer.screens.files import UsageFolder
from search.engine import SearchEngine
from search.generation.opened import state_of
from search.results import values_of
from search.screens.opened import LEAST_SCORE, UsageIndex, shot_png, uses_of_icon
from search.screens.results import Use
from search.web.answers import UsageAnswer, picture_url, written
from search.web.connections import Gate
from search.web.svg import SentPicture, id_of

_log = logging.getLogger(__name__)


class Screens:
    """The usage index that answers, opened when somebody asks; without one there is nothing to tell."""

    def __init__(self, engine: SearchEngine, pool: DrawPool, *, asking: Gate, reading: Gate) -> None:
        self._engine = engine
        self._pool = pool
        self._asking = asking
        """For what computes or draws a whole screen."""
        self._reading = reading
        self._folder = UsageFolder(engine.library)
        self._lock = Lock()
        self._state: object = None
        """Of the generation of screenshots that was opened last."""
        self._opened: UsageIndex | None = None

    def _index(self) -> UsageIndex | None:
        """The generation of screenshots that answers now, if it was seen by the encoder of the icons.

        What was removed from it is gone from the next request on.
        """
        with self._lock:
            number = self._folder.current()
            state = None if number is None else (number, state_of(self._folder.generation(number)))
            if state != self._state:
                self._opened = None if state is None else self._open()
                self._state = state
            index = self._opened
        is_comparable = index is not None and index.manifest.fingerprint == self._engine.manifest.fingerprint
        return index if is_comparable else None

    def _open(self) -> UsageIndex | None:
        try:
            return UsageIndex.open(self._engine.library.root)
        except LibraryError as error:
            _log.warning("%s", error)
            return None

    async def uses(self, icon: str, *, k: int, min_score: float | None) -> bytes:
        """Tell where an icon, or a variant of it, is used, as JSON.

        Raises:
            UnknownIconError: there is no such icon.
        """
        least = LEAST_SCORE if min_score is None else min_score

        def ask(engine: SearchEngine) -> bytes:
            number = id_of(engine, icon)
            engine.hits([number])  # refuses one that is not there
            index = self._index()
            if index is None:
                return written(UsageAnswer, _NOTHING)
            with index.explaining():
                found = uses_of_icon(index, engine, number, k=k, least=least)
                answer = {
                    "uses": [_spelled(index, use) for use in found.uses],
                    "n_found": found.n_found,
                    "n_screens": found.n_screens,
                    "n_known": index.n_screens,
                    "generation": index.generation.number,
                }
            return written(UsageAnswer, answer)

        return await self._asking.run(lambda: self._engine.together(ask))

    async def crop(self, generation: int, drawing: int, *, revision: str | None) -> SentPicture | None:
        """A drawing as it was seen on some screen; None where no such crop is kept."""

        def read() -> SentPicture | None:
            index = self._of(generation, revision)
            if index is None or drawing >= index.n_drawings:
                return None
            try:
                png = index.crop(drawing)
            except OSError:  # another generation has taken its place
                return None
            return None if png is None or self._index() is not index else SentPicture.of(png)

        return await self._reading.run(read)

    async def shot(self, generation: int, screen: int, *, revision: str | None) -> SentPicture | None:
        """A screenshot as it lies on the disk now; None where it has gone, or is another one by now.

        Raises:
            RenderError: it can't be drawn.
        """

        def draw() -> SentPicture | None:
            index = self._of(generation, revision)
            if index is None or screen >= index.n_screens:
                return None
            png = shot_png(index, screen, self._pool)
            return None if png is None else SentPicture.of(png)

        return await self._asking.run(draw)

    def _of(self, generation: int, revision: str | None) -> UsageIndex | None:
        """The index, if it is still this generation: rows of another mean something else."""
        index = self._index()
        if index is None or index.generation.number != generation:
            return None
        return index if revision in (None, index.manifest.revision) else None


_NOTHING = {"uses": [], "n_found": 0, "n_screens": 0, "n_known": 0, "generation": None}


def _spelled(index: UsageIndex, use: Use) -> dict[str, Any]:
    """Spell one use; of a path only the name leaves the server."""
    screen, of = index.screen_of[use.file], index.manifest
    at = f"usage/{index.generation.number}"
    return {
        **values_of(use),
        "file": Path(use.file).name,
        "also": sorted({Path(path).name for path in use.also}),
        "screen": screen,
        "screen_url": picture_url(f"{at}/screens/{screen}", of.revision),
        "crop_url": picture_url(f"{at}/crops/{use.drawing}", of.revision) if of.has_crops else None,
    }
