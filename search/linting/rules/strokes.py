"""Are lines as thick, and corners and ends as round, as in the rest of the set?"""

from search.linting.findings import Rule
from search.linting.habits import number
from search.linting.reading.drawing import Drawing
from search.linting.rules.habit_rules import differing


def _stroke_widths(drawing: Drawing) -> tuple[float, ...] | None:
    return tuple(sorted(drawing.stroke_widths)) or None


def _widths(widths: tuple[float, ...]) -> str:
    return " and ".join(map(number, widths))


def _words(words: frozenset[str]) -> str:
    return " and ".join(sorted(words))


def _is_sharp(drawing: Drawing) -> bool | None:
    """Whether a rectangle of it has sharp corners; None where there is no rectangle."""
    return 0.0 in drawing.radii if drawing.radii else None


RULES = (
    Rule(
        "stroke-width",
        "warning",
        "the widths of strokes, whatever groups scale them",
        "give its strokes the width of the set, and draw again what is scaled",
        differing("stroke-width", _stroke_widths, _widths),
    ),
    Rule(
        "line-cap",
        "warning",
        "how strokes end: butt, round or square",
        "state stroke-linecap as the set does",
        differing("stroke-linecap", lambda drawing: drawing.caps or None, _words),
    ),
    Rule(
        "corner",
        "warning",
        "how strokes turn: miter, round or bevel",
        "state stroke-linejoin as the set does",
        differing("stroke-linejoin", lambda drawing: drawing.joins or None, _words),
    ),
    Rule(
        "radius",
        "warning",
        "whether corners of rectangles are rounded",
        "give its rectangles the rx that others of the set have, or none",
        differing(
            "the corner of a rectangle",
            _is_sharp,
            lambda is_sharp: "sharp" if is_sharp else "rounded",
            tells_mixture=False,
        ),
    ),
)
