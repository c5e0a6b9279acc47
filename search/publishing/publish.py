"""A generation of a library's folder -> the generation that a server answers with, and back.

    icons lab publish milvus://host:19530/icons

Rows are sent to two collections that nobody asks yet; they are indexed, loaded, counted and asked. Then the alias is
switched, in one step. Killed at any moment, the alias stands where it stood; the next run sends what is missing.

The generation before the one that answers stays for `icons rollback`. The one before that becomes the new one: its
collections are renamed, and only rows that differ are sent.
"""

import tempfile
import time
from dataclasses import asdict, astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from indexer.arrays import Floats
from indexer.errors import LibraryError
from indexer.library.durable import describe_file
from indexer.library.folder import Library, LibraryElsewhere, require
from indexer.library.foreign import FILE_NAME
from indexer.merging.manifest import LEAST_RECALL, spread
from indexer.merging.merge import share_right
from indexer.reports.terminal import Progress
from search.generation.backend import Ability
from search.generation.facets import FaissVectors
from search.generation.milvus.catalog import MilvusVectors
from search.generation.milvus.connection import VECTOR, Connection, manifest_key
from search.generation.milvus.published import FileFacts, Published, PublishedManifest, find_manifest
from search.generation.opened import Opened, damage_explained, open_current
from search.publishing.collections import (
    SECONDS,
    Rows,
    Sent,
    delete_manifest,
    drop,
    forget_pieces,
    held_numbers,
    index_fields,
    index_rows,
    is_as_made,
    is_whole,
    kind_of,
    make_files,
    make_rows,
    send,
    send_files,
    wait_until_indexed,
)
from search.publishing.rows import GenerationRows, compute_facts, write_files

N_QUERIES = 32
K = 10
_SECONDS = 120.0
"""For the first answers of a server that has just read all of it."""
_STEP = 0.25
"""How far a query lies from the vector that it is made of: questions are near to icons, not equal to them."""


def verify_recall(connection: Connection, collection: str, own: FaissVectors) -> float:
    """Ask a collection, and hold its answers against exact ones; warms it, too. Returns recall@10.

    Raises:
        LibraryError: it finds too little of what exact search finds.
    """
    asked = MilvusVectors(connection, collection, len(own), kind=kind_of(connection, collection))
    asked.seconds = _SECONDS
    k, shares, queries = min(K, len(own)), [], _queries(own)
    for query, found in zip(queries, asked.search_many(queries, k=k), strict=True):
        shares.append(share_right(found, float(np.partition(own.index.everything(query).scores, -k)[-k]), k=k))
    recall = float(np.mean(shares))
    if recall < LEAST_RECALL:
        raise LibraryError(
            f'"{collection}" finds {recall:.3f} of what exact search finds; what answered before answers on'
        )
    return round(recall, 4)


def _queries(own: FaissVectors) -> Floats:
    """Directions near to stored vectors, evenly spread over them; the same ones each time."""
    vectors = own.reconstruct(own.index.ids[spread(len(own), N_QUERIES)])
    noise = np.random.default_rng(0).standard_normal(vectors.shape).astype(np.float32)
    noise *= _STEP / np.linalg.norm(noise, axis=1, keepdims=True)
    found = vectors + noise
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


KEPT = 2
"""Generations that a server holds: the one that answers, and the one before."""


@dataclass(frozen=True, slots=True)
class PublishSummary:
    """What a publication did; numbers of rows as `Sent` has them."""

    address: str
    generation: int
    icons: int
    pictures: int
    sent: int
    deleted: int
    kept: int
    unread: int
    recall_at_10: float
    seconds: float


def publish(
    library: Library,
    address: str,
    *,
    sends_pictures: bool | None = None,
    replicas: int | None = None,
    progress: Progress = lambda *_: None,
) -> PublishSummary:
    """Let a server answer with the generation that answers here; `sends_pictures` says whether it shows icons, too.

    Query nodes of a cluster hold it `replicas` times, each time as a whole. Both are by default as they are of what
    answered before; at first pictures are sent, and all is held once.

    Raises:
        LibraryError: there is none, it has gone meanwhile, the server does not answer, or it does not answer as it
            should; what answered there before goes on to.
    """
    started = time.monotonic()
    opened = open_current(require(library))
    target = Published(LibraryElsewhere(address))
    publication = _Publication(opened, target, progress, sends_pictures=sends_pictures, replicas=replicas)
    with damage_explained(library, opened.generation, opened.manifest):
        sent, recall = publication.run(before=target.current())
    return PublishSummary(
        address=address,
        generation=opened.generation.number,
        icons=opened.manifest.icons.n,
        pictures=opened.manifest.pictures.n,
        **asdict(sent),
        recall_at_10=recall,
        seconds=round(time.monotonic() - started, 1),
    )


