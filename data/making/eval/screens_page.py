"""A comparison on screens as one HTML page: figures, curves, the worst screens, and crops of what went wrong."""

import io
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from typing import NamedTuple

import numpy as np
from PIL import Image

from data.making.eval.screens import (
    RECALLS,
    THRESHOLDS,
    Answered,
    Answers,
    Comparison,
    count,
    group_table,
    size_class,
    size_classes,
)
from indexer.arrays import Floats, Pixels
from indexer.errors import SourceError
from indexer.reports.figures import (
    Bar,
    Chart,
    Curve,
    Figure,
    bar_chart,
    figure_html,
    line_chart,
    page,
    section,
    short,
    spell,
    table_html,
)
from indexer.screens.boxes import iou_matrix
from search.evaluation.screens import LEAST_IOU, NO_ICON, ScreenIcon, Truth, read_pixels
from search.query import Hit
from search.showing.sheets import data_uri

ReadPicture = Callable[[int], bytes]
"""Bytes of a picture by its id in the catalog; raises SourceError where its source has gone."""
FOUND, MISSED, FALSE, MISNAMED = "found", "missed", "false", "misnamed"
COLOURS = {FOUND: "#12a150", MISSED: "#e11d48", FALSE: "#f08c00", MISNAMED: "#9333ea"}
N_WORST = 16
MOST = 240
"""Crops of a kind."""
MAX_INLINE_BYTES = 16_000
"""Larger pictures are left out."""
NEAR = 0.1
"""Least intersection over union of a box with an icon that it fits badly."""
DOUBLE, BADLY, ELSEWHERE, EMPTY = "second box of an icon", "fits badly", "no icon there", "on an icon-free screen"
_AROUND = 0.6
"""Of the longer side, shown around a box on each side."""
_LEAST_AROUND = 10
"""CSS pixels."""
"""Its legend says the area instead of a last value."""
_STYLE = """<style>
.screen { position: relative; margin: .6rem 0 1.6rem; } .screen img { display: block; width: 100%; height: auto; }
.screen svg { position: absolute; inset: 0; width: 100%; height: 100%; }
.screen rect { fill: transparent; stroke-width: 2; vector-effect: non-scaling-stroke; }
.crops { display: flex; flex-wrap: wrap; gap: .7rem; } .crops figure { width: 7rem; }
.crops img { width: 6.4rem; height: 6.4rem; padding: 0; object-fit: contain; background: #8883; }
.crops img.called { width: 2.6rem; height: 2.6rem; padding: .3rem; margin-top: .2rem; background: #fff; }
</style>"""


