"""Uses and reports on a terminal."""

from collections.abc import Iterator, Sequence

from rich.console import Console

from indexer.reports.tables import table_of
from search.usage.report import UsageReport, Used
from search.usage.results import Use, Uses

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
        (f"drawn in several ways: {len(report.several):,} meanings", _ways(report)),
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


def _ways(report: UsageReport) -> Iterator[tuple[str, ...]]:
    for meaning in report.several:
        for number, way in enumerate(meaning.ways):
            yield ("" if number else meaning.words, way.icon, f"{way.n:,}", f"{way.n_screens:,}", f"{way.score:.2f}")
