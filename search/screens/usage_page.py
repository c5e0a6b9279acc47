"""Uses and reports as pages and in a terminal."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from indexer.languages.words import printable
from indexer.reports.page import Html, page, section, table_html
from indexer.reports.terminal import Progress, open_console, table_of
from search.engine import SearchEngine
from search.screens.opened import Shot, UsageIndex, read_shots
from search.screens.report import UsageReport, Used
from search.screens.results import Use, Uses
from search.showing.sheets import data_uri, shown

MOST_SHOTS = 60
"""On one page."""
_MOST_CROPS = 200
_MOST_ROWS = 400
_MOST_UNKNOWN = 200
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
:is(th, td) img.icon { width: 2.4rem; height: 2.4rem; box-sizing: border-box; padding: .3rem; background: #fff;
  border: 1px solid var(--line); border-radius: .4rem; }
:is(th, td) .crop { display: inline-block; margin: 0 .25rem 0 0; width: 3rem; height: 3rem; vertical-align: middle; }
:is(th, td):has(.crop) { white-space: nowrap; }
th, td { vertical-align: middle; }
</style>"""


def uses_page(index: UsageIndex, asked: str, found: Uses, *, progress: Progress) -> str:
    """Lay uses out as one file that needs nothing beside it."""
    shots = list(read_shots(index, found.uses, most=MOST_SHOTS, progress=progress))
    n_hidden = len({use.file for use in found.uses}) - len(shots)
    facts = [f"{found.n_found:,} places on {found.n_screens:,} screenshots; the surest first."]
    facts += [f"The first {len(found.uses):,} are shown."] * (len(found.uses) < found.n_found)
    facts += [f"{n_hidden:,} more screenshots have crops alone."] * (n_hidden > 0)
    links = {shot.file: f"#shot-{number}" for number, shot in enumerate(shots)}
    crops = [_crop(index, use, _label(use), link=links.get(use.file, "")) for use in found.uses[:_MOST_CROPS]]
    screens = "".join(_screen(index, shot, number) for number, shot in enumerate(shots))
    sections = [STYLE, section("Crops", table=_together(crops)), screens]
    return page(f"icons usage: {printable(asked)}", facts=facts, sections=sections)


def _label(use: Use) -> str:
    return f"{use.score:.2f}" + (f" {use.icon}" if use.icon else "")


def _together(crops: Sequence[str]) -> str:
    return f'<div class="crops">{"".join(crops)}</div>'


def _crop(index: UsageIndex, use: Use, label: str, *, link: str = "") -> str:
    """A crop with what is to be said of it."""
    kind = f'a href="{link}"' if link else "span"
    return f'<{kind} title="{shown(use.file)}">{_picture(index, use.drawing)}{shown(label)}</{kind[:4].strip()}>'


def _picture(index: UsageIndex, drawing: int) -> str:
    """A crop as an image, or a mark where none is kept."""
    png = index.crop(drawing)
    if png is None:
        return '<span class="crop none">no crop</span>'
    return f'<img class="crop" alt="" src="{data_uri(png)}">'


def _screen(index: UsageIndex, shot: Shot, number: int) -> str:
    n = len(shot.uses)
    head = f"<p><b>{shown(shot.file)}</b> <small>{n:,} place{'s' if n != 1 else ''}</small></p>"
    if shot.png is None:
        gone = "<p><small>The file has gone, or is another one by now: these are its crops.</small></p>"
        body = gone + _together([_crop(index, use, f"{use.score:.2f}") for use in shot.uses])
    else:
        styles = ((use.box.style(use.width, use.height), shown(_label(use))) for use in shot.uses)
        frames = "".join(f'<i style="{style}" title="{label}"></i>' for style, label in styles)
        framed = f'<img alt="" src="{data_uri(shot.png)}">{frames}'
        body = f'<div class="framed" style="width: {shot.uses[0].width}px">{framed}</div>'
    return f'<section class="screen" id="shot-{number}">{head}{body}</section>'


