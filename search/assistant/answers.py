"""Answers for an assistant, in few words, since it reads all of them: JSON without what says nothing."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from search.code.check import Checked
from search.code.map import Mapped
from search.code.pick import Pick, Picked, Written
from search.ranking.order import GOOD_SCORE
from search.results import Answer, Details, FacetCount, Hit
from search.screens.results import LocatedIcon, LocatedPicture

if TYPE_CHECKING:
    from search.linting.findings import Finding, Report

MOST_LOCATED = 100
"""Icons of one picture, in one answer: the surest ones."""
MOST_FINDINGS = 100
"""Of code, in one answer."""
MOST_OF_A_RULE = 3
"""Findings of icons, in one answer, unless one rule is asked."""


def written(plain: dict[str, Any]) -> str:
    """Spell an answer, on one line."""
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def answered(answer: Answer) -> dict[str, Any]:
    """The hits of an answer, and what is to be said of it."""
    plain: dict[str, Any] = {"icons": list(map(found, answer.hits)), "n_found": answer.n_found}
    if answer.is_more:
        plain["is_more"] = True
    if answer.is_doubtful:
        plain["note"] = "no good match; these come nearest"
    if answer.read_as:
        plain["read_as"] = str(answer.read_as)
    if answer.spelled:
        plain["did_you_mean"] = answer.spelled
    return plain


def found(hit: Hit) -> dict[str, Any]:
    """An icon in a few words."""
    plain = {"key": hit.key, "style": hit.style, "licence": hit.licence, "score": round(hit.score, 2)}
    known = {name: value for name, value in plain.items() if value is not None}
    return {**known, "also": list(hit.also)} if hit.also else known


def shown(details: Details) -> dict[str, Any]:
    """Everything that is known of an icon; other icons by their keys."""
    plain = asdict(details)
    hit = plain.pop("hit")
    for measured in ("score", "similarity", "exact", "n_variants", "also", "n_also", "id", "image", "digest"):
        del hit[measured]
    for others in ("variants", "near_duplicates"):
        plain[others] = [other["key"] for other in plain[others]]
    return {name: value for name, value in {**hit, **plain}.items() if value not in (None, "", [], ())}


def picked(done: Picked) -> dict[str, Any]:
    """What each need has found: its icon, and the others that were near; then all of them as code."""
    plain: dict[str, Any] = {"icons": [_chosen(pick) for pick in done.picks]}
    return plain | (_coded(done.written, remarked=True) if done.written else {})


def _coded(done: Written, *, remarked: bool = False) -> dict[str, Any]:
    """Icons as code, what is to be installed for it, and what can't be written."""
    plain: dict[str, Any] = {"code": done.remarked if remarked else done.snippet.code}
    if done.snippet.install:
        plain["install"] = done.snippet.install
    return plain | ({"refused": dict(done.refused)} if done.refused else {})


def _chosen(pick: Pick) -> dict[str, Any]:
    if not pick.chosen:
        return {"need": pick.need, "note": "nothing found"}
    plain: dict[str, Any] = {"need": pick.need, "key": pick.chosen.key}
    plain |= {"note": "no good match"} if pick.found.is_doubtful else {}
    return {**plain, "or": [hit.key for hit in pick.hits if hit is not pick.chosen]}


def sure_names(found: LocatedPicture) -> list[Hit]:
    """The first hit of each icon of a picture that is a good match, each once, in the order of reading.

    Bitmaps are left out, which no framework writes as code.
    """
    best = [icon.hits[0] for icon in found.named if icon.hits[0].score >= GOOD_SCORE and icon.hits[0].is_svg]
    return list({hit.id: hit for hit in best}.values())


def located(found: LocatedPicture, code: Written | None) -> dict[str, Any]:
    """The icons of a picture, each with its box and name, and the others that were near; then all of them as code."""
    icons = found.icons
    if len(icons) > MOST_LOCATED:
        least = sorted((icon.score for icon in icons), reverse=True)[MOST_LOCATED - 1]
        icons = [icon for icon in icons if icon.score >= least][:MOST_LOCATED]
    plain: dict[str, Any] = {"kind": found.kind, "icons": list(map(_boxed, icons))}
    if found.n_found > len(icons):
        plain["n_found"] = found.n_found
    return plain | (_coded(code) if code else {})


def _boxed(icon: LocatedIcon) -> dict[str, Any]:
    if not icon.hits:
        return {"box": icon.box, "note": "no name found"}
    first, *others = icon.hits
    plain: dict[str, Any] = {"box": icon.box, "key": first.key, "score": round(first.score, 2)}
    plain |= {"note": "no good match"} if first.score < GOOD_SCORE else {}
    return {**plain, "or": [hit.key for hit in others]} if others else plain


def checked(found: Checked) -> dict[str, Any]:
    """What is to be mended, each with its place and the nearest real icon; how many names were read."""
    lines = [f"{one.path}:{one.line}:{one.column}: {one.message}" for one in found.findings[:MOST_FINDINGS]]
    plain: dict[str, Any] = {"findings": lines, "n_findings": len(found.findings), "names": found.n_references}
    if absent := [one.key for one in found.sets if not one.is_here]:
        plain["sets_not_in_this_library"] = absent
    if found.computed:
        plain["not_readable"] = len(found.computed)
    return plain


def linted(report: "Report", *, most: int) -> dict[str, Any]:
    """How often each rule has found something, and the first `most` of each, with their files."""
    by_rule = {rule: [one for one in report.findings if one.rule == rule][:most] for rule in report.counts}
    findings = {rule: [f"{_where(one)}{one.message}" for one in found] for rule, found in by_rule.items()}
    return {"findings": findings, "counts": dict(report.counts), "n_icons": report.n_icons}


def _where(finding: "Finding") -> str:
    """The file of a finding on one icon; the message names those of several."""
    return f"{finding.icons[0].place}: " if len(finding.icons) == 1 else ""


def mapped(found: Mapped) -> dict[str, Any]:
    """By each icon the one that stands for it; what is doubtful with the others that come near."""
    sure = {one.source.key: one.target.name.key for one in found.mappings if one.target and not one.is_doubtful}
    doubtful = {
        one.source.key: [candidate.name.key for candidate in one.candidates]
        for one in found.mappings
        if one.is_doubtful or not one.target
    }
    return {"icons": sure, **({"doubtful": doubtful} if doubtful else {})}


def listed(sets: Iterable[FacetCount]) -> dict[str, Any]:
    """Sets by key: their titles, and how many icons each has."""
    return {"sets": {one.value: f"{one.title}, {one.n:,} icons" for one in sets}}
