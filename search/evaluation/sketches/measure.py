"""How often is the icon of a sketch among the first hits? Asks a library with every sketch, prepared in several ways.

python -m search.evaluation.sketches.measure --library FOLDER
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from indexer.commands.options import json_option, library_option
from search.evaluation.sketches.drawing import PAGE, Preparation, as_svg
from search.evaluation.sketches.sketch import Sketch, is_named, read_sketches
from search.query import Query, Window

if TYPE_CHECKING:
    from indexer.library.folder import Library
    from search.engine import SearchEngine
    from search.results import Hit

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
