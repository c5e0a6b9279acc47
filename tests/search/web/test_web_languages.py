"""Do all requests that ask with words read them in the languages that are named, and say how?"""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from conftest import disc
from serving import index_into, serving, write_icons

from indexer.library.folder import Library
from search.engine import Query, SearchEngine, Window
from search.web.answers import facets_json

API = "/api/v1"
CAT = {
    "language": "fr",
    "name": "French",
    "english": "cat",
    "is_english_too": True,
    "words": [{"word": "chat", "english": ["cat", "chat"]}],
}


@pytest.fixture(scope="module")
def icon_library(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Library:
    folder = tmp_path_factory.mktemp("languages")
    write_icons(folder / "icons")
    library = Library(folder / "library")
    index_into(library, folder / "icons", model=tiny_model)
    return library


@pytest.fixture(scope="module")
def client(icon_library: Library) -> Iterator[httpx.Client]:
    with serving(icon_library) as (opened, _):
        yield opened


@pytest.mark.parametrize(
    "asked", [{"language": "fr"}, {"language": "fr-CH"}, {"language": ["fr", "en"]}, {"language": "fr, en-GB"}]
)
def test_a_search_reads_words_in_the_languages_that_are_named(client: httpx.Client, asked: dict[str, str]) -> None:
    answer = client.get(f"{API}/search", params={"q": "chat", "min_score": 0, **asked}).json()
    assert (answer["query"], answer["read_as"]) == ("chat", CAT)


def test_the_most_used_language_comes_first(client: httpx.Client) -> None:
    for languages in (["en", "fr"], "en,fr", []):
        answer = client.get(f"{API}/search", params={"q": "chat", "language": languages}).json()
        assert answer["read_as"] is None


def test_words_of_any_language_are_read_without(client: httpx.Client) -> None:
    read = client.get(f"{API}/search", params={"q": "Pfeil links"}).json()["read_as"]
    assert (read["language"], read["english"], read["is_english_too"]) == ("de", "arrow left", False)
    assert [word["word"] for word in read["words"]] == ["Pfeil", "links"]


def test_hits_and_counts_are_those_of_the_same_reading(client: httpx.Client, icon_library: Library) -> None:
    asked = {"q": "chat", "language": "fr", "facets": 1, "k": 5, "min_score": 0}
    answer = client.get(f"{API}/search", params=asked).json()
    query, window = Query(words="chat", languages=("fr",)), Window(k=5, min_score=0, facets=True)
    found = SearchEngine.open(icon_library.root).ask(query, window=window)
    assert found.facets is not None
    assert [hit["id"] for hit in answer["hits"]] == [hit.id for hit in found.hits]
    assert answer["n_found"] == found.n_found
    assert answer["facets"] == facets_json(found.facets)


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


def test_the_parameter_is_described(client: httpx.Client) -> None:
    paths = client.get(f"{API}/openapi.json").json()["paths"]
    for path, method in (("/search", "get"), ("/search", "post"), ("/icons/{icon}/why", "get")):
        parameters = {one["name"]: one for one in paths[API + path][method]["parameters"]}
        assert parameters["language"]["schema"]["maxItems"] == 10
        assert "pt-BR" in parameters["language"]["description"]
