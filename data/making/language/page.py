"""An evaluation of other languages as a page and in a terminal."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from html import escape

from rich.table import Table

from data.making.language.comparing import (
    CUTS,
    LEAST_QUESTIONS,
    MEASURES,
    KindRow,
    LanguageEvaluation,
    LanguageGoal,
    LanguageRow,
    Missed,
)
from indexer.languages.words import printable
from indexer.reports.figures import Bar, Figure, bar_chart, figure_html, page, section, short, spell, table_html
from indexer.reports.terminal import open_console, table_of

SHARED = MEASURES[:2]
"""Measures whose share of English is shown."""
OF_ALL = "all kinds"
_NOTES = (
    "of English: share of what English reaches on the same questions",
    "unknown: these shares, R@1/R@10, where the language is not stated",
)
_WIDTH = 80


def print_languages(evaluation: LanguageEvaluation) -> None:
    """Print what was asked, the figures of every language, and which goals are met."""
    console = open_console()

    def say(lines: Iterable[str]) -> None:
        for line in lines:
            console.print(printable(line), highlight=False, markup=False, width=_WIDTH)

    say((*headline(evaluation), *_NOTES))
    kinds = [_kind_lines(evaluation)] if evaluation.kinds else []
    for table in (_languages(evaluation), *kinds, _goal_lines(evaluation)):
        console.print()
        console.print(table)
    console.print()
    say(left_out(evaluation))
    if evaluation.missed:
        say([f"found in English, not in the language: {len(evaluation.missed):,}; --report and --json list them"])


def headline(evaluation: LanguageEvaluation) -> Iterator[str]:
    """Say what was asked, and how much of it could not be."""
    yield f"{evaluation.n_icons:,} icons; {evaluation.library}, generation {evaluation.generation}"
    dropped = f"; {evaluation.n_dropped:,} not asked: no right icon is here" if evaluation.n_dropped else ""
    yield f"{evaluation.n_asked:,} questions{dropped}"


def left_out(evaluation: LanguageEvaluation) -> Iterator[str]:
    """Say which languages have no figures."""
    if evaluation.few:
        few = ", ".join(f"{name} {n}" for name, n in evaluation.few.items())
        yield f"fewer than {LEAST_QUESTIONS} questions: {few}"
    if evaluation.lacking:
        yield f"not in the dictionary, not asked: {', '.join(evaluation.lacking)}"


def _languages(evaluation: LanguageEvaluation) -> Table:
    head = ("language", "n", *MEASURES, *(f"{name} of English" for name in SHARED), "unknown")
    own = [short(evaluation.english[name].value) for name in MEASURES]
    cells = [("English", f"{evaluation.n_asked:,}", *own, "", "", "")]
    return table_of(_two_lines(head), [*cells, *map(_summary_cells, evaluation.of_kind(None))])


def _two_lines(head: tuple[str, ...]) -> list[str]:
    return [title.replace(" of ", "\nof ") for title in head]


def _summary_cells(row: LanguageRow) -> tuple[str, ...]:
    figures = [short(row.known.figures[name].value) for name in MEASURES]
    of_english = [two_digits(row.known.shares[name]) for name in SHARED]
    unknown = "/".join(_two(row.unknown.shares[name].value) for name in SHARED)
    return (row.name, f"{row.n_queries:,}", *figures, *of_english, unknown)


def _kind_lines(evaluation: LanguageEvaluation) -> Table:
    head = ("share of English", "languages", *SHARED, "of the ten", *SHARED, f"least {SHARED[-1]}")
    return table_of(head, [_kind_cells(row) for row in evaluation.kinds])


def _kind_cells(row: KindRow) -> tuple[str, ...]:
    ten = [short(row.ten[name]) if row.ten else "" for name in SHARED]
    least = f"{_two(row.least_share)} {row.least}"
    mean = [short(row.mean[name]) for name in SHARED]
    return (row.kind or OF_ALL, str(row.n_languages), *mean, str(row.n_of_ten), *ten, least)


def _goal_lines(evaluation: LanguageEvaluation) -> Table:
    return table_of(GOAL_HEAD, [goal_cells(goal) for goal in evaluation.goals])


GOAL_HEAD = ("goal, over the ten", "at least", "reached", "")
_MET = {True: "met", False: "missed", None: ""}


def goal_cells(goal: LanguageGoal) -> tuple[str, ...]:
    """Spell a goal for a table: what it is, how much, what was reached, and whether that is enough."""
    reached = "no figures" if goal.reached is None else short(goal.reached)
    return (goal.name, _two(goal.least), reached, _MET[goal.is_met])


def two_digits(figure: Figure) -> str:
    """Spell a share with its interval: .88 (.85-.91)."""
    return spell(figure, with_interval=True, written=_two)


def _two(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


_N_INSTEAD = 3
_MISSED_HEAD = ("query", "in English", "kind", "read as", "rank", "came first")


def languages_html(evaluation: LanguageEvaluation) -> str:
    """Lay out an evaluation as one page that needs nothing beside it."""
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    facts = [*headline(evaluation), *(f"queries: {file}" for file in evaluation.files), *left_out(evaluation), made]
    sections = [_goals(evaluation), *_kinds(evaluation), *_missed(evaluation)]
    return page("How well queries in other languages are answered", facts=facts, sections=sections)


def _goals(evaluation: LanguageEvaluation) -> str:
    table = table_html(GOAL_HEAD, map(goal_cells, evaluation.goals))
    return section("goals", small="as shares of what English reaches", table=table)


def _kinds(evaluation: LanguageEvaluation) -> Iterator[str]:
    """A section for all kinds together, then one for each: charts, and the table."""
    for kind in evaluation.kinds:
        rows = evaluation.of_kind(kind.kind)
        charts = [
            bar_chart(f"{name}, share of English", [Bar(row.name, row.known.shares[name], 0) for row in rows])
            for name in SHARED
        ]
        shares = ", ".join(f"{name} {short(kind.mean[name])}" for name in SHARED)
        small = f"{kind.n_languages} languages, mean share of English {shares}; least {kind.least}"
        yield section(kind.kind or OF_ALL, small=small, charts=charts, table=_table(rows))


def _table(rows: Sequence[LanguageRow]) -> str:
    head = [
        "language",
        "questions",
        *(f"English {name}" for name in MEASURES),
        *MEASURES,
        *(f"{name} of English" for name in MEASURES),
        *(f"{name} of English, language unknown" for name in SHARED),
    ]
    return table_html(head, [_cells(row) for row in rows])


def _cells(row: LanguageRow) -> list[str]:
    figures = [
        *row.english.values(),
        *row.known.figures.values(),
        *row.known.shares.values(),
        *(row.unknown.shares[name] for name in SHARED),
    ]
    return [row.name, f"{row.n_queries:,}", *map(figure_html, figures)]


def _missed(evaluation: LanguageEvaluation) -> Iterator[str]:
    """What English finds and a language does not, folded up by language."""
    if not evaluation.missed:
        return
    lists = []
    for language, name in {row.language: row.name for row in evaluation.of_kind(None)}.items():
        missed = [one for one in evaluation.missed if one.language == language]
        table = table_html(_MISSED_HEAD, map(_line, missed), n_left=4)
        lists.append(f"<details><summary>{escape(name)}: {len(missed):,}</summary>{table}</details>")
    small = f"among the first {CUTS[-1]} hits"
    yield section("found in English, and not in the language", small=small, table="".join(lists))


def _line(missed: Missed) -> tuple[str, ...]:
    rank = "none" if missed.rank is None else str(missed.rank)
    first = ", ".join(missed.instead[:_N_INSTEAD])
    return (missed.text, missed.query, missed.kind, missed.read_as, rank, first)
