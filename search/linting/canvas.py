"""Rules of one icon beside the others of its set: canvas, strokes, colours, and what no icon needs."""

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from indexer.languages.words import counted, first_few
from indexer.rendering.styles import Box
from search.linting.drawing import BLACK, IMPLICIT, Drawing
from search.linting.findings import (
    LEAST_ICONS,
    LEAST_SHARE,
    Find,
    Group,
    Rule,
    Value,
    Violation,
    each_drawing,
    habit_of,
    number,
)

USUAL_UNITS = 24.0
"""Side of a canvas, where the set has no habit of its own."""
LEAST_LARGE = 24
"""Icons from which on a set has a usual place and spread of a measure."""


def differing(
    what: str,
    value_of: Callable[[Drawing], Value | None],
    spell: Callable[[Value], str],
    *,
    reports_mixture: bool = True,
) -> Find:
    """Make a rule of a value that each SVG has; None: this one has none. A mixture is one finding, if at all."""

    def find(group: Group) -> Iterator[Violation]:
        values = {row: value for row, drawing in group.drawings() if (value := value_of(drawing)) is not None}
        habit = habit_of(values.values())
        if habit is None:
            return
        if habit.holds:
            for row, value in values.items():
                if value != habit.value:
                    yield Violation((row,), f"{what} is {spell(value)}; {habit.counted} have {spell(habit.value)}")
        elif habit.n_icons >= LEAST_ICONS and reports_mixture:
            parts = [f"{spell(value)} in {n:,}" for value, n in ((habit.value, habit.n_with), *habit.others)]
            yield Violation((), f"{what} is mixed: {', '.join(parts)} of {habit.n_icons:,} icons", is_note=True)

    return find


def units_of(group: Group) -> float:
    """Side of the canvas in the units of the set."""
    habit = habit_of(max(drawing.view_box[2:]) for _, drawing in group.drawings() if drawing.view_box)
    return habit.value if habit is not None and habit.holds and habit.value > 0 else USUAL_UNITS


_BEYOND = 1.5
"""Times what 99 of 100 icons do: a play button is off centre, and rightly so."""
_LEAST_BESIDE = 0.5
"""Units by which an icon must leave the live area."""


def _spell_view_box(stated: tuple[Box, bool]) -> str:
    box, is_stated = stated
    beside = f" (width and height say {number(box[2])} x {number(box[3])})" if box[2] else ""
    return f'"{" ".join(map(number, box))}"' if is_stated else f"missing{beside}"


def find_off_centre(group: Group) -> Iterator[Violation]:
    """Find drawings whose box lies beside the middle, farther than the set's own ones do."""
    rows = group.rows[group.seen.boxes[group.rows].any(axis=1)]
    if len(rows) < LEAST_LARGE:
        return
    units, boxes = units_of(group), group.seen.boxes[rows]
    off = np.stack([boxes[:, 0] + boxes[:, 2] - 1, boxes[:, 1] + boxes[:, 3] - 1], axis=1) / 2
    off -= np.median(off, axis=0)
    usual = np.quantile(np.abs(off), 0.99, axis=0)
    limits = np.maximum(_BEYOND * usual, 1.5 / USUAL_UNITS)
    for place in np.flatnonzero((np.abs(off) > limits).any(axis=1)).tolist():
        row = int(rows[place])
        if not _is_part(group, row):
            across, down = off[place].tolist()
            yield Violation(
                (row,),
                f"lies {_aside(across, down, units)} the middle; "
                f"99 of 100 icons by at most {number(usual[0] * units)} and {number(usual[1] * units)}",
            )


def _aside(across: float, down: float, units: float) -> str:
    sides = ((across, ("left", "right")), (down, ("above", "below")))
    parts = [f"{number(abs(by) * units)} {to[by > 0]}" for by, to in sides if abs(by) * USUAL_UNITS >= _LEAST_BESIDE]
    return f"{' and '.join(parts)} of" if parts[-1].endswith(("right", "left")) else " and ".join(parts)


def _is_part(group: Group, row: int) -> bool:
    """Whether a drawing is a part of another one of its family, at its place there: the first bar of a signal."""
    words = frozenset(group.seen.icons[row].file.words.split())
    ink = group.ink(row)
    most = max(4, 0.01 * ink.sum())
    for other, icon in group.icons():
        if other != row and words & frozenset(icon.file.words.split()):
            around = group.ink(other)
            if around.sum() > ink.sum() * 1.05 and (ink & ~around).sum() <= most:
                return True
    return False


