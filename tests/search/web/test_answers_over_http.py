"""What is asked over HTTP is answered as the engine answers: browsing, languages, screens, pictures of an answer."""

import asyncio
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest
from conftest import disc
from PIL import Image, ImageDraw
from serving import serving_icons

from search.engine import SearchEngine
from search.web.service import MOST_PICTURES, AskedLately, SentAnswer, first_layers

API = "/api/v1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("answers")


@pytest.fixture(scope="module")
def client(folder: Path, tiny_model: Path) -> Iterator[httpx.Client]:
    with serving_icons(folder, tiny_model, "--upload-mb", "0.2") as opened:
        yield opened


@pytest.fixture(scope="module")
def engine(client: httpx.Client, folder: Path) -> SearchEngine:
    return SearchEngine.open(folder / "library")


def _keys(client: httpx.Client, **asked: str | int) -> list[str]:
    answer = client.get(f"{API}/search", params={"k": 50, **asked})
    assert answer.status_code == 200, answer.text
    return [hit["key"] for hit in answer.json()["hits"]]


def test_a_set_is_browsed_without_words(client: httpx.Client) -> None:
    shapes = [f"own:shape-{letter}" for letter in "abcde"]
    assert _keys(client, set="own", sort="name") == [*shapes, "own:turned"]
    assert _keys(client, set="own", sort="newest") == ["own:turned", *reversed(shapes)]
    assert _keys(client, set="own", sort="name", k=2, offset=4) == [shapes[4], "own:turned"]


def test_nothing_at_all_shows_everything(client: httpx.Client) -> None:
    answer = client.get(f"{API}/search", params={"k": 50, "facets": True}).json()
    assert answer["n_found"] == len(answer["hits"]) == 20  # 21 icons, two of them variants
    assert (answer["query"], answer["is_more"], answer["spelled"]) == ("", False, None)
    assert {one["value"]: one["n"] for one in answer["facets"]["set"]} == {"icons": 14, "own": 6}
    assert _keys(client, q=" ") == [hit["key"] for hit in answer["hits"]]


def test_sets_come_as_cards_whose_pictures_can_be_asked_for(client: httpx.Client) -> None:
    answer = client.get(f"{API}/sets").json()
    cards = {card["key"]: card for card in answer["sets"]}
    assert answer["generation"] == 1
    assert {key: card["n"] for key, card in cards.items()} == {"icons": 15, "own": 6}
    own = cards["own"]
    assert (own["title"], own["licence"], own["licence_family"]) == ("Own Set", "MIT", "permissive")
    for card in cards.values():
        assert 6 <= len(card["sample"]) <= 8
        for icon in card["sample"]:
            assert client.get(icon["svg_url"] or icon["png_url"]).status_code == 200
            assert client.get(f"{API}/icons/{icon['id']}").json()["image"] == icon["image"]


# Languages

CAT = {
    "language": "fr",
    "name": "French",
    "english": "cat",
    "is_english_too": True,
    "words": [{"word": "chat", "english": ["cat", "chat"]}],
}


@pytest.mark.parametrize(
    "asked", [{"language": "fr"}, {"language": "fr-CH"}, {"language": ["fr", "en"]}, {"language": "fr, en-GB"}]
)
def test_a_search_reads_words_in_the_languages_that_are_named(client: httpx.Client, asked: dict[str, str]) -> None:
    answer = client.get(f"{API}/search", params={"q": "chat", "min_score": 0, **asked}).json()
    assert (answer["query"], answer["read_as"]) == ("chat", CAT)


def test_words_beside_a_picture_are_read_too(client: httpx.Client) -> None:
    picture = disc(4, 12).encode()
    answer = client.post(f"{API}/search", params={"q": "chat", "language": "fr"}, content=picture)
    assert answer.json()["read_as"] == CAT


def test_why_reads_words_as_the_search_does(client: httpx.Client) -> None:
    why = f"{API}/icons/1/why"
    told = client.get(why, params={"q": "chat", "language": "en-GB,fr"}).json()
    assert (told["read_as"], told["typed"]) == (None, "chat")
    told = client.get(why, params={"q": "chat", "language": "fr,en"}).json()
    assert (told["read_as"], told["typed"]) == (CAT, "cat")


def test_an_address_asks_the_same_whatever_a_browser_prefers(client: httpx.Client) -> None:
    answer = client.get(f"{API}/search", params={"q": "chat"}, headers={"Accept-Language": "fr-FR,fr;q=0.9"})
    assert answer.json()["read_as"] is None


@pytest.mark.parametrize("path", ["search", "icons/1/why"])
@pytest.mark.parametrize(
    ("languages", "status", "told"),
    [
        ("french", 400, 'language is "french"; give a code as de or pt-BR'),
        ("", 400, 'language is ""'),
        ("fr;q=0.9", 400, 'language is "fr;q=0.9"'),
        ("fr-" + "a" * 40, 400, 'language is "fr-aaa'),
        ("x" * 201, 422, "200"),
        (",".join(["fr"] * 11), 422, "10"),
        (["fr"] * 11, 422, "10"),
    ],
)
def test_what_names_no_language_is_refused_in_a_sentence(
    client: httpx.Client, path: str, languages: str | list[str], status: int, told: str
) -> None:
    answer = client.get(f"{API}/{path}", params={"q": "chat", "language": languages})
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
    assert "language" in answer.json()["error"] and told in answer.json()["error"]


# Screens

PLACES = [(40, 30), (300, 34), (40, 160)]
"""Of three icons, in the order in which one reads."""


def _png(image: Image.Image) -> bytes:
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()


