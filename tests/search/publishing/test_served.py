"""What a server says is read only as it was published, and the page's server says the same."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from declared_answers import check_declared
from fastapi.testclient import TestClient
from published_icons import address, here, library, own_cache, there  # noqa: F401 - fixtures

from indexer.errors import IconsError
from indexer.library.folder import LibraryElsewhere
from indexer.library.foreign import from_json
from search.engine import SearchEngine
from search.generation.milvus.published import FileFacts, Published, PublishedManifest
from search.generation.milvus.schema import VECTOR, manifest_key
from search.web.serve import create_app

SAID = PublishedManifest(
    number=1,
    fingerprint="3608ea71d4a3f0b6",
    dim=384,
    is_half=False,
    n_icons=2,
    n_pictures=2,
    published_at="2026-11-24T00:00:00+00:00",
    generation={"manifest.json": FileFacts(10, "0" * 64, 1)},
    encoder={"encoder.json": FileFacts(10, "a" * 64, 1)},
)


def test_what_was_published_is_read_as_it_was_written() -> None:
    assert from_json(PublishedManifest, SAID.to_json()) == SAID


@pytest.mark.parametrize(
    "change",
    [
        {"number": "/some/folder"},
        {"number": "../../.."},
        {"number": True},
        {"number": -1},
        {"number": 10**9},
        {"fingerprint": "../../outside"},
        {"generation": {"../outside": {"bytes": 1, "sha256": "0" * 64, "pieces": 1}}},
        {"generation": {"..": {"bytes": 1, "sha256": "0" * 64, "pieces": 1}}},
        {"encoder": {"inside": {"bytes": 1, "sha256": "../../outside", "pieces": 1}}},
        {"encoder": {"inside": {"bytes": 1, "sha256": "0" * 64, "pieces": 10**9}}},
    ],
)
def test_names_that_lead_out_of_the_cache_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="may not be"):
        from_json(PublishedManifest, json.dumps({**json.loads(SAID.to_json()), **change}))


def test_a_server_deletes_no_folder_of_who_asks_it(address: str, own_cache: Path, tmp_path: Path) -> None:
    server = Published(LibraryElsewhere(address))
    (photo := tmp_path / "photos" / "a.jpg").parent.mkdir()
    photo.write_bytes(b"a photo")
    number = server.current()
    assert number is not None
    server.connection.load(server.names.files)
    [row] = server.connection.query(server.names.files, f'id == "{manifest_key(number)}"', ["content"])
    for said in (str(photo.parent), "../../..", number + 1):
        content = json.dumps({**json.loads(row["content"]), "number": said})
        told = {"id": manifest_key(number), "content": content, VECTOR: [0.0, 0.0]}
        server.connection.call("upsert", server.names.files, [told])
        with pytest.raises(IconsError, match=f"generation {number} of .* is of another format"):
            SearchEngine.open(address)
    assert photo.read_bytes() == b"a photo"
    assert not list(own_cache.rglob("published.json"))
    server.connection.call("upsert", server.names.files, [{**told, "content": row["content"]}])
    assert SearchEngine.open(address).generation.number == number


API = "/api/v1"
ASKED = (
    "/search?q=arrow&k=20&facets=true",
    "/search?q=huse",
    "/search?set=mdi&sort=name&k=5",
    "/search?icon=lucide:house",
    "/similar/lucide:house?k=4",
    "/facets",
    "/sets",
    "/icons/lucide:house",
    "/icons/lucide:house/why?q=home",
    "/icons/lucide:house/svg?colour=red",
    "/icons/lucide:house/png?size=32",
    "/icons/lucide:house/code?format=lucide-react",
    "/icons/lucide:hous",
    "/search?q=home&set=nothing",
)


@pytest.fixture(scope="module")
def clients(here: SearchEngine, there: SearchEngine) -> Iterator[tuple[TestClient, TestClient]]:
    with (
        TestClient(create_app(here), base_url="http://127.0.0.1") as ours,
        TestClient(create_app(there), base_url="http://127.0.0.1") as theirs,
    ):
        yield ours, theirs


@pytest.mark.parametrize("path", ASKED)
def test_the_api_answers_the_same(clients: tuple[TestClient, TestClient], path: str) -> None:
    ours, theirs = (client.get(API + path) for client in clients)
    check_declared(theirs)
    assert theirs.status_code == ours.status_code
    assert theirs.headers["content-type"] == ours.headers["content-type"]
    assert _lasting(theirs) == _lasting(ours)


def _lasting(answer: Any) -> bytes | Mapping[str, Any]:
    """What of an answer does not depend on when it was given."""
    if answer.headers["content-type"] != "application/json":
        return bytes(answer.content)
    told = json.loads(answer.content)
    return {name: value for name, value in told.items() if name != "ms"} if isinstance(told, dict) else told
