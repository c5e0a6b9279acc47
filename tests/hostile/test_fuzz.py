"""A fuzzer over what reads strangers' words and files. A short one in every run; for an hour of it:

    ICONS_FUZZ_SECONDS=3600 pytest -m slow tests/hostile/test_fuzz.py

Each target either answers or refuses with one of our own errors, within the time that its input deserves.
"""

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from fuzzing import FOR_SECONDS, NAMES, Inputs, fuzz
from hypothesis import strategies as st
from small_icons import picture_at

from indexer.errors import IconsError, RenderError
from indexer.languages.names import common_affixes, parse, path_hints
from indexer.languages.words import normalise
from indexer.rendering import render as svg_document
from indexer.rendering.render import render
from indexer.sources.records import content_digest
from indexer.sources.source import open_sources, read_picture

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
    assert found.words
    assert found.words == found.words.strip()
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
    try:
        [source] = open_sources(location)
    except IconsError:
        return
    paths = set()
    for found in source.scan({}):
        paths.add(found.path)
        for text in (found.path, found.error or "", *(part for broken in found.broken for part in broken)):
            text.encode()
        for record in found.records or ():
            (record.name + record.set.key + record.set.title + "".join((*record.tags, *record.categories))).encode()
            parse(record.name, style=record.style, size=record.size)
            content = read_picture(picture_at(source.kind, location, found.path, record.member))
            assert content_digest(content) == record.digest


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


SIGNS = [
    "1",
    "é",
    "aB",
    *(pytest.param(sign, marks=pytest.mark.slow) for sign in ("a1", "\u0661", "-", "1é", "_1", "' ")),
]


SIGNS = [
    "1",
    "é",
    "aB",
    *(pytest.param(sign, marks=pytest.mark.slow) for sign in ("a1", "\u0661", "-", "1é", "_1", "' ")),
]


@pytest.mark.parametrize("sign", SIGNS)
def test_a_very_long_name_or_query_takes_seconds_not_hours(sign: str) -> None:
    text = sign * (300_000 // len(sign))
    started = time.process_time()
    assert parse(text).words
    normalise(text + "é")
    assert time.process_time() - started < 30
