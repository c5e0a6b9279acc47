"""What is inconsistent in a set of icons: rules, what they find, the page that shows it."""

import textwrap
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from html import escape
from itertools import count
from pathlib import Path

import numpy as np

from indexer.arrays import grouped
from indexer.errors import IconsError, RenderError, SourceError, explain_unreadable
from indexer.languages.words import counted, first_few, printable
from indexer.library.folder import Library, require
from indexer.library.foreign import from_plain
from indexer.rendering.draw_pool import DrawPool
from indexer.reports.figures import page
from indexer.reports.terminal import Progress, with_progress
from indexer.sources.records import read_regular
from indexer.sources.source import read_picture
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
from search.showing.sheets import data_uri, shown

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
    form, damages = '[accept], then rule = ["name", "pattern-*"]', (OSError, SourceError, ValueError, RecursionError)
    with explain_unreadable(f'"{file}"', f"it is TOML: {form}", IconsError, damages=damages):
        stated = from_plain(_File, tomllib.loads(read_regular(file, limit=_MOST_BYTES).decode("utf-8")))
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
    sets = grouped(icons, lambda icon: icon.set)
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
    for rule in with_progress(rules, "Comparing icons", progress):
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
    files = [icon.file for icon in whole.seen.icons]
    by_look = grouped(whole.rows.tolist(), lambda row: (files[row].style, files[row].size))
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


_MOST_ON_PAGE = 200
"""Findings of a rule with pictures: a page of thousands opens slowly."""
_MOST_PICTURES = 6
"""Of one finding."""
_MOST_PICTURE_BYTES = 20_000
"""A larger file, or one that is no plain shapes, stands in the page as it is drawn."""
_DRAWN_SIDE = 112
_STYLE = """<style>
nav { margin: 1rem 0; display: flex; flex-wrap: wrap; gap: .4rem; } nav a { color: inherit; text-decoration: none;
  border: 1px solid var(--line); border-radius: 1rem; padding: .15rem .7rem; font-size: .87rem; }
.mend { color: var(--soft); margin: -.5rem 0 .8rem; }
.finds { display: grid; grid-template-columns: repeat(auto-fill, minmax(21rem, 1fr)); gap: .7rem; }
.find { display: flex; gap: .9rem; background: var(--card); border-radius: .6rem; padding: .7rem .9rem; }
.find p { margin: 0; font-size: .87rem; overflow-wrap: anywhere; align-self: center; }
.find p b { display: block; font-weight: 600; }
.find.wide { grid-column: 1 / -1; }
.pictures { display: flex; flex-wrap: wrap; gap: .3rem; flex: none; max-width: 28.5rem; align-items: start; }
.beside img { opacity: .8; border-style: dashed; }
</style>"""


def lint_page(report: Report, *, progress: Progress) -> str:
    """Lay a report out as one file that needs nothing beside it."""
    by_rule = _by_rule(report)
    links = (f'<a href="#{rule}">{rule} <b>{len(findings):,}</b></a>' for rule, findings in by_rule.items())
    sections = [_STYLE, f"<nav>{''.join(links)}</nav>"]
    n_all, n_done = sum(min(len(findings), _MOST_ON_PAGE) for findings in by_rule.values()), count(1)
    with DrawPool(workers=1) as pool:
        for rule, findings in by_rule.items():
            finds = []
            for finding in findings[:_MOST_ON_PAGE]:
                finds.append(_find(finding, lambda icon: _picture(icon, pool, report)))
                progress("Laying out the page", next(n_done), n_all)
            left_out = f"; the first {len(finds):,} are shown" if len(finds) < len(findings) else ""
            about = f"{counted(len(findings), RULES[rule].severity)}{left_out}: {escape(RULES[rule].looks_at)}"
            sections.append(
                f'<section><h2 id="{rule}">{rule} <small>{about}</small></h2><p class="mend">To mend it: '
                f'{escape(RULES[rule].mend)}.</p><div class="finds">{"".join(finds)}</div></section>'
            )
    sets = first_few([*map(printable, report.sets)]) or "no set"
    title = f"{counted(len(report.findings), 'finding')} in {report.n_icons:,} icons of {sets}"
    first = "Beside an odd icon, with a dashed frame: a usual one of its set, or those that it looks like."
    accepted = [f"{report.n_accepted:,} findings were accepted and are left out."] if report.n_accepted else []
    facts = [first if report.findings else "Nothing was found.", *accepted]
    return page(f"icons lint: {title}", facts=facts, sections=sections)


