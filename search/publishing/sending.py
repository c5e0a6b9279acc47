"""Makes a collection hold what it should: what is there already, by its digest, is not sent again.

This is how a first publication, one that was killed half-way, and one of a library that changed a little are the same.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from indexer.arrays import Ids
from search.generation.milvus.connection import Connection, Row
from search.generation.milvus.expressions import among
from search.generation.milvus.icons import all_between
from search.generation.milvus.schema import DIGEST, VECTOR
from search.publishing.collections import kind_of

SECONDS = 60.0
"""For one batch."""
Progress = Callable[[str, int, int], None]
"""Takes what is done, how much of it, and of how much."""
_LAST = 2**62


@dataclass(slots=True)
class Sent:
    """What a publication had to do."""

    sent: int = 0
    deleted: int = 0
    kept: int = 0
    n_unread: int = 0
    """Pictures that could not be read."""


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows that a collection is to hold."""

    ids: Ids
    """Ascending."""
    batches: Iterator[list[Row]]
    """The rows, in the order of their ids."""
    complete: Callable[[Sequence[Row]], object] = len
    """Adds to rows that are to be sent what their digests do without."""


def send(connection: Connection, collection: str, wanted: Rows, progress: Progress, *, is_new: bool) -> Sent:
    """Make a collection hold some rows and no others; one that `is_new` was made a moment ago."""
    ids = wanted.ids
    sent, first = Sent(), 0
    is_empty = is_new or connection.count(collection, consistency_level="Strong", seconds=SECONDS) == 0
    done = 0
    for batch in wanted.batches:
        done += len(batch)
        last = _LAST if done == len(ids) else int(ids[done]) - 1
        held = {} if is_empty else _held(connection, collection, first, last)
        _send_batch(connection, collection, batch, held, wanted, sent)
        first = last + 1
        progress(f"Sending {collection}", done, len(ids))
    return sent


def _held(connection: Connection, collection: str, first: int, last: int) -> dict[int, int]:
    """Digests of the rows of a range of ids."""
    rows = all_between(connection, collection, "", (DIGEST,), (first, last), consistency_level="Strong")
    return {row["id"]: row[DIGEST] for row in rows}


def _send_batch(
    connection: Connection, collection: str, batch: Sequence[Row], held: dict[int, int], wanted: Rows, sent: Sent
) -> None:
    new = [row for row in batch if row["id"] not in held]
    changed = [row for row in batch if held.get(row["id"], row[DIGEST]) != row[DIGEST]]
    gone = sorted(held.keys() - {row["id"] for row in batch})
    # A row that is inserted twice is there twice: it is inserted where a strong read has just not found it.
    for what, rows in (("insert", new), ("upsert", changed)):
        if rows:
            wanted.complete(rows)
            connection.call(what, collection, _as_sent(connection, collection, rows), seconds=SECONDS, tries=1)
    if gone:
        connection.call("delete", collection, filter=among("id", gone), seconds=SECONDS)
    sent.sent += len(new) + len(changed)
    sent.deleted += len(gone)
    sent.kept += len(batch) - len(new) - len(changed)


def _as_sent(connection: Connection, collection: str, rows: Sequence[Row]) -> list[Row]:
    """Rows as pymilvus takes them."""
    kind = np.float16 if kind_of(connection, collection).is_half else np.float32
    return [{**row, VECTOR: np.asarray(row[VECTOR], kind)} for row in rows]