class _Publication:
    """One generation on its way to a server."""

    def __init__(
        self,
        opened: Opened,
        target: Published,
        progress: Progress,
        *,
        sends_pictures: bool | None,
        replicas: int | None,
    ) -> None:
        self._sends_pictures = sends_pictures
        self._replicas = replicas
        self._opened = opened
        self._target = target
        self._connection = target.connection
        self._names = target.names
        self._progress = progress
        self._number = opened.generation.number
        self._icons, self._pictures = target.names.of(self._number)
        self._facets = opened.in_memory(Ability.PUBLISH)
        self._new: set[str] = set()
        """Collections that this run has made. What answers takes each row twice: they are loaded once all is there."""

    def run(self, *, before: int | None) -> tuple[Sent, float]:
        """Send all of it, and let it answer; `before` answers until then."""
        if before is not None and before > self._number:
            raise LibraryError(
                f'"{self._connection.spelling}" answers with generation {before}, this library has {self._number}; '
                "`icons rollback --library` goes back there, `icons index` makes a newer one here"
            )
        make_files(self._connection, self._names.files, replicas=self._replicas)
        if before == self._number and not self._is_same(before):
            raise LibraryError(
                f'"{self._connection.spelling}" answers with another generation {before}, of another library; '
                "choose another name at the end of the address"
            )
        answering, sends_pictures = find_manifest(self._connection, self._names, before), self._sends_pictures
        if sends_pictures is None:
            sends_pictures = answering is None or answering.sends_pictures
        if before != self._number:
            self._begin(before)
        replicas = self._replicas or 1
        if before is not None and self._replicas is None:  # as often as what answers
            replicas = max(1, self._connection.replicas(self._names.of(before)[0]))
        made = GenerationRows(self._opened, self._facets, sends_pictures=sends_pictures)
        sent = self._send(made, replicas=replicas)
        files = self._send_files()  # while the server indexes
        recall = self._wait(before, replicas=replicas)
        self._send_manifest(files, sends_pictures=sends_pictures)
        if before != self._number:
            what = "create_alias" if before is None else "alter_alias"
            self._connection.call(what, self._icons, self._names.alias, seconds=SECONDS)
        index_fields(self._connection, self._icons)
        self._clean(before)
        return sent, recall

    def _is_same(self, number: int) -> bool:
        """Whether what answers is this very generation."""
        manifest, found = self._opened.generation.manifest, find_manifest(self._connection, self._names, number)
        # A rollback may let what was being sent answer: it is sent to its end.
        return found is None or found.generation[manifest.name].sha256 == describe_file(manifest).sha256

    def _begin(self, before: int | None) -> None:
        """Make the two collections, out of those of the oldest generation where they fit."""
        delete_manifest(self._connection, self._names, self._number)
        if not self._fits(self._number):
            drop(self._connection, self._names, self._number)
        old = self._to_renew(before)
        if self._target.current() != before:
            raise LibraryError(f'"{self._connection.spelling}" answers with another generation by now; publish again')
        if old is not None:
            delete_manifest(self._connection, self._names, old)
            for was, becomes in zip(self._names.of(old), self._names.of(self._number), strict=True):
                if self._connection.has(was) and not self._connection.has(becomes):
                    self._connection.call("rename_collection", was, becomes, seconds=SECONDS)
        for collection in (self._icons, self._pictures):
            if make_rows(self._connection, collection, dim=self._opened.manifest.dim):
                self._new.add(collection)

    def _others(self, before: int | None) -> list[int]:
        """Numbers of the generations that are there beside this one and the one that answers, the newest first."""
        return sorted(held_numbers(self._connection, self._names) - {before, self._number}, reverse=True)

    def _to_renew(self, before: int | None) -> int | None:
        """The generation whose collections become the new one's: none that answers, or that one may go back to."""
        others = self._others(before)
        spare = others[KEPT - 2 :] if before is not None and is_whole(self._connection, self._names, before) else []
        unfinished = [number for number in others if not is_whole(self._connection, self._names, number)]
        return next((number for number in (*unfinished, *spare) if self._fits(number)), None)

    def _fits(self, number: int) -> bool:
        """Whether rows of this generation can go where those of another lie: same encoder, same kind of vectors."""
        manifest = self._opened.manifest
        found = find_manifest(self._connection, self._names, number)
        if found is not None and found.fingerprint != manifest.fingerprint:
            return False
        return all(is_as_made(self._connection, one, dim=manifest.dim) for one in self._names.of(number))

    def _send(self, made: GenerationRows, *, replicas: int) -> Sent:
        """Send all rows, icons first: the server makes their graph while pictures go.

        Query nodes hold the rows that a renewed collection has `replicas` times.
        """
        kind = np.float16 if kind_of(self._connection, self._icons).is_half else np.float32
        icons = Rows(made.icon_ids, made.icons_at, kind)
        pictures = Rows(made.picture_ids, made.pictures_at, kind, made.add_pictures)
        found, n_done, n_rows = [Sent()], 0, len(icons.ids) + len(pictures.ids)
        for collection, rows in ((self._icons, icons), (self._pictures, pictures)):
            is_new = collection in self._new
            if not is_new:  # it is asked which rows it holds
                index_rows(self._connection, collection, n=len(rows.ids))
                self._connection.load(collection, replicas=replicas)
            for sent in send(self._connection, collection, rows, is_new=is_new):
                found.append(sent)
                n_done += sent.sent + sent.kept
                self._progress("Sending icons and pictures", n_done, n_rows)
            self._connection.call("flush", collection, seconds=600.0)
            # A segment that is merged needs another graph. No rows come to a new collection until it is renewed.
            merging = {"collection.autocompaction.enabled": "false" if is_new else "true"}
            self._connection.call("alter_collection_properties", collection, merging, seconds=SECONDS)
            index_rows(self._connection, collection, n=len(rows.ids))
        whole = Sent(*map(sum, zip(*map(astuple, found), strict=True)))
        whole.unread = len(made.unread)
        return whole

    def _wait(self, before: int | None, *, replicas: int) -> float:
        """Wait until both collections are indexed and answer with all rows; returns the least recall@10."""
        recalls = []
        for collection, own in ((self._icons, self._opened.icons), (self._pictures, self._opened.pictures)):
            assert isinstance(own, FaissVectors)
            n = len(own)
            n_found = wait_until_indexed(self._connection, collection, n=n, replicas=replicas, progress=self._progress)
            if n_found != n:  # a request that the client repeats by itself inserts rows twice
                if before != self._number:
                    self._connection.call("drop_collection", collection, seconds=SECONDS)
                raise LibraryError(f'"{collection}" holds {n_found:,} rows, {n:,} were sent; publish again')
            recalls.append(verify_recall(self._connection, collection, own))
        return min(recalls)

    def _send_files(self) -> dict[str, dict[str, FileFacts]]:
        """Send the files of the generation and of its encoder; returns what a manifest says of each."""
        facts = compute_facts(self._opened, self._facets)
        encoder = self._opened.generation.folder.parent.parent / "encoders" / self._opened.manifest.fingerprint
        with tempfile.TemporaryDirectory(prefix="icons-") as folder:
            written = write_files(self._opened.generation, facts, Path(folder))
            of_generation = send_files(self._connection, self._names, written, self._progress)
        plain = sorted(path for path in encoder.iterdir() if path.is_file() and FILE_NAME.fullmatch(path.name))
        of_encoder = send_files(self._connection, self._names, plain, self._progress)
        return {"generation": of_generation, "encoder": of_encoder}

    def _send_manifest(self, files: dict[str, dict[str, FileFacts]], *, sends_pictures: bool) -> None:
        """Send, last of all, the manifest that names the files."""
        manifest, names = self._opened.manifest, self._names
        published = PublishedManifest(
            number=self._number,
            fingerprint=manifest.fingerprint,
            dim=manifest.dim,
            is_half=kind_of(self._connection, self._icons).is_half,
            n_icons=manifest.icons.n,
            n_pictures=manifest.pictures.n,
            published_at=datetime.now(UTC).isoformat(timespec="seconds"),
            **files,
            sends_pictures=sends_pictures,
        )
        row = {"id": manifest_key(self._number), "content": published.to_json(), VECTOR: [0.0, 0.0]}
        self._connection.call("upsert", names.files, [row], seconds=SECONDS)

    def _clean(self, before: int | None) -> None:
        """Remove what nobody points at: collections of other generations, and pieces of files of these."""
        older = self._others(before)
        whole = [number for number in older if is_whole(self._connection, self._names, number)]
        kept = {self._number, *([before] if before not in (None, self._number) else whole[: KEPT - 1])}
        for number in set(older) - kept:
            delete_manifest(self._connection, self._names, number)
            drop(self._connection, self._names, number)
        forget_pieces(self._connection, self._names, [number for number in kept if number is not None])


def go_back(library: LibraryElsewhere, *, forward: bool = False) -> int:
    """Switch the alias to the generation before the one that answers, or `forward` to the one after; returns which.

    Raises:
        LibraryError: there is none that is whole, or the server does not answer.
    """
    server = Published(library)
    connection, names, current = server.connection, server.names, server.current()
    held = sorted(held_numbers(connection, names))
    before = [number for number in reversed(held) if current is not None and number < current]
    others = [number for number in held if current is not None and number > current] if forward else before
    found = next((number for number in others if is_whole(connection, names, number)), None)
    if found is None:
        where = "after" if forward else "before"
        raise LibraryError(
            f'"{library.address}" holds no whole generation {where} the current one ({current}); '
            "`icons lab publish` sends one"
        )
    for collection in names.of(found):
        connection.load(collection)
    connection.call("alter_alias", names.of(found)[0], names.alias)
    return found
