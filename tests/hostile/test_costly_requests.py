"""The dearest requests take no long, nor a thread for longer than their answer is waited for.

Each parameter of each path is tried with all that might be dear, one by one. Over a large library, with a table of what
was dearest:

    ICONS_LARGE_LIBRARY=DIR pytest -m slow -s tests/hostile/test_costly_requests.py
"""

import os
import random
import re
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from io import BytesIO
from itertools import product
from pathlib import Path
from textwrap import shorten
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlencode

import httpx
import pytest
from PIL import Image
from serving import serving

from indexer.library.folder import Library

API = "/api/v1"
Value = str | Sequence[str]
SIZES = (1, 8, 33, 200, 2400)
"""Words of a query."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Request(NamedTuple):
    """One request; `body` makes it a POST."""

    path: str
    parameters: Mapping[str, Value] = MappingProxyType({})
    body: bytes | None = None

    def address(self) -> str:
        return f"{self.path}?{urlencode(self.parameters, doseq=True)}"


def texts(words: Sequence[str], *, sizes: Sequence[int], seed: int) -> Iterator[str]:
    """Yield queries of every shape that could be dear; `words` are those that icons bear, the most frequent first."""
    chance = random.Random(seed)
    prefixes = ["".join(pair) for pair in product("aesctblp", _LETTERS)]
    first = words[0]
    for n in sizes:
        some = chance.choices(words, k=n)
        slips = [word[:1] + chance.choice(_LETTERS) + word[1:] for word in some]
        unknown = ["".join(chance.choices(_LETTERS, k=9)) for _ in range(n)]
        begun = [f"{chance.choice(prefixes)}*" for _ in range(n)]
        shapes = (
            *(" ".join(parts) for parts in (words[:n], some, slips, unknown, begun)),
            " with ".join(some),
            f"{first} without " + ", ".join(some),
            "a* " * n,
            f"{first} " + " ".join(f"-{prefix}" for prefix in begun),
            f"{first} " + " ".join(f"-{word}" for word in some),
            '"' + " ".join([first] * n)[:9_900] + '"',
            " ".join(f'"{word} {first}"' for word in some),
            "(" * n + "NEAR AND OR NOT " * min(n, 600),
        )
        yield from (shape[:10_000] for shape in shapes)
    yield from (sign * (10_000 // len(sign.encode())) for sign in ("\u0130", "\ufdfa", "-", "aB", "a", "0"))


def _candidates(
    words: Sequence[str], labels: Mapping[str, Sequence[str]], *, sizes: Sequence[int], last: int
) -> dict[str, list[Value]]:
    """What each parameter of a search is tried with."""
    queries = [*texts(words, sizes=sizes, seed=1), ""]
    filters: dict[str, list[Value]] = {
        name: [[value] for value in labels[kind][:2]] + [list(labels[kind][:50]), ["nothing"] * 50]
        for name, kind in (("set", "set"), ("style", "style"), ("tag", "tag"), ("category", "category"))
        if labels.get(kind)
    }
    return {
        "q": list(queries),
        "keyword": ["1"],
        "not": [
            [words[0]],
            list(words[:16]),
            [f"{word} {' '.join(words[:30])}"[:200] for word in words[:16]],
            ["a"] * 17,
        ],
        "icon": ["1", str(last), str(2**62)],
        "k": ["1", "1000"],
        "offset": ["9000", "9999", "300"],
        "min_score": ["0", "1"],
        "flat": ["1"],
        "facets": ["1"],
        "picture_share": ["0", "1"],
        "licence": [["permissive"], ["permissive", "copyleft", "unknown", "attribution"]],
        "size": [["24"], [str(size) for size in range(1, 51)]],
        "coloured": ["0", "1"],
        "animated": ["0"],
        **filters,
    }


class Prober:
    """Asks one server, and keeps what was dearest of each path."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self.dearest: dict[str, tuple[float, str]] = {}

    def ask(self, request: Request) -> float:
        """Ask, and tell what it took; 0 where it was refused."""
        started, method = time.perf_counter(), "GET" if request.body is None else "POST"
        answer = self.client.request(method, request.address(), content=request.body)
        cost = time.perf_counter() - started, shorten(request.address(), 150)
        assert answer.status_code in (200, 304, 400, 404, 410, 422) and cost[0] < 2.0, cost
        name = f"{method} {request.path}"
        self.dearest[name] = max(self.dearest.get(name, (0.0, "")), cost)
        return cost[0] if answer.status_code == 200 else 0.0

    def climb(self, start: Request, tried: Mapping[str, Sequence[Value]], *, rounds: int) -> None:
        """Try every value of every parameter beside what is dearest so far, and keep the dearest of each."""
        most, best = self.ask(start), start
        for name, values in [*tried.items()] * rounds:
            for value in values:
                request = start._replace(parameters={**best.parameters, name: value})
                most, best = max((most, best), (self.ask(request), request), key=lambda one: one[0])

    def everything(self, words: Sequence[str], *, rounds: int, sizes: Sequence[int] = SIZES) -> None:
        """Ask all that is tried."""
        facets = self.client.get(f"{API}/facets").json()
        labels = {kind: [one["value"] for one in counts] for kind, counts in facets.items()}
        n = int(self.client.get("/health").json()["icons"])
        tried = _candidates(words, labels, sizes=sizes, last=n)
        filters = {name: tried[name] for name in tried.keys() - {"q", "keyword", "icon", "not", "picture_share"}}
        short = {"q": [text[:200] for text in tried["q"]], "not": tried["not"]}
        shot, search = BytesIO(), f"{API}/search"
        Image.effect_noise((1500, 1500), 90).save(shot, "PNG")
        self.climb(Request(search, {"q": words[0]}), tried, rounds=rounds)
        self.climb(Request(search, {"q": words[0], "keyword": "1"}), {"q": tried["q"], **filters}, rounds=rounds)
        self.climb(Request(f"{API}/similar/1"), filters, rounds=rounds)
        self.climb(Request(f"{API}/icons/1/why", {"q": words[0]}), short, rounds=1)
        self.climb(Request(search, {}, shot.getvalue()), {"q": tried["q"][:6], **filters}, rounds=1)
        paths = (f"{API}/icons/1", f"{API}/icons/{n}", f"{API}/facets", "/health", "/metrics", "/")
        for images in (range(1, 101), [1] * 100, range(n, n - 100, -1)):
            self.ask(Request(f"{API}/svgs", {"image": [str(max(1, image)) for image in images]}))
        for one, size in product((1, n // 2, n), (8, 1024)):
            self.ask(Request(f"{API}/icons/{one}/png", {"size": str(size), "color": "#08f"}))
        for request in (*map(Request, paths), Request(f"{API}/{'x' * 60_000}"), Request(search, {"q" * 10_000: "1"})):
            self.ask(request)


def _probe(library: Library, *, rounds: int, sizes: Sequence[int] = SIZES) -> None:
    for number in library.numbers():
        for file in library.generation(number).files:
            file.read_bytes()  # what is measured is no disk
    catalog = library.generation(library.current()).catalog
    with closing(sqlite3.connect(f"{catalog.as_uri()}?mode=ro&immutable=1", uri=True)) as own:
        words = [term for (term,) in own.execute("SELECT term FROM vocabulary ORDER BY doc DESC, term LIMIT 3000")]
    with serving(library) as (client, _):
        client.timeout = httpx.Timeout(60)
        prober = Prober(client)
        prober.everything(words, rounds=rounds, sizes=sizes)
        at_work = re.findall(r"^icons_(?:searches_inside|draw\S*) (\S+)$", client.get("/metrics").text, re.MULTILINE)
        assert at_work and not any(map(float, at_work))
        print(*sorted(prober.dearest.values(), reverse=True), sep="\n")


@pytest.mark.slow
def test_nothing_that_can_be_asked_takes_long(asked: Path) -> None:
    _probe(Library(asked), rounds=1, sizes=(33, 2400))


@pytest.mark.slow
@pytest.mark.skipif("ICONS_LARGE_LIBRARY" not in os.environ, reason="names no large library to ask")
def test_nothing_that_can_be_asked_of_a_large_library_takes_long() -> None:
    _probe(Library(Path(os.environ["ICONS_LARGE_LIBRARY"])), rounds=2)
