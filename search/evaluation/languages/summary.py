"""What does an evaluation of other languages say in a terminal? Tables of 80 columns."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.table import Table

from indexer.naming.printable import printable
from indexer.reports.measures import Figure, short, spell
from indexer.reports.tables import open_console, table_of
from search.evaluation.languages.findings import LEAST_QUESTIONS, MEASURES

if TYPE_CHECKING:
    from search.evaluation.languages.findings import KindRow, LanguageEvaluation, LanguageGoal, LanguageRow

SHARED = MEASURES[:2]
"""Measures whose share of English is shown."""
OF_ALL = "all kinds"
_NOTES = (
    "of English: share of what English reaches on the same questions",
    "unknown: these shares, R@1/R@10, where the language is not stated",
)
_WIDTH = 80


def print_languages(evaluation: "LanguageEvaluation") -> None:
    """Print what was asked, the figures of every language, and which goals are met."""
    console = open_console()

    def say(lines: Iterable[str]) -> None:
        for line in lines:
            console.print(printable(line), highlight=False, markup=False, width=_WIDTH)

    say((*headline(evaluation), *_NOTES))
    kinds = [_kinds(evaluation)] if evaluation.kinds else []
    for table in (_languages(evaluation), *kinds, _goals(evaluation)):
        console.print()
        console.print(table)
    console.print()
    say(left_out(evaluation))
    if evaluation.missed:
        say([f"found in English, not in the language: {len(evaluation.missed):,}; --report and --json list them"])


def headline(evaluation: "LanguageEvaluation") -> Iterator[str]:
    """Say what was asked, and how much of it could not be."""
    yield f"{evaluation.n_icons:,} icons; {evaluation.library}, generation {evaluation.generation}"
    dropped = f"; {evaluation.n_dropped:,} not asked: no right icon is here" if evaluation.n_dropped else ""
    yield f"{evaluation.n_asked:,} questions{dropped}"


def left_out(evaluation: "LanguageEvaluation") -> Iterator[str]:
    """Say which languages have no figures."""
    if evaluation.few:
        few = ", ".join(f"{name} {n}" for name, n in evaluation.few.items())
        yield f"fewer than {LEAST_QUESTIONS} questions: {few}"
    if evaluation.lacking:
        yield f"not in the dictionary, not asked: {', '.join(evaluation.lacking)}"


def _languages(evaluation: "LanguageEvaluation") -> Table:
    head = ("language", "n", *MEASURES, *(f"{name} of English" for name in SHARED), "unknown")
    own = [short(evaluation.english[name].value) for name in MEASURES]
    cells = [("English", f"{evaluation.n_asked:,}", *own, "", "", "")]
    return table_of(_two_lines(head), [*cells, *map(_cells, evaluation.of_kind(None))])


def _two_lines(head: tuple[str, ...]) -> list[str]:
    return [title.replace(" of ", "\nof ") for title in head]


def _cells(row: "LanguageRow") -> tuple[str, ...]:
    figures = [short(row.known.figures[name].value) for name in MEASURES]
    of_english = [two_digits(row.known.shares[name]) for name in SHARED]
    unknown = "/".join(_two(row.unknown.shares[name].value) for name in SHARED)
    return (row.name, f"{row.n_queries:,}", *figures, *of_english, unknown)


def _kinds(evaluation: "LanguageEvaluation") -> Table:
    head = ("share of English", "languages", *SHARED, "of the ten", *SHARED, f"least {SHARED[-1]}")
    return table_of(head, [_kind_cells(row) for row in evaluation.kinds])


def _kind_cells(row: "KindRow") -> tuple[str, ...]:
    ten = [short(row.ten[name]) if row.ten else "" for name in SHARED]
    least = f"{_two(row.least_share)} {row.least}"
    mean = [short(row.mean[name]) for name in SHARED]
    return (row.kind or OF_ALL, str(row.n_languages), *mean, str(row.n_of_ten), *ten, least)


def _goals(evaluation: "LanguageEvaluation") -> Table:
    return table_of(GOAL_HEAD, [goal_cells(goal) for goal in evaluation.goals])


GOAL_HEAD = ("goal, over the ten", "at least", "reached", "")
_MET = {True: "met", False: "missed", None: ""}


def goal_cells(goal: "LanguageGoal") -> tuple[str, ...]:
    """Spell a goal for a table: what it is, how much, what was reached, and whether that is enough."""
    reached = "no figures" if goal.reached is None else short(goal.reached)
    return (goal.name, _two(goal.least), reached, _MET[goal.is_met])


def two_digits(figure: Figure) -> str:
    """Spell a share with its interval: .88 (.85-.91)."""
    return spell(figure, with_interval=True, written=_two)


def _two(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")
