"""Does a server answer as it should, before anybody asks it? Vectors of the generation itself are looked for."""

import numpy as np

from indexer.arrays import Floats
from indexer.errors import LibraryError
from indexer.publishing.calibration import spread
from indexer.publishing.index_kinds import LEAST_RECALL
from indexer.publishing.recall import share_right
from search.generation.milvus.connection import Connection
from search.generation.milvus.vectors import MilvusVectors
from search.generation.opened import Opened
from search.generation.vectors import FaissVectors
from search.publishing.collections import kind_of

N_QUERIES = 32
K = 10
_SECONDS = 120.0
"""For the first answers of a server that has just read all of it."""
_STEP = 0.25
"""How far a query lies from the vector that it is made of: questions are near to icons, not equal to them."""


def prove(opened: Opened, connection: Connection, collections: tuple[str, str]) -> float:
    """Ask both collections, and hold their answers against exact ones; warms them, too. Returns the least recall@10.

    Raises:
        LibraryError: they find too little of what exact search finds.
    """
    least = 1.0
    for collection, own in zip(collections, (opened.icons, opened.pictures), strict=True):
        assert isinstance(own, FaissVectors)
        asked = MilvusVectors(connection, collection, len(own), kind=kind_of(connection, collection))
        asked.seconds = _SECONDS
        recall = _recall(asked, own, _queries(own))
        if recall < LEAST_RECALL:
            raise LibraryError(
                f'"{collection}" finds {recall:.3f} of what exact search finds; what answered before answers on'
            )
        least = min(least, recall)
    return round(least, 4)


def _recall(asked: MilvusVectors, own: FaissVectors, queries: Floats) -> float:
    """Share of an exact search's first hits; its own search is exact among ids that are chosen."""
    k = min(K, len(own))
    shares = []
    for query, found in zip(queries, asked.search_many(queries, k=k), strict=True):
        exact = own.index.everything(query).scores
        shares.append(share_right(found, float(np.partition(exact, -k)[-k]), k=k))
    return float(np.mean(shares))


def _queries(own: FaissVectors) -> Floats:
    """Directions near to stored vectors, evenly spread over them; the same ones each time."""
    ids = own.index.ids[spread(len(own), N_QUERIES)]
    vectors = own.reconstruct(ids)
    noise = np.random.default_rng(0).standard_normal(vectors.shape).astype(np.float32)
    noise *= _STEP / np.linalg.norm(noise, axis=1, keepdims=True)
    found = vectors + noise
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)
