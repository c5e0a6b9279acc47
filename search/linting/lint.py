"""Which rules find what: all icons gathered and looked at, set by set, by every chosen rule."""

import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from indexer.errors import IconsError, SourceError
from indexer.library.folder import Library, require
from indexer.library.foreign import from_plain
from indexer.reports.terminal import Progress
from indexer.sources.records import read_regular
from search.linting import canvas, twins
from search.linting.findings import Finding, Group, Report, Rule, Violation, each
from search.linting.inspecting import (
    IconFile,
    Inspection,
    PairEncoder,
    inspect,
    of_folders,
    of_library,
    open_encoder,
)

RULES: dict[str, Rule] = {
    rule.id: rule
    for rule in (
        Rule(
            "broken", "error", "whether a picture can be drawn at all", "export it again", each(lambda icon: icon.error)
        ),
        Rule(
            "blank",
            "error",
            "whether anything is seen",
            "export it again, or delete it",
            each(lambda icon: "nothing is drawn" if icon.is_blank else None),
        ),
        *twins.RULES,
        *canvas.RULES,
    )
}


def choose(only: Sequence[str] = (), without: Sequence[str] = ()) -> list[Rule]:
    """Choose rules by id: all, or only some; without others.

    Raises:
        IconsError: there is no such rule.
    """
    check((*only, *without))
    return [rule for rule in RULES.values() if (not only or rule.id in only) and rule.id not in without]


def check(ids: Sequence[str], *, where: str = "") -> None:
    """Refuse what is no rule.

    Raises:
        IconsError: that is so.
    """
    if unknown := next((name for name in ids if name not in RULES), None):
        raise IconsError(f'{where}"{unknown}" is no rule; there are {", ".join(RULES)}')


FILE_NAME = ".iconslint"
_MOST_BYTES = 1_000_000
_FORM = '[accept], then rule = ["name", "pattern-*"]'


@dataclass(slots=True)
class Accepted:
    """Patterns by rule, and which of them have accepted something."""

    patterns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    used: set[tuple[str, str]] = field(default_factory=set)

    def accepts(self, finding: Finding) -> bool:
        """Whether all icons of a finding, or all but one of several that are alike, are accepted for its rule.

        What is said of a whole set is accepted by "*" alone.
        """
        patterns = self.patterns.get(finding.rule, ())
        fitting = [[one for one in patterns if fnmatchcase(icon.name, one)] for icon in finding.icons]
        fitting = fitting or [[one for one in patterns if one == "*"]]
        self.used.update((finding.rule, pattern) for some in fitting for pattern in some)
        return sum(map(bool, fitting)) >= max(1, len(fitting) - 1)

    def unused(self) -> list[str]:
        """Patterns that accepted nothing, as "rule: pattern"."""
        return [
            f"{rule}: {pattern}"
            for rule, patterns in self.patterns.items()
            for pattern in patterns
            if (rule, pattern) not in self.used
        ]


def read_accepted(folders: Sequence[Path]) -> Accepted:
    """Read what folders say themselves; those of several folders hold together.

    Raises:
        IconsError: a file can't be read, is no TOML, names no rule, or says something else.
    """
    patterns: dict[str, tuple[str, ...]] = {}
    for folder in folders:
        file = folder / FILE_NAME
        if folder.is_dir() and file.is_file():
            for rule, some in _read(file).items():
                patterns[rule] = (*patterns.get(rule, ()), *some)
    return Accepted(patterns)


@dataclass(frozen=True, slots=True)
class _File:
    """What a file says."""

    accept: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def _read(file: Path) -> Mapping[str, tuple[str, ...]]:
    try:
        stated = from_plain(_File, tomllib.loads(read_regular(file, limit=_MOST_BYTES).decode("utf-8")))
    except (OSError, SourceError, ValueError, RecursionError) as error:
        raise IconsError(f'"{file}" can\'t be read ({error}); it is TOML: {_FORM}') from error
    check(list(stated.accept), where=f'"{file}": ')
    return stated.accept


