"""Whether what was published is whole, and what a server holds that nobody points at any more."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from indexer.doctor.checks import Finding, Report
from indexer.errors import LibraryError
from indexer.library.durable import describe_file
from indexer.library.folder import Library, LibraryElsewhere
from indexer.merging.calibration import spread
from search.generation.backend import Ability
from search.generation.milvus.connection import Connection, GoneError, Row
from search.generation.milvus.published import Published, PublishedManifest, read_manifest
from search.generation.milvus.schema import (
    DIGEST,
    ICON_FIELDS,
    PICTURE_FIELDS,
    VECTOR,
    Names,
    among,
    piece_key,
)
from search.generation.milvus.vectors import as_floats
from search.generation.opened import open_generation
from search.publishing.collections import held_numbers, vector_index
from search.publishing.rows import GenerationRows, without_picture

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
        published = read_manifest(connection, names, current)
    except (GoneError, LibraryError) as error:
        report.findings.append(Finding("generation", str(error)))
        return report
    report.facts |= {"icons": published.n_icons, "pictures": published.n_pictures, "published": published.published_at}
    report.findings += [
        *_check_collections(connection, names, published),
        *_check_files(connection, names, published),
        *_check_others(connection, names, current),
        *_compare(library, connection, names, published, sample=sample),
    ]
    return report


def _check_collections(connection: Connection, names: Names, published: PublishedManifest) -> Iterator[Finding]:
    """Counts, indexes, and whether they answer."""
    for collection, n in zip(names.of(published.number), (published.n_icons, published.n_pictures), strict=True):
        if not connection.has(collection):
            yield Finding("generation", f'the collection "{collection}" is missing')
            continue
        connection.load(collection)
        found = connection.count(collection, consistency_level="Strong")
        if found != n:
            yield Finding("generation", f'"{collection}" holds {found:,} rows, {n:,} were published')
        index = connection.call("describe_index", collection, VECTOR)
        kind, parameters = vector_index(n)
        expected = {"index_type": kind, "metric_type": "IP", **{name: str(value) for name, value in parameters.items()}}
        differing = {name: index.get(name) for name, value in expected.items() if str(index.get(name)) != value}
        if differing:
            yield Finding("generation", f'the index of "{collection}" has {differing}, not {expected}', is_fault=False)


def _check_files(connection: Connection, names: Names, published: PublishedManifest) -> Iterator[Finding]:
    for name, facts in published.files.items():
        keys = [piece_key(facts.sha256, number) for number in range(facts.pieces)]
        rows = connection.query_among(names.files, "id", keys, ["id"], most=500)
        if missing := len(keys) - len({row["id"] for row in rows}):
            yield Finding("encoder" if name in published.encoder else "generation", f'"{name}" lacks {missing} pieces')


def _check_others(connection: Connection, names: Names, current: int) -> Iterator[Finding]:
    for number in sorted(held_numbers(connection, names) - {current}):
        try:
            read_manifest(connection, names, number)
        except LibraryError:
            what = f"generation {number} is there in part, as a publication that was killed leaves it"
            yield Finding("leftover", f"{what}; the next `icons lab publish` uses or removes it", is_fault=False)


def _compare(
    library: Library, connection: Connection, names: Names, published: PublishedManifest, *, sample: int
) -> Iterator[Finding]:
    """Hold a sample of rows against those that the library would send."""
    generation = library.generation(published.number)
    is_same = False
    with suppress(OSError, KeyError):
        is_same = describe_file(generation.manifest).sha256 == published.generation[generation.manifest.name].sha256
    if not is_same or isinstance(library, LibraryElsewhere):
        named = library.address if isinstance(library, LibraryElsewhere) else library.root
        what = f'"{named}" does not hold this generation {published.number}; --library names the folder that does'
        yield Finding("sample", f"rows were not compared: {what}", is_fault=False)
        return
    opened = open_generation(library, generation)
    made = GenerationRows(opened, opened.in_memory(Ability.PUBLISH), sends_pictures=published.sends_pictures)
    for collection, ids, rows_of, fields in (
        (names.icons(published.number), made.icon_ids, made.icons_at, ICON_FIELDS),
        (names.pictures(published.number), made.picture_ids, made.pictures_at, PICTURE_FIELDS.keys() - {"picture"}),
    ):
        expected = [row for icon in ids[spread(len(ids), sample)].tolist() for row in rows_of(np.array([icon]))]
        where = among("id", [row["id"] for row in expected])
        found = connection.query(collection, where, ["id", DIGEST, VECTOR, *fields])
        yield from _differences(collection, expected, {row["id"]: row for row in found})


def _differences(collection: str, expected: list[Row], found: dict[int, Row]) -> Iterator[Finding]:
    for row in expected:
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
