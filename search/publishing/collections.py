"""Makes a server's collections hold what they should, indexes them, and says when they answer."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from indexer.arrays import Ids
from indexer.errors import LibraryError
from search.generation.milvus.catalog import all_between
from search.generation.milvus.connection import Connection, Row, data_types, new_indexes, new_schema
from search.generation.milvus.schema import (
    DIGEST,
    EXACT_UP_TO,
    FP16_SINCE,
    GRAPH,
    ICON_FIELDS,
    MOST_BYTES,
    PICTURE_FIELDS,
    VECTOR,
    among,
    fields_of,
)
from search.generation.milvus.vectors import VectorKind

BUILDING_SECONDS = 3_600.0
"""Without a row more being indexed, or for all to be loaded."""
_PAUSE_SECONDS = 0.5
_SEARCHED_BY = {"image", "drawing", "name_id", "set_id", "set", "look", "licence", "size", "name"}
"""Fields of an icon that questions name: a server looks these up instead of going through all rows."""


INVERTED_SINCE = (2, 4)
"""Version of the server that has one index for fields of all kinds; older ones have these."""
_OLD_KINDS = {"VARCHAR": "Trie", "INT64": "STL_SORT", "INT32": "STL_SORT"}


def halves(connection: Connection) -> bool:
    """Whether the server keeps the vectors of new collections in half precision."""
    return connection.version >= FP16_SINCE


def kind_of(connection: Connection, collection: str) -> VectorKind:
    """How a collection keeps its vectors; an older server may have made it."""
    described = connection.call("describe_collection", collection)
    [vector] = [field for field in described["fields"] if field["name"] == VECTOR]
    return VectorKind(int(vector["params"]["dim"]), vector["type"] == data_types().FLOAT16_VECTOR)


def is_as_made(connection: Connection, collection: str, *, n: int, dim: int) -> bool:
    """Whether a collection, where it is there, has the vectors and the index of one that is made for `n` rows now."""
    if not connection.has(collection):
        return True
    if kind_of(connection, collection) != VectorKind(dim, halves(connection)):
        return False
    is_indexed = VECTOR in connection.call("list_indexes", collection)
    index = connection.call("describe_index", collection, VECTOR) if is_indexed else None
    return index is None or index["index_type"] == vector_index(n)[0]


def make_icons(connection: Connection, collection: str, *, dim: int) -> bool:
    """Make an empty collection of icons; whether it was not there."""
    return _make(connection, collection, ICON_FIELDS, dim=dim)


def make_pictures(connection: Connection, collection: str, *, dim: int) -> bool:
    """Make an empty collection of pictures; whether it was not there."""
    return _make(connection, collection, PICTURE_FIELDS, dim=dim)


def make_files(connection: Connection, collection: str, *, replicas: int | None = None) -> None:
    """Make the collection of files, if it is not there, and let it answer.

    Every collection of old servers has a vector, so it has one.
    """
    types = data_types()
    if not connection.has(collection):
        schema = new_schema()
        schema.add_field("id", types.VARCHAR, is_primary=True, max_length=128)
        schema.add_field(VECTOR, types.FLOAT_VECTOR, dim=2)
        schema.add_field("content", types.VARCHAR, max_length=MOST_BYTES)
        connection.call("create_collection", collection, schema=schema)
    _index(connection, collection, {VECTOR: ("FLAT", {})})
    connection.load(collection, replicas=replicas)


def _make(connection: Connection, collection: str, fields: Mapping[str, str], *, dim: int) -> bool:
    if connection.has(collection):
        return False
    types = data_types()
    schema = new_schema()
    schema.add_field("id", types.INT64, is_primary=True)
    kind = types.FLOAT16_VECTOR if halves(connection) else types.FLOAT_VECTOR
    schema.add_field(VECTOR, kind, dim=dim)
    fields_of(schema, {DIGEST: "INT64", **fields}, types)
    connection.call("create_collection", collection, schema=schema)
    return True


def index_rows(connection: Connection, collection: str, *, n: int) -> None:
    """Let a server index a collection of `n` rows, icons or pictures, as far as it does not yet."""
    indexes: dict[str, tuple[str, dict[str, int]]] = {VECTOR: vector_index(n)}
    if not connection.address.is_file:
        kinds = _OLD_KINDS if connection.version < INVERTED_SINCE else {}
        fields = ICON_FIELDS if collection.startswith("icons_") else PICTURE_FIELDS
        indexes |= {name: (kinds.get(fields[name], "INVERTED"), {}) for name in sorted(_SEARCHED_BY & fields.keys())}
    _index(connection, collection, indexes)


def vector_index(n: int) -> tuple[str, dict[str, int]]:
    """Kind and parameters of the index of so many vectors."""
    return ("FLAT", {}) if n <= EXACT_UP_TO else ("HNSW", dict(GRAPH))


def _index(connection: Connection, collection: str, indexes: Mapping[str, tuple[str, Mapping[str, int]]]) -> None:
    """Let a server index fields that are not yet indexed."""
    known = {str(name) for name in connection.call("list_indexes", collection)}
    missing = new_indexes()
    for field, (kind, parameters) in indexes.items():
        if field in known:
            continue
        metric = {"metric_type": "L2" if collection.startswith("files_") else "IP"} if field == VECTOR else {}
        missing.add_index(field, index_type=kind, index_name=field, params=dict(parameters), **metric)
    if list(missing):
        connection.call("create_index", collection, missing, seconds=60.0, sync=False)


def flush(connection: Connection, collection: str, *, n: int) -> None:
    """Let a server write all rows of a collection down, and begin to index them."""
    connection.call("flush", collection, seconds=600.0)
    index_rows(connection, collection, n=n)


def wait_until_indexed(
    connection: Connection, collection: str, *, n: int, replicas: int, progress: Callable[[str, int, int], None]
) -> int:
    """Wait until all `n` rows of a collection are indexed and answer; returns how many there are.

    Raises:
        LibraryError: for an hour nothing was.
    """
    before, ends = n + 1, 0.0
    while not _is_indexed(index := connection.call("describe_index", collection, VECTOR, seconds=60.0)):
        pending = min(n, int(index.get("pending_index_rows", 0)))
        if pending != before:  # it rises where segments are merged, and indexed once more
            before, ends = pending, time.monotonic() + BUILDING_SECONDS
        elif time.monotonic() > ends:
            raise LibraryError(f'"{connection.spelling}" does not end indexing "{collection}"; publish again later')
        progress(f"Indexing {collection}", n - pending, n)
        time.sleep(_PAUSE_SECONDS)
    connection.load(collection, replicas=replicas, seconds=BUILDING_SECONDS)
    return connection.count(collection, consistency_level="Strong", seconds=60.0)


def _is_indexed(index: Mapping[str, Any]) -> bool:
    return str(index.get("state")) == "Finished" and int(index.get("pending_index_rows", 0)) <= 0


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


def send(connection: Connection, collection: str, rows: Rows, progress: Progress, *, is_new: bool) -> Sent:
    """Make a collection hold some rows and no others; one that `is_new` was made a moment ago."""
    ids = rows.ids
    sent, first = Sent(), 0
    is_empty = is_new or connection.count(collection, consistency_level="Strong", seconds=SECONDS) == 0
    done = 0
    for batch in rows.batches:
        done += len(batch)
        last = _LAST if done == len(ids) else int(ids[done]) - 1
        held = {} if is_empty else _held(connection, collection, first, last)
        _send_batch(connection, collection, batch, held, rows, sent)
        first = last + 1
        progress(f"Sending {collection}", done, len(ids))
    return sent


def _held(connection: Connection, collection: str, first: int, last: int) -> dict[int, int]:
    """Digests of the rows of a range of ids."""
    rows = all_between(connection, collection, "", (DIGEST,), (first, last), consistency_level="Strong")
    return {row["id"]: row[DIGEST] for row in rows}


def _send_batch(
    connection: Connection, collection: str, batch: Sequence[Row], held: dict[int, int], expected: Rows, sent: Sent
) -> None:
    new = [row for row in batch if row["id"] not in held]
    changed = [row for row in batch if held.get(row["id"], row[DIGEST]) != row[DIGEST]]
    gone = sorted(held.keys() - {row["id"] for row in batch})
    # A row that is inserted twice is there twice: it is inserted where a strong read has just not found it.
    for what, rows in (("insert", new), ("upsert", changed)):
        if rows:
            expected.complete(rows)
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
