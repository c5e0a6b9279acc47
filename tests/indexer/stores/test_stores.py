"""Every kind of store keeps the same promises; where of two writers one wins, that is tried at once."""

import secrets
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from s3_server import Faults

from indexer.errors import IconsError, StoreError
from indexer.library.stores import (
    FolderStore,
    RetryingStore,
    Store,
    Stored,
    open_object_store,
    open_store,
    spelled,
    url_of,
)


@pytest.fixture(params=["folder", "part", "memory", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "folder":
        return FolderStore(tmp_path / "work")
    if request.param == "part":
        whole = open_store(str(tmp_path))
        whole.put("beside", b"of nobody here")
        return whole.part("some/where/")
    if request.param == "s3":
        return open_object_store(f"s3://{request.getfixturevalue('s3').bucket}/some/where")
    return open_object_store(f"memory://work/{secrets.token_hex(4)}")


def names(store: Store, prefix: str = "") -> list[str]:
    return list(store.list(prefix))


def test_what_is_put_is_read_and_listed_by_prefix(store: Store) -> None:
    assert (store.get("a/one"), names(store, "a/")) == (None, [])
    for name in ("a/one", "a/other/two", "b"):
        store.put(name, name.encode())
    read = store.get("a/other/two")
    assert [read.content, store.list("a/other/")["a/other/two"].version] == [b"a/other/two", read.version]
    assert [names(store), names(store, "a/o")] == [["a/one", "a/other/two", "b"], ["a/one", "a/other/two"]]
    store.delete("a/one")
    store.delete("a/one")
    assert names(store, "a/") == ["a/other/two"]
    store.delete("b", "gone", "a/other/two")
    store.delete()
    assert names(store) == []


def test_an_object_is_created_once_and_replaced_by_who_knows_its_version(store: Store) -> None:
    first = store.create("claims/x", b"mine")
    assert store.create("claims/x", b"yours") is None
    second = store.replace("claims/x", b"renewed", version=first)
    assert None not in (first, second) and first != second
    assert store.replace("claims/x", b"late", version=first) is None
    assert store.get("claims/x") == Stored(b"renewed", second)
    assert {name: listed.version for name, listed in store.list("claims/").items()} == {"claims/x": second}
    store.delete("claims/x")
    assert store.replace("claims/x", b"gone", version=second) is None
    assert store.create("claims/x", b"again") is not None


@pytest.mark.parametrize("store", ["folder", "s3"], indirect=True)
def test_of_many_who_write_at_once_one_wins(store: Store) -> None:
    version: str | None = None
    line = threading.Barrier(6)

    def compete(number: int) -> Stored | None:
        line.wait()
        mine = f"{number} {version}".encode()
        found = store.replace("x", mine, version=version) if version else store.create("x", mine)
        return None if found is None else Stored(mine, found)

    with ThreadPoolExecutor(6) as threads:
        for _ in range(6):
            [won] = [one for one in threads.map(compete, range(6)) if one is not None]
            assert store.get("x") == won
            version = won.version


@pytest.mark.parametrize(
    "name", ["", "/", "..", "../victim", "a/../../victim", "/victim", "a//b", "link/x", "a\0", "a" * 300]
)
def test_no_name_and_no_link_leads_out_of_a_folder(tmp_path: Path, name: str) -> None:
    store, victim = FolderStore(tmp_path / "work"), tmp_path / "victim"
    victim.mkdir()
    (victim / "x").write_bytes(b"mine")
    store.put("a/one", b"1")
    (tmp_path / "work" / "link").symlink_to(victim)
    ways = (store.get, store.delete, store.clear, lambda one: store.put(one, b"2"), lambda one: store.create(one, b"2"))
    for way in (*ways, lambda one: store.replace(one, b"2", version="1")):
        with pytest.raises(IconsError, match=r"is no name of a file or folder in|leads out of"):
            way(name)
    assert [path.read_bytes() for path in victim.iterdir()] == [b"mine"]
    assert list(store.list("")) == ["a/one"]


def test_a_store_that_stays_away_is_one_line(s3: Faults) -> None:
    store = RetryingStore(open_object_store(f"s3://{s3.bucket}/some"), patience_seconds=0.3)
    s3.fail_every = 1
    with pytest.raises(StoreError, match=r'"s3://bucket-.*/some" can\'t be read or written .*goes on from there'):
        store.get("plan.json")


def test_a_bucket_that_is_not_there_and_a_protocol_that_is_unknown_are_named(s3: Faults) -> None:
    absent = RetryingStore(open_object_store("s3://nowhere/x"), patience_seconds=0.1)
    assert absent.get("plan.json") is None
    with pytest.raises(StoreError, match='"s3://nowhere/x" can\'t be read or written'):
        absent.put("plan.json", b"")
    with pytest.raises(StoreError, match=r'"strange://somewhere" can.t be opened \(Protocol not known'):
        open_store("strange://somewhere")


def test_urls_are_told_from_paths_however_they_are_spelled(tmp_path: Path) -> None:
    assert url_of("s3://bucket/icons/") == spelled(Path("s3://bucket/icons")) == "s3://bucket/icons"
    assert spelled(tmp_path) == str(tmp_path)
    assert {url_of(place) for place in (tmp_path, "work", "C:/work", "file:///tmp/work")} == {None}
    assert open_store(f"file://{tmp_path}").url == str(tmp_path)


def test_who_works_on_folders_alone_loads_nothing_of_stores() -> None:
    program = (
        "import sys, indexer.pipeline, indexer.embedding.ray_workers, indexer.sources.source, indexer.rendering.pool\n"
        "print(*sorted({'fsspec', 's3fs', 'gcsfs', 'botocore', 'aiohttp', 'ray'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []
