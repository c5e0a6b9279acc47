"""Makes a server's collections hold what they should, indexes them, and says when they answer."""

import hashlib
import time
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from indexer.arrays import Ids, in_chunks
from indexer.errors import LibraryError
from indexer.reports.terminal import Progress
from search.generation.milvus.catalog import VectorKind
from search.generation.milvus.connection import (
    DIGEST,
    EXACT_UP_TO,
    FP16_SINCE,
    GRAPH,
    MOST_BYTES,
    VECTOR,
    Connection,
    Names,
    Row,
    add_fields,
    among,
    client,
    fields_of,
    manifest_key,
    piece_key,
)
from search.generation.milvus.published import FileFacts, find_manifest

SECONDS = 60.0
"""For one batch."""
ROWS_AT_ONCE = 2_000
"""Rows that are made, compared and sent together: 4 MB with their vectors."""
_BATCHES_AT_ONCE = 4
"""Some are made and packed while others are taken in."""
PIECE_BYTES = MOST_BYTES // 4 * 3
"""Of what is compressed, which base64 makes a third longer."""
_PIECES_AT_ONCE = 64
_KEYS_AT_ONCE = 500
_DIGITS = "0123456789abcdefg"
BUILDING_SECONDS = 3_600.0
"""Without a row more being indexed, or for all to be loaded."""
_PAUSE_SECONDS = 0.5
_LOOKED_UP = ("image", "drawing", "name_id")
"""Numbers of an icon that are asked for by the thousand: a server looks these up instead of going through all rows."""
INVERTED_SINCE = (2, 4)
"""Version of the server that has this kind of index."""


def kind_of(connection: Connection, collection: str) -> VectorKind:
    """How a collection keeps its vectors; an older server may have made it."""
    described = connection.call("describe_collection", collection)
    [vector] = [field for field in described["fields"] if field["name"] == VECTOR]
    return VectorKind(int(vector["params"]["dim"]), vector["type"] == client().DataType.FLOAT16_VECTOR)


def is_as_made(connection: Connection, collection: str, *, dim: int) -> bool:
    """Whether a collection, where it is there, has the vectors of one that is made now."""
    expected = VectorKind(dim, connection.version >= FP16_SINCE)
    return not connection.has(collection) or kind_of(connection, collection) == expected


def make_rows(connection: Connection, collection: str, *, dim: int) -> bool:
    """Make an empty collection of icons or pictures; whether it was not there.

    A server merges small segments that are indexed, and indexes what comes of it once more. An exact index costs
    nothing: with it segments are merged while rows come, and `index_rows` has them indexed once.
    """
    if connection.has(collection):
        return False
    types = client().DataType
    kind = types.FLOAT16_VECTOR if connection.version >= FP16_SINCE else types.FLOAT_VECTOR
    schema = _new_schema({"datatype": types.INT64}, kind, dim=dim)
    add_fields(schema, {DIGEST: "INT64", **fields_of(collection)}, types)
    connection.call("create_collection", collection, schema=schema)
    _index(connection, collection, VECTOR, *EXACT, metric_type="IP")
    return True


def _new_schema(key: Mapping[str, Any], vector: Any, *, dim: int) -> Any:
    """A schema with a key and a vector: every collection of old servers has one."""
    schema = client().MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("id", is_primary=True, **key)
    schema.add_field(VECTOR, vector, dim=dim)
    return schema


def make_files(connection: Connection, collection: str, *, replicas: int | None = None) -> None:
    """Make the collection of files, if it is not there, and let it answer."""
    types = client().DataType
    if not connection.has(collection):
        schema = _new_schema({"datatype": types.VARCHAR, "max_length": 128}, types.FLOAT_VECTOR, dim=2)
        schema.add_field("content", types.VARCHAR, max_length=MOST_BYTES)
        connection.call("create_collection", collection, schema=schema)
    _index(connection, collection, VECTOR, *EXACT, metric_type="L2")
    connection.load(collection, replicas=replicas)


