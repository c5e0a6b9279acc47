"""Findings as a page and in a terminal: by rule, with pictures side by side."""

import textwrap
from collections.abc import Callable, Iterator
from html import escape
from itertools import count

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
            about = f"{_counted(len(findings), RULES[rule].severity)}{left_out}: {escape(RULES[rule].looks_at)}"
            sections.append(
                f'<section><h2 id="{rule}">{rule} <small>{about}</small></h2><p class="mend">To mend it: '
                f'{escape(RULES[rule].mend)}.</p><div class="finds">{"".join(finds)}</div></section>'
            )
    sets = ", ".join(map(printable, report.sets[:3])) + (" ..." if len(report.sets) > 3 else "")
    title = f"{_counted(len(report.findings), 'finding')} in {report.n_icons:,} icons of {sets or 'no set'}"
    first = "Beside an odd icon, with a dashed frame: a usual one of its set, or those that it looks like."
    accepted = [f"{report.n_accepted:,} findings were accepted and are left out."] if report.n_accepted else []
    facts = [first if report.findings else "Nothing was found.", *accepted]
    return page(f"icons lint: {title}", facts=facts, sections=sections)


def _by_rule(report: Report) -> dict[str, list[Finding]]:
    """Findings by rule, in the order of the rules; without those that found nothing."""
    by_rule = {rule: [found for found in report.findings if found.rule == rule] for rule in RULES}
    return {rule: findings for rule, findings in by_rule.items() if findings}


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' if n != 1 else ''}"


def _label(finding: Finding) -> str:
    """The icon's name, unless what is found says several; the set's, where all of it is meant."""
    return finding.icons[0].name if len(finding.icons) == 1 else "" if finding.icons else finding.set


def _find(finding: Finding, picture: Callable[[IconFile], str]) -> str:
    shown = finding.icons[:_MOST_PICTURES] if finding.rule != "broken" else ()
    figures = [
        f'<figure{kind} title="{_shown(icon.place)}">{picture(icon)}'
        f"<figcaption>{_shown(icon.name)}</figcaption></figure>"
        for kind, icons in (("", shown), (' class="beside"', finding.beside[:_MOST_PICTURES]))
        for icon in icons
    ]
    label = f"<b>{_shown(_label(finding))}</b>" if _label(finding) else ""
    pictures = f'<div class="pictures">{"".join(figures)}</div>' if figures else ""
    wide = " wide" if len(figures) > 3 else ""
    return f'<div class="find{wide}">{pictures}<p>{label}{_shown(finding.message)}</p></div>'


def _picture(icon: IconFile, pool: DrawPool, report: Report) -> str:
    try:
        content = read_picture(icon.address)
        if len(content) > _MOST_PICTURE_BYTES or b"<script" in content:
            content = pool.png(content, size=_DRAWN_SIDE)
        dark = ' class="dark"' if icon in report.on_dark else ""
        return f'<img{dark} alt="{_shown(icon.name)}" src="{data_uri(content)}">'
    except (OSError, SourceError, RenderError) as error:
        return f'<span class="gone">{"broken" if isinstance(error, RenderError) else "gone"}</span>'


def _shown(text: str) -> str:
    return escape(printable(text))


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
        yield f"{rule}  {_counted(len(findings), severity)}"
        for finding in findings[:most]:
            yield from _finding_lines(finding, is_whole=most is None)
        if most is not None and len(findings) > most:
            yield f"{' ' * _INDENT}... and {len(findings) - most:,} more; --long shows all"
        yield from textwrap.wrap(f"mend: {RULES[rule].mend}", WIDTH, initial_indent="  ", subsequent_indent="        ")
        yield ""
    accepted = f"; {report.n_accepted:,} accepted" if report.n_accepted else ""
    found = _counted(len(report.findings), "finding") if report.findings else "nothing found"
    yield f"{found} in {_counted(report.n_icons, 'icon')}{accepted}"


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
