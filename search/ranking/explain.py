"""Explains where an icon stands: what each arm says of it for a query, beside the icon that comes first."""

from dataclasses import replace

import numpy as np

from indexer.arrays import Floats, Positions
from indexer.errors import IconsError
from indexer.languages.words import normalise_tag
from search.generation.opened import Opened
from search.query import Query, pasted_svg
from search.ranking.candidates import (
    Candidates,
    SearchScope,
    all_related,
    by_words,
    evidence_against,
    evidence_for,
    first_of_tiers,
    name_fits,
)
from search.ranking.details import hits_of
from search.ranking.order import BEST_SCORE, TIERS, least_score, rank
from search.ranking.paging import Shown, in_order
from search.ranking.parsing import Avoided, ParsedQuery, encode, parse_avoided, parse_query
from search.results import Explanation, Judged

N_EXPLAINED = 10_000
"""Icons that are ranked."""


def explain(opened: Opened, query: Query, icon: int) -> Explanation:
    """Tell what a query of words makes of an icon, whether it finds it or not.

    Raises:
        IconsError: the query holds a picture or keywords, or no words.
        UnknownIconError: no icon has this id.
    """
    if query.picture is not None or query.icon is not None or query.keyword or pasted_svg(query.words):
        raise IconsError("only a query of words alone can be explained")
    opened.snapshot.icon(icon)
    parsed = parse_query(opened, query.words, prefer=query.prefer or (), languages=query.languages)
    avoided = parse_avoided(opened, query, parsed)
    found = by_words(opened, parsed, avoided, SearchScope(N_EXPLAINED))
    order = rank(found.ids, found.evidence, found.tiers)
    shown, _ = in_order(opened, found, Shown(parsed.wording.style, avoided.words))
    kept = order[found.scores[order] >= least_score(found.scores)]
    wording = parsed.wording
    return Explanation(
        typed=wording.typed,
        name=wording.name,
        style=wording.style,
        parts=wording.parts,
        drawn=wording.drawn,
        synonyms=tuple(name for name, _ in wording.synonyms),
        without=avoided.words,
        spelled=wording.spelled,
        read_as=parsed.read_as,
        icon=_judge(opened, parsed, avoided, found, order, icon),
        first=_judge(opened, parsed, avoided, found, order, int(found.ids[shown[0]])) if len(kept) else None,
        shown=_shown(opened, found, kept, icon),
    )


def _judge(
    opened: Opened, parsed: ParsedQuery, avoided: Avoided, found: Candidates, order: Positions, icon: int
) -> Judged:
    ids = np.array([icon])
    cosines = _cosines(opened, parsed.vector, icon)
    fused = np.array([cosines["fused"]], np.float32)
    speaks = evidence_for(opened, parsed, name_fits(opened, parsed), ids, fused)
    speaks["left out"] = evidence_against(opened, avoided, ids)
    place = next(iter(np.flatnonzero(found.ids == icon).tolist()), None)
    tiers = all_related(ids) if place is None else found.tiers[[place]]
    speaks["set"] = speaks["set"] + first_of_tiers(opened, parsed, ids, tiers)
    [hit] = hits_of(opened, ids)
    score = 0.0 if place is None else float(found.scores[place])
    return Judged(
        hit=replace(hit, score=round(score, 4), similarity=round(cosines["fused"], 4)),
        rank=None if place is None else int(np.flatnonzero(order == place)[0]) + 1,
        tier=TIERS[tiers[0]],
        cosines={arm: round(value, 4) for arm, value in cosines.items()},
        evidence={what: round(float(value[0]), 3) for what, value in speaks.items() if value[0] or what == "vectors"},
    )


def _cosines(opened: Opened, vector: Floats, icon: int) -> dict[str, float]:
    row = opened.snapshot.icon(icon)
    picture = opened.pictures.reconstruct(np.array([row.image_id]))[0]
    [name] = encode(opened, (row.words,))
    found = {"picture": float(picture @ vector), "name": float(name @ vector)}
    tags = tuple(filter(None, dict.fromkeys(map(normalise_tag, opened.snapshot.facts(icon)["tags"]))))
    if tags:
        mean = encode(opened, tags).mean(axis=0)
        found["tags"] = float(mean @ vector / np.linalg.norm(mean))
    found["fused"] = float(opened.icons.reconstruct(np.array([icon]))[0] @ vector)
    return found


def _shown(opened: Opened, found: Candidates, kept: Positions, icon: int) -> str:
    if icon not in found.ids:
        return f"not a hit: {N_EXPLAINED:,} icons are nearer"
    [place] = np.flatnonzero(found.ids == icon)
    if place not in kept:
        best = float(found.scores.max())
        if best < BEST_SCORE:
            return f"not a hit: no icon has a score of {BEST_SCORE}, the best one has {best:.3f}"
        return f"not a hit: its score {found.scores[place]:.3f} is below {least_score(found.scores):.3f}"
    return "a hit"
