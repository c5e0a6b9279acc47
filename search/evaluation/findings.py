"""What an evaluation found: plain data, JSON, tables in a terminal, and one HTML page with the worst as pictures."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from html import escape
from typing import Any

import numpy as np
from rich.table import Table

from indexer.errors import IconsError
from indexer.languages.words import printable
from indexer.rendering.render import draw
from indexer.reports.figures import (
    DEPTH,
    RESAMPLES,
    Bar,
    Curve,
    Figure,
    Ranks,
    Scores,
    bar_chart,
    figure_html,
    first_rank_scores,
    line_chart,
    means,
    page,
    section,
    spell,
    table_html,
)
from indexer.reports.terminal import open_console, table_of
from search.evaluation.queries import Case, Shown
from search.evaluation.rankers import ENGINE, Contender
from search.evaluation.screenshots import BAR, CHANGES, SIZES, USUAL_SIZE, Condition, conditions, png
from search.showing.sheets import data_uri, is_drawn_in_white

COMPARED = ("R@1", "R@10", "MRR@50")
_SAME = 5e-4
"""What the third digit does not show."""


@dataclass(frozen=True, slots=True)
class Row:
    """Figures of one ranker on one task."""

    task: str
    ranker: str
    encoder: str
    """Its label."""
    n_queries: int
    figures: Mapping[str, Figure]
    condition: Condition | None = None
    """How the screenshots were taken; None for words."""
    regime: str | None = None
    """Which tags were known (`regimes`); None for screenshots."""

    @property
    def title(self) -> str:
        """Name of the task, with the tags that were known."""
        return f"{self.task}, {self.regime}" if self.regime else self.task


@dataclass(frozen=True, slots=True)
class EmptyRow:
    """How often each limit errs on one kind of queries."""

    kind: str
    n_queries: int
    figures: Mapping[str, Figure]
    """Share of the queries by limit, spelt as a number."""


@dataclass(slots=True)
class Evaluation:
    """All that was measured, on what, and what was left out."""

    library: str
    generation: int
    n_icons: int
    n_pictures: int
    picture_weight: float
    tag_weight: float
    seed: int
    encoders: Sequence[Contender]
    files: Sequence[str]
    n_dropped: int
    """Queries that were not asked, since no icon here bears a relevant name."""
    unknown: Sequence[str]
    """Relevant names that no icon bears."""
    n_unreadable: int = 0
    """Pictures left out of the screenshots because their sources have gone or changed."""
    rows: list[Row] = field(default_factory=list)
    empty: list[EmptyRow] = field(default_factory=list)
    """Of the library as it is searched, whatever encoders are compared."""
    worst: list[Case] = field(default_factory=list)
    """Of the engine with the first encoder."""
    worst_shots: list[Case] = field(default_factory=list)
    """Of the first encoder, all changes at the usual size."""

    def sort_rows(self) -> None:
        """Put rows of one task and regime beside each other, and screenshots into the order of their conditions."""
        tasks, regimes = (
            {value: place for place, value in enumerate(dict.fromkeys(values))}
            for values in ([row.task for row in self.rows], [row.regime for row in self.rows])
        )
        places = {condition: place for place, condition in enumerate(conditions(), 1)}
        self.rows = sorted(
            self.rows,
            key=lambda row: (tasks[row.task], regimes[row.regime], places[row.condition] if row.condition else 0),
        )

    def of_words(self) -> dict[str, list[Row]]:
        """Rows of query files, tags and names, by the title of task and regime."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            if row.condition is None:
                found.setdefault(row.title, []).append(row)
        return found

    def below(self) -> Iterator[str]:
        """Say where the engine finds less than a ranker that it is made of."""
        for title, rows in self.of_words().items():
            for engine in (row for row in rows if row.ranker == ENGINE):
                arms = [row for row in rows if row.ranker != ENGINE and row.encoder == engine.encoder]
                for measure in COMPARED:
                    best = max(arms, key=lambda arm: arm.figures[measure].value)
                    ours, theirs = engine.figures[measure].value, best.figures[measure].value
                    if ours < theirs - _SAME:
                        yield f"{title}: {measure} of the engine {ours:.3f}, of {best.ranker} alone {theirs:.3f}"

    def of_screenshots(self) -> list[Row]:
        """Rows of screenshots."""
        return [row for row in self.rows if row.condition is not None]


def evaluation_json(evaluation: Evaluation) -> dict[str, Any]:
    """Spell an evaluation for programs: all but the pictures."""
    facts = asdict(evaluation)
    for case in (*facts["worst"], *facts["worst_shots"]):
        del case["picture"]
    return {**facts, "resamples": RESAMPLES}


CUTS = (1, 5, 10, 30)
NDCG_DEPTH = 10
MEASURES = (*(f"R@{cut}" for cut in CUTS), f"MRR@{DEPTH}", "mAP", f"nDCG@{NDCG_DEPTH}")


def measure(ranks: Sequence[Ranks], *, seed: int = 0) -> dict[str, Figure]:
    """Figures of one ranker, in the order of MEASURES, from each query's ranks as `right_ranks` gives them.

    R@k: share of queries with any right answer among the first k. MRR@50: mean of 1 / rank of the first one, else 0.
    mAP and nDCG@10 look at every right answer: Manning, Raghavan, Schütze, Introduction to Information Retrieval, 2008,
    section 8.4; gains are binary, and what a ranker does not rank adds nothing.
    """
    scores = first_rank_scores(np.array([found[0] for found in ranks], np.int64), cuts=CUTS)
    scores["mAP"] = np.array([average_precision(found) for found in ranks])
    scores[f"nDCG@{NDCG_DEPTH}"] = np.array([ndcg(found) for found in ranks])
    return means(scores, seed=seed)


