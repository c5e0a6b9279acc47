"""How well each icon of one set stands for one of another, and how likely the first one is right.

Four things speak for an icon, and each sees what another misses: the likeness of the pictures; the words of the name,
asked as a query; the likeness of picture and name fused; and how well the one icon's picture fits the other's name.
A fifth speaks against it: that another icon of the source set looks more like it. A bare circle is like many icons.
Likenesses are measured in spreads of all pairs of the two sets, which makes them the same for any encoder and library.
They and the log-odds of the words are added up as they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from indexer.arrays import Floats, Ids, Mask, Positions, firsts_of, grouped, in_chunks, spread_of
from indexer.merging.facets import NO_STYLE
from search.generation.backend import Ability, IconRow
from search.generation.opened import Opened
from search.query import Filters
from search.ranking.combine import added_up
from search.ranking.features import rows_of, words_of
from search.ranking.order import stand_ins
from search.ranking.parsing import parse_query
from search.ranking.retrieve import question_of_words


@dataclass(frozen=True, slots=True)
class Side:
    """The icons of one set, a row each, ascending by id."""

    ids: Ids
    rows: Sequence[IconRow]
    pictures: Floats
    """(n, dim)"""
    fused: Floats
    """(n, dim) of picture and name together."""
    drawings: Ids
    """(n,) equal where the drawing is."""

    by_name: Mapping[str, int]
    """Row of each name."""
    by_words: Mapping[str, Sequence[int]]
    """Rows of each name without its style: variants of one icon."""
    looks: Sequence[str | None]
    """Style of each: "filled", "sharp outline"."""
    is_plain: Mask
    """Which state no style in their name."""
    is_tagged: Mask
    """Which have tags. Sets that keep an icon's former name as a copy of its file give it none."""
    variant_groups: Positions
    """(n,) equal for the variants of one name."""

    def own_look(self, row: int) -> str | None:
        """The style of an icon that its set draws in several; None where there is but one, which tells nothing."""
        look = self.looks[row]
        return look if any(self.looks[other] != look for other in self.by_words[self.rows[row].words]) else None


def open_side(opened: Opened, key: str) -> Side:
    """Read the icons of a set, by its key.

    Raises:
        IconsError: it is unknown here; the message names near ones.
    """
    facets = opened.in_memory(Ability.MAP)
    ids = facets.every(facets.select(Filters(sets=(key,))))
    found = opened.snapshot.candidates(ids)
    rows, known = [found[icon] for icon in ids.tolist()], facets.at(ids)
    return Side(
        ids=ids,
        rows=rows,
        pictures=opened.pictures.reconstruct(known["image"]),
        fused=opened.icons.reconstruct(ids),
        drawings=known["drawing"],
        by_words=grouped(range(len(rows)), lambda row: rows[row].words),
        looks=facets.looks(known),
        is_plain=known["states"] == NO_STYLE,
        is_tagged=np.isin(known.positions, facets.pairs("tag")[0]),
        variant_groups=firsts_of(facets.variants(known)),
        by_name={row.name: place for place, row in reversed(list(enumerate(rows)))},
    )


_ROWS_AT_ONCE = 128


