"""What a server is to hold of each icon, each picture, and of the generation as a whole; and whether it does."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from indexer.arrays import Floats, Ids
from indexer.doctor.checks import Finding, Report
from indexer.errors import LibraryError, SourceError
from indexer.library.durable import describe_file
from indexer.library.folder import ORDERS, Generation, Library, LibraryElsewhere
from indexer.library.shards import FLAGS
from indexer.merging.browsing import FacetRows
from indexer.merging.facets import SEVERAL
from indexer.merging.lexicon import Lexicon, Lists
from indexer.merging.manifest import spread
from search.answering.answer import set_facts
from search.generation.backend import Ability
from search.generation.facets import Facets, FaissVectors
from search.generation.milvus.catalog import as_floats
from search.generation.milvus.connection import (
    DIGEST,
    ICON_FIELDS,
    MOST,
    MOST_BYTES,
    MOST_VALUE_BYTES,
    MOST_VALUES,
    PICTURE_FIELDS,
    VECTOR,
    Connection,
    Names,
    Row,
    among,
    packed,
    piece_key,
)
from search.generation.milvus.published import Published, PublishedManifest, read_manifest
from search.generation.milvus.table import BrowsedHits, Facts
from search.generation.opened import Opened, open_generation
from search.publishing.collections import held_numbers, vector_index
from search.query import Sort

_ICONS = """
    SELECT icons.id, icons.set_id, icons.name, icons.size, COALESCE(icons.licence, sets.licence), files.source_id,
        files.path, icons.member, icons.caption, icons.tags, icons.english_tags, icons.categories
    FROM icons JOIN sets ON sets.id = icons.set_id JOIN files ON files.id = icons.file_id
    WHERE icons.id BETWEEN ? AND ? ORDER BY icons.id
"""
_SOURCES = """
    SELECT images.id, sources.kind, sources.location, files.path, icons.member, images.digest
    FROM icons JOIN images ON images.id = icons.image_id JOIN files ON files.id = icons.file_id
    JOIN sources ON sources.id = files.source_id
    WHERE icons.id IN (SELECT MIN(id) FROM icons WHERE image_id BETWEEN ? AND ? GROUP BY image_id)
