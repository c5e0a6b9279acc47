"""Icons that lie in a store: scanned, read again and embedded through its URL, from any machine."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Silent, disc, give_export
from s3_server import Faults
from shared_work import options_of, scanned, vectors_of
from small_icons import picture_at

from indexer.commands.library import read_sources
from indexer.errors import ChangedError, SourceError
from indexer.library.folder import Library
from indexer.library.shards import read_coverage
from indexer.library.stores import ObjectStore, RetryingStore, S3Store, Stored, open_object_store, spelled
from indexer.pipeline import IndexOptions, embed, forget, index, scan
from indexer.rendering.pool import Job, RenderPool
from indexer.sources import source as stored
from indexer.sources.records import FileScan, PictureAddress, content_digest
from indexer.sources.source import open_sources, read_indexed, read_picture, why_unreachable
from search.engine import SearchEngine

SET = {
    "prefix": "signs",
    "info": {"name": "Signs", "license": {"spdx": "MIT"}},
    "icons": {"up": {"body": '<path d="M12 2l8 10h-16z"/>'}, "dot": {"body": '<circle cx="12" cy="12" r="5"/>'}},
}


@pytest.fixture
def bucket(s3: Faults, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return open_object_store(f"s3://{s3.bucket}")


@pytest.fixture
def icons(bucket: ObjectStore) -> Path:
    """Three icons and a licence in a folder of a bucket, as the command line spells it."""
    for number, name in enumerate(("arrow.svg", "filled/arrow.svg", "drafts/late.svg")):
        bucket.put(f"icons/{name}", disc(4 + number, 12).encode())
    bucket.put("icons/readme.txt", b"none")
    bucket.put("icons/LICENSE", b"Permission is hereby granted, free of charge, to any person obtaining a copy")
    return Path(f"{bucket.url}/icons")


def records_of(location: Path) -> tuple[FileScan, dict[str, PictureAddress]]:
    """What a set of a bucket holds: as it was scanned, and where each of its icons is read again."""
    [source] = open_sources(location)
    [found] = source.scan({})
    return found, {record.member: source.address_of(found, record) for record in found.records}


def test_pictures_of_a_bucket_are_scanned_and_those_unchanged_are_not_read_again(
    icons: Path, bucket: ObjectStore, s3: Faults
) -> None:
    [source] = open_sources(icons, exclude=["drafts/"])
    found = list(source.scan({}))
    assert [scanned.path for scanned in found] == ["arrow.svg", "filled/arrow.svg"]
    records = [scanned.records[0] for scanned in found if scanned.records]
    assert [(record.name, record.style, record.set.key, record.set.licence) for record in records] == [
        ("arrow", None, "icons", "MIT"),
        ("arrow", "filled", "icons", "MIT"),
    ]
    assert records[0].digest == content_digest(disc(4, 12).encode())
    bucket.put("icons/arrow.svg", disc(9, 9).encode())
    before = s3.n
    again = source.scan({scanned.path: scanned.stamp for scanned in found})
    assert [scanned.path for scanned in again if scanned.records] == ["arrow.svg"]
    assert s3.n - before <= 5, "a list, the licence, and the one picture that has changed"


def test_a_licence_that_comes_later_is_seen_with_pictures_that_stay(icons: Path, bucket: ObjectStore) -> None:
    text = bucket.get("icons/LICENSE")
    bucket.delete("icons/LICENSE")
    [source] = open_sources(icons)
    stamps = {scanned.path: scanned.stamp for scanned in source.scan({})}
    bucket.put("icons/LICENSE", text.content)
    assert {record.set.licence for scanned in source.scan(stamps) for record in scanned.records or ()} == {"MIT"}


def test_what_has_changed_or_gone_since_the_scan_is_told(icons: Path, bucket: ObjectStore) -> None:
    address = picture_at("stored", icons, "arrow.svg", "", digest=content_digest(disc(4, 12).encode()))
    assert read_picture(address) == disc(4, 12).encode()
    bucket.put("icons/arrow.svg", disc(9, 9).encode())
    with pytest.raises(ChangedError, match=r'arrow.svg" has changed since it was indexed'):
        read_indexed(address)
    bucket.delete("icons/arrow.svg")
    with pytest.raises(SourceError, match="is not there any more"):
        read_indexed(address)


def test_a_picture_that_is_too_large_is_listed_without_being_read(
    icons: Path, bucket: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket.put("icons/huge.svg", b" " * 3_000_000)
    monkeypatch.setattr("indexer.sources.source.MAX_BYTES", 1_000_000)
    read = list[str]()
    real = S3Store.get
    monkeypatch.setattr(S3Store, "get", lambda store, name: read.append(name) or real(store, name))
    [source] = open_sources(icons)
    errors = {scanned.path: scanned.error for scanned in source.scan({}) if scanned.error}
    assert errors == {"huge.svg": "file of 3 MB, the limit is 1 MB"}
    assert "arrow.svg" in read and "huge.svg" not in read


def test_a_store_that_is_away_and_a_cache_that_can_t_be_written_are_no_picture_s_fault(
    icons: Path, bucket: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = content_digest(disc(4, 12).encode())

    def why(location: Path | str, path: str, digest: bytes = digest, kind: str = "stored") -> str | None:
        member = "up" if kind == "stored-iconify" else ""
        return why_unreachable(picture_at(kind, Path(location), path, member, digest=digest))

    assert why(icons, "arrow.svg") == "a moment ago; now it can"
    assert (why(icons, "lost.svg"), why(icons, "arrow.svg", b"another")) == (None, None)
    assert why("s3://nowhere/icons", "arrow.svg") == '"s3://nowhere/icons/arrow.svg" is not there any more'
    bucket.put("signs.json", json.dumps(SET).encode())
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a file"))
    reason = why(f"{bucket.url}/signs.json", "", kind="stored-iconify")
    assert re.search(r'a file/icons/sets/\w+" can\'t be read or written .*; XDG_CACHE_HOME names another', reason)
    monkeypatch.setattr("indexer.sources.source._store", lambda url: RetryingStore(Away(url), patience_seconds=0.2))
    assert why(icons, "arrow.svg").startswith(f'"{bucket.url}/icons" can\'t be read or written')


class Away(S3Store):
    """A store whose server does not answer."""

    def get(self, name: str) -> Stored | None:
        raise ConnectionError(name)


SHAPES = {
    "signs.json": ("", {"signs.json": SET}),
    "": ("icons.json", {"icons.json": {key: SET[key] for key in ("prefix", "icons")}, "info.json": SET["info"]}),
    "all": ("json/signs.json", {"all/collections.json": {}, "all/json/signs.json": SET}),
}


@pytest.mark.parametrize("place", SHAPES)
def test_iconify_sets_of_a_bucket_are_read_as_a_file_a_package_or_all(bucket: ObjectStore, place: str) -> None:
    expected, objects = SHAPES[place]
    for name, content in objects.items():
        bucket.put(f"sets/{name}", json.dumps(content).encode())
    location = Path(f"{bucket.url}/sets/{place}")
    found, addresses = records_of(location)
    assert found.path == expected
    assert [(record.member, record.set.licence) for record in found.records or ()] == [("up", "MIT"), ("dot", "MIT")]
    for address in addresses.values():
        assert content_digest(read_picture(address)) == address.digest
    [source] = open_sources(location)
    assert [scanned.records for scanned in source.scan({found.path: found.stamp})] == [None]


def test_a_set_that_is_replaced_is_fetched_again_and_one_that_has_gone_is_the_reason(bucket: ObjectStore) -> None:
    location = Path(f"{bucket.url}/sets/signs.json")
    bucket.put("sets/signs.json", json.dumps(SET).encode())
    bucket.put("sets/other.json", b"{}")
    before = records_of(location)[1]["up"]
    read_picture(before)
    bucket.put("sets/signs.json", json.dumps({**SET, "icons": {"up": {"body": '<path d="M1 1h9v9z"/>'}}}).encode())
    after = records_of(location)[1]["up"]
    assert b"M1 1h9v9z" in read_picture(after)
    with pytest.raises(ChangedError):
        read_picture(before)
    bucket.delete("sets/signs.json")
    stored._copy.cache_clear()
    [reason] = stored.read_all([after])
    assert str(reason) == f'"{location}" is not there any more'.replace("s3:/", "s3://")
    assert why_unreachable(after) is None


def test_a_library_of_a_bucket_has_the_vectors_of_the_same_folder_and_answers(
    icons: Path, tiny_model: Path, tmp_path: Path
) -> None:
    for number, name in enumerate(("arrow.svg", "filled/arrow.svg", "drafts/late.svg")):
        (tmp_path / "icons" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "icons" / name).write_text(disc(4 + number, 12))
    found = []
    for source in (icons, tmp_path / "icons"):
        library = Library(tmp_path / f"library-{len(found)}")
        give_export(library, tiny_model)
        summary = index(library, options_of(source, tiny_model), Silent())
        assert (summary.counts.embedded, summary.counts.failed) == (3, 0)
        found.append({vector.tobytes() for vector in vectors_of(library, summary.embed.fingerprint).values()})
    assert found[0] == found[1]
    engine = SearchEngine.open(tmp_path / "library-0")
    hits = engine.search("arrow")
    assert hits[0].path == f"{spelled(icons)}/arrow.svg" and engine.picture(hits[0].id).startswith(b"<svg")
    again = scan(Library(tmp_path / "library-0"), options_of(icons, tiny_model), Silent())
    assert (again.files, again.added, again.changed) == (3, 0, 0)


@pytest.mark.slow
def test_render_workers_read_stores_within_their_limits(icons: Path, bucket: ObjectStore) -> None:
    for number in range(150):
        bucket.put(f"icons/many/{number}.svg", disc(4 + number % 8, 4 + number // 8).encode())
    [source] = open_sources(icons)
    jobs = [
        Job(number, source.address_of(scanned, scanned.records[0]))
        for number, scanned in enumerate(source.scan({}))
        if scanned.records
    ]
    with RenderPool(size=16, workers=1) as pool:
        found = [(chunk.ids.tolist(), chunk.failures) for chunk in pool.render([jobs])]
    assert [number for ids, _ in found for number in ids] == list(range(153))
    assert [failures for _, failures in found if failures] == []


def test_a_store_that_is_away_while_pictures_are_drawn_is_no_fault_of_theirs(
    icons: Path, tiny_model: Path, tmp_path: Path, s3: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = options_of(icons, tiny_model)
    library = scanned(tmp_path / "library", options)
    monkeypatch.setattr("indexer.sources.source._get", lambda *_: (_ for _ in ()).throw(SourceError("away")))
    failures = read_coverage(library.vectors(embed(library, options, Silent()).fingerprint)).failures
    assert {(failed.reason, failed.is_final) for failed in failures.values()} == {("can't be read: away", False)}


def test_a_bucket_that_was_emptied_leaves_its_icons_as_they_were(
    icons: Path, bucket: ObjectStore, tmp_path: Path, tiny_model: Path
) -> None:
    bucket.put("sets/icons.json", json.dumps(SET).encode())
    bucket.put("sets/info.json", b"{}")
    sets = Path(f"{bucket.url}/sets")
    options = options_of(icons, tiny_model)
    library = scanned(tmp_path / "library", replace(options, sources=[icons, sets]))
    before = list(read_sources(library))
    held = {name: bucket.get(name) for name in bucket.list("")}
    for name in held:
        bucket.delete(name)
    tally = scan(library, options, Silent())
    url = spelled(icons)
    assert {(kept.location, kept.icons, kept.command) for kept in tally.kept} == {
        (url, 3, f"icons sources --forget {url}"),
        (spelled(sets), 2, f"icons sources --forget {spelled(sets)}"),
    }
    assert (tally.gone, list(read_sources(library))) == (0, before)
    for name, stored_before in held.items():
        bucket.put(name, stored_before.content)
    assert scan(library, IndexOptions(), Silent()).kept == [] and forget(library, icons / "filled") == 1


def test_a_bucket_without_icons_is_named(bucket: ObjectStore, tmp_path: Path) -> None:
    options = IndexOptions(sources=[Path(f"{bucket.url}/nothing")])
    with pytest.raises(SourceError, match=r'/nothing" holds no pictures and no Iconify set'):
        scan(Library(tmp_path / "library"), options, Silent())
