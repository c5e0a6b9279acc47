"""Findings as a page and in a terminal: by rule, with pictures side by side."""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from html import escape

from indexer.errors import RenderError, SourceError
from indexer.languages.words import printable
from indexer.rendering.draw_pool import DrawPool
from indexer.reports.page import page
from indexer.reports.terminal import Progress
from indexer.sources.source import read_picture
from search.linting.findings import Finding, Report
from search.linting.inspecting import IconFile
from search.linting.lint import RULES
from search.showing.sheets import data_uri

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
    by_rule = {rule: [found for found in report.findings if found.rule == rule] for rule in RULES}
    shown = {rule: findings for rule, findings in by_rule.items() if findings}
    n_all = sum(len(findings[:_MOST_ON_PAGE]) for findings in shown.values())
    n_done = 0
    sections = [_STYLE, _links(shown)]
    with DrawPool(workers=1) as pool:

        def picture(icon: IconFile) -> str:
            return _picture(icon, pool, is_on_dark=icon in report.on_dark)

        for rule, findings in shown.items():
            finds = []
            for finding in findings[:_MOST_ON_PAGE]:
                finds.append(_find(finding, picture))
                n_done += 1
                progress("Laying out the page", n_done, n_all)
            sections.append(_section(rule, findings, finds))
    return page(f"icons lint: {_title(report)}", facts=_facts(report), sections=sections)


def _title(report: Report) -> str:
    sets = ", ".join(map(printable, report.sets[:3])) + (" ..." if len(report.sets) > 3 else "")
    n = len(report.findings)
    return f"{n:,} finding{'s' if n != 1 else ''} in {report.n_icons:,} icons of {sets or 'no set'}"


def _facts(report: Report) -> list[str]:
    facts = ["Beside an odd icon, with a dashed frame: a usual one of its set, or those that it looks like."]
    if report.n_accepted:
        facts.append(f"{report.n_accepted:,} findings were accepted and are left out.")
    return facts if report.findings else ["Nothing was found.", *facts[1:]]


def _links(shown: dict[str, list[Finding]]) -> str:
    links = (f'<a href="#{rule}">{rule} <b>{len(findings):,}</b></a>' for rule, findings in shown.items())
    return f"<nav>{''.join(links)}</nav>"


def _section(rule: str, findings: Sequence[Finding], finds: Sequence[str]) -> str:
    n = len(findings)
    counted = f"{n:,} {RULES[rule].severity}{'s' if n != 1 else ''}"
    left_out = f"; the first {len(finds):,} are shown" if len(finds) < n else ""
    head = f'<h2 id="{rule}">{rule} <small>{counted}{left_out}: {escape(RULES[rule].looks_at)}</small></h2>'
    mend = f'<p class="mend">To mend it: {escape(RULES[rule].mend)}.</p>'
    return f'<section>{head}{mend}<div class="finds">{"".join(finds)}</div></section>'


def _find(finding: Finding, picture: Callable[[IconFile], str]) -> str:
    shown = finding.icons[:_MOST_PICTURES] if finding.rule != "broken" else ()
    figures = [_figure(icon, picture) for icon in shown]
    figures += [_figure(icon, picture, kind=' class="beside"') for icon in finding.beside[:_MOST_PICTURES]]
    name = finding.icons[0].name if len(finding.icons) == 1 else "" if finding.icons else finding.set
    label = f"<b>{_shown(name)}</b>" if name else ""
    pictures = f'<div class="pictures">{"".join(figures)}</div>' if figures else ""
    wide = " wide" if len(figures) > 3 else ""
    return f'<div class="find{wide}">{pictures}<p>{label}{_shown(finding.message)}</p></div>'


def _figure(icon: IconFile, picture: Callable[[IconFile], str], *, kind: str = "") -> str:
    name = _shown(icon.name)
    return f'<figure{kind} title="{_shown(icon.place)}">{picture(icon)}<figcaption>{name}</figcaption></figure>'


def _picture(icon: IconFile, pool: DrawPool, *, is_on_dark: bool) -> str:
    try:
        content = read_picture(icon.address)
        if len(content) > _MOST_PICTURE_BYTES or b"<script" in content:
            content = pool.png(content, size=_DRAWN_SIDE)
        address = data_uri(content)
    except (OSError, SourceError):
        return '<span class="gone">gone</span>'
    except RenderError:
        return '<span class="gone">broken</span>'
    dark = ' class="dark"' if is_on_dark else ""
    return f'<img{dark} alt="{_shown(icon.name)}" src="{address}">'


def _shown(text: str) -> str:
    return escape(printable(text))


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
