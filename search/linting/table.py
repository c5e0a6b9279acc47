"""How do findings look in a terminal? By rule, with counts and the first few of each, in 80 columns."""

import textwrap
from collections.abc import Iterator, Sequence

from search.linting.findings import Finding, Report
from search.linting.rules.table import RULES

WIDTH = 80
FEW = 3
"""Findings of a rule that are shown unless all are asked for."""
_NAME_WIDTH = 28
_INDENT = 2


def lines_of(report: Report, *, most: int | None) -> Iterator[str]:
    """Lay a report out; `most` findings of a rule, None for all, each whole."""
    by_rule = {rule: [found for found in report.findings if found.rule == rule] for rule in RULES}
    for rule, findings in by_rule.items():
        if findings:
            yield from _rule_lines(rule, findings, most=most)
            yield ""
    yield from _summary(report)


def _rule_lines(rule: str, findings: Sequence[Finding], *, most: int | None) -> Iterator[str]:
    severity = findings[0].severity if len({found.severity for found in findings}) == 1 else RULES[rule].severity
    yield f"{rule}  {len(findings):,} {severity}{'s' if len(findings) > 1 else ''}"
    for finding in findings[:most]:
        yield from _finding_lines(finding, is_whole=most is None)
    if most is not None and len(findings) > most:
        yield f"{' ' * _INDENT}... and {len(findings) - most:,} more; --long shows all"
    yield from textwrap.wrap(f"mend: {RULES[rule].mend}", WIDTH, initial_indent="  ", subsequent_indent="        ")


def _finding_lines(finding: Finding, *, is_whole: bool) -> Iterator[str]:
    """The name in a column of its own, unless what is found says it or is of the whole set."""
    label = finding.icons[0].name if len(finding.icons) == 1 else "" if finding.icons else finding.set
    start = " " * _INDENT
    if label:
        start += f"{label:<{_NAME_WIDTH}} " if len(label) <= _NAME_WIDTH else f"{label} "
    behind = " " * (_INDENT + (_NAME_WIDTH + 1 if label else 2))
    if len(start) > WIDTH // 2:
        yield start.rstrip()
        start = behind
    yield from textwrap.wrap(finding.message, WIDTH, initial_indent=start, subsequent_indent=behind)
    if is_whole:
        for icon in finding.icons:
            yield f"{behind}{icon.place}"


def _summary(report: Report) -> Iterator[str]:
    n = len(report.findings)
    icons = f"{report.n_icons:,} icon{'s' if report.n_icons != 1 else ''}"
    accepted = f"; {report.n_accepted:,} accepted" if report.n_accepted else ""
    yield f"{n:,} finding{'s' if n != 1 else ''} in {icons}{accepted}" if n else f"nothing found in {icons}{accepted}"
