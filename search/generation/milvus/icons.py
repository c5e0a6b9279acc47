"""Rows of one generation's icons, as the server gives them: columns with codes of this generation's labels.

What was read of a generation does not change, so the last rows are kept: a page asks for the same ones again.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Ids, Positions
from indexer.publishing.facets import ROW
from search.generation.milvus.connection import IDS_AT_ONCE, MOST, Connection, Row
from search.generation.milvus.expressions import among, both, in_chunks
from search.generation.milvus.schema import COLUMNS

DTYPE = np.dtype([*((name, ROW[name]) for name in ROW.names or ()), ("drawing", np.int64)])
"""A row, and what shows its drawing first."""
N_KEPT = 200_000
"""Rows that are kept: 10 MB."""
Coder = Callable[[str, str], int]
"""Code of a kind's value."""


class IconReader:
    """Reads the rows of a collection of icons."""

    def __init__(self, connection: Connection, collection: str, code: Coder, *, last: int) -> None:
        self.connection = connection
        self.collection = collection
        self._code = code
        self._last = last
        self._kept = np.empty(0, DTYPE)
        self._changing = Lock()

    def rows(self, ids: Ids) -> NDArray[np.void]:
        """Rows of some icons, in their order.

        Raises:
            LibraryError: the server has no such icon.
        """
        wanted = np.unique(ids)
        kept = self._kept
        new = wanted[~_has(kept["icon"], wanted)]
        if len(new):
            found = [self._decode(self.of(among("id", chunk))) for chunk in in_chunks(new, IDS_AT_ONCE)]
            kept = self._keep(np.concatenate(found), base=kept)
        places = np.searchsorted(kept["icon"], ids)
        if len(ids) and (not len(kept) or (kept["icon"][np.minimum(places, len(kept) - 1)] != ids).any()):
            raise self.connection.lacks_row()
        return kept[places]

    def of(self, where: str, fields: Sequence[str] = COLUMNS) -> list[Row]:
        """All rows that an expression finds, by ascending id, however many."""
        found = all_between(self.connection, self.collection, where, fields, (0, self._last))
        return sorted(found, key=lambda row: int(row["id"]))

    def found(self, where: str) -> Ids:
        """Ids of all icons that an expression finds, ascending; their rows are kept."""
        return self.keep(self.of(where))

    def keep(self, rows: Iterable[Row]) -> Ids:
        """Keep rows that were asked for something else; returns their ids."""
        decoded = self._decode(list(rows))
        self._keep(decoded, base=self._kept)
        return np.asarray(decoded["icon"])

    def _decode(self, rows: Sequence[Row]) -> NDArray[np.void]:
        decoded = np.empty(len(rows), DTYPE)
        for name in ("image", "drawing", "size", "coloured", "animated", "states"):
            decoded[name] = [row[name] for row in rows]
        decoded["icon"] = [row["id"] for row in rows]
        decoded["name"] = [row["name_id"] for row in rows]
        for kind in ("set", "look", "licence"):
            decoded[kind] = [self._code(kind, row[kind]) for row in rows]
        return decoded

    def _keep(self, rows: NDArray[np.void], *, base: NDArray[np.void]) -> NDArray[np.void]:
        """Both, by id, each once; kept for others while they are not too many."""
        joined: NDArray[np.void] = np.concatenate([base, rows])
        joined = joined[np.unique(joined["icon"], return_index=True)[1]]
        with self._changing:
            self._kept = joined if len(joined) <= N_KEPT else rows[np.argsort(rows["icon"])]
        return joined


class FetchedRows:
    """Rows that were read, and a way to what else they bear."""

    def __init__(
        self,
        rows: NDArray[np.void],
        read: Callable[[Ids], list[Row]],
        several: Callable[[str, Sequence[Row]], tuple[Positions, Ids]],
    ) -> None:
        self._rows = rows
        self._read = read
        self._several = several

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, column: str) -> NDArray[Any]:
        return np.ascontiguousarray(self._rows[column])

    def several(self, kind: str) -> tuple[Positions, Ids]:
        """Places and codes of all labels of a kind that the rows bear."""
        return self._several(kind, self._borne)

    @cached_property
    def _borne(self) -> list[Row]:
        """Values of all such kinds, read together."""
        return self._read(self["icon"])


def all_between(
    connection: Connection,
    collection: str,
    where: str,
    fields: Sequence[str],
    ids: tuple[int, int],
    **named: Any,
) -> list[Row]:
    """Rows of a range of ids that an expression finds; where these are more than one answer holds, of its halves."""
    first, last = ids
    bounds = f"id >= {first} and id <= {last}"
    found = connection.query(collection, both(where, bounds), ["id", *fields], **named)
    if len(found) < MOST or first == last:
        return found
    middle = (first + last) // 2
    low = all_between(connection, collection, where, fields, (first, middle), **named)
    return [*low, *all_between(connection, collection, where, fields, (middle + 1, last), **named)]


def _has(kept: Ids, ids: Ids) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Which of some ids are among some that ascend."""
    if not len(kept):
        return np.zeros(len(ids), bool)
    return np.asarray(kept[np.minimum(np.searchsorted(kept, ids), len(kept) - 1)] == ids)
