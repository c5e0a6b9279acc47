"""Which rules find what? All icons are gathered and looked at, set by set, and every chosen rule is asked."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from indexer.library.folder import Library
from indexer.reports.bars import Progress
from search.linting.accepted import read_accepted
from search.linting.findings import Finding, Found, Group, Report, Rule
from search.linting.gathering import Gathered, Unreadable, by_set, of_folders, of_library
from search.linting.inspecting import Inspection, inspect
from search.linting.rules.table import choose
from search.linting.seeing import Seer, open_seer

_LEAST_GROUP = 20
"""Icons of a style or size that have habits of their own; fewer are held against the rest of their set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be looked at, and by which rules."""

    folders: tuple[Path, ...] = ()
    sets: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    without_rules: tuple[str, ...] = ()


def lint(asked: Asked, *, library: Library, progress: Progress) -> Report:
    """Look at folders of icons, or at sets of a library.

    Raises:
        IconsError: a folder, a set or a rule is not there, or a file of exceptions is wrong.
    """
    rules = choose(asked.rules, asked.without_rules)
    accepted = read_accepted(asked.folders)
    icons, unread = _gather(asked, library)
    seer = open_seer(library) if any(rule.needs_vectors for rule in rules) else None
    findings: list[Finding] = []
    on_dark: set[Gathered] = set()
    sets = by_set(icons)
    for key, members in sets.items():
        seen = inspect(members, seer=seer, progress=progress)
        findings.extend(_of_set(key, seen, rules, seer, progress))
        on_dark.update(icon.found for icon in seen.icons if icon.is_on_dark)
    if not asked.rules or "broken" in asked.rules:
        findings.extend(_of_unread(unread))
    kept = [finding for finding in findings if not accepted.accepts(finding)]
    return Report(
        n_icons=len(icons),
        sets=tuple(sets),
        findings=tuple(kept),
        n_accepted=len(findings) - len(kept),
        unused_exceptions=tuple(accepted.unused()),
        on_dark=frozenset(on_dark),
    )


def _gather(asked: Asked, library: Library) -> tuple[list[Gathered], list[Unreadable]]:
    icons: list[Gathered] = []
    unread: list[Unreadable] = []
    if asked.folders:
        icons, unread = of_folders(asked.folders, exclude=asked.exclude)
    if asked.sets:
        from indexer.library.folder import require
        from search.generation.opened import open_current

        icons.extend(of_library(open_current(require(library)), asked.sets))
    return icons, unread


def _of_set(
    key: str, seen: Inspection, rules: Sequence[Rule], seer: Seer | None, progress: Progress
) -> Iterator[Finding]:
    whole = Group(seen, np.arange(len(seen.icons)), seer)
    groups = list(_groups(whole))
    told: list[tuple[Rule, Group, Found]] = []
    for number, rule in enumerate(rules):
        progress("Comparing icons", number, len(rules))
        for group in [whole] if rule.is_of_whole_set else groups:
            told.extend((rule, group, found) for found in rule.find(group))
    odd = {row for _, _, found in told for row in found.rows}
    typical = {id(group): _typical(group, odd) for group in (whole, *groups)}
    for rule, group, found in told:
        yield _finding(rule, key, seen, found, typical[id(group)])


def _groups(whole: Group) -> Iterator[Group]:
    """Icons of one style and size each; those of which there are few join the largest."""
    by_look: dict[tuple[str | None, int | None], list[int]] = defaultdict(list)
    for row, icon in whole.icons():
        by_look[icon.found.style, icon.found.size].append(row)
    ordered = sorted(by_look.values(), key=len, reverse=True)
    large = [rows for rows in ordered if len(rows) >= _LEAST_GROUP] or ordered[:1]
    few = [row for rows in ordered[len(large) :] for row in rows]
    for rows in ([*large[0], *few], *large[1:]) if large else ():
        yield Group(whole.seen, np.array(sorted(rows), np.int64), whole.seer)


def _typical(group: Group, odd: set[int]) -> int | None:
    """A usual icon: of those of which nothing is told, that whose picture is nearest to the mean, else the first."""
    sound: list[int] = [row for row in group.rows.tolist() if group.seen.drawn[row] and row not in odd]
    if not sound or not group.seen.vectors.shape[1]:
        return sound[0] if sound else None
    vectors = group.seen.vectors[sound]
    return sound[int(np.argmax(vectors @ vectors.mean(axis=0)))]


def _finding(rule: Rule, key: str, seen: Inspection, found: Found, typical: int | None) -> Finding:
    beside = found.looks_like
    if not beside and typical is not None and len(found.rows) == 1 and seen.drawn[found.rows[0]]:
        beside = (typical,)
    return Finding(
        rule=rule.id,
        severity="note" if found.is_note else rule.severity,
        set=key,
        message=found.message,
        mend=rule.mend,
        icons=tuple(seen.icons[row].found for row in found.rows),
        beside=tuple(seen.icons[row].found for row in beside),
    )


def _of_unread(unread: Sequence[Unreadable]) -> Iterator[Finding]:
    """What a source could not read is broken as well."""
    for place in unread:
        message = f"{place.place}: {place.reason}"
        yield Finding("broken", "error", place.set, message, "mend the file, or leave it out with --exclude", ())