def average_precision(ranks: Ranks) -> float:
    """Mean precision at the ranks (m,) of all right answers of a query, ascending; an unranked one counts as 0."""
    return float((np.arange(1, len(ranks) + 1) / ranks).mean())  # UNRANKED is so large that it adds nothing


def ndcg(ranks: Ranks) -> float:
    """Discounted gain of the right answers among the first 10, as a share of what the best order would gain."""
    ideal = (1 / np.log2(np.arange(2, 2 + min(len(ranks), NDCG_DEPTH)))).sum()
    gained: Scores = 1 / np.log2(1 + ranks[ranks <= NDCG_DEPTH])
    return float(gained.sum() / ideal)


WITH_INTERVAL = ("R@10", "MRR@50")
WITH_INTERVAL_OF_SHOTS = ("R@1", "MRR@50")


def print_summary(evaluation: Evaluation) -> None:
    """Print what was asked of what, and the figures of every ranker."""
    console = open_console()
    for line in headline(evaluation):
        console.print(printable(line), highlight=False, markup=False)
    asked = [row for rows in evaluation.of_words().values() for row in rows]
    tables = (("task", asked, WITH_INTERVAL), ("screenshots", evaluation.of_screenshots(), WITH_INTERVAL_OF_SHOTS))
    for title, rows, with_interval in tables:
        if rows:
            console.print()
            console.print(_table(title, rows, with_interval))
    if below := [*evaluation.below()]:
        console.print()
        for line in ("The engine finds less than a part of it:", *(f"  {line}" for line in below)):
            console.print(printable(line), highlight=False, markup=False)
    if evaluation.empty:
        console.print()
        head = ("best score below", "queries", *evaluation.empty[0].figures)
        cells = [(row.kind, f"{row.n_queries:,}", *map(spell, row.figures.values())) for row in evaluation.empty]
        console.print(table_of(head, cells))


def headline(evaluation: Evaluation) -> list[str]:
    """Say in a few lines what was measured and what was left out."""
    lines = [
        f"{evaluation.n_icons:,} icons, {evaluation.n_pictures:,} pictures; {evaluation.library}, generation "
        f"{evaluation.generation}",
        f"fused: {evaluation.picture_weight:g} picture + {1 - evaluation.picture_weight:g} name, tags for "
        f"{evaluation.tag_weight:g} of it where known; exact search, fp32",
    ]
    if not evaluation.files:
        lines.append("no words were asked: --queries FILE gives some, docs/evaluation.md says how to write them")
    if evaluation.n_dropped:
        lines.append(f"{evaluation.n_dropped:,} queries not asked: none of their relevant names is in this library")
    if evaluation.unknown:
        some = ", ".join(evaluation.unknown[:10]) + (", ..." if len(evaluation.unknown) > 10 else "")
        lines.append(f"{len(evaluation.unknown):,} relevant names that no icon bears: {some}")
    if evaluation.n_unreadable:
        lines.append(
            f"{evaluation.n_unreadable:,} pictures left out: their sources have gone or changed; `icons index`"
        )
    return lines


def _table(title: str, rows: Sequence[Row], with_interval: Sequence[str]) -> Table:
    names = [row.title if row.condition is None else row.condition.label for row in rows]
    cells = [
        (
            "" if name == before else name,
            row.ranker,
            row.encoder,
            f"{row.n_queries:,}",
            *(spell(row.figures[measure], measure in with_interval) for measure in MEASURES),
        )
        for row, name, before in zip(rows, names, [None, *names], strict=False)
    ]
    return table_of((title, "ranker", "encoder", "queries", *MEASURES), cells, n_left=3)


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
    sections = [*_words(evaluation), *_screenshots(evaluation)]
    if evaluation.empty:
        curves = [Curve(row.kind, list(row.figures.values()), colour) for colour, row in enumerate(evaluation.empty)]
        ticks = list(evaluation.empty[0].figures)
        chart = line_chart("Share of queries", curves, ticks=ticks, x_title="least score of the best hit")
        sections.append(section("empty answers", small="where a least score errs", charts=[chart]))
    sections += _worst(evaluation, tile)
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    encoders = (f"encoder {one.label}: {one.model}, fingerprint {one.fingerprint}" for one in evaluation.encoders)
    facts = [*headline(evaluation), *encoders, *(f"queries: {file}" for file in evaluation.files), made]
    return page("How well icons are found", facts=facts, sections=sections)


def _words(evaluation: Evaluation) -> Iterator[str]:
    """A section for each task of the query files: charts, then the table."""
    for task, rows in evaluation.of_words().items():
        several = len(evaluation.encoders) > 1
        named = [(f"{row.ranker}, {row.encoder}" if several else row.ranker, row) for row in rows]
        bars = {of: [Bar(name, row.figures[of], _RANKER_COLOURS[row.ranker]) for name, row in named] for of in CHARTED}
        charts = [bar_chart(measure, of_each) for measure, of_each in bars.items()]
        table = _figures_html("ranker", named, bold=True)
        yield section(task, small=f"{rows[0].n_queries:,} queries", charts=charts, table=table)


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
    table = f"<details><summary>All figures</summary>{_figures_html('screenshots', labelled)}</details>"
    yield section("screenshots", small=small, charts=charts, table=table)


def _figures_html(title: str, rows: Sequence[tuple[str, Row]], *, bold: bool = False) -> str:
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
            head = f"<h2>Worst {what} <small>{escape(f'{by}, {evaluation.encoders[0].label}')}</small></h2>"
            yield f"<section>{head}<div>{''.join(_card(case, tile) for case in cases)}</div></section>"


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
