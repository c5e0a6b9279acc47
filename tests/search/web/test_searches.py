"""Are the pictures of an answer found with it, and without searching again?"""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest
from serving import serving_icons

from search.web.service import MOST_PICTURES, AskedLately, Found, first_layers

API = "/api/v1"
FIRST, OTHER = (7, "a"), (7, "b")
"""Generations of two libraries, of one number."""
LAYER = "{http://www.w3.org/2000/svg}svg"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Iterator[httpx.Client]:
    with serving_icons(tmp_path_factory.mktemp("served"), tiny_model) as opened:
        yield opened


@pytest.mark.parametrize("asked", [{"q": "arrow up"}, {"q": "dot", "min_score": 0, "k": 60}, {"set": "own"}, {}])
def test_the_pictures_of_an_answer_are_those_of_its_first_hits(client: httpx.Client, asked: dict[str, str]) -> None:
    hits = client.get(f"{API}/search", params=asked).json()["hits"]
    answer = client.get(f"{API}/search/svgs", params=asked)
    layers = [layer.get("id") for layer in ElementTree.fromstring(answer.text).findall(LAYER)]
    left_out = answer.headers.get("Icons-Left-Out", "").split(",")
    assert layers == [f"i{layer}" for layer in first_layers(hits) if str(layer.image) not in left_out]
    assert layers
    assert answer.headers["content-type"] == "image/svg+xml" and "sandbox" in answer.headers["content-security-policy"]
    again = client.get(f"{API}/search/svgs", params=asked, headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


def test_pictures_are_refused_as_their_search_is(client: httpx.Client) -> None:
    for asked in ({"icon": "999999"}, {"q": "dot", "k": 0}, {"q": "", "keyword": "true"}):
        refused = [client.get(f"{API}/{path}", params=asked) for path in ("search", "search/svgs")]
        assert refused[0].status_code == refused[1].status_code >= 400
        assert refused[0].json() == refused[1].json()


def test_of_each_name_the_first_picture_is_shown_and_no_bitmap() -> None:
    hits = [
        {"words": f"name {n // 2}", "image": n, "digest": f"{n:x}", "svg_url": None if n == 4 else "x"}
        for n in range(200)
    ]
    shown = [n for n in range(0, 200, 2) if n != 4][:MOST_PICTURES]
    assert [str(layer) for layer in first_layers(hits)] == [f"{n}-{n:x}" for n in shown]


def test_who_asks_the_same_at_once_is_answered_by_one_search() -> None:
    asked: list[str] = []
    lately = AskedLately()

    async def search() -> Found:
        asked.append("search")
        await asyncio.sleep(0.05)
        return Found(b"{}", (), FIRST)

    async def scene() -> None:
        pictures = asyncio.create_task(lately.lately("q", search, edition=FIRST))
        words = asyncio.create_task(lately.now("q", search))
        assert await words == await pictures
        assert asked == ["search"]
        await lately.lately("q", search, edition=FIRST)  # a moment later
        assert asked == ["search"]
        await lately.lately("q", search, edition=OTHER)  # another library answers by then
        await lately.now("q", search)  # who asks for hits gets new ones
        assert asked == ["search"] * 3

    asyncio.run(scene())


def test_a_search_that_failed_is_made_again_and_few_answers_are_kept() -> None:
    asked: list[str] = []
    lately = AskedLately()

    async def fails() -> Found:
        raise ValueError("not now")

    async def search() -> Found:
        asked.append("search")
        return Found(b"{}", (), FIRST)

    async def scene() -> None:
        with pytest.raises(ValueError, match="not now"):
            await lately.now("q", fails)
        assert (await lately.lately("q", search, edition=FIRST)).content == b"{}"
        for number in range(16):
            await lately.now(f"other {number}", search)
        asked.clear()
        await lately.lately("q", search, edition=FIRST)
        assert asked == ["search"]

    asyncio.run(scene())


def test_one_who_leaves_takes_no_answer_from_the_other() -> None:
    lately = AskedLately()

    async def search() -> Found:
        await asyncio.sleep(0.05)
        return Found(b"{}", (), FIRST)

    async def scene() -> None:
        left, stays = (asyncio.create_task(lately.now("q", search)) for _ in range(2))
        await asyncio.sleep(0.01)
        left.cancel()
        assert (await stays).content == b"{}"

    asyncio.run(scene())
