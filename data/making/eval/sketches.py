"""Whether an icon is found by a sketch of it, and how a sketch is best prepared. Asks with every bundled sketch.

python -m data.making.eval.sketches --library FOLDER
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import click

from indexer.commands.options import json_option, library_option
from indexer.languages.words import normalise
from indexer.library.bundled import bundled
from search.query import Hit, Query, Window

if TYPE_CHECKING:
    from indexer.library.folder import Library
    from search.engine import SearchEngine
    from search.query import Hit

Point = tuple[float, float]
Stroke = Sequence[Point]

GRID = 24
CANVAS = 320
"""Pixels of the page's canvas, across."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """How a sketch is made into a picture."""

    label: str
    stroke_width: float = 1.5
    """Of 24."""
    side: float = 20.0
    """Of 24: the longer side of what the pen's tip drew. None of it where the canvas is taken as it is."""
    is_cropped: bool = True
    is_smoothed: bool = True
    is_trimmed: bool = False
    """Whether it stands on white, so that it is cut out as a screenshot is, with a margin of a tenth."""


PAGE = Preparation("as the page")
"""The one that the page uses."""
_APART = 0.6
"""Of 24: points that are nearer than this to the one before say nothing but how the hand shook."""


def as_svg(strokes: Sequence[Stroke], preparation: Preparation = PAGE) -> str:
    """Draw strokes, points in pixels of the canvas, as an SVG of 24 by 24; black lines with round ends."""
    fitted = _fitted(strokes, preparation.side) if preparation.is_cropped else _scaled(strokes)
    line = _smooth if preparation.is_smoothed else _straight
    paths = "".join(f'<path d="{line(stroke)}"/>' for stroke in fitted)
    ground = '<rect width="24" height="24" fill="#fff"/>' if preparation.is_trimmed else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="24" height="24">{ground}<g fill="none" '
        f'stroke="#000" stroke-width="{_spelt(preparation.stroke_width)}" stroke-linecap="round" '
        f'stroke-linejoin="round">{paths}</g></svg>'
    )


def _scaled(strokes: Sequence[Stroke]) -> list[list[Point]]:
    return [[(x * GRID / CANVAS, y * GRID / CANVAS) for x, y in stroke] for stroke in strokes]


def _fitted(strokes: Sequence[Stroke], side: float) -> list[list[Point]]:
    """Centre all on the grid, as large as icons are drawn."""
    xs, ys = ([point[axis] for stroke in strokes for point in stroke] for axis in (0, 1))
    extent = max(max(xs) - min(xs), max(ys) - min(ys))
    scale = side / extent if extent else 1.0  # a dot stays a dot
    left, top = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    return [[((x - left) * scale + GRID / 2, (y - top) * scale + GRID / 2) for x, y in stroke] for stroke in strokes]


def _thinned(stroke: Stroke) -> list[Point]:
    """Leave out what is too near to the point before; the ends stay."""
    kept = [stroke[0]]
    for point in stroke[1:-1]:
        if math.dist(point, kept[-1]) >= _APART:
            kept.append(point)
    return [*kept, stroke[-1]]


def _smooth(stroke: Stroke) -> str:
    """Curves through the middles of all lines between points."""
    points = _thinned(stroke)
    if len(points) == 2:
        return _straight(points)
    middles = [((a + c) / 2, (b + d) / 2) for (a, b), (c, d) in pairwise(points[1:])]
    middles[-1] = points[-1]
    curves = "".join(f"Q{_at(bend)} {_at(end)}" for bend, end in zip(points[1:-1], middles, strict=True))
    return f"M{_at(points[0])}{curves}"


def _straight(stroke: Stroke) -> str:
    return f"M{_at(stroke[0])}" + "".join(f"L{_at(point)}" for point in (stroke[1:] or stroke))


def _at(point: Point) -> str:
    return f"{_spelt(point[0])} {_spelt(point[1])}"


def _spelt(number: float) -> str:
    """As JavaScript spells it, two digits behind the point."""
    return f"{math.floor(number * 100 + 0.5) / 100:.2f}".rstrip("0").rstrip(".")


_STYLES = frozenset(
    [
        "outline",
        "outlined",
        "line",
        "filled",
        "fill",
        "solid",
        "rounded",
        "round",
        "sharp",
        "regular",
        "bold",
        "light",
        "thin",
        "duotone",
    ]
)


