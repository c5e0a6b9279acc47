"""Are lines as thick, and corners and ends as round, as in the rest of the set?"""

from collections.abc import Iterator

from search.linting.findings import Found, Group, Rule
from search.linting.habits import number
from search.linting.reading.drawing import Drawing
from search.linting.rules.habit_rules import differing, units_of


def find_stroke_widths(group: Group) -> Iterator[Found]:
    """Find other widths than the set's. An icon on a larger canvas is measured as it looks beside the others."""
    units = units_of(group)

    def widths(drawing: Drawing) -> tuple[float, ...] | None:
        side = max(drawing.view_box[2:]) if drawing.view_box else 0.0
        scale = units / side if side > 0 else 1.0
        return tuple(sorted({round(width * scale, 2) for width in drawing.stroke_widths})) or None

    yield from differing("stroke-width", widths, _widths)(group)


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
        "the widths of strokes, scaled by their groups and to the canvas of the set",
        "give its strokes the width of the set, and draw again what is scaled",
        find_stroke_widths,
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
