"""Where generations come from: a library's folder, or a server; each opens what answers."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Protocol

from indexer.errors import IconsError, UnknownSetError
from indexer.library.folder import Library, LibraryElsewhere, require
from indexer.merging.manifest import Manifest
from search.generation.labels import Labels
from search.generation.opened import Opened, damage_explained, open_current, open_generation, refuse_changed, state_of


def refuse_unknown_set(library: Library, answering: int, error: UnknownSetError) -> None:
    """Tell that a set came after the generation that answers; nothing where no newer one knows it either.

    Raises:
        UnknownSetError: a newer generation knows it.
    """
    for number in (number for number in library.numbers() if number > answering):
        with suppress(IconsError):
            Labels.read(library.generation(number).catalog, "set").meant([error.name])
            message = (
                f'set "{error.name}" is in the catalog but not in generation {answering}, which answers since '
                f"`icons rollback`; `icons rollback --forward` lets generation {number} answer, which has it"
            )
            break
    else:
        return
    raise UnknownSetError(message, name=error.name) from error


class Source(Protocol):
    """What a search engine opens its generations from."""

    def current(self) -> int | None:
        """Number of the generation that should answer."""

    def state(self, number: int) -> object:
        """What `Opened.state` would be of that generation now; None where it is not there."""

    def library(self, number: int) -> str:
        """Id of the library that a generation belongs to; "" where that is not known.

        Raises:
            LibraryError: it can't be read.
        """

    def open_current(self) -> Opened:
        """Open it.

        Raises:
            LibraryError: nothing was published, or it can't be read.
        """

    def open(self, number: int) -> Opened:
        """Open one generation.

        Raises:
            LibraryError: it can't be read.
        """

    def explaining(self, opened: Opened) -> AbstractContextManager[None]:
        """Tell what goes wrong during the block as what it is, also where files were exchanged meanwhile."""

    def refuse_unknown_set(self, opened: Opened, error: UnknownSetError) -> None:
        """Tell that a set is known to a newer generation; nothing where it is not."""


class Folder:
    """A library on this machine."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def current(self) -> int | None:
        """Number that the pointer names."""
        return self._library.current()

    def state(self, number: int) -> object:
        """Which files they are."""
        return state_of(self._library.generation(number))

    def library(self, number: int) -> str:
        """Id that the manifest tells."""
        return Manifest.read(self._library.generation(number)).library

    def open_current(self) -> Opened:
        """Open the current generation; if it can't be read, the one before, with a warning."""
        return open_current(require(self._library))

    def open(self, number: int) -> Opened:
        """Open one generation."""
        return open_generation(self._library, self._library.generation(number))

    @contextmanager
    def explaining(self, opened: Opened) -> Iterator[None]:
        """Tell damage of files as what it is."""
        with damage_explained(self._library, opened.generation, opened.manifest):
            yield
        refuse_changed(opened)

    def refuse_unknown_set(self, opened: Opened, error: UnknownSetError) -> None:
        """Tell that a set came after the generation that answers."""
        refuse_unknown_set(self._library, opened.generation.number, error)


def source_of(library: Library) -> Source:
    """Where a library's generations come from; only who asks a server imports what that takes."""
    if not isinstance(library, LibraryElsewhere):
        return Folder(library)
    from search.generation.milvus.published import Published

    return Published(library)