@dataclass(frozen=True, slots=True)
class Sketch:
    """One drawing, and what it is meant to be."""

    by: str
    """lot: an icon, bent; hand: written down from memory."""
    right: tuple[str, ...]
    strokes: tuple[Stroke, ...]


def read_sketches() -> list[Sketch]:
    """Read the bundled sketches."""
    read = json.loads(bundled("eval/sketches.json").read_bytes())
    return [Sketch(one["by"], tuple(one["right"]), tuple(one["strokes"])) for one in read]


def is_named(hit: Hit, sketch: Sketch, *, is_exact: bool) -> bool:
    """Whether a hit, or an icon with its very drawing, bears a right name."""
    names = (hit.words, *(normalise(key.partition(":")[2].partition("#")[0]) for key in hit.also))
    right = [set(normalise(name).split()) for name in sketch.right]
    own = [set(name.split()) - (_STYLES if is_exact else set()) for name in names]
    return any(words == name if is_exact else words <= name for name in own for words in right)


DEPTH = 10
PREPARATIONS = (
    PAGE,
    Preparation("raw canvas, 4 px", stroke_width=0.3, is_cropped=False, is_smoothed=False),
    Preparation("raw canvas, 2/24", stroke_width=2, is_cropped=False),
    Preparation("not smoothed", is_smoothed=False),
    *(Preparation(f"stroke {width:g}/24", stroke_width=width) for width in (1, 2, 2.5, 3)),
    Preparation("on white, trimmed", is_trimmed=True),
    Preparation("side 18/24", side=18),
    Preparation("side 21/24", side=21),
    Preparation("side 22/24", side=22),
)


@dataclass(frozen=True, slots=True)
class Figures:
    """How one preparation did: shares of sketches whose icon was the first hit, and among the first ten."""

    preparation: str
    by: str
    n: int
    named_at_1: float
    """An icon of just that name; with its style and number aside, in any set."""
    named_at_10: float
    said_at_1: float
    """An icon whose name holds the words: "house plus" of "house"."""
    said_at_10: float


def measure(
    engine: "SearchEngine", sketches: Sequence[Sketch], preparations: Sequence[Preparation] = PREPARATIONS
) -> Iterator[Figures]:
    """Ask with every sketch in every preparation; the figures of one after the other, by lot, by hand, and of all."""
    for preparation in preparations:
        ranks = [(sketch.by, *ranked(engine, sketch, preparation)) for sketch in sketches]
        for by in ("lot", "hand", "all"):
            own = [found for whose, *found in ranks if by in (whose, "all")]
            if own:
                shares = [_share(places, most) for places in zip(*own, strict=True) for most in (1, DEPTH)]
                yield Figures(preparation.label, by, len(own), *shares)


def _share(places: Sequence[int | None], most: int) -> float:
    return sum(place is not None and place <= most for place in places) / len(places)


def ranked(engine: "SearchEngine", sketch: Sketch, preparation: Preparation) -> tuple[int | None, int | None]:
    """Places among the first `DEPTH` hits: of an icon that is named so, and of one whose name says so."""
    query = Query(picture=as_svg(sketch.strokes, preparation).encode())
    hits = engine.ask(query, window=Window(k=DEPTH, min_score=0)).hits
    return _first(hits, sketch, is_exact=True), _first(hits, sketch, is_exact=False)


def _first(hits: "Sequence[Hit]", sketch: Sketch, *, is_exact: bool) -> int | None:
    places = (place for place, hit in enumerate(hits, start=1) if is_named(hit, sketch, is_exact=is_exact))
    return next(places, None)


@click.command()
@library_option
@json_option
def main(library: "Library", as_json: bool) -> None:
    """Tell how often sketches find their icon, for every way to prepare them."""
    from search.engine import SearchEngine

    engine = SearchEngine.open(library.root)
    for found in measure(engine, read_sketches()):
        if as_json:
            click.echo(json.dumps(asdict(found)))
        else:
            click.echo(f"{found.preparation:<18} {found.by:<4} {found.n:>3}  {_shown(found)}")


def _shown(found: Figures) -> str:
    named, said = (found.named_at_1, found.named_at_10), (found.said_at_1, found.said_at_10)
    return f"named so R@1 {named[0]:.3f} R@10 {named[1]:.3f}  says so R@1 {said[0]:.3f} R@10 {said[1]:.3f}"


if __name__ == "__main__":
    main()