def _by_rule(report: Report) -> dict[str, list[Finding]]:
    """Findings by rule, in the order of the rules; without those that found nothing."""
    by_rule = {rule: [found for found in report.findings if found.rule == rule] for rule in RULES}
    return {rule: findings for rule, findings in by_rule.items() if findings}


def _label(finding: Finding) -> str:
    """The icon's file or name, unless what is found says several; the set's, where all of it is meant."""
    return finding.icons[0].label if len(finding.icons) == 1 else "" if finding.icons else finding.set


def _find(finding: Finding, picture: Callable[[IconFile], str]) -> str:
    odd = finding.icons[:_MOST_PICTURES] if finding.rule != "broken" else ()
    figures = [
        f'<figure{kind} title="{shown(icon.place)}">{picture(icon)}<figcaption>{shown(icon.name)}</figcaption></figure>'
        for kind, icons in (("", odd), (' class="beside"', finding.beside[:_MOST_PICTURES]))
        for icon in icons
    ]
    label = f"<b>{shown(_label(finding))}</b>" if _label(finding) else ""
    pictures = f'<div class="pictures">{"".join(figures)}</div>' if figures else ""
    wide = " wide" if len(figures) > 3 else ""
    return f'<div class="find{wide}">{pictures}<p>{label}{shown(finding.message)}</p></div>'


def _picture(icon: IconFile, pool: DrawPool, report: Report) -> str:
    try:
        content = read_picture(icon.address)
        if len(content) > _MOST_PICTURE_BYTES or b"<script" in content:
            content = pool.png(content, size=_DRAWN_SIDE)
        dark = ' class="dark"' if icon in report.on_dark else ""
        return f'<img{dark} alt="{shown(icon.name)}" src="{data_uri(content)}">'
    except (OSError, SourceError, RenderError) as error:
        return f'<span class="gone">{"broken" if isinstance(error, RenderError) else "gone"}</span>'


WIDTH = 80
FEW = 3
"""Findings of a rule that are shown unless all are asked for."""
_NAME_WIDTH = 28
_INDENT = 2


def lines_of(report: Report, *, most: int | None) -> Iterator[str]:
    """Lay a report out; `most` findings of a rule, None for all, each whole."""
    for rule, findings in _by_rule(report).items():
        severities = {found.severity for found in findings}
        severity = severities.pop() if len(severities) == 1 else RULES[rule].severity
        yield f"{rule}  {counted(len(findings), severity)}"
        for finding in findings[:most]:
            yield from _finding_lines(finding, is_whole=most is None)
        if most is not None and len(findings) > most:
            yield f"{' ' * _INDENT}... and {len(findings) - most:,} more; --long shows all"
        yield from textwrap.wrap(f"mend: {RULES[rule].mend}", WIDTH, initial_indent="  ", subsequent_indent="        ")
        yield ""
    accepted = f"; {report.n_accepted:,} accepted" if report.n_accepted else ""
    found = counted(len(report.findings), "finding") if report.findings else "nothing found"
    yield f"{found} in {counted(report.n_icons, 'icon')}{accepted}"


def _finding_lines(finding: Finding, *, is_whole: bool) -> Iterator[str]:
    """The name in a column of its own."""
    label = _label(finding)
    start = " " * _INDENT + (f"{label:<{_NAME_WIDTH}} " if label else "")
    behind = " " * (_INDENT + (_NAME_WIDTH + 1 if label else 2))
    if len(start) > WIDTH // 2:
        yield start.rstrip()
        start = behind
    yield from textwrap.wrap(finding.message, WIDTH, initial_indent=start, subsequent_indent=behind)
    yield from (f"{behind}{icon.place}" for icon in finding.icons if is_whole)
