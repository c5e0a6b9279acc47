"""Asks one library: `SearchEngine.open(path).search("arrow", k=10)`, or `ask` for everything else."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import numpy as np

from indexer.errors import SourceError
from indexer.library import Generation, Library, require
from indexer.manifest import Manifest
from search.answering import answer
from search.details import find_icon, show_icon
from search.opened import Opened, open_current
from search.query import Answer, Details, FacetCount, Filters, Hit, Query, Window
from search.snapshot import Candidate, Snapshot

__all__ = ["Answer", "Details", "Filters", "Hit", "Query", "SearchEngine", "Window"]

NO_FILTERS, FIRST_HITS = Filters(), Window()


class SearchEngine:
    """A library, open for queries from any number of threads."""

    def __init__(self, library: Library, opened: Opened) -> None:
        self.library = library
        self._opened = opened

    @classmethod
    def open(cls, root: str | Path) -> Self:
        """Open the current generation of the library at `root`; if it can't be read, the one before, with a warning.

        Raises:
            LibraryError: there is no library, or no generation that can be read.
        """
        library = require(Library(Path(root)))
        return cls(library, open_current(library))

    @property
    def generation(self) -> Generation:
        """The generation that answers."""
        return self._opened.generation

    @property
    def manifest(self) -> Manifest:
        """What that generation holds."""
        return self._opened.manifest

    @property
    def image_size(self) -> int:
        """Side of the pixels that a query's picture may be given as."""
        return self._opened.encoder.image_size

    def is_current(self) -> bool:
        """Tell whether the generation that answers is the one that the library points to."""
        return self.library.current() == self.generation.number

    def reload(self) -> None:
        """Let the current generation answer from the next query on; queries under way end on the one they began with.

        Raises:
            LibraryError: none can be read; the one before keeps answering.
        """
        self._opened = open_current(self.library)

    def search(self, words: str, *, k: int = 10, sets: Sequence[str] = ()) -> list[Hit]:
        """Find the `k` best icons for some words, best first, variants as one hit; `sets` keeps only some sets' icons.

        Raises:
            IconsError: the query is empty, `k` is below 1, or a set is unknown.
        """
        return list(self.ask(Query(words=words), filters=Filters(sets=tuple(sets)), window=Window(k=k)).hits)

    def ask(self, query: Query, *, filters: Filters = NO_FILTERS, window: Window = FIRST_HITS) -> Answer:
        """Answer a query.

        Raises:
            IconsError: the query asks nothing, or a filter names what is not in this library.
            RenderError: the picture of the query is none.
        """
        return answer(self._opened, query, filters, window)

    def facets(self) -> dict[str, list[FacetCount]]:
        """Tell what the library's icons can be filtered by, and how many have each value; the most frequent ones."""
        return self._opened.facets.count()

    def find(self, spelling: str) -> int:
        """Find an icon by its key ("mdi:home"), its id ("123"), or its name ("home").

        Raises:
            UnknownIconError: there is none; the message names near ones.
        """
        return find_icon(self._opened.snapshot, spelling)

    def show(self, icon: int) -> Details:
        """Tell everything that the library knows of one icon.

        Raises:
            UnknownIconError: no icon has this id.
        """
        return show_icon(self._opened, icon)

    def picture(self, icon: int) -> bytes:
        """Read the picture of an icon as its source holds it: SVG or bitmap bytes.

        Raises:
            UnknownIconError: no icon has this id.
            SourceError: the source has gone or changed since it was indexed.
        """
        snapshot = self._opened.snapshot
        return _stored(snapshot, snapshot.icon(icon))

    def pictures(self, images: Sequence[int]) -> dict[int, bytes]:
        """Read some pictures by the ids that hits tell, as `picture` does; without those that can't be read."""
        snapshot = self._opened.snapshot
        icons = snapshot.candidates(snapshot.showing(np.array(images, np.int64))).values()
        found = {}
        for icon in {icon.image_id: icon for icon in icons}.values():
            with suppress(SourceError):
                found[icon.image_id] = _stored(snapshot, icon)
        return found

    def image_of(self, icon: int) -> int:
        """Tell which picture an icon shows: an id that stands for the same bytes for ever.

        Raises:
            UnknownIconError: no icon has this id.
        """
        return self._opened.snapshot.icon(icon).image_id


def _stored(snapshot: Snapshot, icon: Candidate) -> bytes:
    """The bytes that an icon was indexed from, and no others."""
    from indexer.sources import read_indexed

    digest = snapshot.digest(icon.image_id)
    return read_indexed(icon.kind, Path(icon.location), icon.path, icon.member, digest=digest)
