"""The icons that could answer, with the evidence for each: a function for each way of asking; no grouping."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Ids, Mask, Positions, Tiers
from indexer.languages.words import CERTAIN, asked_style, normalise
from indexer.merging import manifest
from indexer.merging.facets import A_LOOK, NO_STYLE
from indexer.merging.lexicon import says_all
from indexer.merging.manifest import TEMPERATURE, CurveBySize, sigmoid
from indexer.merging.vector_index import Neighbours
from search.generation.backend import Ability, Selection, VectorSearch
from search.generation.opened import Opened
from search.query import refuse_late
from search.ranking.order import CALLED, NAMED, RELATED, STATED, rank, scores_of_words
from search.ranking.parsing import NOTHING, Avoided, ParsedQuery, icons_called
from search.words.wording import read_keywords

_STYLES = CERTAIN | {"fill", "solid"}
"""Words that mean a style and no thing, of which a vector says nothing: most stars are near "filled"."""


_AT_ONCE = 8_192
"""Vectors that are read back together: of a deep page a quarter of a million are, 400 MB in one piece."""


def direct_answers(opened: Opened, parsed: ParsedQuery) -> dict[int, Ids]:
    """Icons of each tier that words lead to without any vector, by tier."""
    wording, snapshot = parsed.wording, opened.snapshot
    named = [np.empty(0, np.int64), *map(snapshot.named, wording.spellings)]
    if wording.style and not wording.spelled:
        of_name = snapshot.named(wording.name)
        named.append(of_name[opened.facets.is_like(of_name, wording.style)])
    stated = [np.empty(0, np.int64), *(opened.facets.stating(tag) for tag in _tags_asked(opened, parsed))]
    called = np.empty(0, np.int64) if parsed.code is None else icons_called(opened, parsed.code)
    return {CALLED: called, NAMED: np.concatenate(named), STATED: np.concatenate(stated)}


def _tags_asked(opened: Opened, parsed: ParsedQuery) -> list[int]:
    """Codes of the tags that are what is asked."""
    tags = (opened.snapshot.tag_code(words) for words in parsed.wording.spellings)
    return [tag for tag in tags if tag is not None]


def tiers_of(opened: Opened, ids: Ids, direct: dict[int, Ids], avoided: Avoided) -> Tiers:
    """Tier of each icon; what bears what is to be left out in its name, or is in that style, is no direct answer.

    Vectors alone don't tell: they find a calendar near "days", and a house near "building".
    """
    tiers = np.full(len(ids), RELATED, np.int8)
    for tier in sorted(direct, reverse=True):
        if len(direct[tier]):
            tiers[np.isin(ids, direct[tier])] = tier
    for words in avoided.words:
        tiers[opened.facets.in_style(ids, asked_style(words))] = RELATED
        tiers[says_all(opened.lexicon.coverage(words)[opened.name_rows(ids)])] = RELATED
    return tiers


def cosines_of(stored: VectorSearch, vectors: Floats, ids: Ids) -> Floats:
    """Cosines of some vectors, (m, dim), with those that are stored of some ids: (m, n)."""
    found = np.empty((len(vectors), len(ids)), np.float32)
    order = np.argsort(ids)  # as they lie on disk and in memory
    for start in range(0, len(ids), _AT_ONCE):
        some = order[start : start + _AT_ONCE]
        found[:, some] = vectors @ stored.reconstruct(ids[some]).T
    return found


def evidence_for(
    opened: Opened, parsed: ParsedQuery, coverage: Floats, ids: Ids, similarities: Floats
) -> dict[str, Floats]:
    """What vectors, words of names, style and parts say for some icons, in log-odds by what says it.

    `coverage` is that of every name, `similarities` are cosines of the icons with the query's vector.
    """
    unit, rows = opened.manifest.calibration.unit, opened.name_rows(ids)
    found = {
        "vectors": manifest.of_cosines(similarities, unit=unit),
        "words": manifest.of_coverage(coverage[rows]),
    }
    known = opened.facets.at(ids)
    sets = known["set"]
    if len(parsed.drawn):
        gained = _of_drawn(opened, parsed, ids, found["vectors"] + found["words"])
        # Sets with an icon whose name or tag says all that is asked draw it so, whatever is customary.
        with_own = opened.facets.sets_saying(opened.lexicon, coverage, _tags_asked(opened, parsed))
        found["drawn"] = np.where(np.isin(sets, with_own), np.float32(0), gained)
    if parsed.wording.synonyms:
        share = np.float32(manifest.BESIDE_NAMED if says_all(coverage).any() else 1)
        gained = np.zeros(len(ids), np.float32)
        for name, weight in parsed.wording.synonyms:
            places = np.isin(ids, opened.snapshot.named(name))
            gained[places] = np.maximum(gained[places], np.float32(manifest.SYNONYM * weight))
        found["synonyms"] = np.maximum(share * gained - found["words"], 0)
    found["set"] = parsed.sets.of(sets)
    if parsed.wording.style:
        says_so = known["states"] == A_LOOK
        lacks = opened.facets.lacks(ids, parsed.wording.style)
        found["style"] = np.float32(manifest.SAYS_STYLE) * (says_so & (lacks < 1)) - np.float32(manifest.STYLE) * lacks
    if len(parsed.parts) and len(ids):
        cosines = cosines_of(opened.icons, parsed.parts, ids)
        covered = np.stack([opened.lexicon.fits(part)[rows] for part in parsed.wording.parts])
        found["parts"] = manifest.of_parts(manifest.of_cosines(cosines, unit=unit) + manifest.of_coverage(covered))
    return found


def _of_drawn(opened: Opened, parsed: ParsedQuery, ids: Ids, own: Floats) -> Floats:
    """Log-odds by which icons answer what is customarily drawn better than the words themselves."""
    unit, rows = opened.manifest.calibration.unit, opened.name_rows(ids)
    cosines = cosines_of(opened.icons, parsed.drawn, ids)
    fits = np.stack([opened.lexicon.fits(words)[rows] for words in parsed.wording.drawn])
    found = manifest.of_words(cosines, fits, unit=unit)
    costs = manifest.DRAWN + manifest.DRAWN_NEXT * np.arange(len(parsed.drawn), dtype=np.float32)
    return np.asarray(np.maximum((found + costs[:, None]).max(axis=0) - own, 0), np.float32)


def first_of_tiers(opened: Opened, parsed: ParsedQuery, ids: Ids, tiers: Tiers) -> Floats:
    """Log-odds that put direct answers into the order in which their sets stand, those without a style first."""
    rows = opened.facets.at(ids)
    found = manifest.SETS_FIRST * parsed.sets.of(rows["set"])
    if not parsed.wording.style:
        found += np.float32(manifest.PLAIN) * (rows["states"] == NO_STYLE)
    return np.asarray(found * (tiers < STATED), np.float32)


def added_up(evidence: Mapping[str, Floats]) -> Floats:
    """All evidence for some icons."""
    return np.asarray(np.sum(list(evidence.values()), axis=0), np.float32)


def evidence_against(opened: Opened, avoided: Avoided, ids: Ids) -> Floats:
    """Log-odds lost by being like what is to be left out: by how good a hit of it an icon is, or by its style."""
    most = np.zeros(len(ids), np.float32)
    if not avoided.words or not len(ids):
        return most
    rows, curves = opened.name_rows(ids), opened.manifest.calibration
    meanings = cosines_of(opened.icons, avoided.vectors, ids)
    for words, meaning in zip(avoided.words, meanings, strict=True):
        refuse_late()
        if not _STYLES.issuperset(words.split()):
            covered = opened.lexicon.fits(words)[rows]
            most = np.maximum(most, curves.words.scores(manifest.of_words(meaning, covered, unit=curves.unit)))
        most = np.maximum(most, opened.facets.in_style(ids, asked_style(words)))
    return np.asarray(manifest.WITHOUT * most, np.float32)


N_DRAWN = 50
"""Icons that each customary drawing adds by its vector, and as many by names."""
N_LEXICAL = 400
"""Icons that names, and tags, each add to those that the vectors find."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidates in no order."""

    ids: Ids
    tiers: Tiers
    similarities: Floats
    """Cosines with the query's vector; not a number where there is none."""
    evidence: Floats
    """What they are ranked by within a tier."""
    scores: Floats
    """0 to 1, the same whatever is filtered: by these hits differ from others."""
    confidence: Floats
    """0 to 1, as people see it: a picture's best match is less like it among the few that a filter leaves."""
    beyond: float
    """The best score that an icon which is none of them may have; 0 where there is none."""

    def at(self, places: Positions | Mask) -> Self:
        """Some of them, in the order of their places."""
        return self.changed(lambda name: getattr(self, name)[places])

    def changed(self, change: Callable[[str], NDArray[Any]]) -> Self:
        """The same with other arrays, `change` takes each field's name."""
        arrays: dict[str, Any] = {field.name: change(field.name) for field in fields(self) if field.name != "beyond"}
        return replace(self, **arrays)

    def best_first(self) -> Self:
        """The same in their order (`order.rank`)."""
        return self.at(rank(self.ids, self.evidence, self.tiers))


