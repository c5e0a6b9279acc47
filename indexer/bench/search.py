"""`icons lab bench search`: how fast icons are found: by those who start a search, who use a server, by an index.

`icons search` and `icons serve` run in processes of their own, and are asked as people ask them; the library is only
read. What an answer says of its own time stands beside what its reader has waited.
"""

import http.client
import json
import sqlite3
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import urlencode

import numpy as np

from indexer.bench.indexes import IndexOptions, measure_indexes
from indexer.bench.processes import Server, ask_alone, run_icons, serving
from indexer.bench.report import Report, Row, Run
from indexer.encoders.query_encoder import open_query_encoder
from indexer.errors import LibraryError
from indexer.library.folder import Library
from indexer.library.named import read_list, text_of
from indexer.library.shards import read_vectors
from indexer.merging.manifest import Manifest, answering_manifest
from indexer.reports.terminal import Progress

PARTS = ("cold", "warm", "filters", "pictures", "clients", "page", "indexes")
COLD, WARM, FILTERS, PICTURES, CLIENTS, PAGE, INDEXES = PARTS
API = "/api/v1"
N_QUERIES, N_ASKED = 300, 100
"""Texts, each asked once of a server, which remembers the last ones; and as many as each index is asked."""
AT_ONCE, ROUNDS, ROUND_SECONDS = (1, 2, 4, 8, 16, 200), 3, 1.5
"""Who ask at the same time: of 200 a server with a queue of 64 refuses many."""
PAGE_HITS, N_SVG, _SECONDS = 50, 8, 30.0
_WORDS = "SELECT words FROM names WHERE words != '' AND id IN (SELECT name_id FROM icons) ORDER BY id"
_FILTERS = {"set": "set", "style": "style", "category": "category", "tag": "tag", "family": "licence", "size": "size"}
"""Of the API, by the facet that counts their values."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What is measured, and with which queries."""

    parts: Sequence[str] = PARTS
    queries: Sequence[Path] = ()
    """JSONL files; none: names of the library's own icons."""
    n_cold: int = 10
    clients: int = 16
    """Who use the page at once."""
    seconds: float = 60.0
    """How long they do."""
    k: int = 10
    seed: int = 0
    indexes: IndexOptions = field(default_factory=IndexOptions)


class Answered(NamedTuple):
    """One request and how it went."""

    kind: str
    status: int
    """0: no answer at all."""
    seconds: float
    reported: float | None = None
    """Seconds that the answer says it took the engine."""


class Client:
    """One connection to a server, kept open."""

    def __init__(self, server: Server) -> None:
        self._connection = http.client.HTTPConnection(server.host, server.port, timeout=_SECONDS)
        self.close = self._connection.close
        self.answers: list[Answered] = []

    def ask(self, kind: str, path: str, *, picture: bytes | None = None) -> bytes:
        """Send a request and note how it went; b"" where it was not answered as it should be."""
        started = time.perf_counter()
        try:
            self._connection.request("GET" if picture is None else "POST", path, picture)
            answer = self._connection.getresponse()
            content, status = answer.read(), answer.status
        except (OSError, http.client.HTTPException):
            self.close()
            content, status = b"", 0
        self.answers.append(Answered(kind, status, time.perf_counter() - started))
        return content if status == 200 else b""

    def search(self, kind: str, *, picture: bytes | None = None, path: str = "search", **parameters: Any) -> list[Any]:
        """Ask for hits."""
        content = self.ask(kind, f"{API}/{path}?{urlencode(parameters)}", picture=picture)
        answer: dict[str, Any] = json.loads(content) if content else {"hits": [], "ms": 0}
        self.answers[-1] = self.answers[-1]._replace(reported=answer["ms"] / 1000)
        return cast(list[Any], answer["hits"])

    def words(self, text: str, **window: Any) -> list[Any]:
        """Ask for words, under filters and in a window of hits."""
        return self.search("words", q=text, **window)

    def like_picture(self, picture: bytes, *, k: int) -> list[Any]:
        """Ask for icons like a picture."""
        return self.search("picture", picture=picture, k=k)

    def alike(self, hit: Mapping[str, Any], *, k: int = 10) -> list[Any]:
        """Ask for icons like one that was found."""
        return self.search("similar", path=f"similar/{hit['id']}", k=k)

    def facets(self) -> dict[str, list[dict[str, Any]]]:
        """What icons can be filtered by, the most frequent first."""
        return cast(dict[str, list[dict[str, Any]]], json.loads(self.ask("facets", f"{API}/facets")))


def use_page(client: Client, texts: Sequence[str]) -> Iterator[object]:
    """Ask without end as one who uses the page does; gives control back after each request, with its answer."""
    for text in cycle(texts):
        yield (hits := client.words(text, k=PAGE_HITS, facets=1))
        for hit in hits[:N_SVG]:
            yield client.ask("svg", hit["svg_url"] or hit["png_url"])
        for first in hits[:1]:
            yield client.ask("show", f"{API}/icons/{first['id']}")
            yield client.alike(first, k=PAGE_HITS)
            yield (picture := client.ask("png", f"{first['png_url']}&size=128"))
            if picture:
                yield client.like_picture(picture, k=PAGE_HITS)
            yield client.search("filtered", q=text, k=PAGE_HITS, set=first["set"])


