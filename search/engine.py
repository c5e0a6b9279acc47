"""Asks one library: `SearchEngine.open(path).search("arrow", k=10)`, or `ask` for everything else."""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Self, TypeVar

import numpy as np

from indexer.arrays import Pixels
from indexer.errors import IconsError, LibraryError, SourceError, UnknownSetError, UnreachableError
from indexer.library.folder import (
    Generation,
    Library,
    LibraryElsewhere,
    known_preferences,
    library_at,
    read_preferences,
)
from indexer.merging.manifest import Manifest
from search.answering.answer import answer, explain, find_icon, hits_of, set_cards, show_icon
from search.generation.opened import Opened, Source, source_of
from search.pictures import look_up, showing
from search.query import (
    Answer,
    Details,
    Explanation,
    FacetCount,
    Filters,
    Hit,
    Query,
    SetCard,
    Window,
    refuse_empty,
    refuse_late,
)
from search.ranking.order import set_priority
from search.screens.results import AsKind, LocatedPicture

__all__ = ["Answer", "Details", "Filters", "Hit", "Query", "SearchEngine", "Window"]

Result = TypeVar("Result")
Edition = tuple[int, object]
_RETRY_SECONDS = 10.0
"""Until a generation that could not be opened is tried again: what it lacks may have come."""
NO_FILTERS, FIRST_HITS = Filters(), Window()
MOST_VALUES = 1_000
"""Values of a kind that a library names: whoever looks for a set should find it among all of them."""