@dataclass(frozen=True, slots=True)
class SearchScope:
    """Where candidates are looked for, and how far."""

    n: int
    """Icons, or pictures, that the vectors are asked for."""
    only: Selection | None = None
    """The icons that the filters leave; None for all."""


def by_words(opened: Opened, parsed: ParsedQuery, avoided: Avoided, scope: SearchScope) -> Candidates:
    """The icons that words find: by the similarity of their fused vectors, by their names and by their tags."""
    return _spoken(opened, parsed, avoided, scope, name_fits(opened, parsed))


def name_fits(opened: Opened, parsed: ParsedQuery) -> Floats:
    """How well each name fits what is asked."""
    return opened.lexicon.fits(parsed.wording.name, is_guess=parsed.wording.spelled is not None)


def _spoken(opened: Opened, parsed: ParsedQuery, avoided: Avoided, scope: SearchScope, fits: Floats) -> Candidates:
    nearest = opened.icons.search(parsed.vector, k=scope.n, only=scope.only, is_rough=True)
    direct = {tier: _among(ids, scope.only) for tier, ids in direct_answers(opened, parsed).items()}
    lexical, unseen_fit = _best_named(opened, fits, scope)
    ids, similarities = nearest.ids, nearest.scores
    if len(ids) < len(opened.icons):
        synonyms = (_among(opened.snapshot.named(name), scope.only) for name, _ in parsed.wording.synonyms)
        every = _distinct(lexical, *direct.values(), *_drawn(opened, parsed, scope), *synonyms)
        more = np.setdiff1d(every, ids, assume_unique=True)
        ids = np.concatenate([ids, more])
        similarities = np.concatenate([similarities, opened.icons.reconstruct(more) @ parsed.vector])
    found = added_up(evidence_for(opened, parsed, fits, ids, similarities)) + evidence_against(opened, avoided, ids)
    tiers, curve = tiers_of(opened, ids, direct, avoided), opened.manifest.calibration.words
    if (is_stated := tiers == STATED).any():
        # a shopping bag stands before a shirt that is tagged "shopping"
        is_better = found >= found[is_stated].max() + manifest.BEYOND_TAGS
        tiers[is_better & (tiers == RELATED) & says_all(fits[opened.name_rows(ids)])] = STATED
    if any(len(some) for some in direct.values()):
        found += first_of_tiers(opened, parsed, ids, tiers)
    scores = scores_of_words(curve, found, tiers, are_known=parsed.wording.are_known)
    beyond = _beyond(nearest, lambda likely: _unseen_scores(opened, parsed, likely, unseen_fit))
    return Candidates(ids, tiers, similarities, found, scores, scores, beyond)


