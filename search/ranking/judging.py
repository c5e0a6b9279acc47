"""What speaks for and against each candidate? Tiers and evidence, by what a query's words ask of a library."""

from collections.abc import Iterator, Mapping

import numpy as np

from indexer.arrays import Floats, Ids, Mask, Tiers
from indexer.languages.names import CERTAIN, asked_style
from indexer.merging import calibration
from indexer.merging.facets import A_LOOK, NO_STYLE
from indexer.merging.lexicon import says_all
from search.deadline import refuse_late
from search.generation.backend import VectorSearch
from search.generation.opened import Opened
from search.ranking.order import CALLED, NAMED, RELATED, STATED
from search.ranking.parsing import Avoided, ParsedQuery, icons_called

_STYLES = CERTAIN | {"fill", "solid"}
"""Words that mean a style and no thing, of which a vector says nothing: most stars are near "filled"."""


_WEIGHTS = frozenset(("thin", "light", "medium", "bold"))
_AT_ONCE = 8_192
"""Vectors that are read back together: of a deep page a quarter of a million are, 400 MB in one piece."""


def direct_answers(opened: Opened, parsed: ParsedQuery) -> dict[int, Ids]:
    """Icons of each tier that words lead to without any vector, by tier."""
    wording, snapshot = parsed.wording, opened.snapshot
    named = [snapshot.named(words) for words in wording.spellings]
    if wording.style and not wording.spelled:
        of_name = snapshot.named(wording.name)
        named.append(of_name[in_style(opened, of_name, wording.style)])
    elif not wording.spelled:
        named.append(_spelt_with_weight(opened, wording.name))
    called = np.empty(0, np.int64) if parsed.code is None else icons_called(opened, parsed.code)
    return {CALLED: called, NAMED: _joined(named), STATED: _stating(opened, parsed)}


def _spelt_with_weight(opened: Opened, name: str) -> Ids:
    """Icons of which a name states the weight, as sets spell it: "bell bold"."""
    words, _, weight = name.rpartition(" ")
    of_name = opened.snapshot.named(words) if words and weight in _WEIGHTS else np.empty(0, np.int64)
    return of_name[in_style(opened, of_name, weight)]


def _stating(opened: Opened, parsed: ParsedQuery) -> Ids:
    """Icons with a tag that is what is asked."""
    return _joined([opened.facets.stating(tag) for tag in _tags_asked(opened, parsed)])


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
        tiers[in_style(opened, ids, asked_style(words))] = RELATED
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
        "vectors": calibration.of_cosines(similarities, unit=unit),
        "words": calibration.of_coverage(coverage[rows]),
    }
    known = opened.facets.at(ids)
    sets = known["set"]
    if len(parsed.drawn):
        gained = _of_drawn(opened, parsed, ids, found["vectors"] + found["words"])
        found["drawn"] = np.where(np.isin(sets, _sets_with_own(opened, parsed, coverage)), np.float32(0), gained)
    if parsed.wording.synonyms:
        is_said = bool(says_all(coverage).any())
        share = np.float32(calibration.BESIDE_NAMED if is_said else 1)
        found["synonyms"] = np.maximum(share * _of_synonyms(opened, parsed, ids) - found["words"], 0)
    found["set"] = parsed.sets.of(sets)
    if parsed.wording.style:
        says_so = known["states"] == A_LOOK
        fits = np.float32(calibration.STYLE) + np.float32(calibration.SAYS_STYLE) * says_so
        found["style"] = np.where(in_style(opened, ids, parsed.wording.style), fits, np.float32(0))
    if len(parsed.parts) and len(ids):
        cosines = cosines_of(opened.icons, parsed.parts, ids)
        covered = np.stack([opened.lexicon.fits(part)[rows] for part in parsed.wording.parts])
        found["parts"] = calibration.of_parts(
            calibration.of_cosines(cosines, unit=unit) + calibration.of_coverage(covered)
        )
    return found


def _of_drawn(opened: Opened, parsed: ParsedQuery, ids: Ids, own: Floats) -> Floats:
    """Log-odds by which icons answer what is customarily drawn better than the words themselves."""
    unit, rows = opened.manifest.calibration.unit, opened.name_rows(ids)
    cosines = cosines_of(opened.icons, parsed.drawn, ids)
    fits = np.stack([opened.lexicon.fits(words)[rows] for words in parsed.wording.drawn])
    found = calibration.of_words(cosines, fits, unit=unit)
    costs = calibration.DRAWN + calibration.DRAWN_NEXT * np.arange(len(parsed.drawn), dtype=np.float32)
    return np.asarray(np.maximum((found + costs[:, None]).max(axis=0) - own, 0), np.float32)


def _of_synonyms(opened: Opened, parsed: ParsedQuery, ids: Ids) -> Floats:
    """Log-odds by which icons bear a name of which other sets say what is asked."""
    found = np.zeros(len(ids), np.float32)
    for icons, weight in named_as_synonyms(opened, parsed):
        places = np.isin(ids, icons)
        found[places] = np.maximum(found[places], np.float32(calibration.SYNONYM * weight))
    return found


def named_as_synonyms(opened: Opened, parsed: ParsedQuery) -> Iterator[tuple[Ids, float]]:
    """Icons that bear each name of which other sets say what is asked, and its weight."""
    for name, weight in parsed.wording.synonyms:
        yield opened.snapshot.named(name), weight


def _sets_with_own(opened: Opened, parsed: ParsedQuery, fits: Floats) -> Ids:
    """Sets with an icon whose name or tag says all that is asked: they draw it so, whatever is customary."""
    return opened.facets.sets_saying(opened.lexicon, fits, _tags_asked(opened, parsed))


def first_of_tiers(opened: Opened, parsed: ParsedQuery, ids: Ids, tiers: Tiers) -> Floats:
    """Log-odds that put direct answers into the order in which their sets stand, those without a style first."""
    rows = opened.facets.at(ids)
    found = calibration.SETS_FIRST * parsed.sets.of(rows["set"])
    if not parsed.wording.style:
        found += np.float32(calibration.PLAIN) * (rows["states"] == NO_STYLE)
    return np.asarray(found * (tiers < RELATED), np.float32)


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
            most = np.maximum(most, curves.words.scores(calibration.of_words(meaning, covered, unit=curves.unit)))
        most = np.maximum(most, in_style(opened, ids, asked_style(words)))
    return np.asarray(calibration.WITHOUT * most, np.float32)


def in_style(opened: Opened, ids: Ids, style: str) -> Mask:
    """Whether each icon has all words of a style, as `naming.looks.asked_style` spells it."""
    return opened.facets.in_style(style, opened.facets.at(ids))


def _joined(parts: list[Ids]) -> Ids:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)