class Target:
    """A set that stand-ins are looked for in, ready to be compared."""

    def __init__(self, opened: Opened, side: Side) -> None:
        self._opened, self.side = opened, side
        names, places = np.unique([row.words for row in side.rows], return_inverse=True)
        vectors = np.concatenate([opened.encoder.encode_many_words(some) for some in in_chunks(names.tolist(), 256)])
        self._names: Floats = np.asarray(vectors[places], np.float32)
        """What the icons of the set are called, encoded, (n, dim)."""

    def compare(self, source: Side, rows: Sequence[int]) -> Iterator[Floats]:
        """What speaks for each target to stand for some icons of a source set, (n targets,) each, in their order."""
        likeness, both = spread_of(source.pictures, self.side.pictures), spread_of(source.fused, self.side.fused)
        naming = spread_of(source.pictures, self._names)  # how well the pictures fit the targets' names
        chunks = in_chunks(source.pictures, _ROWS_AT_ONCE)
        nearest = likeness.of(np.max([(some @ self.side.pictures.T).max(axis=0) for some in chunks], axis=0))
        for some in in_chunks(np.asarray(rows), _ROWS_AT_ONCE):
            pictures = likeness.of(source.pictures[some] @ self.side.pictures.T)
            likenesses = (
                pictures
                + (pictures - nearest)
                + both.of(source.fused[some] @ self.side.fused.T)
                + naming.of(source.pictures[some] @ self._names.T)
            )
            for n, words in enumerate(self.spoken([source.rows[row].words for row in some.tolist()])):
                yield likenesses[n] + words

    def spoken(self, names: Sequence[str]) -> Iterator[Floats]:
        """Evidence of names as queries, (n targets,) each, in log-odds."""
        for some in in_chunks(names, _ROWS_AT_ONCE):
            self._opened.encoder.encode_many_words(list(some))  # in one go: it remembers them
            asked = [parse_query(self._opened, name) for name in some]
            # One product: on a busy machine the threads of a small one wait for each other longer than they compute.
            cosines = np.stack([one.vector for one in asked]) @ self.side.fused.T
            for one, of_one in zip(asked, cosines, strict=True):
                icons = rows_of(self.side.ids)
                icons["vectors"] = of_one
                words_of(question_of_words(self._opened, one), icons)
                yield added_up(icons, self._opened.manifest.calibration)


N_CANDIDATES = 4
"""The best one, and three that come next."""
_LOOKED_AT = 64
"""Icons among which these are found: variants and other names of one drawing stand beside each other."""


Surety = tuple[float, float, float]
"""How the log-odds that the first is right grow with its evidence and with how far it is before the next, and what they
are without any."""
BY_BOTH: Surety = (0.34, 0.32, -7.87)
BY_WORDS: Surety = (0.51, 1.39, -5.26)
DOUBTFUL = 0.8
"""Below this probability a stand-in is marked: of 31 of 220 that are wrong or have no stand-in, 30 lie below it."""


def best_of(
    evidence: Floats, side: Side, surety: Surety, *, look: str | None = None, name: str | None = None
) -> tuple[Sequence[int], float]:
    """Take the best few of the target's icons, by their evidence: their rows, and how likely the first is right.

    Of variants it is the one of a look, else the plain one, and of the names of one drawing that of the source, if it
    is among them.
    """
    n = min(_LOOKED_AT, len(evidence))
    nearest = np.argpartition(-evidence, n - 1)[:n]
    chosen: list[int] = []
    for row in nearest[np.argsort(-evidence[nearest], kind="stable")].tolist():
        words, drawing = side.rows[row].words, side.drawings[row]  # variants of one name, or one drawing, count once
        if not any(side.rows[other].words == words or side.drawings[other] == drawing for other in chosen):
            chosen.append(row)
        if len(chosen) == N_CANDIDATES:
            break
    first, *others = (float(evidence[row]) for row in chosen)
    # Pictures alone would mix filled and outline icons, which a set of one style never meant.
    is_asked = np.array([look is not None and one == look for one in side.looks], bool)
    may_stand = stand_ins(side.variant_groups, is_asked, side.is_plain)
    variants = ([one for one in side.by_words[side.rows[row].words] if may_stand[one]] for row in chosen)
    rows = (_named_best(side, max(some, key=lambda one: float(evidence[one])), name) for some in variants)
    logit = np.dot(surety, (first, first - others[0] if others else 0.0, 1.0))
    return tuple(rows), float(1 / (1 + np.exp(-logit)))


def _named_best(side: Side, row: int, name: str | None) -> int:
    """The icon of a drawing that is called as the source is, else by the name that its set has now.

    A former name has no tags, and Iconify lists it behind the others: of 1,402 stand-ins for Font Awesome's in Lucide
    55 had former names where the shortest was taken, 8 where the first is, which are those that the source has.
    """
    alike = np.flatnonzero(side.drawings == side.drawings[row]).tolist()
    return int(min(alike, key=lambda one: (side.rows[one].name != name, not side.is_tagged[one], one)))