def _drawn(opened: Opened, parsed: ParsedQuery, scope: SearchScope) -> Iterator[Ids]:
    """Icons that are called as what is customarily drawn, and those nearest to it."""
    for words, vector in zip(parsed.wording.drawn, parsed.drawn, strict=True):
        yield opened.icons.search(vector, k=N_DRAWN, only=scope.only).ids
        yield _among(opened.facets.best_named(opened.lexicon, opened.lexicon.fits(words), most=N_DRAWN), scope.only)


def _best_named(opened: Opened, fits: Floats, scope: SearchScope) -> tuple[Ids, float]:
    """Icons whose names fit best, and how well one may fit that is none of them."""
    most = max(N_LEXICAL, scope.n // 5)
    best = opened.facets.best_named(opened.lexicon, fits, most=most if scope.only is None else 8 * most)
    lexical = _among(best, scope.only)[:most]
    is_cut = len(lexical) == most or (scope.only is not None and len(best) == 8 * most)
    last = (lexical if len(lexical) == most else best)[-1:]
    return lexical, float(fits[opened.name_rows(last)].max(initial=0)) if is_cut else 0.0


def by_picture(opened: Opened, vector: Floats, avoided: Avoided, scope: SearchScope) -> Candidates:
    """The icons that look like a picture."""
    images = None if scope.only is None else scope.only.images()
    nearest = opened.pictures.search(vector, k=scope.n, only=images, is_rough=True)
    ids = _among(opened.facets.showing(nearest.ids), scope.only)
    against = evidence_against(opened, avoided, ids)
    n_among = None if images is None else len(images)
    curves = opened.manifest.calibration.pictures
    return pictured(nearest, ids, opened.images_of(ids), curves, n_among=n_among, against=against)


def pictured(
    nearest: Neighbours,
    ids: Ids,
    images: Ids,
    curves: CurveBySize,
    *,
    n_among: int | None,
    against: Floats | float = 0.0,
) -> Candidates:
    """Weigh some icons by how near the pictures are that they show; `images` are the pictures, one an icon.

    `n_among` is how many pictures a filter leaves, None for all.
    """
    order = np.argsort(nearest.ids)
    similarities = nearest.scores[order][np.searchsorted(nearest.ids[order], images)]
    shown = curves.every if n_among is None else curves.among(n_among)
    logits, sure = curves.every.logits(similarities) + against, shown.logits(similarities) + against
    beyond = _beyond(nearest, curves.every.scores)
    return Candidates(ids, all_related(ids), similarities, logits, sigmoid(logits), sigmoid(sure), beyond)


def by_both(
    opened: Opened, parsed: ParsedQuery, picture: Floats, avoided: Avoided, scope: SearchScope, *, picture_share: float
) -> Candidates:
    """The icons that words or a picture find, by both; `picture` is the picture's vector.

    The two kinds of similarity have nothing in common but their curves, so what is added up are logits. Those of words
    are made as steep as those of pictures, which tell of the whole answer.
    """
    coverage = name_fits(opened, parsed)
    known = replace(parsed, wording=replace(parsed.wording, are_known=True))
    spoken = _spoken(opened, known, NOTHING, scope, coverage)
    shown = by_picture(opened, picture, NOTHING, scope)
    ids = np.union1d(spoken.ids, shown.ids)
    images, places = np.unique(opened.images_of(ids), return_inverse=True)
    looks = cosines_of(opened.pictures, picture[None], images)[0][places]
    meanings = cosines_of(opened.icons, parsed.vector[None], ids)[0]
    curves = opened.manifest.calibration
    meant = TEMPERATURE * curves.words.logits(added_up(evidence_for(opened, parsed, coverage, ids, meanings)))
    logits = picture_share * curves.pictures.every.logits(looks) + (1 - picture_share) * meant
    logits += evidence_against(opened, avoided, ids)
    similarities = picture_share * looks + (1 - picture_share) * meanings
    beyond = max(spoken.beyond, shown.beyond) if min(spoken.beyond, shown.beyond) else 0.0
    scores = sigmoid(logits)
    return Candidates(ids, all_related(ids), similarities, logits, scores, scores, beyond)


def by_keywords(opened: Opened, text: str, scope: SearchScope) -> Candidates:
    """The icons whose names, tags and categories say all that a keyword query wants; each of them is right.

    Raises:
        IconsError: the query only excludes.
    """
    opened.engine.require(Ability.KEYWORDS)
    match = read_keywords(text)
    nothing = np.empty(0, np.int64), np.empty(0, np.float32)
    names, merits = opened.snapshot.matching(match, most=scope.n) if match else nothing
    ids = _among(np.sort(opened.lexicon.icons_of(names)), scope.only)
    held = opened.facets.at(ids)["name"]
    order = np.argsort(names)
    fits = merits[order][np.searchsorted(names[order], held)] if len(ids) else merits[:0]
    tiers = np.where(np.isin(ids, opened.snapshot.named(normalise(text))), NAMED, RELATED).astype(np.int8)
    ones = np.ones(len(ids), np.float32)
    return Candidates(ids, tiers, np.full_like(ones, np.nan), fits, ones, ones, float(len(names) == scope.n))


def all_related(ids: Ids | Floats) -> Tiers:
    """Tiers of icons that no words tell apart."""
    return np.full(len(ids), RELATED, np.int8)


def _beyond(nearest: Neighbours, scores_of: Callable[[Floats], Floats]) -> float:
    """The best score that an icon may have which is not among the nearest; 0 where all are."""
    return float(scores_of(np.array([nearest.beyond], np.float32))[0]) if np.isfinite(nearest.beyond) else 0.0


def _unseen_scores(opened: Opened, parsed: ParsedQuery, similarities: Floats, fit: float) -> Floats:
    """Scores of icons of which it is known how similar they are at most, and how well their names fit at most."""
    curves, wording = opened.manifest.calibration, parsed.wording
    found = manifest.of_words(similarities, np.full(1, fit, np.float32), unit=curves.unit)
    found += np.float32(manifest.SAYS_STYLE if wording.style else 0) + parsed.sets.evidence.max(initial=0)
    return scores_of_words(curves.words, found, all_related(found), are_known=wording.are_known)


def _distinct(*parts: Ids) -> Ids:
    """All ids, ascending, each once; `np.unique` would import numpy.ma, which a cold start waits 10 ms for."""
    ids = np.sort(np.concatenate(parts))
    return ids[np.diff(ids, prepend=ids[:1] - 1) > 0]


def _among(ids: Ids, only: Selection | None) -> Ids:
    """Those of `ids` that are in `only`, in their order."""
    return ids if only is None or not len(ids) else ids[only.has(ids)]
