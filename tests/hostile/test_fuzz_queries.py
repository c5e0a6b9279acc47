"""A fuzzer over what is asked: words, keyword queries, filters, keys, and the addresses of the page and its API.

ICONS_FUZZ_SECONDS=3600 pytest -m slow tests/hostile/test_fuzz_queries.py
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import quote, quote_from_bytes

import httpx
import pytest
from fastapi import FastAPI
from fuzzing import FOR_SECONDS, NAMES, Inputs, fuzz
from hypothesis import strategies as st

from indexer.errors import IconsError
from search.engine import Filters, Query, SearchEngine, Window
from search.web.connections import Limits
from search.web.serve import create_app

PIECES = ["arrow", "-", '"', "*", " ", "NEAR(", ")", "AND", "NOT", "OR", "^", ":", "words:", "{", "}", "+", "\0", "\n"]
PIECES += ["--", ";", "/*", "'", "\\", "%", "_", "\ud800", "\u202e", "\ufdfa" * 9, "house", "filled", "24px", "a" * 999]
WORDS = st.one_of(st.text(max_size=60), NAMES, st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
LABELS = st.lists(st.one_of(WORDS, st.sampled_from(["own", "other", "MIT", "permissive", "filled"])), max_size=3)
FILTERS = st.fixed_dictionaries(
    {
        **{kind: LABELS.map(tuple) for kind in ("sets", "styles", "tags", "categories", "licences")},
        "sizes": st.lists(st.integers(), max_size=2).map(tuple),
        "animated": st.none() | st.booleans(),
        "coloured": st.none() | st.booleans(),
    }
).map(lambda given: partial(Filters, **given))
"""Made only when they are used, as making them may be refused."""
NUMBERS = st.one_of(st.integers().map(str), st.floats().map(str), WORDS)
NAMED = ["q", "k", "offset", "set", "style", "category", "tag", "licence", "size", "animated", "coloured", "min_score"]
NAMED += ["flat", "facets", "keyword", "not", "icon", "picture_share", "token", "q[]", "v", "", "language"]
PATHS = ["/", "/api/v1/search", "/api/v1/icons/1", "/api/v1/icons/1/svg", "/api/v1/icons/1/png", "/api/v1/facets"]
PATHS += [
    "/api/v1/icons/1/similar",
    "/api/v1/icons/1/why",
    "/static/app.js",
    "/static/../app.js",
    "/health",
    "/metrics",
]
LANGUAGES = st.lists(st.one_of(WORDS, st.sampled_from(["de", "fr-CH", "xx"])), max_size=3)
VALUES = st.one_of(NUMBERS.map(lambda text: quote(text, errors="replace")), st.binary(max_size=9).map(quote_from_bytes))
ADDRESSES = st.tuples(
    st.one_of(st.sampled_from(PATHS), WORDS.map(lambda text: "/api/v1/icons/" + quote(text, errors="replace"))),
    st.lists(st.tuples(st.sampled_from(NAMED), VALUES), max_size=5),
)


def asks(engine: SearchEngine, make: Callable[[], Query], filters: Callable[[], Filters], k: int, offset: int) -> None:
    """An answer is hits in order, each of which fits the filters; everything else is one of our errors."""
    try:
        wanted = filters()
        answer = engine.ask(make(), filters=wanted, window=Window(k=k, offset=offset, min_score=0, facets=True))
    except IconsError as refused:
        assert str(refused)
        return
    assert len(answer.hits) <= k
    assert answer.n_found >= len(answer.hits)
    assert all(0 <= hit.score <= 1 for hit in answer.hits)
    assert all(hit.animated is wanted.animated for hit in answer.hits if wanted.animated is not None)
    json.dumps([answer.spelled, [hit.key for hit in answer.hits]]).encode()


def names(engine: SearchEngine, spelling: str) -> None:
    """A key is an icon's, or refused."""
    try:
        assert engine.show(engine.find(spelling)).hit.id > 0
    except IconsError as refused:
        assert str(refused)


def goes_to(app: FastAPI, path: str, given: list[tuple[str, str]]) -> None:
    """A server answers or refuses any address; it never fails."""
    address = path + ("?" + "&".join(f"{quote(name)}={value}" for name, value in given) if given else "")

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get(address)

    answer = asyncio.run(send())
    assert answer.status_code < 500, (address, answer.text)
    if answer.status_code >= 400:
        assert answer.json()["error"]


def queries() -> st.SearchStrategy[Callable[[], Query]]:
    """Queries, made only when they are asked, as making one may be refused."""
    fields = st.fixed_dictionaries(
        {
            "words": WORDS,
            "without": LABELS.map(tuple),
            "languages": LANGUAGES.map(tuple),
            "keyword": st.booleans(),
            "icon": st.none() | st.integers(-1, 10) | st.integers(),
            "picture_share": st.floats(),
        }
    )
    return fields.map(lambda given: partial(Query, **given))


@pytest.fixture(scope="module")
def engine(asked: Path) -> SearchEngine:
    return SearchEngine.open(asked)


@pytest.fixture(scope="module")
def app(asked: Path) -> Iterator[FastAPI]:
    made = create_app(SearchEngine.open(asked), Limits(threads=1), None)
    yield made
    made.state.service.close()


@pytest.fixture(params=["queries", "keys", "addresses"])
def target(request: pytest.FixtureRequest) -> tuple[Inputs, Callable[..., None]]:
    if request.param == "addresses":
        return ADDRESSES, partial(goes_to, request.getfixturevalue("app"))
    engine = request.getfixturevalue("engine")
    if request.param == "keys":
        return st.tuples(WORDS), partial(names, engine)
    return st.tuples(queries(), FILTERS, st.integers(-1, 20), st.integers(-1, 20)), partial(asks, engine)


@pytest.mark.parametrize("seconds", FOR_SECONDS)
def test_any_question_is_answered_or_refused(target: tuple[Inputs, Callable[..., None]], seconds: float) -> None:
    fuzz(*target, seconds=seconds)
