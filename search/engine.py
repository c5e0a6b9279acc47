"""Asks one library: `SearchEngine.open(path).search("arrow", k=10)`."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from indexer.errors import IconsError, LibraryError
from indexer.library import Generation, Library, require
from indexer.manifest import REVISION, Manifest
from indexer.naming import normalise
from indexer.vectors import Ids, VectorIndex
from search.encoder import QueryEncoder, open_query_encoder
from search.ranking import group, rank
from search.snapshot import Candidate, Snapshot

CANDIDATES_PER_HIT = 10
"""Icons looked at for each wanted hit at first; more when variants use them up."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer: an icon, standing for all variants of its name in its set."""

    id: int
    name: str
    """As its source spells it."""
    words: str
    set: str
    set_title: str
    style: str | None
    size: int | None
    licence: str | None
    path: str
    """The file that holds it, absolute."""
    member: str
    """Its key inside that file; "" where the file is the picture."""
    score: float
    """Inner product with the fused vector: 1.0 at most, higher is nearer."""
    exact: bool
    """Whether its name is the query."""
    variants: int
    """Icons of its set that bear its name, itself included."""


class SearchEngine:
    """One generation of a library, open for queries."""

    def __init__(self, library: Library, generation: Generation) -> None:
        self.library = library
        self.generation = generation
        self.manifest = _checked_manifest(generation)
        self._snapshot = Snapshot(generation.catalog)
        self._encoder: QueryEncoder = open_query_encoder(library.encoder(self.manifest.fingerprint))
        try:
            self._icons = VectorIndex.open(generation.icons, spec=self.manifest.icons.spec)
        except RuntimeError as error:
            raise LibraryError(f'"{generation.icons}" can\'t be read; `icons merge` builds a new generation') from error

    @classmethod
    def open(cls, root: str | Path) -> Self:
        """Open the current generation of the library at `root`; if it can't be read, the one before, with a warning.

        Raises:
            LibraryError: there is no library, or no generation that can be read.
        """
        library = require(Library(Path(root)))
        refusals: list[str] = []
        for generation in library.candidates():
            try:
                engine = cls(library, generation)
            except LibraryError as error:
                refusals.append(str(error))
                continue
            for refusal in refusals:
                warnings.warn(f"{refusal}; generation {generation.number} answers instead", stacklevel=2)
            return engine
        if refusals:
            raise LibraryError(refusals[0])
        raise LibraryError(f'"{library.root}" was never published; `icons index` does it')

    def search(self, query: str, *, k: int = 10, sets: Sequence[str] = ()) -> list[Hit]:
        """Find the `k` best icons for some words, best first, variants as one hit; `sets` keeps only some sets' icons.

        Raises:
            IconsError: the query is empty, `k` is below 1, or a set is unknown.
        """
        words = normalise(query)
        if not words:
            raise IconsError('the query is empty; try `icons search "arrow"`')
        if k < 1:
            raise IconsError(f'k is "{k}"; ask for 1 hit or more')
        only = self._snapshot.in_sets(sets) if sets else None
        named = self._snapshot.named(words)
        exact = named if only is None else np.intersect1d(named, only)
        vector = self._encoder.encode_words(words)
        n_candidates = k * CANDIDATES_PER_HIT
        while True:
            scores = self._scores(vector, exact, n=n_candidates, only=only)
            ranked = rank(scores, exact=set(exact.tolist()))[:n_candidates]
            found = self._snapshot.candidates(np.array(ranked, dtype=np.int64))
            kept = group((found[icon] for icon in ranked), k=k)
            if len(kept) == k or len(ranked) < n_candidates:
                return self._hits(kept, scores, exact=set(exact.tolist()))
            n_candidates *= 4

    def _scores(self, vector: NDArray[np.float32], exact: Ids, *, n: int, only: Ids | None) -> dict[int, float]:
        """Scores of the `n` nearest icons and of those that bear the query as their name."""
        nearest = self._icons.search(vector, k=n, only=only)
        scores = dict(zip(nearest.ids.tolist(), nearest.scores.tolist(), strict=True))
        if len(exact):
            scores.update(zip(exact.tolist(), (self._icons.reconstruct(exact) @ vector).tolist(), strict=True))
        return scores

    def _hits(self, kept: Sequence[Candidate], scores: dict[int, float], *, exact: set[int]) -> list[Hit]:
        variants = self._snapshot.count_variants([(candidate.set_id, candidate.name_id) for candidate in kept])
        return [
            Hit(
                id=candidate.id,
                name=candidate.name,
                words=candidate.words,
                set=candidate.set,
                set_title=candidate.set_title,
                style=candidate.style,
                size=candidate.size,
                licence=candidate.licence,
                path=str(Path(candidate.location, candidate.path)),
                member=candidate.member,
                score=round(scores[candidate.id], 4),
                exact=candidate.id in exact,
                variants=variants[candidate.set_id, candidate.name_id],
            )
            for candidate in kept
        ]

    def picture(self, hit: Hit) -> bytes:
        """Read the picture of a hit as its source holds it: SVG or bitmap bytes.

        Raises:
            OSError, SourceError: the source has gone or changed since it was indexed.
        """
        from indexer.sources import read_picture

        candidate = self._snapshot.candidates(np.array([hit.id]))[hit.id]
        return read_picture(candidate.kind, Path(candidate.location), candidate.path, candidate.member)


def _checked_manifest(generation: Generation) -> Manifest:
    """Read a manifest and check what is cheap: schema and file sizes. Checksums are for a thorough check."""
    manifest = Manifest.read(generation)
    if manifest.schema != REVISION:
        raise LibraryError(
            f'generation {generation.number} has schema "{manifest.schema}", this program reads "{REVISION}"; '
            "run `icons db upgrade`, then `icons index`"
        )
    for name, facts in manifest.files.items():
        path = generation.folder / name
        size = path.stat().st_size if path.is_file() else None
        if size != facts["bytes"]:
            raise LibraryError(f'"{path}" has {size} bytes, its manifest says {facts["bytes"]}')
    return manifest
