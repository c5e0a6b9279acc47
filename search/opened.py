"""One generation of a library, open for queries: its catalog, its indexes and its encoder."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.errors import LibraryError
from indexer.facets import read_array
from indexer.lexicon import Lexicon
from indexer.library import Generation, Library
from indexer.manifest import Manifest
from indexer.query_encoder import QueryEncoder, open_query_encoder
from indexer.vectors import VectorIndex
from search.facets import Facets
from search.lexical import Lexical
from search.snapshot import Snapshot
from search.spelling import Speller

Ids = NDArray[np.int64]


@dataclass(slots=True)
class Opened:
    """All that a query needs; nothing here changes while it is asked."""

    generation: Generation
    manifest: Manifest
    snapshot: Snapshot
    encoder: QueryEncoder
    icons: VectorIndex
    """Fused vectors, by ids of icons."""
    pictures: VectorIndex
    """Vectors of pictures, by ids of images."""
    facets: Facets
    drawings: NDArray[Any]
    """For each icon, in the order of the facets, the first picture that shows its drawing."""
    lexical: Lexical
    speller: Speller

    def images_of(self, ids: Ids) -> Ids:
        """Pictures that some icons show."""
        return np.asarray(self.facets.column("image")[self.facets.positions(ids)])

    def name_rows(self, ids: Ids) -> Ids:
        """Rows of the lexicon in which the names of some icons stand."""
        return self.lexical.rows(self.facets.column("name")[self.facets.positions(ids)])


def open_current(library: Library) -> Opened:
    """Open the current generation of a library; if it can't be read, the one before, with a warning.

    Raises:
        LibraryError: nothing was published, or nothing can be read.
    """
    refusals: list[str] = []
    for generation in library.candidates():
        try:
            opened = open_generation(library, generation)
        except LibraryError as error:
            refusals.append(str(error))
            continue
        for refusal in refusals:
            warnings.warn(f"{refusal}; generation {generation.number} answers instead", stacklevel=3)
        return opened
    if refusals:
        raise LibraryError(refusals[0])
    raise LibraryError(f'"{library.root}" was never published; `icons index` does it')


def open_generation(library: Library, generation: Generation) -> Opened:
    """Open one generation.

    Raises:
        LibraryError: it can't be read.
    """
    manifest = _checked_manifest(generation)
    snapshot = Snapshot(generation.catalog)
    encoder = open_query_encoder(library.encoder(manifest.fingerprint))
    try:
        icons = VectorIndex.open(generation.icons, spec=manifest.icons.spec)
        pictures = VectorIndex.open(generation.pictures, spec=manifest.pictures.spec)
    except RuntimeError as error:
        raise LibraryError(
            f'an index of "{generation.folder}" can\'t be read ({error}); `icons merge` builds a new generation'
        ) from error
    lexical = Lexical(Lexicon.open(generation.lexicon))
    return Opened(
        generation=generation,
        manifest=manifest,
        snapshot=snapshot,
        encoder=encoder,
        icons=icons,
        pictures=pictures,
        facets=Facets.open(generation),
        drawings=read_array(generation.drawings),
        lexical=lexical,
        speller=Speller(snapshot.vocabulary, is_borne=lexical.knows, is_usual=encoder.has_token),
    )


def _checked_manifest(generation: Generation) -> Manifest:
    """Read a manifest and check what is cheap: format and file sizes. Checksums are for a thorough check."""
    manifest = Manifest.read(generation)
    for name, facts in manifest.files.items():
        path = generation.folder / name
        size = path.stat().st_size if path.is_file() else None
        if size != facts["bytes"]:
            told = f'"{path}" has {size} bytes, its manifest says {facts["bytes"]}'
            raise LibraryError(f"{told}; `icons merge` builds a new generation")
    return manifest
