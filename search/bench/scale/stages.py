"""How is a library of one size asked? Opened, by words, by page, on a server; `indexer.bench.synthetic` builds it."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import psutil

from indexer.bench.synthetic.stages import BUILDING, Place, Steps, own_bytes

if TYPE_CHECKING:
    from search.engine import SearchEngine

N_QUERIES = 100
_PAGE_HITS = 50
"""As many as the page asks for at a time."""


def ask(place: Place) -> Steps:
    """Open the library as a search does, and ask it for words, under filters, with counts, and for pictures alike."""
    from search.engine import SearchEngine

    steps = Steps()
    with steps.timed("open"):
        engine = SearchEngine.open(place.library.root)
    with steps.timed("first query"):
        engine.search("arrow", k=10)
    texts, icons = _chosen(engine, place.seed)
    _ask_all(engine, steps, texts, icons)
    return steps


def _ask_all(engine: "SearchEngine", steps: Steps, texts: Sequence[str], icons: Sequence[int]) -> None:
    from search.engine import Filters, Query, Window

    plain, page = Window(k=10), Window(k=_PAGE_HITS, facets=True)
    largest = engine.facets()["set"][0].value
    asked = {
        "words": (plain, Filters()),
        "words, page with counts": (page, Filters()),
        "words, one style": (plain, Filters(styles=("outline",))),
        "words, one set": (plain, Filters(sets=(largest,))),
    }
    for name, (window, filters) in asked.items():
        asking = partial(engine.ask, filters=filters, window=window)
        steps.each(name, [partial(asking, Query(words=text)) for text in texts])
    steps.each("more like an icon", [partial(engine.ask, Query(icon=icon), window=plain) for icon in icons])
    with steps.timed("browse, first time"):
        engine.ask(Query(), window=page)
    steps.each("browse", [partial(engine.ask, Query(), window=page)] * 10)


def serve(place: Place) -> Steps:
    """Ask a server for the hits that the page asks for with each keystroke."""
    from search.bench.client import WORDS, Client
    from search.bench.server_process import serving
    from search.engine import SearchEngine

    texts, _ = _chosen(SearchEngine.open(place.library.root), place.seed)
    steps = Steps()
    started = time.perf_counter()
    with serving(place.library) as server:
        steps.seconds["server answers"] = time.perf_counter() - started
        client = Client(server.host, server.port)
        steps.each("page", [partial(client.search, WORDS, q=text, k=_PAGE_HITS) for text in texts])
        client.close()
        steps.n_bytes["server"] = own_bytes(psutil.Process(server.process.pid))
        steps.n_bytes["server, with mapped files"] = server.memory_bytes()
    return steps


def publish(place: Place) -> Steps:
    """Publish the library to a server, without its pictures, and ask that for words."""
    from search.engine import Query, SearchEngine, Window
    from search.publishing.publish import publish as send

    steps = Steps()
    with steps.staged("publish") as stage:
        send(
            place.library,
            address_of(place),
            sends_pictures=False,
            progress=lambda title, *_: stage(title.partition(" ")[0].lower()),
        )
    texts, _ = _chosen(SearchEngine.open(place.library.root), place.seed)
    with steps.timed("published: open"):
        engine = SearchEngine.open(address_of(place))
    steps.each("published: words", [partial(engine.ask, Query(words=text), window=Window(k=10)) for text in texts])
    return steps


def address_of(place: Place) -> str:
    """Where a library is published: each size has a name of its own."""
    return f"{place.server.rstrip('/')}/scale_{place.n}"


PUBLISHING = "publish"
STAGES: dict[str, Callable[[Place], Steps]] = {**BUILDING, "ask": ask, "serve": serve, PUBLISHING: publish}


def _chosen(engine: "SearchEngine", seed: int) -> tuple[list[str], list[int]]:
    """Words of names as queries, and icons, both spread over the library."""
    from search.generation.facets import Facets

    facets = engine.put(lambda opened: opened.facets)
    assert isinstance(facets, Facets)
    random = np.random.default_rng(seed)
    icons = facets.column("icon")[random.integers(len(facets), size=N_QUERIES)]
    rows = engine.put(lambda opened: opened.snapshot.candidates(np.sort(icons)))
    return [row.words for row in rows.values()], icons.tolist()