_LEAST_GROUP = 20
"""Icons of a style or size that have habits of their own; fewer are held against the rest of their set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LintOptions:
    """What is to be looked at, and by which rules."""

    folders: tuple[Path, ...] = ()
    sets: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    without_rules: tuple[str, ...] = ()


def lint(options: LintOptions, *, library: Library, progress: Progress) -> Report:
    """Look at folders of icons, or at sets of a library.

    Raises:
        IconsError: a folder, a set or a rule is not there, or a file of exceptions is wrong.
    """
    rules = choose(options.rules, options.without_rules)
    accepted = read_accepted(options.folders)
    icons, unread = of_folders(options.folders, exclude=options.exclude) if options.folders else ([], [])
    if options.sets:
        from search.generation.opened import open_current

        icons += of_library(open_current(require(library)), options.sets)
    encoder = open_encoder(library) if any(rule.needs_vectors for rule in rules) else None
    findings: list[Finding] = []
    on_dark: set[IconFile] = set()
    sets: dict[str, list[IconFile]] = defaultdict(list)
    for icon in icons:
        sets[icon.set].append(icon)
    for key, members in sets.items():
        seen = inspect(members, encoder=encoder, progress=progress)
        findings.extend(_of_set(key, seen, rules, encoder, progress))
        on_dark.update(icon.file for icon in seen.icons if icon.is_on_dark)
    if not options.rules or "broken" in options.rules:
        mend = "mend the file, or leave it out with --exclude"
        findings += [Finding("broken", "error", key, message, mend, ()) for key, message in unread]
    kept = [finding for finding in findings if not accepted.accepts(finding)]
    return Report(
        n_icons=len(icons),
        sets=tuple(sets),
        findings=tuple(kept),
        n_accepted=len(findings) - len(kept),
        unused_exceptions=tuple(accepted.unused()),
        on_dark=frozenset(on_dark),
    )


def _of_set(
    key: str, seen: Inspection, rules: Sequence[Rule], encoder: PairEncoder | None, progress: Progress
) -> Iterator[Finding]:
    whole = Group(seen, np.arange(len(seen.icons)), encoder)
    groups = list(_groups(whole))
    violations: list[tuple[Rule, Group, Violation]] = []
    for number, rule in enumerate(rules):
        progress("Comparing icons", number, len(rules))
        for group in [whole] if rule.is_of_whole_set else groups:
            violations.extend((rule, group, one) for one in rule.find(group))
    odd = {row for _, _, one in violations for row in one.rows}
    typical = {id(group): _typical(group, odd) for group in (whole, *groups)}
    for rule, group, one in violations:
        beside, usual = one.looks_like, typical[id(group)]
        if not beside and usual is not None and len(one.rows) == 1 and seen.drawn[one.rows[0]]:
            beside = (usual,)
        yield Finding(
            rule=rule.id,
            severity="note" if one.is_note else rule.severity,
            set=key,
            message=one.message,
            mend=rule.mend,
            icons=tuple(seen.icons[row].file for row in one.rows),
            beside=tuple(seen.icons[row].file for row in beside),
        )


def _groups(whole: Group) -> Iterator[Group]:
    """Icons of one style and size each; those of which there are few join the largest."""
    by_look: dict[tuple[str | None, int | None], list[int]] = defaultdict(list)
    for row, icon in whole.icons():
        by_look[icon.file.style, icon.file.size].append(row)
    ordered = sorted(by_look.values(), key=len, reverse=True)
    large = [rows for rows in ordered if len(rows) >= _LEAST_GROUP] or ordered[:1]
    few = [row for rows in ordered[len(large) :] for row in rows]
    for rows in ([*large[0], *few], *large[1:]) if large else ():
        yield Group(whole.seen, np.array(sorted(rows), np.int64), whole.encoder)


def _typical(group: Group, odd: set[int]) -> int | None:
    """A usual icon: of those without a finding, that whose picture is nearest to the mean, else the first."""
    sound: list[int] = [row for row in group.rows.tolist() if group.seen.drawn[row] and row not in odd]
    if not sound or not group.seen.vectors.shape[1]:
        return sound[0] if sound else None
    vectors = group.seen.vectors[sound]
    return sound[int(np.argmax(vectors @ vectors.mean(axis=0)))]
