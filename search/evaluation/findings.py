"""What did an evaluation find? Plain data, for tables, reports and programs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from indexer.reports.measures import RESAMPLES, Figure
from search.evaluation.asking import Case
from search.evaluation.contenders import Contender
from search.evaluation.empty_answers import EmptyRow
from search.evaluation.screenshots import Condition, conditions


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


@dataclass(slots=True)
class Evaluation:
    """All that was measured, on what, and what was left out."""

    library: str
    generation: int
    n_icons: int
    n_pictures: int
    picture_weight: float
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
        """Put rows of one task beside each other, and screenshots into the order of their conditions."""
        tasks = list(dict.fromkeys(row.task for row in self.rows))
        places = {condition: place for place, condition in enumerate(conditions(), 1)}
        self.rows = sorted(
            self.rows, key=lambda row: (tasks.index(row.task), places[row.condition] if row.condition else 0)
        )

    def of_words(self) -> dict[str, list[Row]]:
        """Rows of query files by task."""
        asked = [row for row in self.rows if row.condition is None]
        return {task: [row for row in asked if row.task == task] for task in dict.fromkeys(row.task for row in asked)}

    def of_screenshots(self) -> list[Row]:
        """Rows of screenshots."""
        return [row for row in self.rows if row.condition is not None]


def evaluation_json(evaluation: Evaluation) -> dict[str, Any]:
    """Spell an evaluation for programs: all but the pictures."""
    facts = asdict(evaluation)
    for case in (*facts["worst"], *facts["worst_shots"]):
        del case["picture"]
    return {**facts, "resamples": RESAMPLES}
