"""A fuzzer over what reads strangers' words and files, and over what is asked. For an hour of it:

    ICONS_FUZZ_SECONDS=3600 pytest -m slow tests/hostile/test_fuzz.py

Each target either answers or refuses with one of our own errors, within the time that its input deserves.
"""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import quote, quote_from_bytes

import httpx
import pytest
from fastapi import FastAPI
from fuzzing import FOR_SECONDS, NAMES, Inputs, fuzz
from hypothesis import strategies as st

from indexer.errors import IconsError, RenderError
from indexer.languages.words import common_affixes, normalise, parse, path_hints
from indexer.rendering import render as svg_document
from indexer.rendering.render import render
from indexer.sources.source import open_sources, read_picture
from search.engine import Filters, Query, SearchEngine, Window
from search.web.connections import Limits
from search.web.serve import create_app

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>'

KEYS = st.sampled_from(
    [
        "prefix",
        "icons",
        "aliases",
        "info",
        "body",
        "parent",
        "width",
        "height",
        "left",
        "top",
        "rotate",
        "hFlip",
        "hidden",
        "categories",
        "suffixes",
        "prefixes",
        "name",
        "license",
        "author",
        "a",
        "b",
        "",
        "\0",
        "\ud800",
    ]
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=10),
    KEYS,
    st.sampled_from([1e308, -0.0, 10**300, "<path d='M0 0h8v8z'/>", "xlink:href", "a", "b"]),
)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=25
)
ENTRIES = st.dictionaries(
    KEYS,
    st.one_of(
        JSON,
        st.fixed_dictionaries(
            {"body": st.text(max_size=9)},
            optional={
                "parent": KEYS,
                "width": LEAVES,
                "height": LEAVES,
                "rotate": LEAVES,
                "left": LEAVES,
                "hFlip": LEAVES,
            },
        ),
    ),
    max_size=5,
)
SETS = st.fixed_dictionaries(
    {"prefix": st.one_of(LEAVES, st.just("x")), "icons": st.one_of(JSON, ENTRIES, ENTRIES)},
    optional={
        "aliases": st.one_of(JSON, ENTRIES),
        **dict.fromkeys(("info", "categories", "suffixes", "prefixes"), JSON),
    },
)
MANIFESTS = st.one_of(
    st.binary(max_size=200),
    st.lists(
        st.sampled_from(
            [
                b"file_path",
                b"icon.svg",
                b"../icon.svg",
                b"/dev/zero",
                b",",
                b"\t",
                b";",
                b"|",
                b"\n",
                b"\r",
                b'"',
                b"\0",
                b"\xff",
                b"\xef\xbb\xbf",
                b"name",
                b"tags",
                b"size",
                b"#2",
                b"\\x41",
                b'{"file_path":',
                b"}",
                b"[",
                b'"icon.svg"',
                b"9" * 5000,
                b" ",
                b"\xe2\x80\xa8",
            ]
        ),
        max_size=40,
    )
    .map(b"".join)
    .map(lambda rest: b"file_path,name,tags\n" + rest),
)
DOCUMENTS = st.one_of(
    st.binary(max_size=300),
    st.lists(
        st.sampled_from(
            [
                b"<svg ",
                b"<svg>",
                b"</svg>",
                b'xmlns="http://www.w3.org/2000/svg"',
                b"<!--",
                b"-->",
                b"<!DOCTYPE svg ",
                b"[",
                b"]",
                b">",
                b"<",
                b"/>",
                b"<!ENTITY ",
                b'a "b"',
                b"'&c;'",
                b"%",
                b"SYSTEM 'file:///etc/hostname'",
                b"&a;",
                b"<?xml ",
                b"version='1.0' encoding='UTF-16'?>",
                b"encoding='UTF-7'?>",
                b"\xef\xbb\xbf",
                b"\xff\xfe",
                b"\0",
                b" " * 50,
                b'viewBox="0 0 8 8"',
                b'width="1e9"',
                b"<path d='M0 0h8v8z'/>",
                b"<g>",
                b"<![CDATA[",
                b"]]>",
                b"\x1f\x8b\x08",
            ]
        ),
        max_size=30,
    ).map(b"".join),
)


