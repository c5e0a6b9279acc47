"""What is a synthetic library drawn from? The sets of a real one, and the vectors of its pictures and words."""

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Halves, Ids
from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import LibraryError
from indexer.library.folder import Library
from indexer.library.shards import read_traits, read_vectors
from indexer.publishing.manifest import Manifest, answering_manifest

LEAST_ICONS = 100
"""Below which there are no clusters to draw from."""
_ICONS = """
SELECT set_id, icons.name, tags, categories, image_id, sets.key, sets.title, COALESCE(sets.licence, '')
FROM icons JOIN sets ON sets.id = set_id ORDER BY set_id, icons.id
"""


@dataclass(frozen=True, slots=True)
class RealSet:
    """One set, by icon."""

    key: str
    title: str
    licence: str
    names: Sequence[str]
    tags: Sequence[str]
    """Of each icon, joined with newlines."""
    categories: Sequence[str]
    images: Ids
    """Rows in `Real.images`."""


@dataclass(frozen=True, slots=True)
class Real:
    """A library's sets and vectors."""

    fingerprint: str
    sets: Sequence[RealSet]
    images: Halves
    """(pictures, dim)."""
    traits: NDArray[np.void]
    """Of each picture."""
    words: Mapping[str, int]
    """Names and tags -> rows in `names`."""
    names: Halves
    """(names, dim)."""
    tokens: Mapping[str, Sequence[int]]
    """Words of names -> rows of some names that bear them."""

    @property
    def n_icons(self) -> int:
        """Of all sets."""
        return sum(len(one.names) for one in self.sets)

    @property
    def repeated(self) -> float:
        """Share of the icons whose picture another one shows, too."""
        return 1 - len(self.images) / self.n_icons


def read_real(library: Library) -> Real:
    """Read what the current generation of a library holds.

    Raises:
        LibraryError: nothing is published, or too little to draw from.
        ShardError: a shard is damaged.
    """
    manifest = _manifest(library)
    with _reading(library, manifest) as connection:
        rows = connection.execute(_ICONS).fetchall()
        words = dict(connection.execute("SELECT words, id FROM names WHERE own = ''"))
    if len(rows) < LEAST_ICONS:
        raise LibraryError(f'"{library.root}" holds {len(rows)} icons, too few to draw from; index a larger source')
    image_ids = np.unique(np.array([row[4] for row in rows], np.int64))
    shards = library.vectors(manifest.fingerprint)
    images, _ = read_vectors(shards, "images", image_ids, fingerprint=manifest.fingerprint)
    name_ids = np.unique(np.fromiter(words.values(), np.int64))
    names, has_vector = read_vectors(shards, "names", name_ids, fingerprint=manifest.fingerprint)
    rows_of_names = np.cumsum(has_vector) - 1
    places = np.searchsorted(name_ids, np.fromiter(words.values(), np.int64))
    known = {word: int(rows_of_names[place]) for word, place in zip(words, places, strict=True) if has_vector[place]}
    return Real(
        fingerprint=manifest.fingerprint,
        sets=[_set_of(list(of_set), image_ids) for _, of_set in groupby(rows, key=itemgetter(0))],
        images=images,
        traits=read_traits(shards, image_ids),
        words=known,
        names=names[has_vector],
        tokens=_tokens(known),
    )


def model_of(library: Library) -> tuple[str, ModelChoice]:
    """Fingerprint of the encoder that a library's current generation was embedded with, and which model it is.

    Raises:
        LibraryError: nothing is published.
    """
    manifest = _manifest(library)
    with _reading(library, manifest) as connection:
        stored = connection.execute("SELECT value FROM settings WHERE key = 'model'").fetchone()
    return manifest.fingerprint, ModelChoice.from_json(stored[0]) if stored else ModelChoice.bundled()


def _reading(library: Library, manifest: Manifest) -> "closing[sqlite3.Connection]":
    """The generation's catalog, to be read and closed."""
    catalog = library.generation(manifest.number).catalog
    return closing(sqlite3.connect(f"{catalog.absolute().as_uri()}?mode=ro&immutable=1", uri=True))


def _manifest(library: Library) -> Manifest:
    manifest = answering_manifest(library)
    if manifest is None:
        raise LibraryError(f'"{library.root}" holds no generation to draw from; `icons index SOURCE` builds one')
    return manifest


def _set_of(rows: Sequence[tuple[int, str, str, str, int, str, str, str]], image_ids: Ids) -> RealSet:
    _, names, tags, categories, images, keys, titles, licences = zip(*rows, strict=True)
    return RealSet(keys[0], titles[0], licences[0], names, tags, categories, np.searchsorted(image_ids, images))


def _tokens(words: Mapping[str, int]) -> dict[str, list[int]]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for name, row in words.items():
        for token in name.split():
            found[token].append(row)
    return dict(found)