def _screen() -> bytes:
    image = Image.new("RGB", (480, 240), "white")
    pen = ImageDraw.Draw(image)
    for left, top in PLACES:
        pen.ellipse((left, top, left + 23, top + 23), outline="black", width=3)
        pen.line((left + 12, top + 6, left + 12, top + 18), fill="black", width=2)
        pen.line((left + 6, top + 12, left + 18, top + 12), fill="black", width=2)
    return _png(image)


def test_every_icon_of_a_screen_is_told_with_its_box_and_hits(client: httpx.Client) -> None:
    told = client.post(f"{API}/locate?k=2&min_score=0", content=_screen()).json()
    assert (told["file"], told["width"], told["height"], told["kind"]) == (None, 480, 240, "screen")
    assert (told["n_found"], told["is_cut"], told["generation"]) == (3, False, 1)
    for icon, (left, top) in zip(told["icons"], PLACES, strict=True):
        assert icon["box"] == pytest.approx([left, top, left + 24, top + 24], abs=4)
        assert len(icon["hits"]) == 2
        assert all(hit["svg_url"] in (None, f"{API}/icons/{hit['id']}/svg?v={hit['digest']}") for hit in icon["hits"])
        assert "/" not in icon["hits"][0]["path"]
    as_form = client.post(f"{API}/locate?k=2&min_score=0", files={"picture": ("x.png", _screen(), "image/png")}).json()
    assert as_form["icons"] == told["icons"]


def test_filters_hold_for_names_not_for_boxes(client: httpx.Client) -> None:
    told = client.post(f"{API}/locate?set=own&min_score=0", content=_screen()).json()
    assert len(told["icons"]) == 3
    assert {hit["set"] for icon in told["icons"] for hit in icon["hits"]} == {"own"}


def test_who_asks_may_say_what_a_picture_is(client: httpx.Client) -> None:
    told = client.post(f"{API}/locate?as_kind=icon&min_score=0", content=_screen()).json()
    assert (told["kind"], [icon["box"] for icon in told["icons"]]) == ("icon", [[0, 0, 480, 240]])
    alone = client.get(f"{API}/icons/icons:dot-c/png?size=64").content
    assert client.post(f"{API}/locate", content=alone).json()["kind"] == "icon"


@pytest.mark.parametrize(
    ("asked", "picture", "status", "told"),
    [
        ("", b"", 422, "empty"),
        ("", b"no picture", 422, "not a picture"),
        ("", b"x" * 300_000, 413, "0.2 MB"),
        ("", _png(Image.new("RGB", (300, 200), "white")), 422, "of one colour all over"),
        ("", _png(Image.new("1", (9_000, 9_000))), 422, "million pixels"),
        ("set=gone", _screen(), 400, 'no set "gone"'),
        ("k=0", _screen(), 422, 'k is "0"'),
        ("k=101", _screen(), 422, 'k is "101"'),
        ("as_kind=photo", _screen(), 422, 'as_kind is "photo"'),
        ("q=dot", _screen(), 422, 'q is "dot"'),
    ],
)
def test_what_can_not_be_answered_is_told_in_a_sentence(
    client: httpx.Client, asked: str, picture: bytes, status: int, told: str
) -> None:
    answer = client.post(f"{API}/locate?{asked}", content=picture)
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
    assert told in answer.json()["error"]
    assert client.get("/health").status_code == 200


# Pictures of an answer

FIRST, OTHER = (7, "a"), (7, "b")
"""Generations of two libraries, of one number."""
LAYER = "{http://www.w3.org/2000/svg}svg"


@pytest.mark.parametrize("asked", [{"q": "arrow up"}, {"q": "dot", "min_score": 0, "k": 60}, {"set": "own"}, {}])
def test_the_pictures_of_an_answer_are_those_of_its_first_hits(
    client: httpx.Client, engine: SearchEngine, asked: dict[str, str]
) -> None:
    hits = engine.hits([hit["id"] for hit in client.get(f"{API}/search", params=asked).json()["hits"]])
    answer = client.get(f"{API}/search/svgs", params=asked)
    layers = [layer.get("id") for layer in ElementTree.fromstring(answer.text).findall(LAYER)]
    left_out = answer.headers.get("Icons-Left-Out", "").split(",")
    assert layers == [f"i{layer}" for layer in first_layers(hits) if str(layer.image) not in left_out]
    assert layers
    assert answer.headers["content-type"] == "image/svg+xml" and "sandbox" in answer.headers["content-security-policy"]
    again = client.get(f"{API}/search/svgs", params=asked, headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


def test_of_each_name_the_first_picture_is_shown_and_no_bitmap(engine: SearchEngine) -> None:
    [hit] = engine.search("dot a", k=1)
    hits = [
        replace(hit, words=f"name {n // 2}", image=n, digest=f"{n:x}", path="/x.png" if n == 4 else "/x.svg")
        for n in range(200)
    ]
    shown = [n for n in range(0, 200, 2) if n != 4][:MOST_PICTURES]
    assert [str(layer) for layer in first_layers(hits)] == [f"{n}-{n:x}" for n in shown]


def test_who_asks_the_same_at_once_is_answered_by_one_search() -> None:
    asked: list[str] = []
    lately = AskedLately()

    async def search() -> SentAnswer:
        asked.append("search")
        await asyncio.sleep(0.05)
        return SentAnswer(b"{}", (), FIRST)

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


def test_one_who_leaves_takes_no_answer_from_the_other() -> None:
    lately = AskedLately()

    async def search() -> SentAnswer:
        await asyncio.sleep(0.05)
        return SentAnswer(b"{}", (), FIRST)

    async def scene() -> None:
        left, stays = (asyncio.create_task(lately.now("q", search)) for _ in range(2))
        await asyncio.sleep(0.01)
        left.cancel()
        assert (await stays).content == b"{}"

    asyncio.run(scene())