def bench_search(library: Library, options: SearchOptions, progress: Progress) -> Report:
    """Measure the parts that are asked for; Ctrl-C ends it early, and what was measured until then is kept.

    Raises:
        LibraryError: there is no library, nothing in it, or too little.
        BenchError: the server does not start, or more vectors were asked for than memory holds.
    """
    manifest, texts = read_manifest(library), choose_texts(library, options.queries, seed=options.seed)
    source = ", ".join(map(str, options.queries)) or "names of its own icons"
    report = Report(command="icons lab bench search", main="p50, ms", machine=ask_alone("machine")[0])
    report.facts.append(
        f"{library.root}, generation {manifest.number}: {manifest.icons.n:,} icons, "
        f"vectors of {manifest.dim}; {len(texts)} queries: {source}; seed {options.seed}"
    )
    with suppress(KeyboardInterrupt):
        if COLD in options.parts:
            report.rows += measure_cold(library, n_runs=options.n_cold, progress=progress)
        if set(options.parts) - {COLD, INDEXES}:
            with serving(str(library.root)) as server:
                for part in (part for part in _SERVED if part in options.parts):
                    progress(part, 0, 1)
                    report.rows += _SERVED[part](server, texts, options)
        if INDEXES in options.parts:
            ids = np.unique(np.array(ask_catalog(library, "SELECT image_id FROM icons"), np.int64))
            shards, encoder = library.vectors(manifest.fingerprint), library.encoder(manifest.fingerprint)
            vectors, filled = read_vectors(shards, "images", ids, fingerprint=manifest.fingerprint)
            # Words that ask for pictures are the hardest task of an index.
            words = open_query_encoder(encoder).encode_many_words(texts[:N_ASKED])
            measure_indexes(report, vectors[filled], words, options.indexes, progress)
        report.is_whole = True
    return report


def read_manifest(library: Library) -> Manifest:
    """Read what answers. Raises LibraryError: nothing does."""
    manifest = answering_manifest(library)
    if manifest is None:
        raise LibraryError(f'"{library.root}" holds no generation to ask; `icons index SOURCE` builds one')
    return manifest


