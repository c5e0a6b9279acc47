"""An evaluation as one HTML page: figures, charts, and the worst queries as pictures to look at."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from html import escape

from indexer.errors import IconsError
from indexer.rendering.render import draw
from indexer.reports.figures import Bar, Curve, bar_chart, figure_html, line_chart, page, section, table_html
from search.evaluation.corpus import Case, Shown
from search.evaluation.findings import MEASURES, Evaluation, Row, headline
from search.evaluation.screenshots import BAR, CHANGES, SIZES, USUAL_SIZE, Condition, png
from search.showing.sheets import data_uri, is_drawn_in_white

ReadPicture = Callable[[int], bytes]
"""Bytes of a picture by its id in the catalog; raises SourceError where its source has gone."""
CHARTED = ("R@10", "MRR@50")
MAX_INLINE_BYTES = 16_000
"""Larger pictures are drawn anew: a page of two hundred photographs would not open."""
_RANKER_COLOURS = {"names": 1, "pictures": 2, "fused": 3, "engine": 0}
_CURVES = {(): "clean", BAR: "theme, background, blur", CHANGES: "all changes"}


def report_html(evaluation: Evaluation, read_picture: ReadPicture) -> str:
    """Lay out an evaluation as one page that needs nothing beside it."""
    tile = _tiles(read_picture)
    sections = [
        *_words(evaluation),
        *_screenshots(evaluation),
        *_empty_answers(evaluation),
        *_worst(evaluation, tile),
    ]
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    encoders = (f"encoder {one.label}: {one.model}, fingerprint {one.fingerprint}" for one in evaluation.encoders)
    facts = [*headline(evaluation), *encoders, *(f"queries: {file}" for file in evaluation.files), made]
    return page("How well icons are found", facts=facts, sections=sections)


def _words(evaluation: Evaluation) -> Iterator[str]:
    """A section for each task of the query files: charts, then the table."""
    for task, rows in evaluation.of_words().items():
        several = len(evaluation.encoders) > 1
        charts = []
        for measure in CHARTED:
            bars = [Bar(_name(row, several), row.figures[measure], _RANKER_COLOURS[row.ranker]) for row in rows]
            charts.append(bar_chart(measure, bars))
        table = _table("ranker", [(_name(row, several), row) for row in rows], bold=True)
        yield section(task, small=f"{rows[0].n_queries:,} queries", charts=charts, table=table)


def _name(row: Row, several: bool) -> str:
    return f"{row.ranker}, {row.encoder}" if several and row.encoder else row.ranker


def _screenshots(evaluation: Evaluation) -> Iterator[str]:
    rows = evaluation.of_screenshots()
    if not rows:
        return
    several = len(evaluation.encoders) > 1
    found = {(row.encoder, row.condition): row.figures["R@1"] for row in rows}
    of_each = [(encoder.label, f", {encoder.label}" * several) for encoder in evaluation.encoders]
    kinds = [(encoder, changes, f"{kind}{suffix}") for encoder, suffix in of_each for changes, kind in _CURVES.items()]
    curves = [
        Curve(label, [found[encoder, Condition(size, changes)] for size in SIZES], colour)
        for colour, (encoder, changes, label) in enumerate(kinds)
    ]
    compared = [Condition(USUAL_SIZE, changes) for changes in ((), *((change,) for change in CHANGES), BAR, CHANGES)]
    bars = [
        Bar(f"{condition.name}{suffix}", found[encoder, condition], colour)
        for condition in compared
        for colour, (encoder, suffix) in enumerate(of_each)
    ]
    charts = [
        line_chart("R@1 over size", curves, ticks=[f"{size} px" for size in SIZES], x_title="longer side of the icon"),
        bar_chart(f"R@1 at {USUAL_SIZE} px, by what was done", bars),
    ]
    labelled = [(f"{row.condition.label}{f', {row.encoder}' if several else ''}", row) for row in rows if row.condition]
    small = f"{rows[0].n_queries:,} icons, found by a picture of themselves"
    table = f"<details><summary>All figures</summary>{_table('screenshots', labelled)}</details>"
    yield section("screenshots", small=small, charts=charts, table=table)


def _empty_answers(evaluation: Evaluation) -> Iterator[str]:
    if not evaluation.empty:
        return
    curves = [Curve(row.kind, list(row.figures.values()), colour) for colour, row in enumerate(evaluation.empty)]
    chart = line_chart(
        "Share of queries", curves, ticks=list(evaluation.empty[0].figures), x_title="least score of the best hit"
    )
    yield section("empty answers", small="where a least score errs", charts=[chart])


def _table(title: str, rows: Sequence[tuple[str, Row]], *, bold: bool = False) -> str:
    """Figures of some rows; `bold` marks the best of each measure."""
    best = {measure: max(row.figures[measure].value for _, row in rows) for measure in MEASURES} if bold else {}
    cells = [
        [
            label,
            *(figure_html(row.figures[name], is_best=row.figures[name].value == best.get(name)) for name in MEASURES),
        ]
        for label, row in rows
    ]
    return table_html([title, *MEASURES], cells)


def _worst(evaluation: Evaluation, tile: Callable[[Shown], str]) -> Iterator[str]:
    shots = evaluation.worst_shots
    worst = [("queries", "engine", evaluation.worst), ("screenshots", shots[0].task if shots else "", shots)]
    for what, by, cases in worst:
        if cases:
            cards = "".join(_card(case, tile) for case in cases)
            head = f"<h2>Worst {what} <small>{escape(f'{by}, {evaluation.encoders[0].label}')}</small></h2>"
            yield f"<section>{head}<div>{cards}</div></section>"


def _card(case: Case, tile: Callable[[Shown], str]) -> str:
    """One query: what was asked, what should have come, what came."""
    rank = "not ranked" if case.rank is None else f"rank {case.rank:,}"
    n_right = f", {case.n_right} right answers" if case.n_right > 1 else ""
    asked = f"<b>{escape(case.query)}</b>"
    if case.picture:
        asked = f'<img class="shot" alt="" src="{data_uri(case.picture)}"><div>{asked}'
    groups = "".join(
        f'<div class="group"><em>{title}</em><div>{"".join(map(tile, icons))}</div></div>'
        for title, icons in (("right", case.right), ("came first", case.instead))
    )
    return (
        f'<div class="case"><div class="asked">{asked}<small>{rank}{n_right}</small>'
        f"<small>{escape(case.task)}</small>{'</div>' if case.picture else ''}</div>{groups}</div>"
    )


def _tiles(read: ReadPicture) -> Callable[[Shown], str]:
    """Show icons with names; each picture is read once, and stands in `img`, where no script of an SVG can run."""

    @cache
    def picture(image: int) -> str:
        try:
            content = read(image)
            small = content if len(content) <= MAX_INLINE_BYTES else png(draw(content, size=96))
        except IconsError:
            return '<span class="gone">gone</span>'
        dark = ' class="dark"' if is_drawn_in_white(content) else ""
        return f'<img{dark} alt="" src="{data_uri(small)}">'

    def tile(icon: Shown) -> str:
        title, name = escape(f"{icon.name} ({icon.set})"), escape(icon.name)
        return f'<figure title="{title}">{picture(icon.image)}<figcaption>{name}</figcaption></figure>'

    return tile