def find_beside_live_area(group: Group) -> Iterator[Violation]:
    """Find drawings that come nearer to the edge than nearly all of the set does."""
    rows = group.rows[group.seen.boxes[group.rows].any(axis=1)]
    if len(rows) < LEAST_LARGE:
        return
    units, boxes = units_of(group), group.seen.boxes[rows]
    margins = np.minimum(boxes[:, :2].min(axis=1), 1 - boxes[:, 2:].max(axis=1))
    usual = float(np.quantile(margins, 0.05))
    for place in np.flatnonzero(margins < usual - _LEAST_BESIDE / USUAL_UNITS).tolist():
        message = f"comes within {number(max(0.0, margins[place]) * units)} of the edge; "
        yield Violation((int(rows[place]),), f"{message}95 of 100 icons keep {number(usual * units)} or more")


def out_of_bounds(drawing: Drawing) -> str | None:
    """Say how far a drawing reaches out of its canvas, where it is cut off."""
    if drawing.extent is None or drawing.view_box is None:
        return None
    (x, y, width, height), (left, top, right, bottom) = drawing.view_box, drawing.extent
    over = max(x - left, y - top, right - x - width, bottom - y - height)
    is_cut = over > 0.01 * max(width, height)  # rounded coordinates lie out of it by less
    return f"reaches {number(over)} out of its viewBox, where it is cut off" if is_cut else None


def find_off_grid(group: Group) -> Iterator[Violation]:
    """Find straight lines beside the half-pixel grid, in a set that keeps to it."""
    off_grid = {
        row: [side for corner in drawing.corners for side in corner if abs(side * 2 - round(side * 2)) > 1e-3]
        for row, drawing in group.drawings()
        if drawing.corners
    }
    n_on = sum(not off for off in off_grid.values())
    if len(off_grid) < LEAST_LARGE or n_on < 0.9 * len(off_grid):
        return
    for row, off in off_grid.items():
        if off:
            where = f"{len(off):,} ends of straight lines are off the half-pixel grid, such as {number(off[0])}"
            yield Violation((row,), f"{where}; in {n_on:,} of {len(off_grid):,} icons none is")


def find_stroke_widths(group: Group) -> Iterator[Violation]:
    """Find other widths than the set's. An icon on a larger canvas is measured as it looks beside the others."""
    units = units_of(group)

    def widths(drawing: Drawing) -> tuple[str, ...] | None:
        side = max(drawing.view_box[2:]) if drawing.view_box else 0.0
        scale = units / side if side > 0 else 1.0
        return tuple(map(number, sorted({round(width * scale, 2) for width in drawing.stroke_widths}))) or None

    yield from differing("stroke-width", widths, " and ".join)(group)


_CURRENT = "currentColor"


def _spell(paint: tuple[str, ...]) -> str:
    return first_few(paint, between=" and ")


def _paint(drawing: Drawing) -> tuple[str, ...] | None:
    return tuple(sorted(_CURRENT if paint == "currentcolor" else paint for paint in drawing.paints)) or None


def find_colours(group: Group) -> Iterator[Violation]:
    """Find what has other paints than a set of one colour. A set of many colours is left alone."""
    paints = [paint for _, drawing in group.drawings() if (paint := _paint(drawing))]
    habit = habit_of(paints)
    if habit is None or not _is_monochrome(paints):
        return
    yield from differing("paint", _paint, _spell)(group)
    if habit.holds and habit.value not in ((_CURRENT,), (IMPLICIT,)):
        message = f"{habit.counted} are painted with {_spell(habit.value)}: they can't take the colour of a text"
        yield Violation((), message, is_note=True)


