"""What is each set like? A card a set: how many icons, under what terms, in what styles, and a few to look at."""

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from indexer.arrays import Ids, Positions
from indexer.sources.licences import family
from search.deadline import refuse_late
from search.generation.backend import Ability
from search.generation.facets import Facets
from search.generation.icon_table import SetFacts
from search.generation.opened import Opened
from search.generation.rows import SetRow
from search.ranking.grouping import grouped
from search.ranking.hits import hits_of
from search.results import Hit, SetCard

N_SAMPLED = 8
"""Icons of a set's sample."""
MEANINGS = (
    ("home", "house"),
    ("user", "account", "person"),
    ("heart", "favorite", "love"),
    ("settings", "cog", "gear", "setting"),
    ("search", "magnify", "magnifier", "magnifying glass"),
    ("bell", "notification", "notifications"),
    ("star",),
    ("mail", "email", "envelope"),
    ("camera",),
    ("calendar",),
    ("lock",),
    ("cloud",),
    ("trash", "delete", "trash can", "bin"),
    ("phone", "call"),
    ("download",),
    ("play",),
)
"""What most sets draw, under its usual names: the same things beside each other show how sets differ."""
_LEAST_SHARE = 0.05
"""Of a set's icons, that have a style or a category which its card names."""
_MOST_CATEGORIES = 5
_SPREAD = 4
"""Times as many icons are looked at where names say nothing: some have the same drawing."""


def set_cards(opened: Opened) -> list[SetCard]:
    """Tell of every set, by key."""
    told = opened.facets.told_sets()
    facts = set_facts(opened, opened.in_memory(Ability.SET_CARDS)) if told is None else told
    about = {row.key: row for row in opened.snapshot.sets()}
    ids = np.array([icon for one in facts for icon in one.sample], np.int64)
    shown = iter(hits_of(opened, ids, flat=True))
    return [_card(about[one.key], one, islice(shown, len(one.sample))) for one in facts]


def set_facts(opened: Opened, facets: Facets) -> list[SetFacts]:
    """Look through all icons of every set, by key."""
    values, of_sets = facets.labels("set").values, facets.column("set")
    order = np.argsort(of_sets, kind="stable")
    rows_of = np.split(order, np.searchsorted(of_sets[order], np.arange(1, len(values))))[: len(values)]
    usual = _usual_icons(opened, facets)
    return [
        _facts(facets, key, rows, _sample(opened, facets, rows, usual))
        for key, rows in zip(values, rows_of, strict=True)
    ]


def _facts(facets: Facets, key: str, rows: Positions, sample: Ids) -> SetFacts:
    refuse_late()
    ids = facets.column("icon")[rows]
    counts = facets.count(ids, kinds=("style", "category"))
    often = {
        kind: tuple(one.value for one in found if one.n >= _LEAST_SHARE * len(rows)) for kind, found in counts.items()
    }
    return SetFacts(
        key=key,
        n=len(rows),
        styles=often["style"],
        categories=often["category"][:_MOST_CATEGORIES],
        newest=int(ids.max()),
        sample=tuple(sample.tolist()),
    )


def _card(about: SetRow, facts: SetFacts, sample: Iterator[Hit]) -> SetCard:
    return SetCard(
        key=about.key,
        title=about.title,
        n=facts.n,
        licence=about.licence,
        licence_family=family(about.licence),
        styles=facts.styles,
        categories=facts.categories,
        version=about.version,
        author=about.author,
        newest=facts.newest,
        sample=list(sample),
    )


def _usual_icons(opened: Opened, facets: Facets) -> Sequence[Positions]:
    """For each of the usual meanings the rows of the icons that are called so: of its first name first."""
    called = [[facets.positions(np.sort(opened.snapshot.named(name))) for name in names] for names in MEANINGS]
    return [np.concatenate(rows) for rows in called]


def _sample(opened: Opened, facets: Facets, rows: Positions, usual: Sequence[Positions]) -> Ids:
    """Ids of icons that show what a set is like: of usual meanings, then evenly spread; no drawing comes twice."""
    looks, sets = facets.column("look"), facets.column("set")
    values, counts = np.unique(looks[rows], return_counts=True)
    look = values[counts.argmax()]
    typical = rows[looks[rows] == look]
    meant = [named[sets[named] == sets[rows[0]]] for named in usual]
    firsts = [named[np.argsort(looks[named] != look, kind="stable")][:1] for named in meant]
    spread = typical[np.linspace(0, len(typical) - 1, min(len(typical), _SPREAD * N_SAMPLED)).astype(np.int64)]
    ids = facets.column("icon")[np.concatenate([*firsts, spread, rows[:N_SAMPLED]])]
    return np.asarray(ids[grouped(opened, ids, flat=False)[:N_SAMPLED]])
