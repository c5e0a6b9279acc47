"""Icons of one set for a list of needs, and their code."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from indexer.errors import IconsError
from indexer.languages.words import printable
from indexer.library.folder import known_preferences
from indexer.reports.terminal import Progress, with_progress
from search.drawings.frameworks import AS_IT_IS, Framework, Look, NamedIcon, named_icon
from search.drawings.write import Snippet, laid_out, write
from search.engine import SearchEngine
from search.query import Answer, Filters, Hit, Query, Window, refuse_broken
from search.words.codes import WELL_KNOWN

MOST_NEEDS = 500
"""Of one list: each is a search, or six where a set is to be chosen."""
LONGEST_NEED = 300
"""Letters."""
_BULLET = re.compile(r"\A(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")


def read_needs(lines: Iterable[str]) -> list[str]:
    """Read needs, in their order; one that stands twice is needed twice.

    Raises:
        IconsError: there is none, or there are too many, or one is too long.
    """
    needs = [
        (number, " ".join(_BULLET.sub("", text).split()))
        for number, line in enumerate(lines, start=1)
        if (text := line.strip().removeprefix("\ufeff")) and not text.startswith("#")
    ]
    for number, need in needs:
        if len(need) > LONGEST_NEED:
            raise IconsError(
                f'need {number:,} has {len(need):,} letters ("{printable(need[:40])} ..."); '
                f"give {LONGEST_NEED} or fewer, a line a need"
            )
        refuse_broken(need)
    if len(needs) > MOST_NEEDS:
        raise IconsError(f"more than {MOST_NEEDS} needs; give them in several lists")
    if not needs:
        raise IconsError('no needs; `icons pick settings "log out"` names two, and stdin takes a line each')
    return [need for _, need in needs]


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
    """A phrase for people."""
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
    n_others, liked = len(allowed) - 1, [key for key in known_preferences(engine.library).sets if key in allowed]
    if liked or n_others == 0:
        why = "which you prefer" if n_others else "the only one that serves here"
        return ChosenSet((*liked, *allowed)[0], held[(*liked, *allowed)[0]], why, n_others)
    answered, candidates = {}, _candidates(engine, queries, replace(filters, sets=tuple(allowed)), progress)
    for key in with_progress(candidates, "Comparing sets", progress):
        only = replace(filters, sets=(key,))
        answers = (engine.ask(query, filters=only, window=Window(k=1)) for query in queries)
        answered[key] = _worth([hit.score for answer in answers for hit in answer.hits])
    if not answered:
        return None
    most, best = max(answered.values())
    key = max(
        [key for key in candidates if answered[key][0] == most and answered[key][1] >= _NEARLY * best],
        key=lambda key: (key in WELL_KNOWN, answered[key]),
    )
    return ChosenSet(key, held[key], f"which answers {most} of {len(queries)} needs well", n_others)


def _candidates(engine: SearchEngine, queries: Sequence[Query], filters: Filters, progress: Progress) -> Sequence[str]:
    """Sets with an icon among the first of most needs, the best of them first."""
    scores: dict[str, list[float]] = defaultdict(list)
    for query in with_progress(queries, "Choosing a set", progress):
        hits = engine.ask(query, filters=filters, window=Window(k=_LOOKED_AT, flat=True)).hits
        for key, score in {hit.set: hit.score for hit in reversed(hits)}.items():
            scores[key].append(score)
    return sorted(scores, key=lambda key: _worth(scores[key]), reverse=True)[:_MOST_ASKED]


def _worth(scores: Sequence[float]) -> tuple[int, float]:
    """How many needs a set answers well, and by how much."""
    return sum(score >= WELL for score in scores), sum(scores)


MOST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Pick:
    """What one need finds."""

    need: str
    found: Answer
    """The best few, best first; none where nothing fits."""
    chosen: Hit | None
    """One of them, where one was chosen."""

    @property
    def hits(self) -> Sequence[Hit]:
        """The best few."""
        return self.found.hits


@dataclass(frozen=True, slots=True)
class Written:
    """Hits as code."""

    snippet: Snippet
    remarked: str
    """Its code, each use behind the need that it answers."""
    refused: Sequence[tuple[str, str]]
    """Needs whose icon can't be written so, and why."""


