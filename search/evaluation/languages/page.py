"""What does an evaluation of other languages look like? One HTML page: charts, all figures, and what was missed."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html import escape

from indexer.reports.charts import Bar, bar_chart
from indexer.reports.measures import short
from indexer.reports.page import figure_html, page, section, table_html
from search.evaluation.languages.findings import CUTS, MEASURES, LanguageEvaluation, LanguageRow, Missed
from search.evaluation.languages.summary import GOAL_HEAD, OF_ALL, SHARED, goal_cells, headline, left_out

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
