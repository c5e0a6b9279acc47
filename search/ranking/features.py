"""The table that ranking goes by: a row for each icon, a column for each thing that may speak for it."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Ids, Mask, Tiers, is_in
from indexer.languages.words import CERTAIN, asked_style
from indexer.merging.facets import NO_STYLE
from indexer.merging.lexicon import says_all
from indexer.merging.vector_index import Neighbours
from search.generation.backend import VectorSearch
from search.generation.opened import Opened
from search.ranking import weights
from search.ranking.order import CALLED, NAMED, RELATED, STATED
from search.ranking.parsing import Avoided, ParsedQuery
from search.ranking.retrieve import Question, Retrieved, tags_asked
from search.words.wording import OPPOSITES

SIGNALS = {
    "words": weights.WORDS,
    "drawn": 1.0,
    "synonyms": 1.0,
    "set": 1.0,
    "usual": 1.0,
    "set first": weights.SETS_FIRST,
    "plain": weights.PLAIN,
    "style": weights.STYLE,
    "parts": weights.PARTS,
    "left out": weights.WITHOUT,
}
"""What may speak for an icon beside its vector, 0 for nothing, and what it weighs."""
ROW = np.dtype(
    [
        ("icon", np.int64),
        ("judged", np.int64),
        ("tier", np.int8),
        *((name, np.float32) for name in ("vectors", *SIGNALS, "look")),
        *((name, np.float32) for name in ("similarity", "evidence", "score", "confidence")),
    ],
    align=True,
)
"""An icon, and the one that was judged in its place: another where it stands for its variants, or shows their drawing.
"vectors" and "look" are cosines of what is meant and of how it looks; the last four are what all of it is worth
(`combine.weigh`): a similarity for people, evidence to rank by, a score, and how sure people may be."""
Rows = NDArray[np.void]
"""Chosen by `take` and `compress`: an index copies them field by field, which takes ten times as long."""
_STYLES = CERTAIN.union(("fill", "solid"), *map(str.split, OPPOSITES.values()))
"""Words that mean a style or a state and no thing, of which a vector says nothing: most stars are near "filled"."""
_AT_ONCE = 8_192
"""Vectors that are read back together: of a deep page a quarter of a million are, 400 MB in one piece."""


def rows_of(ids: Ids) -> Rows:
    """Rows for some icons, of which nothing is known yet."""
    rows = np.zeros(len(ids), ROW)
    rows["icon"] = rows["judged"] = ids
    rows["tier"] = RELATED
    return rows


def features(question: Question, ids: Ids, found: Retrieved | None = None) -> Rows:
    """Look at some icons; `found` knows some of their cosines already."""
    opened, rows = question.opened, rows_of(ids)
    known = opened.facets.at(ids)
    if question.parsed is not None:
        rows["vectors"] = _cosines(opened.icons, question.parsed.vector, ids, found.cosines if found else None)
        words_of(question, rows, found)
    if question.look is not None:
        rows["look"] = _cosines(opened.pictures, question.look, known["image"], found.looks if found else None)
    if question.look is None and question.parsed is not None:
        rows["tier"] = _tiers(question, ids)
        is_direct = rows["tier"] < STATED
        rows["set first"] = rows["set"] * is_direct
        rows["plain"] = is_direct & (known["states"] == NO_STYLE) & (not question.parsed.wording.style)
    if question.avoided.words:
        rows["left out"] = _left_out(opened, question.avoided, ids)
    return rows


def words_of(question: Question, rows: Rows, found: Retrieved | None = None) -> None:
    """Fill in what names, sets and styles of icons say, and how their drawings show parts.

    What is customarily drawn is held against icons of the first look alone: that finds those called so.
    """
    opened, parsed, fits, ids = question.opened, question.parsed, question.fits, rows["icon"]
    assert parsed is not None and fits is not None
    wording, known, names = parsed.wording, opened.facets.at(ids), opened.name_rows(ids)
    rows["words"] = fits[names]
    # A set that has an icon of the very name calls another thing by another name.
    named = question.direct[1]
    is_other = np.isin(known["set"], opened.facets.at(named)["set"]) & ~np.isin(names, opened.name_rows(named))
    rows["words"][is_other] *= np.float32(weights.BESIDE_NAMED)
    rows["set"] = question.sets.evidence[known["set"]]
    rows["usual"] = opened.lexicon.usual[names]
    if len(parsed.drawn) and (found is None or found.is_first.any()):
        # Sets with an icon whose name or tag says all that is asked draw it so, whatever is customary.
        with_own = opened.facets.sets_saying(opened.lexicon, fits, tags_asked(opened, parsed))
        says_some = np.any([of_drawn[names] > 0 for of_drawn in question.drawn_fits], axis=0)
        places = np.flatnonzero(says_some & ~np.isin(known["set"], with_own))
        rows["drawn"][places] = _drawn(question, parsed, rows.take(places), names[places])
    if wording.synonyms:
        share = np.float32(weights.SYNONYM * (weights.BESIDE_NAMED if says_all(fits).any() else 1))
        rows["synonyms"] = _synonyms(question, parsed, rows, share, found)
    if wording.style:
        of_look, others = opened.facets.lacks(ids, wording.style)
        rows["style"] = of_look + np.float32(weights.OF_CORNER) * others
    if len(parsed.parts) and len(ids):
        evidence = _evidence(opened, map(opened.lexicon.coverage, wording.parts), parsed.parts, ids, names)
        # How far the worst part, by a soft minimum, lies below their mean.
        rows["parts"] = -np.log(np.exp(evidence.mean(axis=0) - evidence).mean(axis=0))


def _evidence(opened: Opened, fits: Iterable[Floats], vectors: Floats, ids: Ids, names: Ids) -> Floats:
    """Log-odds for some icons by each of some words alone, (words, icons); `fits` is how well all names fit each."""
    cosines = cosines_of(opened.icons, vectors, ids) / np.float32(opened.manifest.calibration.unit)
    return np.asarray(cosines + np.float32(weights.WORDS) * np.stack([one[names] for one in fits]), np.float32)


def _synonyms(
    question: Question, parsed: ParsedQuery, rows: Rows, share: np.float32, found: Retrieved | None
) -> Floats:
    """What icons gain by names of which other sets say the query, as far as their pictures say it, too.

    The words of a name count already: pictures are looked at where its synonym may be worth more.
    """
    opened, ids, own = question.opened, rows["icon"], np.float32(weights.WORDS) * rows["words"]
    gained = np.zeros(len(ids), np.float32)
    named, says = question.synonyms
    is_here = is_in(ids, named)
    np.maximum.at(gained, np.searchsorted(ids, named[is_here]), share * says[is_here])
    places = np.flatnonzero(gained > own)
    if found is not None and len(places):
        known, n_usual = opened.facets.at(np.append(found.usual, ids[places])), len(found.usual)
        cosines = cosines_of(opened.pictures, parsed.vector[None], known["image"])[0]
        deviations = (cosines[n_usual:] - cosines[:n_usual].mean()) / max(1e-6, cosines[:n_usual].std())
        gained[places] *= np.interp(deviations, (-1, 1), (0, 1))  # all of it for pictures a deviation above the mean
    return np.asarray(np.maximum(gained - own, 0), np.float32)


def _drawn(question: Question, parsed: ParsedQuery, rows: Rows, names: Ids) -> Floats:
    """Log-odds by which icons answer what is customarily drawn better than the words themselves."""
    found = _evidence(question.opened, question.drawn_fits, parsed.drawn, rows["icon"], names)
    unit = np.float32(question.opened.manifest.calibration.unit)
    own = rows["vectors"] / unit + np.float32(weights.WORDS) * rows["words"]
    costs = weights.DRAWN + weights.DRAWN_NEXT * np.arange(len(parsed.drawn), dtype=np.float32)
    return np.asarray(np.maximum((found + costs[:, None]).max(axis=0) - own, 0), np.float32)


def _tiers(question: Question, ids: Ids) -> Tiers:
    """Tier of each icon; what bears what is to be left out in its name, or is in that style, is no direct answer.

    Vectors alone don't tell: they find a calendar near "days", and a house near "building".
    """
    opened, tiers = question.opened, np.full(len(ids), RELATED, np.int8)
    for tier, direct in ((STATED, question.direct[2]), (NAMED, question.direct[1]), (CALLED, question.direct[0])):
        if len(direct):
            tiers[is_in(np.sort(direct), ids)] = tier
    for words in question.avoided.words:
        tiers[_states(opened, words, ids)] = RELATED
    return tiers


def _states(opened: Opened, words: str, ids: Ids) -> Mask:
    """Which icons say some words in their name, or are in that style."""
    return np.logical_or(
        says_all(opened.lexicon.coverage(words)[opened.name_rows(ids)]), opened.facets.in_style(ids, asked_style(words))
    )


def _left_out(opened: Opened, avoided: Avoided, ids: Ids) -> Floats:
    """How much icons are what is to be left out, 0 to 1: by how far each is a good hit of it, by its name or style."""
    most = np.zeros(len(ids), np.float32)
    evidence = _evidence(
        opened, map(opened.lexicon.coverage, avoided.words), avoided.vectors, ids, opened.name_rows(ids)
    )
    for words, of_words in zip(avoided.words, evidence, strict=True):
        if not _STYLES.issuperset(words.split()):
            scores = opened.manifest.calibration.words.scores(of_words)
            most = np.maximum(most, (scores - weights.GOOD_SCORE) / (1 - weights.GOOD_SCORE))
        most[_states(opened, words, ids)] = 1
    return most


def _cosines(stored: VectorSearch, vector: Floats, ids: Ids, near: Neighbours | None) -> Floats:
    """Cosines of what is stored of some ids with one vector; those of the nearest are known."""
    if near is None or not len(near.ids):
        return np.asarray(cosines_of(stored, vector[None], ids)[0])
    order = np.argsort(near.ids)
    places = order[np.minimum(np.searchsorted(near.ids, ids, sorter=order), len(order) - 1)]
    cosines: Floats = near.scores[places]
    is_new = near.ids[places] != ids
    cosines[is_new] = cosines_of(stored, vector[None], ids[is_new])[0]
    return np.asarray(cosines)


def cosines_of(stored: VectorSearch, vectors: Floats, ids: Ids) -> Floats:
    """Cosines of some vectors, (m, dim), with those that are stored of some ids: (m, n)."""
    found = np.empty((len(vectors), len(ids)), np.float32)
    for start in range(0, len(ids), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        # A product of matrices waits for threads on all cores, which takes longer than so few sums.
        found[:, some] = np.einsum("md,nd->mn", vectors, stored.reconstruct(ids[some]))
    return found


def of_keywords(opened: Opened, name: str, found: Retrieved) -> Rows:
    """What matches a keyword query: each is right, and those with the name that it asks for come first."""
    rows = rows_of(found.ids)
    rows["tier"][np.isin(found.ids, opened.snapshot.named(name))] = NAMED
    rows["evidence"], rows["similarity"] = found.merits, np.nan
    rows["score"] = rows["confidence"] = 1
    return rows