@dataclass(frozen=True, slots=True)
class Picked:
    """What a list of needs comes to."""

    set: ChosenSet | None
    """Of which all are; None where nothing was found, or several sets were asked for."""
    picks: Sequence[Pick]
    framework: Framework | None
    """That the chosen icons were to be written for."""
    written: Written | None
    """None where no code was asked for, or nothing was chosen."""

    @property
    def missing(self) -> Sequence[str]:
        """Needs that nothing was found for."""
        return [pick.need for pick in self.picks if not pick.hits]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picking:
    """What is asked for beside the needs."""

    filters: Filters
    """With no set, one is chosen for all needs, of those that the framework serves."""
    window: Window
    """How many of each are shown, and how sure a match must be."""
    numbers: Sequence[int] | None = None
    """Which is taken, one a need, counted from 1; 0 takes none. None: no number was chosen."""
    first: bool = False
    """Whether the best is taken where no number was chosen."""
    framework: Framework | None = None
    """What is chosen is written as code for this."""
    look: Look = AS_IT_IS


def pick_icons(engine: SearchEngine, queries: Sequence[Query], how: Picking, *, progress: Progress) -> Picked:
    """Answer each need with the best few icons of one set, and write what is chosen as code.

    Raises:
        IconsError: a filter names what this library lacks, a number is chosen that is not shown, or nothing that was
            chosen can be written.
    """
    numbers = how.numbers if how.numbers is not None else [int(how.first)] * len(queries)
    if len(numbers) != len(queries):
        raise IconsError(f"{len(numbers)} numbers chosen for {len(queries)} needs; give one a need, 0 for none")
    served = how.framework.sets if how.framework else ()
    filters = replace(how.filters, sets=served_sets(engine, engine.set_keys(how.filters.sets), served))
    one = None
    if not filters.sets:
        one = choose_set(engine, queries, filters, served=served, progress=progress)
        filters = replace(filters, sets=(one.key,)) if one else filters
    picks = []
    for query, number in with_progress(list(zip(queries, numbers, strict=True)), "Picking", progress):
        need, found = query.words, engine.ask(query, filters=filters, window=how.window)
        if found.hits and number > len(found.hits):
            raise IconsError(f'"{need}" has {len(found.hits)} to choose from, and {number} was chosen; 0 takes none')
        picks.append(Pick(need, found, (found.hits[number - 1] if found.hits and number else None)))
    chosen = [(pick.need, pick.chosen) for pick in picks if pick.chosen]
    return Picked(
        one,
        picks,
        how.framework,
        (write_picks(engine, chosen, how.framework, how.look) if how.framework and chosen else None),
    )


def served_sets(engine: SearchEngine, sets: Sequence[str], served: Sequence[str]) -> tuple[str, ...]:
    """Those of the sets asked for that a framework serves.

    Raises:
        IconsError: it serves none of them, or none that is here.
    """
    if not served:
        return tuple(sets)
    here = {count.value for count in engine.facets().get("set", ())} & set(served)
    if not here:
        raise IconsError(
            f"this library has no set that the format serves ({', '.join(served)}); --format react takes any set"
        )
    if sets and not here & set(sets):
        raise IconsError(
            f'"{sets[0]}" is no set that the format serves ({", ".join(sorted(here))}); '
            "--format @iconify/react takes every set of Iconify, react any"
        )
    return tuple(key for key in sets if key in here)


def write_picks(engine: SearchEngine, chosen: Sequence[tuple[str, Hit]], framework: Framework, look: Look) -> Written:
    """Write the icons that needs have chosen, those left out that can't be written, or whose source has gone.

    Raises:
        IconsError: none can; the message says why the first can't.
    """
    icons, refused = list[tuple[str, NamedIcon]](), list[tuple[str, str]]()
    for need, hit in chosen:
        try:
            icon = named_icon(hit, engine.picture(hit.id) if framework.needs_svg else None)
            write([icon], framework, look)
        except IconsError as error:
            refused.append((need, str(error)))
        else:
            icons.append((need, icon))
    if not icons:
        raise IconsError(refused[0][1])
    snippet = write([icon for _, icon in icons], framework, look)
    return Written(
        snippet, laid_out(snippet.imports, snippet.uses, framework, remarks=[need for need, _ in icons]), refused
    )


def picked_json(picked: Picked) -> dict[str, Any]:
    """Spell it as one object; code stands in it where code was asked for."""
    needs = [
        {
            "need": pick.need,
            "chosen": pick.chosen.key if pick.chosen else None,
            "is_doubtful": pick.found.is_doubtful,
            "spelled": pick.found.spelled,
            "read_as": str(pick.found.read_as) if pick.found.read_as else None,
            "hits": list(map(asdict, pick.hits)),
        }
        for pick in picked.picks
    ]
    plain: dict[str, Any] = {
        "set": (asdict(picked.set) if picked.set else None),
        "needs": needs,
        "missing": list(picked.missing),
    }
    plain |= {"format": picked.framework.name} if picked.framework else {}
    if written := picked.written:
        plain |= {name: getattr(written.snippet, name) for name in ("imports", "uses", "install", "left_out")}
        plain["code"] = written.remarked
        plain["refused"] = [{"need": need, "error": why} for need, why in written.refused]
    return plain