"""
_DIGESTS = "SELECT id, digest FROM images WHERE id BETWEEN ? AND ? ORDER BY id"
_KEPT_TABLES = ("settings", "sources", "sets", "names", "labels", "vocabulary")
_EMPTY_TABLES = ("files", "images", "icons")


class GenerationRows:
    """The rows of a generation of a library's folder."""

    def __init__(self, opened: Opened, facets: Facets, *, sends_pictures: bool = True) -> None:
        self._sends_pictures = sends_pictures
        self.unread: list[int] = []
        """Pictures that were to be sent and could not be read."""
        assert isinstance(opened.icons, FaissVectors) and isinstance(opened.pictures, FaissVectors)
        self._catalog = opened.generation.catalog
        self._facets = facets
        self._of_icons, self._of_pictures = opened.icons.index, opened.pictures.index
        self.icon_ids: Ids = facets.every(None)
        self.picture_ids: Ids = self._of_pictures.ids
        self._values = {kind: (*facets.labels(kind).values, "") for kind in ("set", "look", "licence", *SEVERAL)}
        self._by_image = np.argsort(facets.column("image"), kind="stable")

    def icons_at(self, ids: Ids) -> list[Row]:
        """Rows of some icons that follow each other."""
        rows = self._facets.at(ids)
        columns = {name: rows[name].tolist() for name in ("image", "drawing", "size", "coloured", "animated", "states")}
        columns["name_id"] = rows["name"].tolist()
        columns |= {kind: self._labels(kind, rows) for kind in ("set", "look", "licence")}
        columns |= self._several(rows)
        made = []
        for place, (icon, set_id, name, *rest) in enumerate(self._read(_ICONS, ids)):
            row = {field: values[place] for field, values in columns.items()}
            made.append(
                row | {"id": icon, "set_id": set_id, "name": name, "shown": _json(rest[:5]), "said": _json(rest[5:])}
            )
        assert [row["id"] for row in made] == ids.tolist()
        return _with_vectors(made, self._of_icons.reconstruct(ids))

    def pictures_at(self, ids: Ids) -> list[Row]:
        """Rows of some pictures that follow each other: each has the labels of all icons that show it."""
        digests = dict(self._read(_DIGESTS, ids))
        shown = self._facets.column("image")[self._by_image]
        low, high = np.searchsorted(shown, ids[0]), np.searchsorted(shown, ids[-1], side="right")
        rows = FacetRows(self._facets, self._by_image[low:high])
        images = rows["image"].tolist()
        columns = {"sets": self._labels("set", rows), "looks": self._labels("look", rows)}
        columns |= {"licences": self._labels("licence", rows), "sizes": rows["size"].tolist()}
        values = {field: _by_image(images, ([value] for value in column)) for field, column in columns.items()}
        values |= {field: _by_image(images, lists) for field, lists in self._several(rows).items()}
        flags = {flag: dict(zip(images, rows[flag].tolist(), strict=True)) for flag in FLAGS}
        made = [
            {
                "id": image,
                "content": bytes(digests[image]).hex(),
                **{field: sorted(found[image]) for field, found in values.items()},
                **{flag: found[image] for flag, found in flags.items()},
            }
            for image in ids.tolist()
        ]
        return _with_vectors(made, self._of_pictures.reconstruct(ids), more=b"shown" if self._sends_pictures else b"")

    def add_pictures(self, rows: Sequence[Row]) -> None:
        """Add to rows of pictures what they show, as sources hold it; notes those that can't be read."""
        from indexer.sources.records import PictureAddress
        from indexer.sources.source import read_indexed

        ids = np.array([row["id"] for row in rows], np.int64)
        sources = {source[0]: source[1:] for source in self._read(_SOURCES, ids)}
        for row in rows:
            row["picture"] = ""
            if self._sends_pictures:
                try:
                    row["picture"] = packed(read_indexed(PictureAddress(*sources[row["id"]])))
                except SourceError:
                    self.unread.append(row["id"])
                    row[DIGEST] = without_picture(row[DIGEST])

    def _read(self, query: str, ids: Ids) -> list[Any]:
        with closing(sqlite3.connect(f"{self._catalog.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as catalog:
            return catalog.execute(query, (int(ids[0]), int(ids[-1]))).fetchall()

    def _labels(self, kind: str, rows: FacetRows) -> list[str]:
        """Values of a kind that icons have one of."""
        return [self._values[kind][code] for code in rows[kind].tolist()]

    def _several(self, rows: FacetRows) -> dict[str, list[list[str]]]:
        """Values of the kinds that icons have several of, by the field that holds them."""
        found = {}
        for kind, field in SEVERAL.items():
            lists: list[list[str]] = [[] for _ in range(len(rows))]
            for place, code in zip(*(one.tolist() for one in rows.several(kind)), strict=True):
                lists[place].append(self._values[kind][code])
            found[field] = lists
        return found


def _by_image(images: Iterable[int], values: Iterable[Iterable[Any]]) -> dict[int, set[Any]]:
    """Values by picture; those of all icons that show it."""
    found: dict[int, set[Any]] = defaultdict(set)
    for image, some in zip(images, values, strict=True):
        found[image].update(some)
    return found


def without_picture(digest: int) -> int:
    """Digest of a row whose picture could not be read: it differs, so the next publication tries again."""
    return ~digest


def _with_vectors(rows: list[Row], vectors: Floats, *, more: bytes = b"") -> list[Row]:
    """Add vectors, and the digest of all that a row holds, and `more`; refuse what no server takes."""
    for row, vector in zip(rows, vectors, strict=True):
        _refuse_large(row)
        digest = blake2b(_json(row).encode(), digest_size=8)
        digest.update(vector.astype(np.float16).tobytes() + more)
        row[VECTOR], row[DIGEST] = vector, int.from_bytes(digest.digest(), "big", signed=True)
    return rows


def _refuse_large(row: Row) -> None:
    for field, value in row.items():
        is_list = isinstance(value, list)
        texts = [one for one in (value if is_list else [value]) if isinstance(one, str)]
        most = MOST_VALUE_BYTES if is_list else MOST_BYTES
        if any(len(text.encode()) > most for text in texts) or (is_list and len(value) > MOST_VALUES):
            raise LibraryError(
                f'"{field}" of {row["id"]} is larger than Milvus takes ({most} bytes, {MOST_VALUES} values); shorten it'
            )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def compute_facts(opened: Opened, facets: Facets) -> Facts:
    """What a server is told of all icons: the orders in which they are browsed, and the sets."""
    ids = facets.every(None)

    def order(sort: Sort, *, flat: bool) -> BrowsedHits:
        hits, n = facets.browsed(sort, flat=flat)
        return BrowsedHits(tuple(hits[:MOST].tolist()), n)

    by_set, by_name, by_newest = ((order(sort, flat=False), order(sort, flat=True)) for sort in ORDERS)
    return Facts(
        last=int(ids[-1]),
        last_name=int(facets.column("name").max()),
        sets=tuple(set_facts(opened, facets)),
        orders=(by_set, by_name, by_newest),
    )


def write_files(generation: Generation, facts: Facts, folder: Path) -> list[Path]:
    """Write into a folder what a search needs of a generation beside the server's rows: nothing that grows with icons,
    but names, their words and labels.
    """
    lexicon = Lexicon.open(generation.lexicon)
    nameless = replace(lexicon, icons=Lists(lexicon.icons.starts, np.empty(0, np.int64)))
    nameless.save(folder / generation.lexicon.name)
    np.save(folder / "bearers.npy", np.diff(lexicon.icons.starts).astype(np.int64))
    _write_catalog(generation.catalog, folder / generation.catalog.name)
    (folder / "facts.json").write_text(json.dumps(asdict(facts)), "utf-8")
    (folder / generation.manifest.name).write_bytes(generation.manifest.read_bytes())
    return sorted(folder.iterdir())


def _write_catalog(source: Path, target: Path) -> None:
    """Copy a snapshot without what the server holds: tables of icons, files and pictures are empty."""
    with closing(sqlite3.connect(target)) as connection:
        connection.execute("ATTACH ? AS source", (f"{source.absolute()}",))
        made = "SELECT type, sql FROM source.sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type DESC"
        for table in (*_KEPT_TABLES, *_EMPTY_TABLES):
            for _, sql in connection.execute(made, (table,)).fetchall():
                connection.execute(sql)
            if table in _KEPT_TABLES:
                connection.execute(f"INSERT INTO {table} SELECT * FROM source.{table}")
        connection.commit()
        connection.execute("DETACH source")
        connection.execute("VACUUM")


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
    except LibraryError as error:
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
        rows = connection.query_among(names.files, keys, ["id"], most=500)
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
    icons, pictures = names.of(published.number)
    for collection, ids, rows_of, fields in (
        (icons, made.icon_ids, made.icons_at, ICON_FIELDS),
        (pictures, made.picture_ids, made.pictures_at, PICTURE_FIELDS.keys() - {"picture"}),
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
