"""Can a page show icons before anybody has typed: those of a set, in an order, and all sets as cards?"""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from serving import serving_icons

API = "/api/v1"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Iterator[httpx.Client]:
    with serving_icons(tmp_path_factory.mktemp("shown"), tiny_model) as opened:
        yield opened


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
    assert (cards["own"]["title"], cards["own"]["licence"], cards["own"]["licence_family"]) == (
        "Own Set",
        "MIT",
        "permissive",
    )
    for card in cards.values():
        assert 6 <= len(card["sample"]) <= 8
        for icon in card["sample"]:
            assert client.get(icon["svg_url"] or icon["png_url"]).status_code == 200
            assert client.get(f"{API}/icons/{icon['id']}").json()["image"] == icon["image"]


def test_cards_tell_no_folder(client: httpx.Client) -> None:
    told = client.get(f"{API}/sets").text.replace(f"{API}/icons/", "")
    assert "/" not in told.replace("/svg?", "").replace("/png?", "")