def report_page(index: UsageIndex, engine: SearchEngine, report: UsageReport) -> str:
    """Lay a report out as one file that needs nothing beside it."""
    icon = _icons(engine, report)
    ours = ", ".join(report.sets)

    def crops(used: Used) -> Html:
        return Html(
            "".join(_picture(index, drawing) for drawing in dict.fromkeys(use.drawing for use in used.examples))
        )

    def figures(used: Used) -> tuple[str, str, str]:
        return f"{used.n:,}", f"{used.n_screens:,}", f"{used.score:.2f}"

    use = [(icon(one.icon), one.icon, crops(one), *figures(one)) for one in report.used[:_MOST_ROWS]]
    foreign = [
        (crops(one), icon(one.icon), one.icon, icon(one.ours), one.ours, *figures(one))
        for one in report.foreign[:_MOST_ROWS]
    ]
    ways = [(words, crops(way), way.icon, *figures(way)[:2]) for words, way in _ways(report, most=_MOST_ROWS)]
    like = "like an icon of another set; beside it ours that is most like it"
    places = ("places", "screenshots", "how sure")
    tables = (
        (f"Used icons of {ours}", len(report.used), "", ("icon", "", "on screen", *places), use, 3),
        ("Not from our set", len(report.foreign), like, ("on screen", "like", "", "ours", "", *places), foreign, 5),
        ("Drawn in several ways", len(report.several), "", ("meaning", "on screen", "like", *places[:2]), ways, 3),
    )
    sections = [STYLE]
    for title, n, remark, head, rows, n_left in tables:
        cut = f"the first {_MOST_ROWS:,} are shown" if n > _MOST_ROWS else ""
        table = table_html(head, rows, n_left=n_left) if rows else "<p>None.</p>"
        sections.append(section(title, small="; ".join(filter(None, (f"{n:,}", cut, remark))), table=table))
    small = f"{len(report.unknown):,}: like no icon of the library; own drawings, logos, or no icons at all"
    unknown = [_crop(index, one.examples[0], f"{one.n:,} x") for one in report.unknown[:_MOST_UNKNOWN]]
    facts = [
        f"{report.n_screens:,} screenshots, {report.n_boxes:,} places that look like icons.",
        f"{len(report.used):,} of the {report.n_icons_of_sets:,} icons of {ours} are used.",
    ]
    sections.append(section("Not known", small=small, table=_together(unknown)))
    return page(f"icons usage report: {ours}", facts=facts, sections=sections)


def _icons(engine: SearchEngine, report: UsageReport) -> Callable[[str], Html]:
    """The picture of each icon, by its key."""
    keys = {used.icon for used in (*report.used, *report.foreign)[: 2 * _MOST_ROWS]}
    keys |= {used.ours for used in report.foreign[:_MOST_ROWS]}
    images = {hit.key: hit.image for hit in engine.hits([engine.find(key) for key in sorted(keys)])}
    contents: Mapping[int, bytes] = dict(engine.pictures(sorted(set(images.values()))))

    def picture(key: str) -> Html:
        content = contents.get(images.get(key, -1))
        return Html(f'<img class="icon" alt="" src="{data_uri(content)}">' if content else "")

    return picture


def _ways(report: UsageReport, *, most: int) -> Iterator[tuple[str, Used]]:
    """Ways to draw some meanings, each meaning beside its first way."""
    for meaning in report.several[:most]:
        yield from zip((meaning.words, *[""] * len(meaning.ways)), meaning.ways, strict=False)


MOST_ROWS = 20
"""Of each part of a report; --json and --html have all."""


def print_uses(found: Uses) -> None:
    """Print a line a place: how sure, where on which screenshot, and what it is taken for."""
    rows = ((f"{use.score:.2f}", f"{use.box.at} {use.box.extent}", use.icon or "", use.file) for use in found.uses)
    open_console().print(table_of(("score", "at", "icon", "screenshot"), rows, n_left=4))


def print_report(report: UsageReport) -> None:
    """Print the most frequent of each part."""
    console, ours = open_console(), ", ".join(report.sets)
    used = f"used of {ours}: {len(report.used):,} of {report.n_icons_of_sets:,} icons"
    ways = [(words, way.icon, way) for words, way in _ways(report, most=MOST_ROWS)]
    parts = (
        (used, [(one.icon, "", one) for one in report.used]),
        (f"not from {ours}: {len(report.foreign):,}", [(one.icon, f"ours: {one.ours}", one) for one in report.foreign]),
        (f"drawn in several ways: {len(report.several):,} meanings", ways),
    )
    for title, named in parts:
        console.print(title, highlight=False, markup=False, style="bold")
        rows = [(*names, f"{one.n:,}", f"{one.n_screens:,}", f"{one.score:.2f}") for *names, one in named[:MOST_ROWS]]
        if rows:
            console.print(table_of(("icon", "", "places", "screenshots", "sure"), rows, n_left=2))
        console.print()
    n = sum(used.n for used in report.unknown)
    unknown = f"like nothing in the library: {len(report.unknown):,} drawings at {n:,} places"
    console.print(unknown, highlight=False, markup=False, style="bold")