def index_rows(connection: Connection, collection: str, *, n: int) -> None:
    """Let a server index the vectors of a collection of `n` rows, icons or pictures, if it does not yet."""
    kind, parameters = vector_index(n)
    indexed = connection.call("list_indexes", collection)
    if VECTOR in indexed and connection.call("describe_index", collection, VECTOR)["index_type"] != kind:
        connection.call("release_collection", collection, seconds=SECONDS)
        connection.call("drop_index", collection, VECTOR, seconds=SECONDS)
    _index(connection, collection, VECTOR, kind, parameters, metric_type="IP")


EXACT: tuple[str, dict[str, int]] = ("FLAT", {})
"""Kind and parameters of the index that compares all vectors."""


def vector_index(n: int) -> tuple[str, dict[str, int]]:
    """Kind and parameters of the index of so many vectors."""
    return EXACT if n <= EXACT_UP_TO else ("HNSW", dict(GRAPH))


def index_fields(connection: Connection, icons: str) -> None:
    """Let a server index numbers of icons, while it answers: 2.3.5 takes two seconds for each of each segment."""
    if not connection.address.is_file:
        for field in _LOOKED_UP:
            _index(connection, icons, field, "INVERTED" if connection.version >= INVERTED_SINCE else "STL_SORT", {})


def _index(
    connection: Connection, collection: str, field: str, kind: str, parameters: dict[str, int], **metric: str
) -> None:
    """Let a server index a field of a collection, if it does not yet."""
    if field in connection.call("list_indexes", collection):
        return
    index = client().MilvusClient.prepare_index_params()
    index.add_index(field, index_type=kind, index_name=field, params=parameters, **metric)
    connection.call("create_index", collection, index, seconds=60.0, sync=False)


def wait_until_indexed(connection: Connection, collection: str, *, n: int, replicas: int, progress: Progress) -> int:
    """Wait until all `n` rows of a collection are indexed and answer; returns how many there are.

    Raises:
        LibraryError: for an hour nothing was.
    """
    before, ends = n + 1, 0.0
    while True:
        index = connection.call("describe_index", collection, VECTOR, seconds=60.0)
        pending = min(n, int(index.get("pending_index_rows", 0)))
        if str(index.get("state")) == "Finished" and pending <= 0:
            break
        if pending != before:  # it rises where segments are merged, and indexed once more
            before, ends = pending, time.monotonic() + BUILDING_SECONDS
        elif time.monotonic() > ends:
            raise LibraryError(f'"{connection.spelling}" does not end indexing "{collection}"; publish again later')
        progress(f"Indexing {collection}", n - pending, n)
        time.sleep(_PAUSE_SECONDS)
    connection.load(collection, replicas=replicas, seconds=BUILDING_SECONDS)
    return connection.count(collection, consistency_level="Strong", seconds=60.0)


_LAST = 2**62