def comparison_html(comparison: Comparison, worst_of: Answers, read_picture: ReadPicture) -> str:
    """Lay out a comparison as one page that needs nothing beside it; the worst are those of one contender."""
    name = comparison.rows[-1].contender
    sections = [
        _figures(comparison),
        section("Curves", charts=_curves(comparison)),
        section("By size", small="longer painted side, CSS pixels", charts=_by_size(comparison)),
        *(_group(comparison, by) for by in dict.fromkeys(row.by for row in comparison.groups)),
        _worst(worst_of, name),
        *_galleries(worst_of, name, read_picture),
    ]
    facts = [*comparison.facts, datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")]
    return page("How well icons are found in screens", facts=facts, sections=sections)


def _figures(comparison: Comparison) -> str:
    rows = comparison.rows
    bars: list[tuple[str, list[Figure | None], Callable[[float], str]]] = [
        ("AP50", [row.ap50 for row in rows], short),
        ("F1 of boxes", [row.fixed.f1 for row in rows], short),
        ("F1 of boxes and names", [row.end_to_end.f1 if row.end_to_end else None for row in rows], short),
        ("Boxes on an icon-free screen", [row.false_on_empty for row in rows], count),
    ]
    charts = []
    for title, figures, written in bars:
        there = [Bar(row.contender, one, n) for n, (row, one) in enumerate(zip(rows, figures, strict=True)) if one]
        charts += [bar_chart(title, there, written=written)] if there else []
    table = table_html(["", *(row.contender for row in rows)], _lines(comparison))
    return section("Figures", small="95 % intervals over screens", charts=charts, table=table)


def _lines(comparison: Comparison) -> Iterator[list[str]]:
    """A measure a line, a contender a column."""
    rows = comparison.rows
    yield ["AP50", *(figure_html(row.ap50) for row in rows)]
    yield ["AP75", *(figure_html(row.ap75) for row in rows)]
    for title, qualities in (
        ("at its threshold", [row.fixed for row in rows]),
        ("at the best threshold for these screens", [row.best for row in rows]),
        ("boxes and names, at its threshold", [row.end_to_end for row in rows]),
    ):
        yield [f"threshold {title}", *(f"{one.threshold:.2f}" if one else "" for one in qualities)]
        for measure in ("precision", "recall", "f1"):
            figures: list[Figure | None] = [getattr(one, measure) if one else None for one in qualities]
            yield [f"{measure} {title}", *(figure_html(one) if one else "" for one in figures)]
    false = (spell(row.false_on_empty, True, count) if row.false_on_empty else "" for row in rows)
    yield ["boxes on an icon-free screen", *false]
    if ceiling := comparison.naming:
        yield ["true boxes, named first", figure_html(ceiling.top_1), *[""] * (len(rows) - 1)]
        yield ["true boxes, named among five", figure_html(ceiling.top_5), *[""] * (len(rows) - 1)]


def _curves(comparison: Comparison) -> Iterator[Chart]:
    rows = [(n, row) for n, row in enumerate(comparison.rows) if row.precisions]
    if not rows:
        return
    ticks = [f"{recall:g}" if place % 4 == 0 else "" for place, recall in enumerate(RECALLS)]
    areas = [Curve(f"{row.contender}, AP50 {short(row.ap50.value)}", _plain(row.precisions), n) for n, row in rows]
    yield line_chart("Precision over recall", areas, ticks=ticks, x_title="recall", written=lambda _: "")
    ticks = [f"{threshold:g}" if place % 3 == 0 else "" for place, threshold in enumerate(THRESHOLDS)]
    scored = [(f"{row.contender}, at {row.fixed.threshold:.2f}:", n, row) for n, row in rows if row.f1[0] != row.f1[-1]]
    if scored:
        f1 = [Curve(label, _plain(row.f1), n) for label, n, row in scored]
        yield line_chart("F1 of boxes over threshold", f1, ticks=ticks, x_title="least score")
        false = [Curve(label, _plain(row.false), n) for label, n, row in scored]
        yield line_chart(
            "Boxes on an icon-free screen", false, ticks=ticks, x_title="least score", written=count, high=None
        )


def _plain(values: Sequence[float]) -> list[Figure]:
    """Values without intervals."""
    return [Figure(value, value, value) for value in values]


def _by_size(comparison: Comparison) -> Iterator[Chart]:
    rows = comparison.of_group("size")
    ticks = [size for size in size_classes() if any(row.value == size for row in rows)]
    spelt = [tick.removesuffix(" px").replace(" px and more", "+") for tick in ticks]
    for measure in ("recall", "found and named"):
        if ticks and all(measure in row.figures for row in rows):
            curves = [
                Curve(one.contender, [row.figures[measure] for row in rows if row.contender == one.contender], n)
                for n, one in enumerate(comparison.rows)
            ]
            yield line_chart(f"{measure.capitalize()} by size", curves, ticks=spelt, x_title="CSS pixels")


def _group(comparison: Comparison, by: str) -> str:
    head, *lines = group_table(comparison.of_group(by))
    return f"<details open><summary>by {escape(by)}</summary>{table_html(head, lines, n_left=2)}</details>"


class Fault(NamedTuple):
    """One box or icon of a screen that went wrong, or one that went right."""

    kind: str
    box: Floats
    score: float
    title: str
    caption: str
    called: int | None = None
    """Id of the picture that it was taken for."""


def faults_of(answered: Answered) -> list[Fault]:
    """What a contender found and missed in a screen: a fault each, and each icon that is found."""
    shown, truth = answered.shown, answered.shown.truth
    is_found, is_named = shown.is_found(), shown.is_named()
    scores = dict(zip(answered.icons.tolist(), answered.scores.tolist(), strict=True))
    found = []
    for icon in np.flatnonzero(~is_found).tolist():
        known, score = truth.screen.icons[icon], scores.get(icon, 0.0)
        below = f", a box with {score:.2f} was not shown" if score else ""
        found.append(
            Fault(MISSED, truth.corners[icon], score, f"{_about(known, truth)}{below}", f"{score:.2f} {known.key}")
        )
    overlaps = iou_matrix(shown.boxes.corners, truth.corners)
    for row, icon in enumerate(shown.icons.tolist()):
        box, score = shown.boxes.corners[row], float(shown.boxes.scores[row])
        if icon == NO_ICON:
            why = _why(float(overlaps[row].max())) if truth.right else EMPTY
            found.append(Fault(FALSE, box, score, f"{why}, {score:.2f}", f"{score:.2f} {why}"))
            continue
        known, name = truth.screen.icons[icon], shown.names[row]
        title = f"{_about(known, truth)}, {score:.2f}{_called(name)}"
        if is_named[icon] or not truth.is_held[icon]:
            found.append(Fault(FOUND, box, score, title, known.key))
        else:
            caption = f"{known.key}, not {name[0].set}:{name[0].name}" if name else known.key
            image, sure = (name[0].image, name[0].score) if name else (None, 0.0)
            found.append(Fault(MISNAMED, box, sure, title, caption, image))
    return found


def _why(overlap: float) -> str:
    return DOUBLE if overlap >= LEAST_IOU else BADLY if overlap >= NEAR else ELSEWHERE


def _about(icon: ScreenIcon, truth: Truth) -> str:
    return f"{icon.key}, {size_class(icon, truth.screen.scale)}, {icon.drawn}"


def _title(truth: Truth) -> str:
    """Which screen it is, and what it is made of."""
    screen = truth.screen
    return f"{screen.file}: {screen.template}, {screen.theme}, scale {screen.scale:g}, seed {screen.seed}"


def _called(name: Sequence[Hit]) -> str:
    return f"; called {name[0].set}:{name[0].name} ({name[0].score:.2f})" if name else ""


def _worst(answers: Answers, name: str) -> str:
    """The screens with most faults, with a frame around each icon and each box."""
    found = [(one.shown.truth, faults_of(one)) for one in answers]
    counted = [(sum(fault.kind != FOUND for fault in faults), truth, faults) for truth, faults in found]
    worst = sorted((one for one in counted if one[0]), key=lambda one: -one[0])[:N_WORST]
    screens = "".join(framed_screen(truth, faults) for _, truth, faults in worst)
    key = ", ".join(f'<b style="color:{colour}">{kind}</b>' for kind, colour in COLOURS.items())
    head = f"<h2>Worst screens <small>by faults of {escape(name)} at its threshold; {key}</small></h2>"
    return f"<section>{_STYLE}{head}{screens}</section>"


def framed_screen(truth: Truth, faults: Sequence[Fault]) -> str:
    """Lay out a screen with its frames."""
    screen = truth.screen
    counts = ", ".join(f"{sum(fault.kind == kind for fault in faults)} {kind}" for kind in COLOURS)
    frames = "".join(
        f'<rect x="{left:g}" y="{top:g}" width="{right - left:.4g}" height="{bottom - top:.4g}" '
        f'stroke="{COLOURS[fault.kind]}"><title>{escape(fault.title)}</title></rect>'
        for fault in faults
        for left, top, right, bottom in ([round(float(side), 1) for side in fault.box],)
    )
    return (
        f"<h3>{escape(_title(truth))} <small>{counts}</small></h3>"
        f'<div class="screen"><img alt="" src="{_in_short(read_pixels(truth.folder, truth.screen))}">'
        f'<svg viewBox="0 0 {screen.width} {screen.height}" preserveAspectRatio="none">{frames}</svg></div>'
    )


def _galleries(answers: Answers, name: str, read_picture: ReadPicture) -> Iterator[str]:
    """Crops of what went wrong: the surest false boxes and wrong names first, the missed icons least seen first."""
    every = [(fault, one.shown.truth) for one in answers for fault in faults_of(one)]
    for kind, title, surest in ((FALSE, "False boxes", -1), (MISSED, "Missed icons", 1), (MISNAMED, "Wrong names", -1)):
        found = sorted((one for one in every if one[0].kind == kind), key=lambda one: surest * one[0].score)
        crops = "".join(_figure(fault, truth, read_picture) for fault, truth in found[:MOST])
        small = f"{name}: {len(found):,}" + (f", {MOST} shown" if len(found) > MOST else "")
        yield section(title, small=small, table=f'<div class="crops">{crops}</div>')


def _figure(fault: Fault, truth: Truth, read_picture: ReadPicture) -> str:
    crop = _in_short(_framed(read_pixels(truth.folder, truth.screen), fault, truth.screen.scale))
    title, caption = escape(f"{fault.title}; {_title(truth)}"), escape(fault.caption)
    return (
        f'<figure title="{title}"><img alt="" src="{crop}">{_picture(fault.called, read_picture)}'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _picture(image: int | None, read_picture: ReadPicture) -> str:
    try:
        content = read_picture(image) if image is not None else b""
    except SourceError:
        return '<span class="gone">gone</span>'
    return f'<img class="called" alt="" src="{data_uri(content)}">' if 0 < len(content) <= MAX_INLINE_BYTES else ""


def _framed(pixels: Pixels, fault: Fault, scale: float) -> Pixels:
    """Cut a box out with what is around it, and draw a frame around it, one CSS pixel wide."""
    low, high = np.floor(fault.box[:2]).astype(int), np.ceil(fault.box[2:]).astype(int)
    around = int(max(_AROUND * (high - low).max(), _LEAST_AROUND * scale))
    left, top = np.maximum(low - around, 0)
    right, bottom = np.minimum(high + around, [pixels.shape[1], pixels.shape[0]])
    crop = pixels[top:bottom, left:right].copy()
    (x0, y0), (x1, y1), width = low - (left, top), high - (left, top), max(1, round(scale))
    frame = np.zeros(crop.shape[:2], bool)
    frame[max(y0 - width, 0) : y1 + width, max(x0 - width, 0) : x1 + width] = True
    frame[max(y0, 0) : y1, max(x0, 0) : x1] = False
    crop[frame] = list(bytes.fromhex(COLOURS[fault.kind][1:]))
    return crop


def _in_short(pixels: Pixels) -> str:
    """Pixels as an address of WebP, as small as text stays sharp."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "WEBP", quality=86, method=2)
    return data_uri(file.getvalue())