class SearchEngine:
    """A library, open for queries from any number of threads."""

    def __init__(self, library: Library, opened: Opened, source: Source | None = None) -> None:
        self.library = library
        self._source = source or source_of(library)
        self._opened = opened
        self._opening = Lock()
        self._refused: tuple[Edition | None, float] = (None, 0.0)
        """What could not be opened, and until when that is not tried again."""

    @classmethod
    def open(cls, root: str | Path | Library) -> Self:
        """Open the current generation of the library in a folder, or at an address such as milvus://host:19530/icons.

        Where that of a folder can't be read, the one before is opened, with a warning; damaged preferences are none.

        Raises:
            LibraryError: there is no library, or no generation that can be read.
        """
        library = root if isinstance(root, Library) else library_at(root)
        try:
            read_preferences(library)
        except LibraryError as error:
            warnings.warn(str(error), stacklevel=2)
        source = source_of(library)
        return cls(library, source.open_current(), source)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        del self._opened  # and with it what is mapped and connected

    @property
    def generation(self) -> Generation:
        """The generation that answers."""
        return self._opened.generation

    @property
    def manifest(self) -> Manifest:
        """What that generation holds."""
        return self._opened.manifest

    @property
    def edition(self) -> "Edition":
        """Its number, and what tells it from another library's of that number."""
        return self._opened.generation.number, self._opened.state

    @property
    def image_size(self) -> int:
        """Side of the pixels that a query's picture may have."""
        return self._opened.encoder.image_size

    def refresh(
        self, warm_up: Callable[["SearchEngine"], None] = lambda _: None, *, is_same_library: bool = False
    ) -> bool:
        """Let what lies there now answer from the next query on: a generation published since, or another library.

        `warm_up` may ask it before anybody else does. Queries under way end on the generation that they began with.

        Returns:
            Whether another one answers; never one of another library, where it has to be of the same.

        Raises:
            UnreachableError: what holds it does not answer; the next call tries again.
            LibraryError: it can't be read; it is tried again once a file of it has changed, or some seconds later. The
                one before keeps answering as long as its own files are there.
        """
        with self._opening:
            while True:
                number = self._source.current()
                state = None if number is None else self._source.state(number)
                if (number, state) == self.edition:
                    return False
                refused, until = self._refused
                is_refused = refused == (number, state) and time.monotonic() < until
                if number is None or state is None or is_refused:
                    if self._source.current() != number:
                        continue  # it has made room since for another one
                    self._refuse_gone()
                    return False
                libraries = {self._source.library(number), self.manifest.library} - {""} if is_same_library else ()
                if len(libraries) > 1:  # known, and not one
                    return False
                try:
                    opened = self._source.open(number)
                    warm_up(_Fixed(self.library, opened, self._source))
                except UnreachableError:
                    raise
                except LibraryError as error:
                    if self._source.current() != number:
                        continue  # another one was published meanwhile, which this one may have made room for
                    self._refused = (number, state), time.monotonic() + _RETRY_SECONDS
                    self._refuse_gone(error)
                    raise LibraryError(f"{error}; generation {self.generation.number} answers on") from error
                self._opened = opened
                return True

    def _refuse_gone(self, cause: LibraryError | None = None) -> None:
        """Go on only where what answers is still there.

        Raises:
            LibraryError: it is not; the message is that of the cause, if there is one.
        """
        if self._source.state(self.generation.number) != self._opened.state:
            library = self.library
            place = library.address if isinstance(library, LibraryElsewhere) else library.root
            raise cause or LibraryError(f'"{place}" no longer holds what answered; put a whole library there')

    def together(self, questions: Callable[["SearchEngine"], Result]) -> Result:
        """Put questions that belong together: all of them to one generation, as ids of one mean nothing in another's.

        Raises what they raise.
        """
        return self.with_generation(lambda opened: questions(_Fixed(self.library, opened, self._source)))

    def search(self, words: str, *, k: int = 10, sets: Sequence[str] = ()) -> list[Hit]:
        """Find the `k` best icons for some words, best first, variants as one hit; `sets` keeps only some sets' icons.

        Raises:
            IconsError: the query is empty, `k` is below 1, or a set is unknown.
        """
        refuse_empty(words)
        filters = Filters(sets=(sets,) if isinstance(sets, str) else tuple(sets))
        return list(self.ask(Query(words=words), filters=filters, window=Window(k=k)).hits)

    def ask(self, query: Query, *, filters: Filters = NO_FILTERS, window: Window = FIRST_HITS) -> Answer:
        """Answer a query; one that looks for nothing shows all icons that the filters leave.

        Raises:
            IconsError: the query asks what can't be, or a filter names what is not in this library.
            RenderError: the picture of the query is none.
        """
        query = self._with_preferred(query)
        return self.with_generation(lambda opened: answer(opened, query, filters, window))

    def _with_preferred(self, query: Query) -> Query:
        """Fill in what the library's user prefers; a set of it that has gone since is not missed."""
        if not isinstance(query, Query):
            raise IconsError(f'"{query}" is no query; give Query(words="arrow"), or call search("arrow")')
        if query.prefer is not None:
            return query
        return replace(query, prefer=tuple(self.present_sets(known_preferences(self.library).sets)))

    def locate(
        self,
        pixels: Pixels,
        *,
        filters: Filters = NO_FILTERS,
        k: int = 5,
        as_kind: AsKind | None = None,
        min_score: float | None = None,
        icon: Pixels | None = None,
    ) -> LocatedPicture:
        """Find the icons of a screenshot, RGB (height, width, 3), and the `k` best names of each.

        `as_kind` says what the picture is, where that is known; `icon` is the whole of it as `Screenshot` has it.

        Raises:
            IconsError: `k` is out of range, or a filter names what is not in this library.
        """
        from search.screens.locate import LocateOptions, locate_icons  # words need no decoder

        options = LocateOptions(filters=filters, k=k, as_kind=as_kind, min_score=min_score)
        preferred = self._with_preferred(Query()).prefer or ()
        return self.with_generation(
            lambda opened: locate_icons(opened, pixels, icon, options, set_priority(opened, preferred))
        )

    def set_keys(self, names: Sequence[str]) -> list[str]:
        """Keys of the sets that some keys or titles mean, each once.

        Raises:
            IconsError: one is unknown here; the message names near ones.
        """

        return self.with_generation(lambda opened: opened.facets.labels("set").called(names))

    def sets_called(self, name: str) -> list[str]:
        """Keys of the sets that code means by a name: "lucide" is "lucide-static" here, where that is the set's key."""

        return self.with_generation(lambda opened: opened.facets.labels("set").in_code(name))

    def present_sets(self, keys: Sequence[str]) -> list[str]:
        """Those of some keys that are sets of this library."""

        known = self.with_generation(lambda opened: opened.facets.labels("set").values) if keys else ()
        return [key for key in keys if key in known]

    def names_in(self, key: str) -> list[str]:
        """Names of a set's icons as they are spelt, each once; none of a set that is not here."""
        return self.with_generation(lambda opened: opened.snapshot.names_in(key))

    def facets(self) -> dict[str, list[FacetCount]]:
        """Tell what the library's icons can be filtered by, and how many have each value; at most 1,000 of a kind."""
        return self.with_generation(lambda opened: opened.facets.count_all(most=MOST_VALUES))

    def sets(self) -> list[SetCard]:
        """Tell of every set of the library, by key; made once for a generation."""
        return self.with_generation(lambda opened: opened.facets.keep("set cards", lambda: set_cards(opened)))

    def find(self, spelling: str) -> int:
        """Find an icon by its key ("mdi:home"), its id ("123"), or its name ("home").

        Raises:
            UnknownIconError: there is none; the message names near ones.
        """
        return self.with_generation(lambda opened: find_icon(opened, spelling))

    def explain(
        self, query: Query, icon: int, *, filters: Filters = NO_FILTERS, window: Window = FIRST_HITS
    ) -> Explanation:
        """Tell why an icon stands where it stands among all hits of some words, whichever of them a window shows.

        Raises:
            IconsError: the query holds anything but words, or none.
            UnknownIconError: no icon has this id.
        """
        query = self._with_preferred(query)
        return self.with_generation(lambda opened: explain(opened, query, icon, filters, window))

    def show(self, icon: int) -> Details:
        """Tell everything that the library knows of one icon.

        Raises:
            UnknownIconError: no icon has this id.
        """
        return self.with_generation(lambda opened: show_icon(opened, icon))

    def hits(self, icons: Sequence[int]) -> list[Hit]:
        """Tell of some icons what a hit tells, in their order; the score is 1.

        Raises:
            UnknownIconError: no icon has one of these ids.
        """

        def look(opened: Opened) -> list[Hit]:
            for icon in icons:
                opened.snapshot.icon(icon)
            return hits_of(opened, np.array(icons, np.int64)) if icons else []

        return self.with_generation(look)

    def licence_text(self, icon: int) -> str | None:
        """Read the licence file that lies with the source of an icon, as in an npm package; None where there is none.

        Raises:
            UnknownIconError: no icon has this id.
        """
        from indexer.sources.records import read_licence_file

        found = self.with_generation(lambda opened: opened.snapshot.icon(icon))
        return read_licence_file(found.kind, Path(found.location))

    def picture(self, icon: int) -> bytes:
        """Read the picture of an icon as its source holds it, SVG or bitmap.

        Raises:
            UnknownIconError: no icon has this id.
            SourceError: the source has gone or changed since it was indexed.
        """
        [found] = self.with_generation(lambda opened: look_up(opened.snapshot, [opened.snapshot.icon(icon)]))
        return found.read(self.library)

    def pictures(self, images: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Read some pictures, one by one in their order, by the ids that hits tell; without those that can't be read.

        Yields:
            The id of each, and what `picture` reads.
        """

        for place in self.with_generation(lambda opened: showing(opened.snapshot, images)):
            refuse_late()
            with suppress(SourceError):
                yield place.icon.image_id, place.read(self.library)

    def with_generation(self, question: Callable[[Opened], Result]) -> Result:
        """Put a question to the generation that answers; where that fails, to one that was published since.

        Raises:
            LibraryError: it can't be read.
        """
        while True:
            if (opened := getattr(self, "_opened", None)) is None:
                raise LibraryError("this library was closed; open it again")
            try:
                with self._source.explaining(opened):
                    return question(opened)
            except UnknownSetError as error:
                self._source.refuse_unknown_set(opened, error)
                raise
            except UnreachableError:
                raise
            except LibraryError:
                with suppress(LibraryError):
                    self.refresh(is_same_library=True)
                if self._opened is opened:
                    raise


class _Fixed(SearchEngine):
    """An engine that stays with its generation."""

    def refresh(self, *_: object, **__: object) -> bool:
        """Stay."""
        return False
