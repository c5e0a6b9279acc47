"""Which icons answer a list of needs? The best few of each, of one set, and the one that is chosen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from indexer.errors import IconsError
from indexer.reports.bars import Progress
from search.engine import SearchEngine
from search.picking.one_set import ChosenSet, choose_set
from search.query import Filters, Query, Window
from search.read_as import ReadAs
from search.results import Hit

MOST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Pick:
    """What one need finds."""

    need: str
    hits: Sequence[Hit]
    """The best few, best first; none where nothing fits."""
    chosen: Hit | None
    """One of them, where one was chosen."""
    is_doubtful: bool
    """Whether not even the best is a good match."""
    spelled: str | None
    read_as: ReadAs | None


@dataclass(frozen=True, slots=True)
class Picked:
    """What a list of needs finds."""

    set: ChosenSet | None
    """Of which all are; None where nothing was found, or several sets were asked for."""
    picks: Sequence[Pick]

    @property
    def missing(self) -> Sequence[str]:
        """Needs that nothing was found for."""
        return [pick.need for pick in self.picks if not pick.hits]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which of the best few is taken."""

    numbers: Sequence[int] | None = None
    """One a need, counted from 1; 0 takes none. None: no number was given."""
    first: bool = False

    @property
    def is_made(self) -> bool:
        """Whether anything is chosen at all."""
        return self.first or self.numbers is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Picking:
    """What is asked for beside the needs."""

    filters: Filters
    """With no set, one is chosen for all needs."""
    window: Window
    """How many of each are shown, and how sure a match must be."""
    choice: Choice
    served: Sequence[str] = ()
    """Keys of the sets that the framework serves which code is wanted for; none: all."""


def pick_icons(engine: SearchEngine, queries: Sequence[Query], how: Picking, *, progress: Progress) -> Picked:
    """Answer each need with the best few icons of one set.

    Raises:
        IconsError: a filter names what this library lacks, or a number is chosen that is not shown.
    """
    if how.choice.numbers is not None and len(how.choice.numbers) != len(queries):
        n_given = len(how.choice.numbers)
        raise IconsError(f"{n_given} numbers chosen for {len(queries)} needs; give one a need, 0 for none")
    filters = replace(how.filters, sets=served_sets(engine, engine.set_keys(how.filters.sets), how.served))
    one = None
    if not filters.sets:
        one = choose_set(engine, queries, filters, served=how.served, progress=progress)
        filters = replace(filters, sets=(one.key,)) if one else filters
    picks = []
    for number, query in enumerate(queries):
        found = engine.ask(query, filters=filters, window=how.window)
        chosen = _chosen(query.words, found.hits, how.choice, number)
        picks.append(Pick(query.words, found.hits, chosen, found.is_doubtful, found.spelled, found.read_as))
        progress("Picking", number + 1, len(queries))
    return Picked(one, picks)


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


def _chosen(need: str, hits: Sequence[Hit], choice: Choice, number: int) -> Hit | None:
    if not hits:
        return None
    if choice.numbers is None:
        return hits[0] if choice.first else None
    wanted = choice.numbers[number]
    if wanted > len(hits):
        raise IconsError(f'"{need}" has {len(hits)} to choose from, and {wanted} was chosen; 0 takes none')
    return hits[wanted - 1] if wanted else None
