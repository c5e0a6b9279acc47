"""Rules of the contents: what no icon needs, and whether it can be drawn at all."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from search.linting.findings import LEAST_ICONS, LEAST_SHARE, Group, Rule, Violation
from search.linting.inspecting import Icon

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


def find_text(group: Group) -> Iterator[Violation]:
    """Find letters that are drawn with whatever font is there."""
    for row, icon in group.icons():
        if icon.drawing is not None and icon.drawing.n_texts:
            yield Violation((row,), "holds text (<text>), which looks otherwise where its font is missing")


def find_active(group: Group) -> Iterator[Violation]:
    """Find what runs or loads something where an icon is put into a page."""
    for row, icon in group.icons():
        if icon.drawing is not None and icon.drawing.active:
            yield Violation((row,), f"holds {', '.join(icon.drawing.active[:3])}")


def find_bloat(group: Group) -> Iterator[Violation]:
    """Find files of which much could go; what most of the set has is one finding."""
    svgs = [(row, icon) for row, icon in group.icons() if icon.drawing is not None and icon.n_bytes]
    usual = _usual_kinds([icon for _, icon in svgs])
    if usual:
        yield _of_all(svgs, usual)
    for row, icon in svgs:
        assert icon.drawing is not None
        parts = {kind: n for kind, n in icon.drawing.excess.items() if kind not in usual}
        n = sum(parts.values())
        if n >= _LEAST_BYTES and n >= _LEAST_SHARE_OF_FILE * icon.n_bytes:
            yield Violation((row,), f"{n:,} of {icon.n_bytes:,} bytes can go: {_spell(parts)}")
    yield from _heavy(svgs)


def _usual_kinds(icons: list[Icon]) -> set[str]:
    """Kinds of excess that most icons of a set have: no icon is odd for them."""
    counts = Counter(kind for icon in icons if icon.drawing for kind in icon.drawing.excess)
    return {kind for kind, n in counts.items() if n >= LEAST_ICONS and 2 * n > len(icons)}


def _of_all(svgs: list[tuple[int, Icon]], kinds: set[str]) -> Violation:
    total = Counter[str]()
    for _, icon in svgs:
        assert icon.drawing is not None
        total.update({kind: n for kind, n in icon.drawing.excess.items() if kind in kinds})
    n_bytes = sum(icon.n_bytes for _, icon in svgs)
    share = total.total() / n_bytes
    return Violation(
        (), f"{total.total():,} of {n_bytes:,} bytes ({share:.0%}) can go in most icons: {_spell(total)}", is_note=True
    )


def _spell(parts: dict[str, int]) -> str:
    ordered = sorted(parts.items(), key=lambda part: -part[1])
    return ", ".join(f"{n:,} of {kind}" for kind, n in ordered)


def _heavy(svgs: list[tuple[int, Icon]]) -> Iterator[Violation]:
    """Files that weigh far more than all but a hundredth: traced pictures, outlines of outlines."""
    if len(svgs) < 2 * LEAST_ICONS:
        return
    usual = float(np.quantile([icon.n_bytes for _, icon in svgs], 0.99, method="lower"))
    median = float(np.median([icon.n_bytes for _, icon in svgs]))
    for row, icon in svgs:
        if icon.n_bytes > max(_LEAST_HEAVY, _TIMES_HEAVIER * max(usual if usual < 10 * median else median, median)):
            yield Violation((row,), f"weighs {icon.n_bytes:,} bytes; half of the set weighs {median:,.0f} or less")


RULES = (
    Rule(
        "raster",
        "warning",
        "pictures in pixels, inside an SVG or among SVGs",
        "draw it as shapes",
        find_raster,
    ),
    Rule("text", "warning", "letters that need a font", "turn its text into shapes", find_text),
    Rule(
        "active",
        "error",
        "scripts, event handlers, and addresses outside the file",
        "take them out; a page that holds this icon would run or load them",
        find_active,
    ),
    Rule(
        "bloat",
        "note",
        "bytes that show nothing: data of editors, comments, unused definitions, digits; files of an odd weight",
        "run `svgo` over it",
        find_bloat,
    ),
)


def find_blank(group: Group) -> Iterator[Violation]:
    """Find pictures that show nothing."""
    for row, icon in group.icons():
        if icon.is_blank:
            yield Violation((row,), "nothing is drawn")


def find_broken(group: Group) -> Iterator[Violation]:
    """Find pictures that can't be drawn."""
    for row, icon in group.icons():
        if icon.error is not None:
            yield Violation((row,), icon.error)


DRAWN_RULES = (
    Rule("broken", "error", "whether a picture can be drawn at all", "export it again", find_broken),
    Rule("blank", "error", "whether anything is seen", "export it again, or delete it", find_blank),
)
