"""Uses and reports as pages and in a terminal."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape

from rich.console import Console

from indexer.languages.words import printable
from indexer.reports.page import Html, page, table_html
from indexer.reports.terminal import table_of
from search.engine import SearchEngine
from search.screens.opened import Shot, UsageIndex
from search.screens.report import UsageReport, Used
from search.screens.results import Use, Uses
from search.showing.sheets import data_uri

MOST_SHOTS = 60
"""On one page."""
_MOST_CROPS = 200
STYLE = """<style>
.crops { display: flex; flex-wrap: wrap; gap: .5rem; } .crops a, .crops span { color: inherit; text-decoration: none;
  width: 5.2rem; font-size: .7rem; text-align: center; overflow-wrap: anywhere; line-height: 1.25; }
.crop { display: block; box-sizing: border-box; width: 4rem; height: 4rem; margin: 0 auto .25rem; object-fit: contain;
  border: 1px solid var(--line); border-radius: .5rem; background: var(--card); }
.crop.none { display: grid; place-items: center; color: var(--soft); }
.screen { margin: 1.6rem 0; } .screen > p { margin: 0 0 .4rem; font-size: .87rem; overflow-wrap: anywhere; }
.screen small { color: var(--soft); } .framed { position: relative; max-width: 100%; border: 1px solid var(--line); }
.framed img { display: block; width: 100%; } .framed i { position: absolute; box-sizing: content-box;
  margin: -4px; padding: 1px; border: 3px solid var(--c4); border-radius: 5px; box-shadow: 0 0 0 2px #fffc; }
</style>"""


def uses_page(index: UsageIndex, asked: str, found: Uses, shots: Sequence[Shot]) -> str:
    """Lay uses out as one file that needs nothing beside it."""
    n_hidden = len({use.file for use in found.uses}) - len(shots)
    facts = [f"{found.n_found:,} places on {found.n_screens:,} screenshots; the surest first."]
    if len(found.uses) < found.n_found:
        facts.append(f"The first {len(found.uses):,} are shown.")
    if n_hidden > 0:
        facts.append(f"{n_hidden:,} more screenshots have crops alone.")
    numbers = {shot.file: number for number, shot in enumerate(shots)}
    crops = "".join(_link(index, use, numbers.get(use.file)) for use in found.uses[:_MOST_CROPS])
    screens = "".join(_screen(index, shot, number) for number, shot in enumerate(shots))
    return page(f"icons usage: {printable(asked)}", facts=facts, sections=[STYLE, _crops(crops), screens])


def _crops(crops: str) -> str:
    return f'<section><h2>Crops</h2><div class="crops">{crops}</div></section>'


def _link(index: UsageIndex, use: Use, number: int | None) -> str:
    label = f"{use.score:.2f}" + (f" {shown(use.icon)}" if use.icon else "")
    inner = f"{crop_html(index, use.drawing)}{label}"
    title = f'title="{shown(use.file)}"'
    return f"<span {title}>{inner}</span>" if number is None else f'<a {title} href="#shot-{number}">{inner}</a>'


def crop_html(index: UsageIndex, drawing: int) -> str:
    """A crop as an image, or a mark where none is kept."""
    png = index.crop(drawing)
    if png is None:
        return '<span class="crop none">no crop</span>'
    return f'<img class="crop" alt="" src="{data_uri(png)}">'


def _screen(index: UsageIndex, shot: Shot, number: int) -> str:
    n = len(shot.uses)
    head = f"<p><b>{shown(shot.file)}</b> <small>{n:,} place{'s' if n != 1 else ''}</small></p>"
    if shot.png is None:
        crops = "".join(f"<span>{crop_html(index, use.drawing)}{use.score:.2f}</span>" for use in shot.uses)
        gone = "<p><small>The file has gone, or is another one by now: these are its crops.</small></p>"
        return f'<section class="screen" id="shot-{number}">{head}{gone}<div class="crops">{crops}</div></section>'
    frames = "".join(map(_frame, shot.uses))
    width = shot.uses[0].width
    framed = f'<div class="framed" style="width: {width}px"><img alt="" src="{data_uri(shot.png)}">{frames}</div>'
    return f'<section class="screen" id="shot-{number}">{head}{framed}</section>'


def _frame(use: Use) -> str:
    left, top, right, bottom = use.box
    places = {
        "left": left / use.width,
        "top": top / use.height,
        "width": (right - left) / use.width,
        "height": (bottom - top) / use.height,
    }
    style = "; ".join(f"{name}: {100 * share:.3f}%" for name, share in places.items())
    title = f"{use.score:.2f}" + (f" {use.icon}" if use.icon else "")
    return f'<i style="{style}" title="{shown(title)}"></i>'


def shown(text: str) -> str:
    """A text of unknown origin in HTML."""
    return escape(printable(text))


_MOST_ROWS = 400
_MOST_UNKNOWN = 200
_OWN_STYLE = """<style>
:is(th, td) img.icon { width: 2.4rem; height: 2.4rem; box-sizing: border-box; padding: .3rem; background: #fff;
  border: 1px solid var(--line); border-radius: .4rem; }
:is(th, td) .crop { display: inline-block; margin: 0 .25rem 0 0; width: 3rem; height: 3rem; vertical-align: middle; }
:is(th, td):has(.crop) { white-space: nowrap; }
th, td { vertical-align: middle; }
</style>"""
Picture = Callable[[str], Html]
"""The picture of an icon, by its key."""


def report_page(index: UsageIndex, engine: SearchEngine, report: UsageReport) -> str:
    """Lay a report out as one file that needs nothing beside it."""
    picture = _pictures(engine, report)
    ours = ", ".join(report.sets)
    facts = [
        f"{report.n_screens:,} screenshots, {report.n_boxes:,} places that look like icons.",
        f"{len(report.used):,} of the {report.n_icons_of_sets:,} icons of {ours} are used.",
    ]
    sections = [
        STYLE + _OWN_STYLE,
        _section(f"Used icons of {ours}", report.used, _used_table(index, report.used, picture)),
        _section(
            "Not from our set",
            report.foreign,
            _foreign_table(index, report.foreign, picture),
            small="like an icon of another set; beside it ours that is most like it",
        ),
        _several_section(index, report),
        _unknown_section(index, report.unknown),
    ]
    return page(f"icons usage report: {ours}", facts=facts, sections=sections)


def _pictures(engine: SearchEngine, report: UsageReport) -> Picture:
    keys = {used.icon for used in (*report.used, *report.foreign)[: 2 * _MOST_ROWS]}
    keys |= {used.ours for used in report.foreign[:_MOST_ROWS]}
    images = {hit.key: hit.image for hit in engine.hits([engine.find(key) for key in sorted(keys)])}
    contents: Mapping[int, bytes] = dict(engine.pictures(sorted(set(images.values()))))

    def picture(key: str) -> Html:
        content = contents.get(images.get(key, -1))
        return Html(f'<img class="icon" alt="" src="{data_uri(content)}">' if content else "")

    return picture


def _section(title: str, rows: Sequence[Used], table: str, *, small: str = "") -> str:
    notes = [f"{len(rows):,}"] + ([f"the first {_MOST_ROWS:,} are shown"] if len(rows) > _MOST_ROWS else [])
    note = "; ".join([*notes, *([small] if small else [])])
    return f"<section><h2>{shown(title)} <small>{shown(note)}</small></h2>{table if rows else '<p>None.</p>'}</section>"


def _used_table(index: UsageIndex, rows: Sequence[Used], picture: Picture) -> str:
    head = ("icon", "", "on screen", "places", "screenshots", "how sure")
    return table_html(head, (_used_row(index, used, picture) for used in rows[:_MOST_ROWS]), n_left=3)


def _used_row(index: UsageIndex, used: Used, picture: Picture) -> tuple[str, ...]:
    return (picture(used.icon), used.icon, _report_crops(index, used), *_figures(used))


def _foreign_table(index: UsageIndex, rows: Sequence[Used], picture: Picture) -> str:
    head = ("on screen", "like", "", "ours", "", "places", "screenshots", "how sure")
    lines = (
        (_report_crops(index, used), picture(used.icon), used.icon, picture(used.ours), used.ours, *_figures(used))
        for used in rows[:_MOST_ROWS]
    )
    return table_html(head, lines, n_left=5)


def _figures(used: Used) -> tuple[str, str, str]:
    return f"{used.n:,}", f"{used.n_screens:,}", f"{used.score:.2f}"


def _report_crops(index: UsageIndex, used: Used) -> Html:
    drawings = dict.fromkeys(use.drawing for use in used.examples)
    return Html("".join(crop_html(index, drawing) for drawing in drawings))


def _several_section(index: UsageIndex, report: UsageReport) -> str:
    lines = [line for meaning in report.several[:_MOST_ROWS] for line in _ways(index, meaning.words, meaning.ways)]
    head = ("meaning", "on screen", "like", "places", "screenshots")
    n = f"<small>{len(report.several):,}</small>"
    body = table_html(head, lines, n_left=3) if lines else "<p>None.</p>"
    return f"<section><h2>Drawn in several ways {n}</h2>{body}</section>"


def _ways(index: UsageIndex, words: str, ways: Sequence[Used]) -> Iterator[tuple[str, ...]]:
    for number, way in enumerate(ways):
        yield ("" if number else words, _report_crops(index, way), way.icon, f"{way.n:,}", f"{way.n_screens:,}")


def _unknown_section(index: UsageIndex, rows: Sequence[Used]) -> str:
    crops = "".join(
        f'<span title="{shown(used.examples[0].file)}">{crop_html(index, used.examples[0].drawing)}{used.n:,} x</span>'
        for used in rows[:_MOST_UNKNOWN]
    )
    small = f"<small>{len(rows):,}: like no icon of the library; own drawings, logos, or no icons at all</small>"
    return f'<section><h2>Not known {small}</h2><div class="crops">{crops}</div></section>'


MOST_ROWS = 20
"""Of each part of a report; --json and --html have all."""


def print_uses(console: Console, found: Uses) -> None:
    """Print a line a place: how sure, where on which screenshot, and what it is taken for."""
    rows = ((f"{use.score:.2f}", _at(use), use.icon or "", use.file) for use in found.uses)
    console.print(table_of(("score", "at", "icon", "screenshot"), rows, n_left=4))


def _at(use: Use) -> str:
    left, top, right, bottom = use.box
    return f"{left},{top} {right - left}x{bottom - top}"


def print_report(console: Console, report: UsageReport) -> None:
    """Print the most frequent of each part."""
    ours = ", ".join(report.sets)
    parts = (
        (f"used of {ours}: {len(report.used):,} of {report.n_icons_of_sets:,} icons", _rows(report.used)),
        (f"not from {ours}: {len(report.foreign):,}", _rows(report.foreign, with_ours=True)),
        (f"drawn in several ways: {len(report.several):,} meanings", _ways_line(report)),
    )
    for title, rows in parts:
        console.print(title, highlight=False, markup=False, style="bold")
        shown = list(rows)
        if shown:
            console.print(table_of(_HEAD, shown[:MOST_ROWS], n_left=2))
        console.print()
    n = sum(used.n for used in report.unknown)
    unknown = f"like nothing in the library: {len(report.unknown):,} drawings at {n:,} places"
    console.print(unknown, highlight=False, markup=False, style="bold")


_HEAD = ("icon", "", "places", "screenshots", "sure")


def _rows(part: Sequence[Used], *, with_ours: bool = False) -> Iterator[tuple[str, ...]]:
    for used in part:
        instead = f"ours: {used.ours}" if with_ours else ""
        yield (used.icon, instead, f"{used.n:,}", f"{used.n_screens:,}", f"{used.score:.2f}")


def _ways_line(report: UsageReport) -> Iterator[tuple[str, ...]]:
    for meaning in report.several:
        for number, way in enumerate(meaning.ways):
            yield ("" if number else meaning.words, way.icon, f"{way.n:,}", f"{way.n_screens:,}", f"{way.score:.2f}")
