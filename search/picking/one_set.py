"""Of which set are all icons picked, if nobody says? Of one, so that they go together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from indexer.library.preferences import known_preferences
from indexer.reports.bars import Progress
from search.engine import SearchEngine
from search.query import Filters, Query, Window
from search.results import Hit
from search.words.set_names import WELL_KNOWN

_LOOKED_AT = 300
"""Icons of all sets, each by itself, by which sets are chosen that are then asked one by one."""
_MOST_ASKED = 8
"""Sets."""
_NEARLY = 0.95
"""Of the best sum of scores: a set that is widely used is taken before a little known one that is hardly better."""
WELL = 0.5
"""Least score of an icon that answers: below it there may be none (`Hit.score`)."""


@dataclass(frozen=True, slots=True)
class ChosenSet:
    """One set for all needs."""

    key: str
    title: str
    why: str
    """As a person is told it."""
    n_others: int
    """Sets that it was chosen among."""


def choose_set(
    engine: SearchEngine, queries: Sequence[Query], filters: Filters, *, served: Sequence[str] = (), progress: Progress
) -> ChosenSet | None:
    """Choose the set that the user prefers, else the one that answers most needs well; None where nothing answers.

    `served`: keys of which one is to be chosen; none: all.
    """
    held = {count.value: count.title for count in engine.facets().get("set", ())}
    allowed = [key for key in served or held if key in held]
    n_others = len(allowed) - 1
    if n_others == 0:
        return ChosenSet(allowed[0], held[allowed[0]], "the only one that serves here", n_others)
    for key in known_preferences(engine.library).sets:
        if key in allowed:
            return ChosenSet(key, held[key], "which you prefer", n_others)
    within = replace(filters, sets=tuple(allowed))
    answered = {}
    for done, key in enumerate(candidates := _candidates(engine, queries, within, progress), start=1):
        answered[key] = _answered(engine, queries, replace(filters, sets=(key,)))
        progress("Comparing sets", done, len(candidates))
    if not answered:
        return None
    most, best = max(answered.values())
    near = [key for key in candidates if answered[key][0] == most and answered[key][1] >= _NEARLY * best]
    key = max(near, key=lambda key: (key in WELL_KNOWN, answered[key]))
    return ChosenSet(key, held[key], f"which answers {most} of {len(queries)} needs well", n_others)


def _candidates(engine: SearchEngine, queries: Sequence[Query], filters: Filters, progress: Progress) -> Sequence[str]:
    """Sets with an icon among the first of most needs, the best of them first."""
    scores: dict[str, list[float]] = {}
    for done, query in enumerate(queries, start=1):
        found = engine.ask(query, filters=filters, window=Window(k=_LOOKED_AT, flat=True))
        best: dict[str, float] = {}
        for hit in found.hits:
            best.setdefault(hit.set, hit.score)
        for key, score in best.items():
            scores.setdefault(key, []).append(score)
        progress("Choosing a set", done, len(queries))
    return sorted(scores, key=lambda key: _worth(scores[key]), reverse=True)[:_MOST_ASKED]


def _answered(engine: SearchEngine, queries: Sequence[Query], filters: Filters) -> tuple[int, float]:
    firsts: list[Hit] = [
        hit for query in queries for hit in engine.ask(query, filters=filters, window=Window(k=1)).hits
    ]
    return _worth([hit.score for hit in firsts])


def _worth(scores: Sequence[float]) -> tuple[int, float]:
    """How many needs a set answers well, and by how much."""
    return sum(score >= WELL for score in scores), sum(scores)
