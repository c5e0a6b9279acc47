"""Icons as code or as a download, in a look, with licences; what can't be made is refused in a sentence."""

import io
import json
import zipfile
from collections.abc import Iterator

import httpx
import pytest
from serving import serving

from indexer.library.folder import Library

API = "/api/v1"


@pytest.fixture(scope="module")
def client(called: Library) -> Iterator[httpx.Client]:
    with serving(called, "--upload-mb", "0.1") as (opened, _):
        yield opened


def test_every_framework_is_told_with_the_sets_that_it_serves(client: httpx.Client) -> None:
    told = {one["name"]: one for one in client.get(f"{API}/frameworks").json()["frameworks"]}
    assert next(iter(told)) == "lucide-react"
    assert told["lucide-react"]["sets"] == ["lucide", "lucide-static"]
    assert (told["svg"]["sets"], told["svg"]["form"], told["svg"]["packages"]) == ([], "drawn", [])


def test_an_icon_is_written_for_a_framework_in_a_look(client: httpx.Client) -> None:
    asked = {"format": "lucide-react", "colour": "navy", "stroke_width": 1.5, "size": 32, "corner": "sharp"}
    told = client.get(f"{API}/icons/lucide:bell/code", params=asked).json()
    imports = 'import { Bell } from "lucide-react";'
    assert told["uses"] == [
        '<Bell size={32} color="navy" strokeWidth={1.5} strokeLinecap="square" strokeLinejoin="miter" />'
    ]
    assert (told["install"], told["left_out"], told["language"]) == ("npm install lucide-react", [], "tsx")
    assert told["imports"] == imports and told["code"].startswith(imports)
    assert client.post(f"{API}/code", json={"icons": ["mdi:bell", "mdi:home"], "format": "@iconify/vue"}).json()[
        "uses"
    ] == ['<Icon icon="mdi:bell" />', '<Icon icon="mdi:home" />']


@pytest.mark.parametrize(
    ("icon", "asked", "status", "told"),
    [
        ("lucide:bel", {"format": "svg"}, 404, "near: lucide:bell"),
        ("lucide:bell", {"format": "lucid-react"}, 400, 'no format "lucid-react"; near: lucide-react'),
        ("mdi:bell", {"format": "lucide-react"}, 400, "is not of lucide"),
        ("lucide:bell", {"format": "svg", "colour": "url(x)"}, 422, 'colour is "url(x)"'),
        ("lucide:bell", {"format": "svg", "stroke_width": 0}, 400, 'stroke width is "0.0"'),
        ("lucide:bell", {"format": "svg", "size": 100_000}, 400, 'size is "100000"'),
        ("lucide:bell", {"format": "svg", "corner": "soft"}, 422, 'corner is "soft"'),
        ("lucide:bell", {}, 422, "format"),
    ],
)
def test_what_can_not_be_written_is_told_in_a_sentence(
    client: httpx.Client, icon: str, asked: dict[str, str | int], status: int, told: str
) -> None:
    answer = client.get(f"{API}/icons/{icon}/code", params=asked)
    assert (answer.status_code, list(answer.json())) == (status, ["error"]) and told in answer.json()["error"]
    many = client.post(f"{API}/code", json={"icons": ["lucide:home", icon], **asked})
    assert many.status_code in (400, 404, 422) and list(many.json()) == ["error"] and "--" not in answer.text


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        (b"", 422, "JSON"),
        (b"{", 422, "request: Invalid JSON"),
        (b'{"icons": [], "format": "svg"}', 422, "icons: List should have at least 1 item"),
        (b'{"icons": ["lucide:bell"], "format": "svg", "color": "red"}', 422, 'color is "red"'),
        (b'{"icons": [' + b'"a",' * 500 + b'"a"], "format": "svg"}', 422, "at most 500"),
        (b'{"icons": ["' + b"x" * 2_000_000 + b'"], "format": "svg"}', 413, "1 MB"),
    ],
)
def test_a_list_of_icons_that_can_not_be_read_is_refused(
    client: httpx.Client, body: bytes, status: int, told: str
) -> None:
    answer = client.post(f"{API}/code", content=body)
    assert answer.status_code == status and told in answer.json()["error"]


# Downloads

KINDS = {"zip": "bell.svg", "sprite": "sprite.svg", "iconify": ".json", "font": ".woff2", "react": "package.json"}


@pytest.mark.parametrize("kind", KINDS)
def test_chosen_icons_come_as_a_download_with_their_licences(client: httpx.Client, kind: str) -> None:
    asked = {"icons": ["lucide:bell", "mdi:home", "lucide:bell"], "kind": kind, "name": "My settings"}
    answer = client.post(f"{API}/export", json=asked)
    assert answer.headers["content-disposition"].startswith('attachment; filename="my-settings')
    told = json.loads(answer.headers["icons-export"])
    assert (told["icons"], told["left_out"], told["n_left_out"]) == (2, [], 0)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        names = archive.namelist()
        assert all(name.startswith("my-settings/") for name in names) and "my-settings/LICENCES.md" in names
        assert any(name.endswith(KINDS[kind]) for name in names)
        assert not any(b"/pytest-" in archive.read(name) for name in names), "a folder of this machine"


def test_what_is_unknown_is_named_and_can_be_left_out(client: httpx.Client) -> None:
    asked = {"icons": ["lucide:bell", "lucide:nothing-like-it"]}
    refused = client.post(f"{API}/export", json=asked)
    told = {"error": "can't be exported so: lucide:nothing-like-it; skip_unreadable leaves them out"}
    assert (refused.status_code, refused.json()) == (400, told)
    alone = client.post(f"{API}/export", json={"icons": ["lucide:nothing-like-it"]})
    assert alone.json()["error"].endswith("can't be exported so: lucide:nothing-like-it") and alone.status_code == 400
    answer = client.post(f"{API}/export", json={**asked, "skip_unreadable": True})
    assert json.loads(answer.headers["icons-export"])["left_out"] == ["lucide:nothing-like-it"]


@pytest.mark.parametrize(
    ("asked", "status", "told"),
    [
        ({"icons": []}, 422, "icons: List should have at least 1 item"),
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
    assert (answer.status_code, list(answer.json())) == (status, ["error"]) and told in answer.json()["error"]
