"""Nearest neighbours that a server finds in one collection, by the collection's own name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from indexer.arrays import Floats, Ids
from indexer.merging.vector_index import Neighbours
from search.generation.backend import Selection
from search.generation.milvus.connection import IDS_AT_ONCE, MOST, SECONDS, Connection, Row
from search.generation.milvus.schema import EXACT_UP_TO, VECTOR
from search.generation.milvus.table import Where

GRAPH_WIDTH = 256
"""Neighbours that a walk through the graph keeps in view at least (ef)."""
WIDER = 1.5
"""... and for each neighbour: at 50,695 icons, with 1, three of 653 hits of "arrow" are missed."""
_QUERIES_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class VectorKind:
    """How a collection keeps its vectors."""

    dim: int
    is_half: bool
    """Whether in half precision."""


class MilvusVectors:
    """The vectors of one collection."""

    def __init__(self, connection: Connection, collection: str, n: int, *, kind: VectorKind) -> None:
        self._connection = connection
        self._collection = collection
        self._n = n
        self._kind = kind
        self.fields: Sequence[str] = ()
        """What is read of each neighbour beside its id, for `keep`."""
        self.keep: Callable[[Sequence[Row]], object] = len
        self.seconds = SECONDS
        """For one answer."""

    @property
    def most(self) -> int:
        """Neighbours that the server can be asked for at once."""
        return MOST

    def __len__(self) -> int:
        return self._n

    def nearest(self, query: Floats, n: int, only: Selection | None) -> Neighbours:
        """The `n` nearest."""
        return self.search(query, k=n, only=only)

    def search(self, query: Floats, *, k: int, only: Selection | None = None) -> Neighbours:
        """The `k` nearest, best first; equal ones by id."""
        return self.search_many(query[None], k=k, only=only)[0]

    def search_many(self, queries: Floats, *, k: int, only: Selection | None = None) -> list[Neighbours]:
        """The `k` nearest to each of several vectors."""
        assert only is None or isinstance(only, Where)
        k = min(k, MOST, self._n)
        if k <= 0:
            return [Neighbours(np.empty(0, np.float32), np.empty(0, np.int64), -np.inf) for _ in queries]
        asked: dict[str, Any] = {"k": k, "output_fields": list(self.fields), "seconds": self.seconds}
        asked["filter"] = "" if only is None else only.expression
        asked["ef"] = max(round(WIDER * k), GRAPH_WIDTH) if self._n > EXACT_UP_TO else 0
        found: list[Neighbours] = []
        for start in range(0, len(queries), _QUERIES_AT_ONCE):
            vectors = self._as_sent(queries[start : start + _QUERIES_AT_ONCE])
            for hits in self._connection.search(self._collection, vectors, **asked):
                self.keep([{"id": hit["id"], **hit["entity"]} for hit in hits])
                found.append(self._neighbours(hits, k))
        return found

    def reconstruct(self, ids: Ids) -> Floats:
        """The vectors of some ids, in their order.

        Raises:
            LibraryError: the server has no such id.
        """
        if not len(ids):
            return np.empty((0, self._kind.dim), np.float32)
        most = IDS_AT_ONCE // 4  # one answer holds 64 MB at most
        rows = self._connection.query_among(self._collection, "id", np.unique(ids), ["id", VECTOR], most=most)
        held = {row["id"]: as_floats(row[VECTOR]) for row in rows}
        try:
            return np.stack([held[key] for key in ids.tolist()])
        except KeyError as error:
            raise self._connection.lacks_row() from error

    def _as_sent(self, queries: Floats) -> Any:
        """Vectors as the collection's field takes them."""
        if self._kind.is_half:
            return list(queries.astype(np.float16))
        return [query.tolist() for query in queries]

    def _neighbours(self, hits: Sequence[Row], k: int) -> Neighbours:
        scores = np.array([hit["distance"] for hit in hits], np.float32)
        ids = np.array([hit["id"] for hit in hits], np.int64)
        order = np.lexsort((ids, -scores))
        is_all = len(hits) < k or k >= self._n
        return Neighbours(scores[order], ids[order], -np.inf if is_all else float(scores.min(initial=np.inf)))


def as_floats(stored: Any) -> Floats:
    """A vector as it comes: floats, or the bytes of halves."""
    if isinstance(stored, bytes) or (len(stored) == 1 and isinstance(stored[0], bytes)):
        return np.frombuffer(stored if isinstance(stored, bytes) else stored[0], np.float16).astype(np.float32)
    return np.asarray(stored, np.float32)
