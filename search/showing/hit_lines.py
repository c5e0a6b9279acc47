"""How does a hit look on a line of a terminal? In columns that fit 80, or, long, on a few lines of its own."""

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console

from indexer.naming.printable import printable
from indexer.reports.tables import plain
from search.results import Hit

_GAP = 2
_PIPED = 80
"""Columns where no terminal says how many it has."""
_WIDEST = 24
"""Columns of a set's title, of a style, and of a licence."""
_LEAST = 10
"""Columns in which such a text is still of use; the rest of it is cut."""
_MOST_OTHERS = 2


def print_hits(console: Console, hits: Sequence[Hit], *, first: int = 1, is_ranked: bool = True) -> None:
    """Print a line a hit, counted from `first` on; a key is whole, and takes a line of its own if it is too long."""
    starts = list(_starts(hits, first=first, is_ranked=is_ranked))
    titles, rows = ("set", "style", "licence"), [(hit.set_title, hit.style or "", hit.licence or "") for hit in hits]
    facts = [tuple(map(printable, row)) for row in (titles, *rows)]
    keys = ["key", *(printable(hit.key) for hit in hits)]
    room = (console.width if console.file.isatty() else min(console.width, _PIPED)) - cell_len(starts[0])
    most = max(2 * _LEAST, room - 2 * (_LEAST + _GAP))
    longest = max(length for length in map(cell_len, keys) if length <= most)
    widths = _widths(facts, room - longest)
    for start, key, row in zip(starts, keys, facts, strict=True):
        told = "".join(" " * _GAP + fitted(text, width) for text, width in zip(row, widths, strict=True) if width)
        style = "dim" if key is keys[0] else None
        if cell_len(key) <= longest:
            print_line(console, start + fitted(key, longest) + told, style=style)
        else:
            print_line(console, start + key)
            print_line(console, " " * (cell_len(start) + longest) + told)


def print_long_hits(console: Console, hits: Sequence[Hit], *, first: int = 1, is_ranked: bool = True) -> None:
    """Print a few lines a hit: a path is one word for whoever copies it."""
    _, *starts = _starts(hits, first=first, is_ranked=is_ranked)
    for start, hit in zip(starts, hits, strict=True):
        print_line(console, start + printable(hit.key))
        others = f"same drawing: {also(hit)}" if hit.n_also else ""
        for line in filter(None, (", ".join(_facts(hit)), others, hit.place)):
            print_line(console, " " * cell_len(start) + printable(line), style="dim")


def also(hit: Hit) -> str:
    """Name a few of the icons that have the drawing of a hit, and how many more there are: "mdi:home, fe:home +3"."""
    named = hit.also[:_MOST_OTHERS]
    return ", ".join(named) + (f" +{hit.n_also - len(named)}" if hit.n_also > len(named) else "")


def _starts(hits: Sequence[Hit], *, first: int, is_ranked: bool) -> Iterator[str]:
    """What stands before the key: on the line of titles, then of each hit."""
    width = len(str(first + len(hits) - 1))
    yield f"{'#':>{width}}  " + ("score  " if is_ranked else "")
    for rank, hit in enumerate(hits, first):
        yield f"{rank:>{width}}  " + (f"{hit.score:5.2f}  " if is_ranked else "")


def _widths(facts: Sequence[Sequence[str]], room: int) -> list[int]:
    """Columns for each kind of fact; 0 for the first, the set, where there is no room: its key stands there already."""
    wanted = [min(_WIDEST, max(map(cell_len, column))) for column in zip(*facts, strict=True)]
    least = [min(_LEAST, width) for width in wanted]
    if sum(least) + len(least) * _GAP > room:
        wanted[0] = least[0] = 0
    spare = room - sum(least) - sum(_GAP for width in least if width)
    widths = []
    for want, have in zip(reversed(wanted), reversed(least), strict=True):
        taken = min(max(0, spare), want - have)
        widths.append(have + taken)
        spare -= taken
    return widths[::-1]


def fitted(text: str, width: int) -> str:
    """A text in so many columns, cut with a sign that says so."""
    return set_cell_size(text, width) if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"


def _facts(hit: Hit) -> Iterable[str]:
    yield hit.set_title
    yield from filter(None, (hit.style, f"{hit.size} px" if hit.size else "", hit.licence))
    if hit.n_variants > 1:
        yield f"{hit.n_variants} variants"


def print_line(console: Console, text: str, *, style: str | None = None) -> None:
    """Print a text of unknown origin as one line, however wide the terminal is."""
    console.print(plain(text.rstrip()), style=style, soft_wrap=True)
