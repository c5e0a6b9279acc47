"""Do chosen icons come as a download with their licences, and is what can't be exported told without a folder?"""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from called_icons import build_called
from serving import index_into, serving, write_icons

from indexer.library.folder import Library

API = "/api/v1"
KINDS = {"zip": "bell.svg", "sprite": "sprite.svg", "iconify": ".json", "font": ".woff2", "react": "package.json"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with serving(build_called(tmp_path_factory.mktemp("exported"))) as (opened, _):
        yield opened


@pytest.mark.parametrize("kind", KINDS)
def test_chosen_icons_come_as_a_download_with_their_licences(client: httpx.Client, kind: str) -> None:
    asked = {"icons": ["lucide:bell", "mdi:home", "lucide:bell"], "kind": kind, "name": "My settings"}
    answer = client.post(f"{API}/export", json=asked)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"].startswith('attachment; filename="my-settings')
    told = json.loads(answer.headers["icons-export"])
    assert (told["icons"], told["left_out"], told["n_left_out"]) == (2, [], 0)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        names = archive.namelist()
        assert all(name.startswith("my-settings/") for name in names)
        assert any(name.endswith(KINDS[kind]) for name in names)
        assert "my-settings/LICENCES.md" in names
        assert not any(b"/pytest-" in archive.read(name) for name in names), "a folder of this machine"


def test_what_is_unknown_is_named_and_can_be_left_out(client: httpx.Client) -> None:
    asked = {"icons": ["lucide:bell", "lucide:nothing-like-it"]}
    refused = client.post(f"{API}/export", json=asked)
    assert refused.status_code == 400
    assert refused.json()["error"] == ("can't be exported so: lucide:nothing-like-it; skip_unreadable leaves them out")
    alone = client.post(f"{API}/export", json={"icons": ["lucide:nothing-like-it"]})
    assert alone.json()["error"].endswith("can't be exported so: lucide:nothing-like-it") and alone.status_code == 400
    answer = client.post(f"{API}/export", json={**asked, "skip_unreadable": True})
    assert answer.status_code == 200
    assert json.loads(answer.headers["icons-export"])["left_out"] == ["lucide:nothing-like-it"]


@pytest.mark.parametrize(
    ("asked", "status", "told"),
    [
        ({"icons": []}, 422, 'icons is "[]"'),
        ({"icons": ["lucide:bell"], "kind": "exe"}, 422, 'kind is "exe"'),
        ({"icons": ["lucide:bell"], "kind": "font", "colour": "red"}, 400, "a font takes the colour of the text"),
        ({"icons": ["lucide:bell"], "kind": "iconify", "prefix": "../x"}, 400, 'prefix is "../x"'),
        ({"icons": ["lucide:bell"], "colour": "url(#x)"}, 400, 'colour is "url(#x)"'),
        ({"icons": ["a"] * 501}, 422, "at most 500"),
        ({"icons": ["lucide:bell"], "where": "/etc"}, 422, 'where is "/etc"'),
    ],
)
def test_an_export_that_can_not_be_made_is_refused(
    client: httpx.Client, asked: dict[str, object], status: int, told: str
) -> None:
    answer = client.post(f"{API}/export", json=asked)
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
    assert told in answer.json()["error"]


@pytest.mark.slow
def test_a_source_that_has_gone_is_told_without_its_folder(tmp_path: Path, tiny_model: Path) -> None:
    write_icons(tmp_path / "icons")
    library = Library(tmp_path / "library")
    index_into(library, tmp_path / "icons", model=tiny_model)
    with serving(library) as (client, _):
        (tmp_path / "icons" / "dot-b.svg").unlink()
        asked = {"icons": ["icons:dot-a", "icons:dot-b"]}
        refused = client.post(f"{API}/export", json=asked)
        assert (refused.status_code, str(tmp_path) in refused.text) == (400, False)
        assert "icons:dot-b" in refused.json()["error"]
        alone = client.post(f"{API}/export", json={"icons": ["icons:dot-b"], "skip_unreadable": True})
        assert (alone.status_code, str(tmp_path) in alone.text) == (400, False)
