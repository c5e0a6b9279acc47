"""Which generation answers now? An engine that is replaced when a new generation is published, while it is asked.

A request takes the engine once and keeps it to its end; the old one goes when the last request has let go of it.
"""

import logging
import sqlite3
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

from indexer.errors import LibraryError
from indexer.library.folder import Library
from search.engine import Query, SearchEngine
from search.generation.opened import open_generation

_log = logging.getLogger(__name__)

Result = TypeVar("Result")


def warm_up(engine: SearchEngine) -> None:
    """Load towers and indexes before anybody waits for them."""
    for hit in engine.search("arrow", k=1):
        engine.ask(Query(icon=hit.id))


class EngineHolder:
    """The engine of a library's current generation."""

    def __init__(self, library: Library) -> None:
        """Open the library.

        Raises:
            LibraryError: there is no generation that can be read.
        """
        self.library = library
        self.n_switches = 0
        self.engine = SearchEngine.open(library.root)
        self._opening = Lock()
        self._refused: int | None = None

    def refresh(self) -> None:
        """Open the current generation if another one answers; if it can't be read, that one stays."""
        with self._opening:
            current = self.library.current()
            if current is None or current in (self.engine.generation.number, self._refused):
                return
            try:
                engine = SearchEngine(self.library, open_generation(self.library, self.library.generation(current)))
            except LibraryError as error:
                self._refused = current
                _log.warning("%s; generation %d answers on", error, self.engine.generation.number)
                return
            warm_up(engine)
            self.engine, self._refused = engine, None
            self.n_switches += 1
            _log.info("generation %d answers", current)

    def ask(self, question: Callable[[SearchEngine], Result]) -> Result:
        """Put a question to the engine; where its generation was deleted meanwhile, to the one that came after it."""
        engine = self.engine
        try:
            return question(engine)
        except (LibraryError, sqlite3.Error):
            self.refresh()
            if self.engine is engine:
                raise
            return question(self.engine)