def names(name: str, others: list[str]) -> None:
    """Reading a name in any set gives words, and normalising is settled after one time."""
    found = parse(name, common_affixes([name, *others]))
    assert found.words and found.words == found.words.strip()
    assert found.size is None or 8 <= found.size <= 1024
    path_hints([name, *others])
    assert normalise(normalise(name)) == normalise(name)


def iconify(folder: Path, icon_set: object) -> None:
    """Every entry of a set is an icon that can be read again, or hidden, or listed."""
    (folder / "set.json").write_text(json.dumps(icon_set), "utf-8")
    check_source(folder / "set.json")


def manifest(folder: Path, content: bytes) -> None:
    """Every row is a picture of this folder, or listed."""
    (folder / "icon.svg").write_text(SVG)
    for suffix in ("csv", "jsonl"):
        (folder / f"rows.{suffix}").write_bytes(content)
        check_source(folder / f"rows.{suffix}")


def check_source(location: Path) -> None:
    sources = []
    with suppress(IconsError):
        sources = open_sources(location)
    for found in (found for source in sources for found in source.scan({})):
        for text in (found.path, found.error or "", *(part for broken in found.broken for part in broken)):
            text.encode()
        for record in found.records or ():
            (record.name + record.set.key + record.set.title + "".join((*record.tags, *record.categories))).encode()
            parse(record.name, style=record.style, size=record.size)
            read_picture(sources[0].address_of(found, record))  # which compares it with what was seen


def document(content: bytes) -> None:
    """What passes as an SVG holds no entity but plain ones, and is drawn or refused with a reason."""
    try:
        passed = svg_document.svg_document(content)
        if passed is not None:
            assert passed.count(b"<!ENTITY") == len(svg_document._PLAIN_ENTITY.findall(passed))
        render(content, size=16)
    except RenderError as refused:
        assert str(refused)


TARGETS: dict[str, tuple[Inputs, Callable[..., None]]] = {
    "names": (st.tuples(NAMES, st.lists(NAMES, max_size=10)), names),
    "iconify": (st.tuples(SETS), iconify),
    "manifest": (st.tuples(MANIFESTS), manifest),
    "document": (st.tuples(DOCUMENTS), document),
}


@pytest.mark.parametrize("seconds", FOR_SECONDS)
@pytest.mark.parametrize("target", TARGETS)
def test_hostile_input_is_answered_or_refused(target: str, seconds: float, tmp_path: Path) -> None:
    inputs, check = TARGETS[target]
    fuzz(inputs, partial(check, tmp_path) if target in ("iconify", "manifest") else check, seconds=seconds)


SLOW_SIGNS = [pytest.param(sign, marks=pytest.mark.slow) for sign in ("a1", "\u0661", "-", "1é", "_1", "' ")]


@pytest.mark.parametrize("sign", ["1", "é", "aB", *SLOW_SIGNS])
def test_a_very_long_name_or_query_takes_seconds_not_hours(sign: str) -> None:
    text = sign * (300_000 // len(sign))
    started = time.process_time()
    assert parse(text).words
    normalise(text + "é")
    assert time.process_time() - started < 30


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
    assert len(answer.hits) <= min(k, answer.n_found) and all(0 <= hit.score <= 1 for hit in answer.hits)
    assert all(hit.animated is wanted.animated for hit in answer.hits if wanted.animated is not None)
    json.dumps([answer.spelled, [hit.key for hit in answer.hits]]).encode()


def finds(engine: SearchEngine, spelling: str) -> None:
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
    return st.fixed_dictionaries(
        {
            "words": WORDS,
            "without": LABELS.map(tuple),
            "languages": LANGUAGES.map(tuple),
            "keyword": st.booleans(),
            "icon": st.none() | st.integers(-1, 10) | st.integers(),
            "picture_share": st.floats(),
        }
    ).map(lambda given: partial(Query, **given))


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
        return st.tuples(WORDS), partial(finds, engine)
    return st.tuples(queries(), FILTERS, st.integers(-1, 20), st.integers(-1, 20)), partial(asks, engine)


@pytest.mark.parametrize("seconds", FOR_SECONDS)
def test_any_question_is_answered_or_refused(target: tuple[Inputs, Callable[..., None]], seconds: float) -> None:
    fuzz(*target, seconds=seconds)
