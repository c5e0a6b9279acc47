"""The page's server and an assistant's say the same, whatever holds the library."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from declared_answers import check_declared
from fastapi.testclient import TestClient
from mcp import Client
from published_icons import address, here, library, own_cache, there  # noqa: F401 - fixtures

from search.assistant.server import create_assistant
from search.engine import SearchEngine
from search.web.serve import create_app

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
TOLD: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search_icons", {"query": "go back", "k": 5, "set": ["lucide"]}),
    ("similar_icons", {"key": "lucide:house", "k": 3}),
    ("pick_icons", {"needs": ["home", "star"], "set": "lucide"}),
    ("show_icon", {"key": "lucide:house"}),
    ("get_code", {"keys": ["lucide:house"], "format": "svg"}),
    ("list_sets", {}),
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


def test_pictures_of_a_page_of_hits_are_the_same(clients: tuple[TestClient, TestClient]) -> None:
    hits = clients[0].get(f"{API}/search?q=arrow&k=20").json()["hits"]
    images = "&".join(f"image={hit['image']}-{hit['digest']}" for hit in hits)
    ours, theirs = (client.get(f"{API}/svgs?{images}") for client in clients)
    assert theirs.content == ours.content
    assert "immutable" in theirs.headers["cache-control"]
    assert ours.content.count(b"<svg id=") == len({hit["image"] for hit in hits})


@pytest.mark.parametrize(("tool", "arguments"), TOLD)
def test_an_assistant_is_told_the_same(
    here: SearchEngine, there: SearchEngine, tool: str, arguments: dict[str, Any]
) -> None:
    ours, theirs = (_told(engine, tool, arguments) for engine in (here, there))
    assert theirs == ours
    assert not ours[0]


def test_an_assistant_hears_what_a_server_can_not_do(there: SearchEngine) -> None:
    is_error, said = _told(there, "map_icons", {"names": ["mdi:home"], "to": "lucide"})
    assert is_error
    assert said.startswith("`icons map` can't be had of a library on Milvus")


def _told(engine: SearchEngine, tool: str, arguments: dict[str, Any]) -> tuple[bool, str]:
    """Whether a tool failed, and what it said."""

    async def ask() -> tuple[bool, str]:
        async with Client(create_assistant(engine)) as client:
            answer = await client.call_tool(tool, arguments)
            [content] = answer.content
            assert content.type == "text"
            return bool(answer.is_error), content.text

    return asyncio.run(ask())


def _lasting(answer: Any) -> bytes | Mapping[str, Any]:
    """What of an answer does not depend on when it was given."""
    if answer.headers["content-type"] != "application/json":
        return bytes(answer.content)
    told = json.loads(answer.content)
    return {name: value for name, value in told.items() if name != "ms"} if isinstance(told, dict) else told
