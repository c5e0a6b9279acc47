"""What is each set like? A card a set: how many icons, under what terms, in what styles, and a few to look at."""

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from indexer.arrays import Ids, Positions
from indexer.sources.licences import family
from search.deadline import refuse_late
from search.generation.opened import Opened
from search.generation.snapshot import SetRow
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
    values, of_sets = opened.facets.labels("set").values, opened.facets.column("set")
    order = np.argsort(of_sets, kind="stable")
    rows_of = np.split(order, np.searchsorted(of_sets[order], np.arange(1, len(values))))[: len(values)]
    about = {row.key: row for row in opened.snapshot.sets()}
    usual = _usual_icons(opened)
    samples = [_sample(opened, rows, usual) for rows in rows_of]
    shown = iter(hits_of(opened, np.concatenate([order[:0], *samples]), flat=True))
    return [
        _card(opened, about[key], rows, islice(shown, len(sample)))
        for key, rows, sample in zip(values, rows_of, samples, strict=True)
    ]


def _card(opened: Opened, about: SetRow, rows: Positions, sample: Iterator[Hit]) -> SetCard:
    refuse_late()
    ids = opened.facets.column("icon")[rows]
    counts = opened.facets.count(ids, kinds=("style", "category"))
    often = {
        kind: tuple(one.value for one in found if one.n >= _LEAST_SHARE * len(rows)) for kind, found in counts.items()
    }
    return SetCard(
        key=about.key,
        title=about.title,
        n=len(rows),
        licence=about.licence,
        licence_family=family(about.licence),
        styles=often["style"],
        categories=often["category"][:_MOST_CATEGORIES],
        version=about.version,
        author=about.author,
        newest=int(ids.max()),
        sample=list(sample),
    )


def _usual_icons(opened: Opened) -> Sequence[Positions]:
    """For each of the usual meanings the rows of the icons that are called so: of its first name first."""
    called = [[opened.facets.positions(np.sort(opened.snapshot.named(name))) for name in names] for names in MEANINGS]
    return [np.concatenate(rows) for rows in called]


def _sample(opened: Opened, rows: Positions, usual: Sequence[Positions]) -> Ids:
    """Ids of icons that show what a set is like: of usual meanings, then evenly spread; no drawing comes twice."""
    looks, sets = opened.facets.column("look"), opened.facets.column("set")
    values, counts = np.unique(looks[rows], return_counts=True)
    look = values[counts.argmax()]
    typical = rows[looks[rows] == look]
    meant = [named[sets[named] == sets[rows[0]]] for named in usual]
    firsts = [named[np.argsort(looks[named] != look, kind="stable")][:1] for named in meant]
    spread = typical[np.linspace(0, len(typical) - 1, min(len(typical), _SPREAD * N_SAMPLED)).astype(np.int64)]
    ids = opened.facets.column("icon")[np.concatenate([*firsts, spread, rows[:N_SAMPLED]])]
    return np.asarray(ids[grouped(opened, ids, flat=False)[:N_SAMPLED]])
