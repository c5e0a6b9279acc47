"""What an evaluation found: figures of rankings, as plain data, as JSON, and as tables in a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from rich.table import Table

from indexer.languages.words import printable
from indexer.reports.figures import DEPTH, RESAMPLES, Figure, Ranks, Scores, first_rank_scores, means, spell
from indexer.reports.terminal import open_console, table_of
from search.evaluation.corpus import Case
from search.evaluation.rankers import Contender
from search.evaluation.screenshots import Condition, conditions

ENGINE = "engine"
COMPARED = ("R@1", "R@10", "MRR@50")
_SAME = 5e-4
"""What the third digit does not show."""


@dataclass(frozen=True, slots=True)
class Row:
    """Figures of one ranker on one task."""

    task: str
    ranker: str
    encoder: str | None
    """Label of the encoder; None for keywords."""
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
                arms = [row for row in rows if row.ranker != ENGINE and row.encoder in (None, engine.encoder)]
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
            row.encoder or "",
            f"{row.n_queries:,}",
            *(spell(row.figures[measure], measure in with_interval) for measure in MEASURES),
        )
        for row, name, before in zip(rows, names, [None, *names], strict=False)
    ]
    return table_of((title, "ranker", "encoder", "queries", *MEASURES), cells, n_left=3)
