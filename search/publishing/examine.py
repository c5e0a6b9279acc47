"""Whether what was published is whole, and what a server holds that nobody points at any more."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np

from indexer.doctor.findings import Finding, Report
from indexer.errors import LibraryError
from indexer.library.durable import describe_file
from indexer.library.folder import Library, LibraryElsewhere
from indexer.merging.calibration import spread
from search.generation.backend import Ability
from search.generation.milvus.connection import Connection, GoneError, Row
from search.generation.milvus.published import FileFacts, Published, Said, read_said
from search.generation.milvus.schema import DIGEST, ICON_FIELDS, PICTURE_FIELDS, VECTOR, Names, among, piece, ready
from search.generation.milvus.vectors import as_floats
from search.generation.opened import open_generation
from search.publishing.collections import SECONDS, vector_index
from search.publishing.rows import GenerationRows, without_picture

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


TOLERANCE = 1e-3
"""How far a value of a vector may lie from the library's: half precision."""


def examine(library: Library, address: str, *, sample: int) -> Report:
    """Hold what a server answers with against a library; `sample` rows of icons, and of pictures, value by value.

    Raises:
        UnreachableError: the server does not answer.
    """
    server = Published(LibraryElsewhere(address))
    connection, names, current = server.connection, server.names, server.current()
    version = ".".join(map(str, connection.version))
    report = Report(address, {"server": version, "generation": current, "sample": sample})
    if current is None:
        report.findings.append(
            Finding("pointer", f'nothing was published at "{address}"; `icons lab publish {address}`')
        )
        return report
    try:
        said = read_said(connection, names, current)
    except (GoneError, LibraryError) as error:
        report.findings.append(Finding("generation", str(error)))
        return report
    report.facts |= {"icons": said.n_icons, "pictures": said.n_pictures, "published": said.published_at}
    report.findings += _check_collections(connection, names, said)
    report.findings += _check_files(connection, names, said)
    report.findings += _check_others(connection, names, current)
    report.findings += _compare(library, connection, names, said, sample=sample)
    return report


def _check_collections(connection: Connection, names: Names, said: Said) -> Iterator[Finding]:
    """Counts, indexes, and whether they answer."""
    for collection, n in ((names.icons(said.number), said.n_icons), (names.pictures(said.number), said.n_pictures)):
        if not connection.has(collection):
            yield Finding("generation", f'the collection "{collection}" is missing')
            continue
        connection.load(collection)
        found = connection.count(collection, consistency_level="Strong")
        if found != n:
            yield Finding("generation", f'"{collection}" holds {found:,} rows, {n:,} were published')
        told = connection.call("describe_index", collection, VECTOR)
        kind, parameters = vector_index(n)
        wanted = {"index_type": kind, "metric_type": "IP", **{name: str(value) for name, value in parameters.items()}}
        differing = {name: told.get(name) for name, value in wanted.items() if str(told.get(name)) != value}
        if differing:
            yield Finding("generation", f'the index of "{collection}" has {differing}, not {wanted}', is_fault=False)


def _check_files(connection: Connection, names: Names, said: Said) -> Iterator[Finding]:
    files: dict[str, FileFacts] = {**said.generation, **said.encoder}
    for name, facts in files.items():
        keys = [piece(facts.sha256, number) for number in range(facts.pieces)]
        held: set[str] = set()
        for start in range(0, len(keys), 500):
            listed = ", ".join(f'"{key}"' for key in keys[start : start + 500])
            held |= {row["id"] for row in connection.query(names.files, f"id in [{listed}]", ["id"])}
        if missing := len(keys) - len(held):
            yield Finding("encoder" if name in said.encoder else "generation", f'"{name}" lacks {missing} pieces')


def _check_others(connection: Connection, names: Names, current: int) -> Iterator[Finding]:
    for number in sorted(held_numbers(connection, names) - {current}):
        try:
            read_said(connection, names, number)
        except LibraryError:
            what = f"generation {number} is there in part, as a publication that was killed leaves it"
            yield Finding("leftover", f"{what}; the next `icons lab publish` uses or removes it", is_fault=False)


def _compare(library: Library, connection: Connection, names: Names, said: Said, *, sample: int) -> Iterator[Finding]:
    """Hold a sample of rows against those that the library would send."""
    generation = library.generation(said.number)
    is_same = False
    with suppress(OSError, KeyError):
        is_same = describe_file(generation.manifest).sha256 == said.generation[generation.manifest.name].sha256
    if not is_same or isinstance(library, LibraryElsewhere):
        named = library.address if isinstance(library, LibraryElsewhere) else library.root
        what = f'"{named}" does not hold this generation {said.number}; --library names the folder that does'
        yield Finding("sample", f"rows were not compared: {what}", is_fault=False)
        return
    opened = open_generation(library, generation)
    made = GenerationRows(opened, opened.in_memory(Ability.PUBLISH), sends_pictures=said.sends_pictures)
    for collection, ids, rows_of, fields in (
        (names.icons(said.number), made.icon_ids, made.icons_at, ICON_FIELDS),
        (names.pictures(said.number), made.picture_ids, made.pictures_at, PICTURE_FIELDS.keys() - {"picture"}),
    ):
        wanted = [row for icon in ids[spread(len(ids), sample)].tolist() for row in rows_of(np.array([icon]))]
        where = among("id", [row["id"] for row in wanted])
        found = connection.query(collection, where, ["id", DIGEST, VECTOR, *fields])
        yield from _differences(collection, wanted, {row["id"]: row for row in found})


def _differences(collection: str, wanted: list[Row], found: dict[int, Row]) -> Iterator[Finding]:
    for row in wanted:
        other = found.get(row["id"])
        if other is None:
            yield Finding("sample", f'"{collection}" lacks {row["id"]}')
        elif other[DIGEST] == without_picture(row[DIGEST]):
            what = f'{row["id"]} of "{collection}" has no picture: its source could not be read'
            yield Finding("sample", f"{what}; `icons lab publish` tries again", is_fault=False)
        elif differing := [name for name, value in row.items() if not _is_same(name, value, other[name])]:
            yield Finding("sample", f'{row["id"]} of "{collection}" differs in {", ".join(differing)}')


def _is_same(name: str, value: Any, other: Any) -> bool:
    if name == VECTOR:
        return bool(np.abs(np.asarray(value) - as_floats(other)).max() <= TOLERANCE)
    return list(value) == list(other) if isinstance(value, list) else bool(value == other)
