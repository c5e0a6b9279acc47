"""How does a report look as a page? What is used, what is not ours, what is drawn in several ways; with crops."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from indexer.reports.page import Html, page, table_html
from search.engine import SearchEngine
from search.showing.in_page import data_uri
from search.usage.opened import UsageIndex
from search.usage.page import STYLE, crop_html, shown
from search.usage.report import UsageReport, Used

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
    told = [f"{len(rows):,}"] + ([f"the first {_MOST_ROWS:,} are shown"] if len(rows) > _MOST_ROWS else [])
    note = "; ".join([*told, *([small] if small else [])])
    return f"<section><h2>{shown(title)} <small>{shown(note)}</small></h2>{table if rows else '<p>None.</p>'}</section>"


def _used_table(index: UsageIndex, rows: Sequence[Used], picture: Picture) -> str:
    head = ("icon", "", "on screen", "places", "screenshots", "how sure")
    return table_html(head, (_used_row(index, used, picture) for used in rows[:_MOST_ROWS]), n_left=3)


def _used_row(index: UsageIndex, used: Used, picture: Picture) -> tuple[str, ...]:
    return (picture(used.icon), used.icon, _crops(index, used), *_figures(used))


def _foreign_table(index: UsageIndex, rows: Sequence[Used], picture: Picture) -> str:
    head = ("on screen", "like", "", "ours", "", "places", "screenshots", "how sure")
    lines = (
        (_crops(index, used), picture(used.icon), used.icon, picture(used.ours), used.ours, *_figures(used))
        for used in rows[:_MOST_ROWS]
    )
    return table_html(head, lines, n_left=5)


def _figures(used: Used) -> tuple[str, str, str]:
    return f"{used.n:,}", f"{used.n_screens:,}", f"{used.score:.2f}"


def _crops(index: UsageIndex, used: Used) -> Html:
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
        yield ("" if number else words, _crops(index, way), way.icon, f"{way.n:,}", f"{way.n_screens:,}")


def _unknown_section(index: UsageIndex, rows: Sequence[Used]) -> str:
    crops = "".join(
        f'<span title="{shown(used.examples[0].file)}">{crop_html(index, used.examples[0].drawing)}{used.n:,} x</span>'
        for used in rows[:_MOST_UNKNOWN]
    )
    small = f"<small>{len(rows):,}: like no icon of the library; own drawings, logos, or no icons at all</small>"
    return f'<section><h2>Not known {small}</h2><div class="crops">{crops}</div></section>'
