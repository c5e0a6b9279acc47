"""How does an icon look on the ground of a terminal? Drawn on that colour, light where the ground is dark."""

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats
from indexer.rendering.render import draw, render
from search.showing.terminal_ground import Colour, is_dark

_LIGHT_INK = 232
"""Of 255: black turned to light, a little less than white, as terminals write."""
_COLOURED = 32
"""Of 255, between the channels of a pixel: from here on it has a hue."""
_SHARE = 0.02
"""Of what is drawn: as much of it decides."""
_CONTRAST = 64
"""Of 255, in one channel at least: what is nearer to the ground than this is lost on it."""


def tile(content: bytes, *, size: int, ground: Colour | None) -> NDArray[np.uint8]:
    """Draw a picture on a terminal's ground, (size, size, 3); on white, as it was indexed, where that is not known.

    Raises:
        RenderError: it can't be drawn.
    """
    if ground is None:
        return render(content, size=size).pixels
    drawn = draw(content, size=size).astype(np.float32)
    ink, alpha = drawn[..., :3], drawn[..., 3:] / 255
    is_drawn = alpha[..., 0] > 0.5
    if is_dark(ground) and not _has_colours(ink[is_drawn]):
        ink = np.asarray(_LIGHT_INK * (1 - ink / 255), np.float32)
    paper = np.array(ground, np.float32)
    mixed = np.asarray(ink * alpha + paper * (1 - alpha), np.float32)
    if _is_lost(mixed[is_drawn], paper):
        return render(content, size=size).pixels
    canvas = np.full((size, size, 3), ground, np.uint8)
    height, width = mixed.shape[:2]
    top, left = (size - height) // 2, (size - width) // 2
    canvas[top : top + height, left : left + width] = mixed.round().astype(np.uint8)
    return canvas


def _has_colours(ink: Floats) -> bool:
    return bool((np.ptp(ink, axis=1) > _COLOURED).mean() > _SHARE) if len(ink) else False


def _is_lost(ink: Floats, paper: Floats) -> bool:
    """Whether a part of what is drawn can't be told from its ground: the black letters of a coloured logo."""
    return bool((np.abs(ink - paper).max(axis=1) < _CONTRAST).mean() > 10 * _SHARE) if len(ink) else True
