"""Hits and explanations in a terminal: lines that fit 80 columns, tables of counts and facts."""

from collections.abc import Iterator, Mapping, Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from indexer.languages.words import printable
from indexer.reports.terminal import open_console, plain, table_of
from search.query import N_VALUES, Answer, Details, Explanation, FacetCount, Hit, Judged

_TITLE = 15
"""Columns of what a fact is called."""
_MOST_VALUES = 12
"""Of one facet; --json has more."""


def print_answer(found: Answer, *, first: int, is_ranked: bool, long: bool) -> None:
    """Print hits, counted from `first` on, with their files, variants and equal drawings if `long`; then the facets."""
    console = open_console()
    (print_long_hits if long else print_hits)(console, found.hits, first=first, is_ranked=is_ranked)
    if found.facets is not None:
        console.print()
        console.print(table_of(("found by", "icons", ""), _facet_rows(found.facets), folded=(2,)))


def _facet_rows(facets: Mapping[str, Sequence[FacetCount]]) -> Iterator[tuple[str, str, str]]:
    """How many icons were found of each set, style, ..., the most frequent first."""
    for kind, counts in facets.items():
        for number, count in enumerate(counts[:_MOST_VALUES]):
            title = "" if count.title == count.value else f"  ({count.title})"
            yield "" if number else kind, f"{count.n:,}", count.value + title
        if len(counts) > _MOST_VALUES:
            others = "" if len(counts) == N_VALUES else f"{len(counts) - _MOST_VALUES:,} "
            yield "", "", f"and {others}more"


def print_details(details: Details) -> None:
    """Print all that is known of an icon: a path is one word for whoever copies it."""
    console = open_console()
    for title, value in _facts(details):
        if value:
            console.print(Text.assemble((f"{title:<{_TITLE}}", "dim"), plain(value)), soft_wrap=True)
    for title, hits in (("variants", details.variants), ("looks the same", details.near_duplicates)):
        if hits:
            console.print(Text(f"\n{title}", style="bold"))
            print_long_hits(console, hits, is_ranked=False)


def _size(hit: Hit) -> str:
    return f"{hit.size} px" if hit.size else ""


def _facts(details: Details) -> Sequence[tuple[str, str | None]]:
    hit, read = details.hit, details.name_read
    known = {True: "yes", False: "no", None: ""}
    others = f"; or: {', '.join(read.others)}" if read and read.others else ""
    return (
        ("key", hit.key),
        ("id", str(hit.id)),
        ("name", hit.name),
        ("words", "" if read else hit.words),
        ("read as", f"{read.english} ({read.name}){others}" if read else ""),
        ("caption", details.caption),
        ("set", f"{hit.set} ({hit.set_title})" if hit.set_title != hit.set else hit.set),
        ("version", details.version),
        ("author", details.author),
        ("style", hit.style),
        ("size", _size(hit)),
        ("coloured", known[hit.coloured]),
        ("animated", known[hit.animated]),
        ("categories", ", ".join(details.categories)),
        ("tags", ", ".join(details.tags)),
        ("tags read as", ", ".join(details.english_tags)),
        ("licence", f"{hit.licence or 'not stated'} ({hit.licence_family})"),
        ("set's licence", details.set_licence if details.set_licence != hit.licence else ""),
        ("path", hit.place),
        ("source", details.source),
    )


_GAP = 2
_PIPED = 80
"""Columns where no terminal says how many it has."""
_WIDEST = 24
"""Columns of a set's title, of a style, and of a licence."""
_LEAST = 10
"""Columns in which such a text is still of use; the rest of it is cut."""


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
        shown = "".join(" " * _GAP + fitted(text, width) for text, width in zip(row, widths, strict=True) if width)
        style = "dim" if key is keys[0] else None
        if cell_len(key) <= longest:
            print_line(console, start + fitted(key, longest) + shown, style=style)
        else:
            print_line(console, start + key)
            print_line(console, " " * (cell_len(start) + longest) + shown)


def print_long_hits(console: Console, hits: Sequence[Hit], *, first: int = 1, is_ranked: bool = True) -> None:
    """Print a few lines a hit: a path is one word for whoever copies it."""
    _, *starts = _starts(hits, first=first, is_ranked=is_ranked)
    for start, hit in zip(starts, hits, strict=True):
        print_line(console, start + printable(hit.key))
        variants = f"{hit.n_variants} variants" if hit.n_variants > 1 else ""
        facts = ", ".join(filter(None, (hit.set_title, hit.style, _size(hit), hit.licence, variants)))
        others = f"same drawing: {also(hit)}" if hit.n_also else ""
        for line in filter(None, (facts, others, hit.place)):
            print_line(console, " " * cell_len(start) + printable(line), style="dim")


