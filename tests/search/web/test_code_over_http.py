"""Is an icon given as code, one or many, in the look that is asked for, and what can't be written refused?"""

from collections.abc import Iterator

import httpx
import pytest
from called_icons import build_called
from serving import serving

API = "/api/v1"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with serving(build_called(tmp_path_factory.mktemp("written")), "--upload-mb", "0.1") as (opened, _):
        yield opened


def test_every_framework_is_told_with_the_sets_that_it_serves(client: httpx.Client) -> None:
    told = {one["name"]: one for one in client.get(f"{API}/frameworks").json()["frameworks"]}
    assert next(iter(told)) == "lucide-react"
    assert told["lucide-react"]["sets"] == ["lucide", "lucide-static"]
    assert (told["svg"]["sets"], told["svg"]["form"], told["svg"]["packages"]) == ([], "drawn", [])


def test_an_icon_is_written_for_a_framework_in_a_look(client: httpx.Client) -> None:
    asked = {"format": "lucide-react", "colour": "navy", "stroke_width": 1.5, "size": 32, "corner": "sharp"}
    told = client.get(f"{API}/icons/lucide:bell/code", params=asked).json()
    assert told["imports"] == 'import { Bell } from "lucide-react";'
    assert told["uses"] == [
        '<Bell size={32} color="navy" strokeWidth={1.5} strokeLinecap="square" strokeLinejoin="miter" />'
    ]
    assert (told["install"], told["left_out"], told["language"]) == ("npm install lucide-react", [], "tsx")
    assert told["code"].startswith(told["imports"])


def test_many_icons_are_written_at_once_in_the_order_asked_for(client: httpx.Client) -> None:
    asked = {"icons": ["mdi:bell", "mdi:home"], "format": "@iconify/vue", "colour": "#08f"}
    told = client.post(f"{API}/code", json=asked).json()
    assert told["uses"] == ['<Icon icon="mdi:bell" color="#08f" />', '<Icon icon="mdi:home" color="#08f" />']
    assert told["imports"].count("import") == 1


def test_an_icon_is_written_as_it_is_drawn(client: httpx.Client) -> None:
    told = client.get(f"{API}/icons/mdi:bell/code", params={"format": "svg", "size": 48}).json()
    assert told["code"].startswith("<svg ") and 'width="48"' in told["code"]
    assert (told["imports"], told["install"]) == ("", None)


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
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
    assert told in answer.json()["error"]
    many = client.post(f"{API}/code", json={"icons": ["lucide:home", icon], **asked})
    assert many.status_code in (400, 404, 422) and list(many.json()) == ["error"]


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        (b"", 422, "JSON"),
        (b"{", 422, "JSON"),
        (b'{"icons": [], "format": "svg"}', 422, 'icons is "[]"'),
        (b'{"icons": ["lucide:bell"], "format": "svg", "color": "red"}', 422, 'color is "red"'),
        (b'{"icons": [' + b'"a",' * 500 + b'"a"], "format": "svg"}', 422, "at most 500"),
        (b'{"icons": ["' + b"x" * 2_000_000 + b'"], "format": "svg"}', 413, "1 MB"),
    ],
)
def test_a_list_of_icons_that_can_not_be_read_is_refused(
    client: httpx.Client, body: bytes, status: int, told: str
) -> None:
    answer = client.post(f"{API}/code", content=body)
    assert answer.status_code == status
    assert told in answer.json()["error"]
