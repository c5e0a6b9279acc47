"""What do faults look like, close by? Crops of missed icons, false boxes and wrongly named ones, in a page."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

import numpy as np

from indexer.arrays import Floats, Pixels
from indexer.errors import SourceError
from search.evaluation.screens.answers import Answered
from search.evaluation.screens.faults import false_boxes, missed_icons, wrongly_named
from search.evaluation.screens.frames import COLOURS, FALSE, MISNAMED, MISSED, about, called
from search.evaluation.screens.picture import in_short
from search.evaluation.screens.truth import Truth
from search.showing.in_page import data_uri

ReadPicture = Callable[[int], bytes]
"""Bytes of a picture by its id in the catalog; raises SourceError where its source has gone."""
MAX_INLINE_BYTES = 16_000
"""Larger pictures are left out."""
MOST = 240
"""Crops of a kind."""
_AROUND = 0.6
"""Of the longer side, shown around a box on each side."""
_LEAST_AROUND = 10
"""CSS pixels."""
STYLE = """<style>
.crops { display: flex; flex-wrap: wrap; gap: .7rem; } .crops figure { width: 7rem; }
.crops img { width: 6.4rem; height: 6.4rem; padding: 0; object-fit: contain; background: #8883; }
.crops img.called { width: 2.6rem; height: 2.6rem; padding: .3rem; margin-top: .2rem; background: #fff; }
</style>"""


@dataclass(frozen=True, slots=True)
class Fault:
    """One box or icon of a screen that went wrong."""

    number: int
    """Of the screen."""
    box: Floats
    score: float
    colour: str
    title: str
    caption: str
    called: int | None = None
    """Id of the picture that it was taken for."""


class Faults(NamedTuple):
    """All of one contender: the surest false and misnamed boxes first, the missed icons that were least seen first."""

    false: Sequence[Fault]
    missed: Sequence[Fault]
    misnamed: Sequence[Fault]


def find_faults(answers: Sequence[tuple[Answered, Truth]]) -> Faults:
    """Gather what went wrong in all screens."""
    false, missed, misnamed = [], [], []
    for number, (answered, truth) in enumerate(answers):
        where = truth.title
        for row, kind in false_boxes(answered, truth):
            score = float(answered.boxes.scores[row])
            box = answered.boxes.corners[row]
            false.append(Fault(number, box, score, COLOURS[FALSE], f"{kind}; {where}", f"{score:.2f} {kind}"))
        for icon, score in missed_icons(answered, truth):
            known = truth.icons[icon]
            caption = f"{score:.2f} {known.key}"
            missed.append(
                Fault(number, truth.corners[icon], score, COLOURS[MISSED], f"{about(known)}; {where}", caption)
            )
        for row in wrongly_named(answered, truth):
            name, known = answered.names[row], truth.icons[answered.icons[row]]
            title = f"{about(known)}{called(name)}; {where}"
            caption = f"{known.key}, not {name.first.set}:{name.first.name}" if name.first else known.key
            box = answered.boxes.corners[row]
            image = name.first.image if name.first else None
            misnamed.append(Fault(number, box, name.score, COLOURS[MISNAMED], title, caption, image))
    false.sort(key=lambda fault: -fault.score)
    missed.sort(key=lambda fault: fault.score)
    misnamed.sort(key=lambda fault: -fault.score)
    return Faults(false, missed, misnamed)


def galleries(kinds: Sequence[Sequence[Fault]], truths: Sequence[Truth], read_picture: ReadPicture) -> list[str]:
    """Lay out the first crops of each kind; each screen is read once."""
    shown = [list(faults[:MOST]) for faults in kinds]
    of_screen: defaultdict[int, list[Fault]] = defaultdict(list)
    for fault in (fault for faults in shown for fault in faults):
        of_screen[fault.number].append(fault)
    figures: dict[int, str] = {}
    for number, faults in of_screen.items():
        truth = truths[number]
        pixels = truth.read_pixels()
        figures |= {id(fault): _figure(fault, pixels, truth.screen.scale, read_picture) for fault in faults}
    return [f'<div class="crops">{"".join(figures[id(fault)] for fault in faults)}</div>' for faults in shown]


def _figure(fault: Fault, pixels: Pixels, scale: float, read_picture: ReadPicture) -> str:
    crop = data_uri(in_short(_framed(pixels, fault.box, fault.colour, scale)))
    return (
        f'<figure title="{escape(fault.title)}"><img alt="" src="{crop}">{_called(fault, read_picture)}'
        f"<figcaption>{escape(fault.caption)}</figcaption></figure>"
    )


def _called(fault: Fault, read_picture: ReadPicture) -> str:
    if fault.called is None:
        return ""
    try:
        content = read_picture(fault.called)
    except SourceError:
        return '<span class="gone">gone</span>'
    return f'<img class="called" alt="" src="{data_uri(content)}">' if len(content) <= MAX_INLINE_BYTES else ""


def _framed(pixels: Pixels, box: Floats, colour: str, scale: float) -> Pixels:
    """Cut a box out with what is around it, and draw a frame around it, one CSS pixel wide."""
    low, high = np.floor(box[:2]).astype(int), np.ceil(box[2:]).astype(int)
    around = int(max(_AROUND * (high - low).max(), _LEAST_AROUND * scale))
    limits = np.array([pixels.shape[1], pixels.shape[0]])
    left, top = np.maximum(low - around, 0)
    right, bottom = np.minimum(high + around, limits)
    crop = pixels[top:bottom, left:right].copy()
    width = max(1, round(scale))
    inside = np.zeros(crop.shape[:2], bool)
    grown = inside.copy()
    (x0, y0), (x1, y1) = low - (left, top), high - (left, top)
    inside[max(y0, 0) : y1, max(x0, 0) : x1] = True
    grown[max(y0 - width, 0) : y1 + width, max(x0 - width, 0) : x1 + width] = True
    crop[grown & ~inside] = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    return crop
