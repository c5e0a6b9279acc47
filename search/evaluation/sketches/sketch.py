"""What was drawn by hand, what was it meant to be, and does an icon bear that name?"""

import json
from dataclasses import dataclass

from indexer.library.bundled import bundled
from indexer.naming.words import normalise
from search.evaluation.sketches.drawing import Stroke
from search.results import Hit

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
    wanted = [set(normalise(name).split()) for name in sketch.right]
    own = [set(name.split()) - (_STYLES if is_exact else set()) for name in names]
    return any(words == name if is_exact else words <= name for name in own for words in wanted)