@dataclass(slots=True)
class Sent:
    """What a publication had to do."""

    sent: int = 0
    """Rows of icons and pictures that were new or had changed."""
    deleted: int = 0
    kept: int = 0
    """Rows that were there already."""
    unread: int = 0
    """Pictures that were to be sent and could not be read: hits come without them."""


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows that a collection is to hold."""

    ids: Ids
    """Ascending."""
    at: Callable[[Ids], list[Row]]
    """Makes the rows of some ids that follow each other."""
    kind: type[np.float16] | type[np.float32]
    """Of numbers in their vectors, as the collection takes them."""
    complete: Callable[[Sequence[Row]], object] = len
    """Adds to rows that are to be sent what their digests do without."""


def send(connection: Connection, collection: str, rows: Rows, *, is_new: bool) -> Iterator[Sent]:
    """Make a collection hold some rows and no others, in batches; one that `is_new` was made a moment ago."""
    is_empty = is_new or connection.count(collection, consistency_level="Strong", seconds=SECONDS) == 0
    send_batch = partial(_send_batch, connection, collection, rows, is_empty)
    with ThreadPoolExecutor(_BATCHES_AT_ONCE, "sending") as beside:
        yield from beside.map(send_batch, range(0, len(rows.ids), ROWS_AT_ONCE))


def _send_batch(connection: Connection, collection: str, rows: Rows, is_empty: bool, start: int) -> Sent:
    end = min(start + ROWS_AT_ONCE, len(rows.ids))
    first = int(rows.ids[start]) if start else 0
    last = int(rows.ids[end]) - 1 if end < len(rows.ids) else _LAST
    there: list[Row] = []
    if not is_empty:
        there = connection.query_all(collection, "", (DIGEST,), first, last, consistency_level="Strong")
    held = {row["id"]: row[DIGEST] for row in there}
    batch = rows.at(rows.ids[start:end])
    new = [row for row in batch if row["id"] not in held]
    changed = [row for row in batch if held.get(row["id"], row[DIGEST]) != row[DIGEST]]
    gone = sorted(held.keys() - {row["id"] for row in batch})
    # A row that is inserted twice is there twice: it is inserted where a strong read has just not found it.
    for what, some in (("insert", new), ("upsert", changed)):
        if some:
            rows.complete(some)
            as_taken = [{**row, VECTOR: np.asarray(row[VECTOR], rows.kind)} for row in some]
            connection.call(what, collection, as_taken, seconds=SECONDS, tries=1)
    if gone:
        connection.call("delete", collection, filter=among("id", gone), seconds=SECONDS)
    n_sent = len(new) + len(changed)
    return Sent(n_sent, len(gone), len(batch) - n_sent)


def send_files(connection: Connection, names: Names, paths: Iterable[Path], progress: Progress) -> dict[str, FileFacts]:
    """Send files in pieces, under their checksums, those that are not there; returns what a manifest says of each."""
    sent = {}
    for path in paths:
        content = path.read_bytes()
        packed = zlib.compress(content, 6)
        sha256 = hashlib.sha256(content).hexdigest()
        starts = range(0, len(packed), PIECE_BYTES)
        pieces = {piece_key(sha256, n): packed[at : at + PIECE_BYTES] for n, at in enumerate(starts)}
        rows = connection.query_among(names.files, [*pieces], ["id"], consistency_level="Strong", seconds=SECONDS)
        missing = sorted(pieces.keys() - {row["id"] for row in rows})
        for start in range(0, len(missing), _PIECES_AT_ONCE):
            some = missing[start : start + _PIECES_AT_ONCE]
            new = [{"id": key, "content": b64encode(pieces[key]).decode(), VECTOR: [0.0, 0.0]} for key in some]
            connection.call("insert", names.files, new, seconds=SECONDS, tries=1)
            progress("Sending files", start + len(some), len(missing))
        sent[path.name] = FileFacts(len(content), sha256, len(pieces))
    return sent


def held_numbers(connection: Connection, names: Names) -> set[int]:
    """Numbers of the generations of which a server holds a collection."""
    found = (names.number_in(collection) for collection in connection.call("list_collections"))
    return {number for number in found if number is not None}


def is_whole(connection: Connection, names: Names, number: int) -> bool:
    """Whether all of a generation is there: one that is being sent has no manifest."""
    return find_manifest(connection, names, number) is not None and all(map(connection.has, names.of(number)))


def delete_manifest(connection: Connection, names: Names, number: int) -> None:
    """Delete what says that all of a generation is there."""
    connection.call("delete", names.files, filter=f'id == "{manifest_key(number)}"', seconds=SECONDS)


def drop(connection: Connection, names: Names, number: int) -> None:
    """Remove the collections of a generation, those that are there."""
    for collection in filter(connection.has, names.of(number)):
        connection.call("drop_collection", collection, seconds=SECONDS)


def forget_pieces(connection: Connection, names: Names, kept: Iterable[int]) -> None:
    """Delete the pieces of files that none of some generations has."""
    whole = filter(None, (find_manifest(connection, names, number) for number in kept))
    files = {facts.sha256 for one in whole for facts in one.files.values()}
    for first, end in pairwise(_DIGITS):  # of their checksums: one answer does not hold them all
        # Not asked strongly, which takes a quarter of a second each: the next publication sees what this one does not.
        rows = connection.query(names.files, f'id >= "{first}" and id < "{end}"', ["id"], seconds=SECONDS)
        gone = [row["id"] for row in rows if row["id"][:64] not in files]
        for keys in in_chunks(gone, _KEYS_AT_ONCE):
            connection.call("delete", names.files, filter=among("id", keys), seconds=SECONDS)
