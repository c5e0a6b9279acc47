"""How is an explanation shown? What was understood, then a column for the icon and one for the one that comes first."""

from collections.abc import Iterator

from rich.console import Console

from indexer.naming.printable import printable
from indexer.reports.tables import table_of
from search.query import Explanation, Judged

_TIERS = {
    "called": "called by set and name",
    "named": "its name is the query",
    "stated": "a tag of it is the query",
    "related": "by what it looks like and says",
}


def print_explanation(console: Console, explanation: Explanation) -> None:
    """Print what was understood, and what each part of the search says."""
    for line in understood(explanation):
        console.print(printable(line), highlight=False, markup=False)
    console.print()
    first = explanation.first
    icons = [explanation.icon] + ([first] if first and first.hit.id != explanation.icon.hit.id else [])
    cells = [(label, *(values.get(label, "") for values in map(_values, icons))) for label in _labels(icons)]
    console.print(table_of(("", *(printable(icon.hit.key) for icon in icons)), cells, n_left=1))
    console.print()
    console.print(printable(f"{explanation.icon.hit.key} is {explanation.shown}"), highlight=False, markup=False)


def understood(explanation: Explanation) -> Iterator[str]:
    """Say how the words were read, where that is not as they stand."""
    yield f"asked: {explanation.typed}" + (f", perhaps {explanation.spelled}" if explanation.spelled else "")
    if explanation.style:
        yield f"style: {explanation.style}, of {explanation.name}"
    if explanation.parts:
        yield f"parts: {', '.join(explanation.parts)}"
    if explanation.without:
        yield f"left out: {', '.join(explanation.without)}"


def _labels(icons: list[Judged]) -> list[str]:
    return list(dict.fromkeys(label for icon in icons for label in _values(icon)))


def _values(icon: Judged) -> dict[str, str]:
    cosines = {f"{arm}, cosine": f"{value:.3f}" for arm, value in icon.cosines.items()}
    evidence = {f"{what}, log-odds": f"{value:+.2f}" for what, value in icon.evidence.items()}
    rank = "beyond all that are looked at" if icon.rank is None else f"{icon.rank:,}"
    return {**cosines, **evidence, "answers": _TIERS[icon.tier], "score": f"{icon.hit.score:.2f}", "rank": rank}
