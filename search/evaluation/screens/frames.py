"""What does a contender see in a screen? The screen in a page, with a frame around each icon and each box."""

from collections.abc import Iterator, Sequence
from html import escape

from indexer.arrays import Floats
from search.evaluation.screens.answers import Answered
from search.evaluation.screens.faults import false_boxes, missed_icons, n_faults, wrongly_named
from search.evaluation.screens.matching import NO_ICON
from search.evaluation.screens.naming import Name
from search.evaluation.screens.picture import in_short
from search.evaluation.screens.truth import KnownIcon, Truth
from search.showing.in_page import data_uri

FOUND, MISSED, FALSE, MISNAMED = "found", "missed", "false", "misnamed"
COLOURS = {FOUND: "#12a150", MISSED: "#e11d48", FALSE: "#f08c00", MISNAMED: "#9333ea"}
LEGEND = {
    FOUND: "found, named rightly or not in the library",
    MISSED: "missed",
    FALSE: "box without an icon",
    MISNAMED: "found, wrongly named",
}
STYLE = """<style>
.screen { position: relative; margin: .6rem 0 1.6rem; } .screen img { display: block; width: 100%; height: auto; }
.screen svg { position: absolute; inset: 0; width: 100%; height: 100%; }
.screen rect { fill: transparent; stroke-width: 2; vector-effect: non-scaling-stroke; }
.key b { display: inline-block; width: .8rem; height: .8rem; margin: 0 .3rem 0 1rem; border-radius: .2rem; }
</style>"""


def legend() -> str:
    """Say what the colours mean."""
    marks = (f'<b style="background:{COLOURS[kind]}"></b>{escape(text)}' for kind, text in LEGEND.items())
    return f'<p class="key">{"".join(marks)}; point at a frame for more</p>'


def framed_screen(answered: Answered, truth: Truth) -> str:
    """Lay out a screen with its frames."""
    screen = truth.screen
    frames = "".join(_frames(answered, truth))
    n_missed, n_false = len(missed_icons(answered, truth)), len(false_boxes(answered, truth))
    counts = (
        f"{len(truth.icons)} icons, {n_missed} missed, {n_false} boxes without an icon, "
        f"{len(wrongly_named(answered, truth))} wrongly named"
    )
    return (
        f"<h3>{escape(truth.title)} <small>{counts}</small></h3>"
        f'<div class="screen"><img alt="" src="{data_uri(in_short(truth.read_pixels()))}">'
        f'<svg viewBox="0 0 {screen.width} {screen.height}" preserveAspectRatio="none">{frames}</svg></div>'
    )


def worst_first(answers: Sequence[tuple[Answered, Truth]]) -> list[tuple[Answered, Truth]]:
    """Sort screens by what went wrong in them; those without a fault are left out."""
    faulty = [pair for pair in answers if n_faults(*pair)]
    return sorted(faulty, key=lambda pair: -n_faults(*pair))


def _frames(answered: Answered, truth: Truth) -> Iterator[str]:
    for icon, score in missed_icons(answered, truth):
        below = f", a box with {score:.2f} was not shown" if score else ""
        yield _frame(MISSED, truth.corners[icon], f"{about(truth.icons[icon])}{below}")
    for row, kind in false_boxes(answered, truth):
        yield _frame(FALSE, answered.boxes.corners[row], f"{kind}, {answered.boxes.scores[row]:.2f}")
    wrong = set(wrongly_named(answered, truth))
    for row, icon in enumerate(answered.shown_icons().tolist()):
        if icon != NO_ICON:
            title = f"{about(truth.icons[icon])}, {answered.boxes.scores[row]:.2f}{called(answered.names[row])}"
            yield _frame(MISNAMED if row in wrong else FOUND, answered.boxes.corners[row], title)


def about(icon: KnownIcon) -> str:
    """Say which icon it is and how it is drawn."""
    return f"{icon.key}, {icon.size}, {icon.drawn}"


def called(name: Name) -> str:
    """Say what a box was called."""
    return f"; called {name.first.set}:{name.first.name} ({name.score:.2f})" if name.first else ""


def _frame(kind: str, box: Floats, title: str) -> str:
    left, top, right, bottom = (round(float(side), 1) for side in box)
    return (
        f'<rect x="{left:g}" y="{top:g}" width="{right - left:.4g}" height="{bottom - top:.4g}" '
        f'stroke="{COLOURS[kind]}"><title>{escape(title)}</title></rect>'
    )
