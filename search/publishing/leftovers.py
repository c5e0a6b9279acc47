"""What a server holds of a library's generations, and what of it nobody points at any more."""

from contextlib import suppress
from itertools import pairwise

from search.generation.milvus.connection import Connection, GoneError
from search.generation.milvus.fetched import read_said
from search.generation.milvus.schema import Names, ready
from search.publishing.sending import SECONDS

_DIGITS = "0123456789abcdefg"


def held_numbers(connection: Connection, names: Names) -> set[int]:
    """Numbers of the generations of which a server holds a collection."""
    found = (names.number_in(collection) for collection in connection.call("list_collections"))
    return {number for number in found if number is not None}


def is_whole(connection: Connection, names: Names, number: int) -> bool:
    """Whether all of a generation is there: one that is being sent is not said to be."""
    with suppress(GoneError):
        read_said(connection, names, number)
        return connection.has(names.icons(number)) and connection.has(names.pictures(number))
    return False


def unsay(connection: Connection, names: Names, number: int) -> None:
    """No longer say that all of a generation is there."""
    connection.call("delete", names.files, filter=f'id == "{ready(number)}"', seconds=SECONDS)


def drop(connection: Connection, names: Names, number: int) -> None:
    """Remove the collections of a generation, those that are there."""
    for collection in (names.icons(number), names.pictures(number)):
        if connection.has(collection):
            connection.call("drop_collection", collection, seconds=SECONDS)


def forget_pieces(connection: Connection, names: Names, kept: list[int]) -> None:
    """Delete the pieces of files that none of some generations has."""
    files: set[str] = set()
    for number in kept:
        with suppress(GoneError):
            said = read_said(connection, names, number)
            files |= {facts.sha256 for facts in (*said.generation.values(), *said.encoder.values())}
    for first, end in pairwise(_DIGITS):  # of their checksums: one answer does not hold them all
        where = f'id >= "{first}" and id < "{end}"'
        rows = connection.query(names.files, where, ["id"], consistency_level="Strong", seconds=SECONDS)
        gone = [row["id"] for row in rows if row["id"][:64] not in files]
        for start in range(0, len(gone), 500):
            listed = ", ".join(f'"{key}"' for key in gone[start : start + 500])
            connection.call("delete", names.files, filter=f"id in [{listed}]", seconds=SECONDS)