def _is_monochrome(paints: list[tuple[str, ...]]) -> bool:
    """Whether nearly all icons have one colour each, and these are few."""
    single = [paint for paint in paints if len({_as_colour(part) for part in paint}) == 1]
    distinct = {_as_colour(paint[0]) for paint in single}
    return len(single) >= LEAST_SHARE * len(paints) and len(distinct) <= max(4, len(single) // 20)


def _as_colour(paint: str) -> str:
    return "black" if paint in BLACK or paint == IMPLICIT else paint


def find_raster(group: Group) -> Iterator[Violation]:
    """Find pictures in pixels: inside an SVG, or among SVGs."""
    n_svgs = sum(icon.drawing is not None for _, icon in group.icons())
    for row, icon in group.icons():
        if icon.drawing is not None and icon.drawing.n_images:
            yield Violation((row,), f"holds {counted(icon.drawing.n_images, 'picture')} in pixels (<image>)")
        elif icon.drawing is None and icon.error is None and n_svgs >= max(LEAST_ICONS, LEAST_SHARE * len(group)):
            yield Violation((row,), f"is a picture in pixels; {n_svgs:,} of {len(group):,} icons are SVG")


def find_bloat(group: Group) -> Iterator[Violation]:
    """Find files of which much could go; what most of the set has is one finding."""
    svgs = [(row, icon.n_bytes, icon.drawing.excess) for row, icon in group.icons() if icon.drawing and icon.n_bytes]
    usual = [
        kind
        for kind, n in Counter(kind for _, _, excess in svgs for kind in excess).items()
        if n >= LEAST_ICONS and 2 * n > len(svgs)
    ]
    if usual:
        total = Counter({kind: sum(excess.get(kind, 0) for _, _, excess in svgs) for kind in usual})
        n_bytes = sum(n for _, n, _ in svgs)
        share = f"{total.total():,} of {n_bytes:,} bytes ({total.total() / n_bytes:.0%})"
        yield Violation((), f"{share} can go in most icons: {_spell_bytes(total)}", is_note=True)
    for row, n_bytes, excess in svgs:
        parts = {kind: n for kind, n in excess.items() if kind not in usual}
        n = sum(parts.values())
        if n >= max(100, 0.15 * n_bytes):
            yield Violation((row,), f"{n:,} of {n_bytes:,} bytes can go: {_spell_bytes(parts)}")
    yield from _heavy([(row, n_bytes) for row, n_bytes, _ in svgs])


def _spell_bytes(parts: dict[str, int]) -> str:
    return ", ".join(f"{n:,} of {kind}" for kind, n in sorted(parts.items(), key=lambda part: -part[1]))


def _heavy(svgs: list[tuple[int, int]]) -> Iterator[Violation]:
    """Files that weigh far more than all but a hundredth: traced pictures, outlines of outlines."""
    if len(svgs) < 2 * LEAST_ICONS:
        return
    weights = [n_bytes for _, n_bytes in svgs]
    usual, median = float(np.quantile(weights, 0.99, method="lower")), float(np.median(weights))
    limit = max(10_000, 4 * max(usual if usual < 10 * median else median, median))
    for row, n_bytes in svgs:
        if n_bytes > limit:
            yield Violation((row,), f"weighs {n_bytes:,} bytes; half of the set weighs {median:,.0f} or less")


RULES = (
    Rule(
        "view-box",
        "warning",
        "the viewBox",
        "draw it on the canvas of the set, and state that as its viewBox",
        differing(
            "viewBox",
            lambda drawing: (drawing.view_box or Box(0.0, 0.0, 0.0, 0.0), drawing.states_view_box),
            _spell_view_box,
        ),
    ),
    Rule(
        "out-of-bounds",
        "warning",
        "shapes that reach out of the viewBox",
        "move or shrink the drawing into its canvas",
        each_drawing(out_of_bounds),
    ),
    Rule(
        "live-area",
        "warning",
        "the empty margin around drawings",
        "shrink the drawing to the area that the set keeps to",
        find_beside_live_area,
    ),
    Rule(
        "off-centre",
        "warning",
        "where the middle of a drawing lies",
        "move the drawing to the middle of its canvas",
        find_off_centre,
    ),
    Rule(
        "grid",
        "note",
        "ends of straight lines that are off the half-pixel grid, in a set that keeps to it",
        "snap the drawing to the grid",
        find_off_grid,
    ),
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
        differing("stroke-linecap", lambda drawing: tuple(sorted(drawing.caps)) or None, " and ".join),
    ),
    Rule(
        "corner",
        "warning",
        "how strokes turn: miter, round or bevel",
        "state stroke-linejoin as the set does",
        differing("stroke-linejoin", lambda drawing: tuple(sorted(drawing.joins)) or None, " and ".join),
    ),
    Rule(
        "radius",
        "warning",
        "whether corners of rectangles are rounded",
        "give its rectangles the rx that others of the set have, or none",
        differing(
            "the corner of a rectangle",
            lambda drawing: 0.0 in drawing.radii if drawing.radii else None,
            lambda is_sharp: "sharp" if is_sharp else "rounded",
            reports_mixture=False,
        ),
    ),
    Rule(
        "colour",
        "warning",
        "paints other than currentColor, in a set of one colour",
        "paint it as the others are; currentColor takes the colour of a text",
        find_colours,
    ),
    Rule(
        "raster",
        "warning",
        "pictures in pixels, inside an SVG or among SVGs",
        "draw it as shapes",
        find_raster,
    ),
    Rule(
        "text",
        "warning",
        "letters that need a font",
        "turn its text into shapes",
        each_drawing(
            lambda drawing: (
                "holds text (<text>), which looks otherwise where its font is missing" if drawing.n_texts else None
            )
        ),
    ),
    Rule(
        "active",
        "error",
        "scripts, event handlers, and addresses outside the file",
        "take them out; a page that holds this icon would run or load them",
        each_drawing(lambda drawing: f"holds {', '.join(drawing.active[:3])}" if drawing.active else None),
    ),
    Rule(
        "bloat",
        "note",
        "bytes that show nothing: data of editors, comments, unused definitions, digits; files of an odd weight",
        "run `svgo` over it",
        find_bloat,
    ),
)
