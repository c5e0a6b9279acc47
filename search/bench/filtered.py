"""How long does an answer take under filters? Under those that a library's own icons give: much is left, or little."""

import time
from collections.abc import Iterator, Sequence

from indexer.library.traits import FLAGS
from indexer.reports.bars import Progress
from search.bench.measured import Filtered, Spread
from search.engine import SearchEngine
from search.generation.facets import FIELDS, Facets
from search.query import Filters, Query, Window

_EVERY = 1_000_000


def measure_filtered(engine: SearchEngine, queries: Sequence[str], *, k: int, progress: Progress) -> list[Filtered]:
    """Time queries one after the other under one filter after the other, facets counted, as a page asks."""
    facets = Facets.open(engine.generation)
    chosen = dict(choose_filters(facets))
    found = []
    for done, (name, filters) in enumerate(chosen.items(), 1):
        left = facets.select(filters)
        times = _ask(engine, queries, filters, k=k)
        found.append(Filtered(name, len(facets) if left is None else len(left), len(times), Spread.of(times)))
        progress("Filters", done, len(chosen))
    return found


def choose_filters(facets: Facets) -> Iterator[tuple[str, Filters]]:
    """Yield no filter, the most frequent value of each kind, the rarest set, and several at once."""
    yield "none", Filters()
    counted = facets.count(None, most=_EVERY)
    most = {kind: of[0].value for kind, of in counted.items() if of}
    for kind, value in most.items():
        yield f"{kind} {value}", _filters({kind: value})
    yield f"set {counted['set'][-1].value}, the rarest", _filters({"set": counted["set"][-1].value})
    several = {kind: value for kind, value in most.items() if kind in ("style", "family", *FLAGS)}
    yield ", ".join(f"{kind} {value}" for kind, value in several.items()), _filters(several)


def _filters(values: dict[str, str]) -> Filters:
    given: dict[str, tuple[str, ...]] = {FIELDS[kind]: (value,) for kind, value in values.items() if kind in FIELDS}
    if "family" in values:
        given["licences"] = (values["family"],)
    truth = {flag: values[flag] == "true" for flag in FLAGS if flag in values}
    sizes = (int(values["size"]),) if "size" in values else ()
    return Filters(**given, **truth, sizes=sizes)  # type: ignore[arg-type]


def _ask(engine: SearchEngine, queries: Sequence[str], filters: Filters, *, k: int) -> list[float]:
    window = Window(k=k, facets=True)
    times = []
    for query in (queries[0], *queries):
        started = time.perf_counter()
        engine.ask(Query(words=query), filters=filters, window=window)
        times.append(time.perf_counter() - started)
    return times[1:]  # the first one reads what this filter needs from the disk