def also(hit: Hit) -> str:
    """Name a few of the icons that have the drawing of a hit, and how many more there are: "mdi:home, fe:home +3"."""
    return ", ".join(hit.also[:2]) + (f" +{hit.n_also - 2}" if hit.n_also > 2 else "")


def _starts(hits: Sequence[Hit], *, first: int, is_ranked: bool) -> Iterator[str]:
    """What stands before the key: on the line of titles, then of each hit."""
    width = len(str(first + len(hits) - 1))
    yield f"{'#':>{width}}  " + ("score  " if is_ranked else "")
    for rank, hit in enumerate(hits, first):
        yield f"{rank:>{width}}  " + (f"{hit.score:5.2f}  " if is_ranked else "")


def _widths(facts: Sequence[Sequence[str]], room: int) -> list[int]:
    """Columns for each kind of fact; 0 for the first, the set, where there is no room: its key stands there already."""
    widest = [min(_WIDEST, max(map(cell_len, column))) for column in zip(*facts, strict=True)]
    least = [min(_LEAST, width) for width in widest]
    if sum(least) + len(least) * _GAP > room:
        widest[0] = least[0] = 0
    spare = room - sum(least) - sum(_GAP for width in least if width)
    widths = []
    for most, have in zip(reversed(widest), reversed(least), strict=True):
        taken = min(max(0, spare), most - have)
        widths.append(have + taken)
        spare -= taken
    return widths[::-1]


def fitted(text: str, width: int) -> str:
    """A text in so many columns, cut with a sign that says so."""
    return set_cell_size(text, width) if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"


def print_line(console: Console, text: str, *, style: str | None = None) -> None:
    """Print a text of unknown origin as one line, however wide the terminal is."""
    console.print(plain(text.rstrip()), style=style, soft_wrap=True)


_TIERS = {
    "called": "called by set and name",
    "named": "its name is the query",
    "stated": "a tag of it is the query",
    "related": "by looks and words",
}


def print_explanation(explanation: Explanation) -> None:
    """Print what was understood, and what each part of the search says."""
    console = open_console()
    first = explanation.first
    icons = [explanation.icon] + ([first] if first and first.hit.id != explanation.icon.hit.id else [])
    silent = [what for what in icons[0].evidence if not any(icon.evidence[what] for icon in icons)]
    for line in (*understood(explanation), *([f"nothing from: {', '.join(silent)}"] if silent else ())):
        console.print(plain(line), soft_wrap=not console.file.isatty())
    console.print()
    console.print(table_of(("", *(printable(icon.hit.key) for icon in icons)), _rows(icons), folded=range(3)))
    console.print()
    if first and first.shown != "a hit":  # its evidence is that of the icon in whose place it is
        print_line(console, f"{first.hit.key} is {first.shown}")
    print_line(console, f"{explanation.icon.hit.key} is {explanation.shown}")


def understood(explanation: Explanation) -> list[str]:
    """Say how the words were read, where that is not as they stand."""
    said = {
        "parts": explanation.parts,
        "customarily drawn": explanation.drawn,
        "other sets say it of": explanation.synonyms,
        "left out": explanation.without,
    }
    spelled = f", perhaps {explanation.spelled}" if explanation.spelled else ""
    lines = [str(explanation.read_as)] if explanation.read_as else []
    lines += [f"asked: {explanation.typed}{spelled}"]
    lines += [f"style: {explanation.style}, of {explanation.name}"] if explanation.style else []
    return [*lines, *(f"{what}: {', '.join(texts)}" for what, texts in said.items() if texts)]


def _rows(icons: list[Judged]) -> Iterator[tuple[str, ...]]:
    """Yield a label and what it is for each icon: cosines, evidence, and what comes of them."""
    for arm in dict.fromkeys(arm for icon in icons for arm in icon.cosines):
        yield f"{arm}, cosine", *(f"{icon.cosines[arm]:.3f}" if arm in icon.cosines else "" for icon in icons)
    for what in icons[0].evidence:
        if any(icon.evidence[what] for icon in icons):
            cells = (
                f"{icon.evidence[what]:+.2f} ({icon.features[what]:.2f} x {icon.weights[what]:.2f})" for icon in icons
            )
            yield f"{what}, log-odds", *cells
    yield "answers", *(_TIERS[icon.tier] for icon in icons)
    yield "score", *(f"{icon.hit.score:.2f}" for icon in icons)
    yield "rank", *("none" if icon.rank is None else f"{icon.rank:,}" for icon in icons)
