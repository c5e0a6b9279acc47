"""What does an answer look like to a person? Tables of counts, and of one icon's facts."""

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from indexer.reports.tables import plain
from search.results import N_VALUES, Details, FacetCount, Hit, NameRead

_MOST_VALUES = 12
"""Of one facet; --json has more."""


def print_facets(console: Console, facets: Mapping[str, Sequence[FacetCount]]) -> None:
    """Print how many icons were found of each set, style, ..., the most frequent first."""
    table = _table()
    table.add_column("found by", no_wrap=True)
    table.add_column("icons", justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for kind, counts in facets.items():
        for number, count in enumerate(counts[:_MOST_VALUES]):
            title = "" if count.title == count.value else f"  ({count.title})"
            table.add_row("" if number else kind, f"{count.n:,}", plain(count.value + title))
        if len(counts) > _MOST_VALUES:
            others = "" if len(counts) == N_VALUES else f"{len(counts) - _MOST_VALUES:,} "
            table.add_row("", "", f"and {others}more")
    console.print()
    console.print(table)


def print_details(console: Console, details: Details) -> None:
    """Print all that is known of an icon."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for title, value in _facts(details):
        if value:
            table.add_row(title, plain(value))
    console.print(table)
    for title, icons in (("variants", details.variants), ("looks the same", details.near_duplicates)):
        if icons:
            console.print()
            console.print(Text(title, style="bold"))
            console.print(_icons(icons))


def _facts(details: Details) -> Iterable[tuple[str, str]]:
    hit = details.hit
    known = {True: "yes", False: "no", None: ""}
    yield "key", hit.key
    yield "id", str(hit.id)
    yield "name", hit.name
    yield "words", "" if details.name_read else hit.words
    yield "read as", _spell_reading(details.name_read) if details.name_read else ""
    yield "caption", details.caption or ""
    yield "set", f"{hit.set} ({hit.set_title})" if hit.set_title != hit.set else hit.set
    yield "version", details.version or ""
    yield "author", details.author or ""
    yield "style", hit.style or ""
    yield "size", f"{hit.size} px" if hit.size else ""
    yield "coloured", known[hit.coloured]
    yield "animated", known[hit.animated]
    yield "categories", ", ".join(details.categories)
    yield "tags", ", ".join(details.tags)
    yield "tags read as", ", ".join(details.english_tags)
    yield "licence", f"{hit.licence or 'not stated'} ({hit.licence_family})"
    yield "set's licence", details.set_licence if details.set_licence != hit.licence else ""  # type: ignore[misc]
    yield "path", hit.place
    yield "source", details.source


def _spell_reading(read: NameRead) -> str:
    others = f"; or: {', '.join(read.others)}" if read.others else ""
    return f"{read.english} ({read.name}){others}"


def _icons(hits: Sequence[Hit]) -> Table:
    table = _table(show_header=False)
    for _ in range(4):
        table.add_column(no_wrap=True)
    table.add_column(overflow="fold", style="dim")
    for hit in hits:
        size = f"{hit.size} px" if hit.size else ""
        table.add_row(*map(plain, (hit.key, hit.style or "", size, hit.licence or "", hit.place)))
    return table


def _table(*, show_header: bool = True) -> Table:
    return Table(box=None, pad_edge=False, header_style="dim", show_header=show_header)
