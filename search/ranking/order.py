"""In which order icons stand and which of several stands for all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Ids, Mask, Positions, firsts_of
from indexer.library.bundled import bundled
from indexer.merging.browsing import group_many
from indexer.sources.records import family
from search.generation.opened import Opened
from search.ranking import weights

if TYPE_CHECKING:
    from search.ranking.features import Rows

CALLED, NAMED, STATED, RELATED = range(4)
"""Tiers: an icon that the query calls as code does, one whose name is the query, one with a tag that is, any other."""
TIERS = ("called", "named", "stated", "related")
OF_SAMPLES, OWN, CHOSEN = range(3)


@dataclass(frozen=True, slots=True)
class SetPriority:
    """How sets stand, by code."""

    evidence: Floats
    """Log-odds, 0 for the set that stands best."""
    sources: Ids
    """Which of several icons with one drawing is shown: `OF_SAMPLES`, `OWN` or `CHOSEN`, the greatest."""


def set_priority(opened: Opened, preferred: Sequence[str]) -> SetPriority:
    """How a library's sets stand for a user who prefers some, by key or title, best first; of n each an n-th less.

    Raises:
        IconsError: a preferred set is unknown here.
    """
    own: SetPriority = opened.facets.keep("set priority", lambda: _own_priority(opened))
    evidence, sources = own.evidence.copy(), own.sources.copy()
    for place, name in enumerate(preferred):
        for code in opened.facets.labels("set").meant([name]):
            evidence[code] += 0 if sources[code] == CHOSEN else weights.PREFERRED * (1 - place / len(preferred))
            sources[code] = CHOSEN
    return SetPriority(evidence, sources)


def _own_priority(opened: Opened) -> SetPriority:
    """How sets stand by themselves."""
    labels = opened.facets.labels("set")
    sizes = np.log1p(labels.n)
    about = {one.key: one for one in opened.snapshot.sets()}
    of_sets = [about[key] for key in labels.values]
    is_sample = np.char.startswith(np.array([one.location for one in of_sets], str), str(bundled("samples")))
    is_free = np.array([family(one.licence) == "permissive" for one in of_sets], bool)
    size = sizes / max(1e-9, float(sizes.max(initial=0)))
    evidence = weights.PLAIN * size + weights.FREE * is_free - weights.PREFERRED * is_sample
    evidence -= evidence.max(initial=-np.inf)
    return SetPriority(evidence.astype(np.float32), np.where(is_sample, OF_SAMPLES, OWN))


def ranked(rows: "Rows") -> "Rows":
    """Rows best first: by tier, then by evidence; ties by id, so order is stable."""
    return rows.take(np.lexsort((rows["icon"], -rows["evidence"], rows["tier"])))


def before_variants(rows: "Rows", firsts: Positions, may_stand: Mask) -> "Rows":
    """Put the best icon that may stand for its variants, which `firsts` tell as `firsts_of` does, before all of them,
    unless they answer in an earlier tier.

    Rows are best first. An icon that stands for others is judged as the best one is.
    """
    may, places = np.flatnonzero(may_stand), np.arange(len(rows))
    chosen, judged, moved, tiers = places.copy(), places.copy(), 2 * places + 1, rows["tier"]
    chosen[firsts[may][::-1]] = may[::-1]  # of several the last one written stays, which is the best
    bests = np.flatnonzero((firsts == places) & (tiers[chosen] == tiers))
    moved[chosen[bests]], judged[chosen[bests]] = 2 * bests, bests
    order = np.argsort(moved, kind="stable")
    arranged = rows.take(order)
    for name in ("judged", "evidence", "score", "confidence"):
        arranged[name] = rows[name][judged[order]]
    return arranged


def stand_ins(firsts: Positions, *wanted: Mask) -> Mask:
    """Which icons may stand for their variants, which `firsts` tell as `firsts_of` does.

    Of each group those that are first of all what is `wanted` first, as far as any is, and so on.
    """
    may = np.ones(len(firsts), bool)
    for chosen in wanted:
        has_any = np.zeros(len(firsts), bool)
        has_any[firsts[may & chosen]] = True
        may &= chosen | ~has_any[firsts]
    return may


def cleanest(firsts: Positions, roughness: NDArray[np.int8], may_stand: Mask) -> Mask:
    """Of those that may stand for their variants the least rough ones: a drawing before a photograph of it."""
    least, may = np.zeros_like(roughness), np.flatnonzero(may_stand)
    roughest_first = may[np.argsort(-roughness[may], kind="stable")]
    least[firsts[roughest_first]] = roughness[roughest_first]  # of several the last one written stays
    return np.asarray(may_stand & (roughness == least[firsts]))


def groups_of(opened: Opened, ids: Ids) -> tuple[Ids, Ids]:
    """A number for the variant group of each icon, and one for its drawing."""
    rows = opened.facets.at(ids)
    return opened.facets.variants(rows), rows["drawing"]


def grouped(opened: Opened, ids: Ids, *, flat: bool) -> Positions:
    """Places of the hits among some icons: all of them, or the first one of each variant group and drawing."""
    return np.arange(len(ids)) if flat else group_many(*groups_of(opened, ids))


def replaced(
    opened: Opened, sets: SetPriority, rows: "Rows", variants: Ids, may_answer: Callable[[Ids], Mask]
) -> "Rows":
    """Put the icon of a preferred set in the place of a hit with the same drawing, and an own one in that of a sample.

    `variants` are those that hits stand for: none comes twice.
    """
    facets = opened.facets
    sources = sets.sources[facets.at(rows["icon"])["set"]]
    places = np.flatnonzero(sources < sets.sources.max(initial=0))
    if not len(places):
        return rows
    alike = facets.alike(rows["icon"][places])
    places, every = np.repeat(places, [len(some) for some in alike]), np.concatenate(alike)
    known = facets.at(every)
    better = np.flatnonzero((sets.sources[known["set"]] > sources[places]) & ~np.isin(facets.variants(known), variants))
    better = better[may_answer(every[better])]
    better = better[np.lexsort((*order_of_sets(opened, sets, every[better]), places[better]))]
    for key in (places, facets.variants(known)):
        better = better[firsts_of(key[better]) == np.arange(len(better))]
    rows = rows.copy()
    rows["icon"][places[better]] = every[better]
    return rows


def order_of_sets(opened: Opened, sets: SetPriority, ids: Ids) -> tuple[Ids, Floats, Ids]:
    """What puts some icons into the order in which their sets stand, the last key first as `np.lexsort` wants it."""
    of_sets = opened.facets.at(ids)["set"]
    return ids, -sets.evidence[of_sets], -sets.sources[of_sets]
