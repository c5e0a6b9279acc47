"""Opens what was published on a server: which generation answers, its files, and its two collections by their names.

An alias is asked which generation is current, and never searched: proxies resolve it several times for one request, and
can mix two collections (milvus-io/milvus#52351).
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property

from indexer.encoders.query_encoder import open_query_encoder
from indexer.errors import LibraryError, UnknownSetError
from indexer.library.elsewhere import LibraryElsewhere
from indexer.publishing.lexicon import Lexicon
from indexer.publishing.manifest import Manifest
from search.generation.backend import Engine
from search.generation.milvus.catalog import MilvusCatalog
from search.generation.milvus.connection import Connection, GoneError, connection_to
from search.generation.milvus.facts import Facts
from search.generation.milvus.fetched import Said, fetch, read_said
from search.generation.milvus.schema import COLUMNS, Names
from search.generation.milvus.table import MilvusTable
from search.generation.milvus.vectors import MilvusVectors, VectorKind
from search.generation.opened import Opened
from search.generation.remembering import RememberingEncoder
from search.words.spelling import Speller

MILVUS = Engine("Milvus", frozenset())
"""Words, pictures and filters need no ability: each engine can do that."""


class Published:
    """A library that was published on a server."""

    def __init__(self, library: LibraryElsewhere) -> None:
        self._library = library

    @cached_property
    def connection(self) -> Connection:
        """The server."""
        return connection_to(self._library.address)

    @cached_property
    def names(self) -> Names:
        """What its collections are called."""
        return Names(self.connection.address.library)

    def current(self) -> int | None:
        """Number of the generation that the alias stands for."""
        behind = self.connection.behind(self.names.alias)
        return None if behind is None else self.names.number_in(behind)

    def state(self, number: int) -> object:
        """What was said when it was published; this is asked every second, so what suffices is asked first."""
        for consistency in ("Bounded", "Strong"):
            with suppress(GoneError):
                return read_said(self.connection, self.names, number, consistency=consistency)
        return None

    def library(self, number: int) -> str:
        """Not known: an address belongs to one library."""
        return ""

    def open_current(self) -> Opened:
        """Open the generation that answers.

        Raises:
            LibraryError: nothing was published there, or the server does not answer.
        """
        current = self.current()
        if current is None:
            address = self._library.address
            raise LibraryError(f'no library was published at "{address}" yet; `icons publish {address}` does it')
        return self.open(current)

    def open(self, number: int) -> Opened:
        """Open one generation.

        Raises:
            LibraryError: it is not there, or its files can't be had.
        """
        self.connection.load(self.names.files)
        said = read_said(self.connection, self.names, number)
        generation = fetch(self.connection, self.names, self._library, said)
        collections = self.names.icons(number), self.names.pictures(number)
        for collection in collections:
            self.connection.load(collection)
        manifest = Manifest.read(generation)
        encoder = RememberingEncoder(open_query_encoder(self._library.encoder(said.fingerprint)))
        lexicon = Lexicon.open(generation.lexicon)
        facts = Facts.read(generation.folder / "facts.json")
        table = MilvusTable(generation.catalog, self.connection, collections, facts)
        snapshot = MilvusCatalog(generation.catalog, self.connection, table.reader, collections[1])
        icons, pictures = self._vectors(said, table, collections)
        return Opened(
            generation=generation,
            manifest=manifest,
            snapshot=snapshot,
            encoder=encoder,
            icons=icons,
            pictures=pictures,
            facets=table,
            lexicon=lexicon,
            speller=Speller.of(snapshot.vocabulary, lexicon, encoder),
            state=said,
            engine=MILVUS,
        )

    def _vectors(
        self, said: Said, table: MilvusTable, collections: tuple[str, str]
    ) -> tuple[MilvusVectors, MilvusVectors]:
        kind = VectorKind(said.dim, said.is_half)
        reader = table.reader
        return (
            MilvusVectors(self.connection, collections[0], said.n_icons, kind=kind, fields=COLUMNS, keep=reader.keep),
            MilvusVectors(self.connection, collections[1], said.n_pictures, kind=kind),
        )

    @contextmanager
    def explaining(self, opened: Opened) -> Iterator[None]:
        """Let errors pass: those of the server were mapped where they entered."""
        yield

    def refuse_unknown_set(self, opened: Opened, error: UnknownSetError) -> None:
        """Say nothing more: which sets a newer generation has is not looked at here."""
