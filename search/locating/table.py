"""What is found in a picture, on lines that fit 80 columns: where, what it most likely is, and what else."""

from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console

from indexer.naming.printable import printable
from search.locating.results import Box, LocatedIcon, LocatedPicture
from search.showing.hit_lines import fitted, print_line

_WIDEST_KEY = 40
_LEAST = 8
"""Columns in which names of other hits are still of use."""
_TITLES = ("at", "size", "key", "score", "or")


def print_located(console: Console, located: LocatedPicture) -> None:
    """Print a line an icon; a key is whole, what else it may be is cut."""
    rows = [_TITLES, *map(_row, located.icons)]
    widths = [max(cell_len(row[column]) for row in rows) for column in range(2)]
    longest = min(_WIDEST_KEY, max(cell_len(row[2]) for row in rows))
    for number, (place, size, key, score, others) in enumerate(rows):
        start = f"{fitted(place, widths[0])}  {fitted(size, widths[1])}  {score:>5}  {fitted_or_whole(key, longest)}"
        room = console.width - cell_len(start) - 2
        told = f"  {fitted(others, room)}" if others and room >= _LEAST else ""
        print_line(console, start + told, style=None if number else "dim")


def fitted_or_whole(text: str, width: int) -> str:
    """A text in so many columns, or in more if it is longer."""
    return fitted(text, max(width, cell_len(text)))


def _row(icon: LocatedIcon) -> tuple[str, str, str, str, str]:
    place, size = at(icon.box), f"{icon.box.right - icon.box.left}x{icon.box.bottom - icon.box.top}"
    if not icon.hits:
        return place, size, "(nothing near)", "", ""
    best, *others = icon.hits
    score = f"{'' if icon.is_sure else '?'}{best.score:.2f}"
    same_set = all(other.set == best.set for other in others)
    return place, size, printable(best.key), score, ", ".join(_others(icon, by_name=same_set))


def _others(icon: LocatedIcon, *, by_name: bool) -> Iterator[str]:
    for hit in icon.hits[1:]:
        yield printable(hit.name if by_name else hit.key)


def at(box: Box) -> str:
    """Where a box begins, as people say it."""
    return f"{box.left},{box.top}"