def ask_catalog(library: Library, question: str) -> list[Any]:
    """Ask the catalog of what answers; the rows."""
    catalog = library.generation(read_manifest(library).number).catalog.absolute()
    with closing(sqlite3.connect(f"{catalog.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        return connection.execute(question).fetchall()


def choose_texts(library: Library, files: Sequence[Path] = (), *, seed: int = 0) -> list[str]:
    """Take at most `N_QUERIES` texts, of JSONL files of queries or of the names of a library's icons."""
    rows = (row for file in files for _, row in read_list(file, ("query",), needed=("query",)))
    texts = [text for row in rows if (text := text_of(row.get("query")))]
    texts = texts or [words for (words,) in ask_catalog(library, _WORDS)]
    return [texts[place] for place in np.random.default_rng(seed).permutation(len(texts))[:N_QUERIES].tolist()]


def measure_cold(library: Library, *, n_runs: int, progress: Progress = lambda *_: None) -> list[Row]:
    """Time whole processes of `icons search arrow`."""
    row = Row(COLD, "icons search arrow")
    for done in range(n_runs + 1):  # at first files come into the cache
        ran = run_icons("search", "arrow", "--json", "--library", str(library.root), is_watched=False)
        if done:
            row.runs.append({"seconds": ran.seconds, "reported, ms": json.loads(ran.answer)["ms"]})
        progress("cold starts", done, n_runs)
    return [row]


def spread(answers: Sequence[Answered]) -> Run:
    """Quantiles of times in ms, and the median of what the answers say themselves."""
    times, reported = [one.seconds for one in answers], [one.reported for one in answers if one.reported]
    found = {f"p{p}, ms": float(np.percentile(times, p)) for p in (50, 95, 99) if times}
    found |= {"reported p50, ms": statistics.median(reported)} if reported else {}
    return {"requests": len(answers), **{name: round(1000 * seconds, 3) for name, seconds in found.items()}}


def timed(server: Server, ask: Callable[..., object], questions: Sequence[Any], **window: Any) -> Run:
    """Ask questions one after the other over one connection; a few, forgotten since, come before the clock."""
    with closing(Client(server)) as client:
        for question in (*questions[-10:], *questions):
            ask(client, question, **window)
    return spread([one for one in client.answers[-len(questions) :] if one.status == 200])


def first_hits(server: Server, texts: Sequence[str]) -> list[dict[str, Any]]:
    """The first icon that each of some texts finds."""
    with closing(Client(server)) as client:
        return [hit for text in texts for hit in client.search("words", q=text, k=1)][:N_ASKED]


def _warm(server: Server, texts: Sequence[str], options: SearchOptions) -> Iterator[Row]:
    yield Row(WARM, f"{options.k} hits", runs=[timed(server, Client.words, texts, k=options.k)])
    yield Row(WARM, f"{PAGE_HITS} hits with counts", runs=[timed(server, Client.words, texts, k=PAGE_HITS, facets=1)])


def _filtered(server: Server, texts: Sequence[str], options: SearchOptions) -> Iterator[Row]:
    """Under no filter, the most frequent value of each kind, the rarest set, and two at once."""
    with closing(Client(server)) as client:
        facets = client.facets()
    most = {_FILTERS[kind]: of[0]["value"] for kind, of in facets.items() if kind in _FILTERS and of}
    two: dict[str, Any] = {kind: most[kind] for kind in ("style", "licence") if kind in most}
    every: list[dict[str, Any]] = [{}, *({kind: value} for kind, value in most.items()), two]
    for chosen in [*every, {"set": facets["set"][-1]["value"]}]:
        name = ", ".join(f"{kind} {value}" for kind, value in chosen.items()) or "none"
        yield Row(FILTERS, name, runs=[timed(server, Client.words, texts, k=options.k, facets=1, **chosen)])


def _pictured(server: Server, texts: Sequence[str], options: SearchOptions) -> Iterator[Row]:
    """With pictures of icons that are found, drawn as a stranger's would be; and by icons, which have vectors."""
    hits = first_hits(server, texts)
    with closing(Client(server)) as client:
        pictures = [content for hit in hits if (content := client.ask("png", f"{hit['png_url']}&size=128"))]
    if not pictures:
        raise LibraryError("no picture of this library can be read any more; run `icons index`")

    yield Row(PICTURES, "a picture", runs=[timed(server, Client.like_picture, pictures, k=options.k)])
    yield Row(PICTURES, "more like an icon", runs=[timed(server, Client.alike, hits, k=options.k)])


def _together(
    server: Server, n: int, seconds: float, asks: Callable[[int, Client], Iterator[object]]
) -> list[Answered]:
    """Let so many clients ask at the same time, each its next request as soon as it has its answer."""
    ends = time.monotonic() + seconds

    def ask(number: int) -> list[Answered]:
        with closing(Client(server)) as client:
            for _ in asks(number, client):
                if time.monotonic() > ends:
                    break
        return client.answers

    with ThreadPoolExecutor(n) as pool:
        return [one for answers in pool.map(ask, range(n)) for one in answers]


def _many(server: Server, texts: Sequence[str], options: SearchOptions) -> Iterator[Row]:
    """More and more who ask for words at once, in the end far more than are let in; several rounds of all."""
    rows = [Row(CLIENTS, f"{n} at once") for n in AT_ONCE]

    def asks(number: int, client: Client) -> Iterator[object]:
        return (client.words(text, k=options.k) for text in islice(cycle(texts), number % len(texts), None))

    for n, row in list(zip(AT_ONCE, rows, strict=True)) * ROUNDS:
        answers = _together(server, n, ROUND_SECONDS, asks)
        good, refused = ([one for one in answers if one.status == status] for status in (200, 503))
        row.runs.append({"queries/s": len(good) / ROUND_SECONDS, **spread(good), "refused": len(refused)})
        if failed := len(answers) - len(good) - len(refused):
            row.error = f"{failed} requests were neither answered nor refused with 503"
    yield from rows


def _page(server: Server, texts: Sequence[str], options: SearchOptions) -> Iterator[Row]:
    """Those who use the page for some time: each kind of request, errors, and the server's memory meanwhile."""
    memory: list[int] = []

    def asks(number: int, client: Client) -> Iterator[object]:
        for answer in use_page(client, [*texts[number * len(texts) // options.clients :], *texts]):
            if not number:
                memory.append(server.memory_bytes())
            yield answer

    answers = _together(server, options.clients, options.seconds, asks)
    good = [one for one in answers if one.status == 200]
    kinds = dict.fromkeys(one.kind for one in answers)
    yield from (Row(PAGE, kind, runs=[spread([one for one in good if one.kind == kind])]) for kind in kinds)
    errors = Counter(f"{one.kind} {one.status or 'without an answer'}" for one in answers if one.status != 200)
    yield from (Row(PAGE, what, error=f"{n} were not answered as they should be") for what, n in errors.items())
    if quarter := len(memory) // 4:
        grew = statistics.median(memory[-quarter:]) - statistics.median(memory[quarter : 2 * quarter])
        yield Row(PAGE, "server memory", runs=[{"MB at most": max(memory) / 1e6, "MB grown": grew / 1e6}])


_SERVED = {WARM: _warm, FILTERS: _filtered, PICTURES: _pictured, CLIENTS: _many, PAGE: _page}
