"""How is an explanation shown? What was understood, then a column for the icon and one for the one that comes first."""

from collections.abc import Iterator

from rich.console import Console

from indexer.naming.printable import printable
from indexer.reports.tables import table_of
from search.results import Explanation, Judged

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
    console.print(table_of(("", *(printable(icon.hit.key) for icon in icons)), list(_rows(icons)), n_left=1))
    console.print()
    console.print(printable(f"{explanation.icon.hit.key} is {explanation.shown}"), highlight=False, markup=False)


def understood(explanation: Explanation) -> Iterator[str]:
    """Say how the words were read, where that is not as they stand."""
    if explanation.read_as:
        yield str(explanation.read_as)
    yield f"asked: {explanation.typed}" + (f", perhaps {explanation.spelled}" if explanation.spelled else "")
    if explanation.style:
        yield f"style: {explanation.style}, of {explanation.name}"
    if explanation.parts:
        yield f"parts: {', '.join(explanation.parts)}"
    if explanation.drawn:
        yield f"customarily drawn: {', '.join(explanation.drawn)}"
    if explanation.synonyms:
        yield f"other sets say it of: {', '.join(explanation.synonyms)}"
    if explanation.without:
        yield f"left out: {', '.join(explanation.without)}"


def _rows(icons: list[Judged]) -> Iterator[tuple[str, ...]]:
    """Yield a label and what it is for each icon: cosines, evidence, and what comes of them."""
    for arm in dict.fromkeys(arm for icon in icons for arm in icon.cosines):
        yield f"{arm}, cosine", *(f"{icon.cosines[arm]:.3f}" if arm in icon.cosines else "" for icon in icons)
    for what in dict.fromkeys(what for icon in icons for what in icon.evidence):
        yield f"{what}, log-odds", *(f"{icon.evidence[what]:+.2f}" if what in icon.evidence else "" for icon in icons)
    yield "answers", *(_TIERS[icon.tier] for icon in icons)
    yield "score", *(f"{icon.hit.score:.2f}" for icon in icons)
    yield "rank", *("beyond all that are looked at" if icon.rank is None else f"{icon.rank:,}" for icon in icons)
