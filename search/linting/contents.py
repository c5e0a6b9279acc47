"""Rules of the contents: what no icon needs, and whether it can be drawn at all."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from search.linting.findings import LEAST_ICONS, LEAST_SHARE, Group, Rule, Violation, each, each_drawing

_LEAST_BYTES = 100
_LEAST_SHARE_OF_FILE = 0.15
_TIMES_HEAVIER = 4
_LEAST_HEAVY = 10_000


def find_raster(group: Group) -> Iterator[Violation]:
    """Find pictures in pixels: inside an SVG, or among SVGs."""
    n_svgs = sum(icon.drawing is not None for _, icon in group.icons())
    for row, icon in group.icons():
        if icon.drawing is not None and icon.drawing.n_images:
            n = icon.drawing.n_images
            yield Violation((row,), f"holds {n} picture{'s' if n > 1 else ''} in pixels (<image>)")
        elif icon.drawing is None and icon.error is None and n_svgs >= max(LEAST_ICONS, LEAST_SHARE * len(group)):
            yield Violation((row,), f"is a picture in pixels; {n_svgs:,} of {len(group):,} icons are SVG")


def find_bloat(group: Group) -> Iterator[Violation]:
    """Find files of which much could go; what most of the set has is one finding."""
    svgs = [(row, icon.n_bytes, icon.drawing.excess) for row, icon in group.icons() if icon.drawing and icon.n_bytes]
    counts = Counter(kind for _, _, excess in svgs for kind in excess)
    usual = {kind for kind, n in counts.items() if n >= LEAST_ICONS and 2 * n > len(svgs)}
    if usual:
        total = Counter[str]()
        for _, _, excess in svgs:
            total.update({kind: n for kind, n in excess.items() if kind in usual})
        n_bytes = sum(n for _, n, _ in svgs)
        share = f"{total.total():,} of {n_bytes:,} bytes ({total.total() / n_bytes:.0%})"
        yield Violation((), f"{share} can go in most icons: {_spell(total)}", is_note=True)
    for row, n_bytes, excess in svgs:
        parts = {kind: n for kind, n in excess.items() if kind not in usual}
        n = sum(parts.values())
        if n >= _LEAST_BYTES and n >= _LEAST_SHARE_OF_FILE * n_bytes:
            yield Violation((row,), f"{n:,} of {n_bytes:,} bytes can go: {_spell(parts)}")
    yield from _heavy([(row, n_bytes) for row, n_bytes, _ in svgs])


def _spell(parts: dict[str, int]) -> str:
    ordered = sorted(parts.items(), key=lambda part: -part[1])
    return ", ".join(f"{n:,} of {kind}" for kind, n in ordered)


def _heavy(svgs: list[tuple[int, int]]) -> Iterator[Violation]:
    """Files that weigh far more than all but a hundredth: traced pictures, outlines of outlines."""
    if len(svgs) < 2 * LEAST_ICONS:
        return
    weights = [n_bytes for _, n_bytes in svgs]
    usual, median = float(np.quantile(weights, 0.99, method="lower")), float(np.median(weights))
    limit = max(_LEAST_HEAVY, _TIMES_HEAVIER * max(usual if usual < 10 * median else median, median))
    for row, n_bytes in svgs:
        if n_bytes > limit:
            yield Violation((row,), f"weighs {n_bytes:,} bytes; half of the set weighs {median:,.0f} or less")


RULES = (
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


DRAWN_RULES = (
    Rule("broken", "error", "whether a picture can be drawn at all", "export it again", each(lambda icon: icon.error)),
    Rule(
        "blank",
        "error",
        "whether anything is seen",
        "export it again, or delete it",
        each(lambda icon: "nothing is drawn" if icon.is_blank else None),
    ),
)
