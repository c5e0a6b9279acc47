"""How is a picture looked at that is asked with? A screenshot of any ratio -> the model's pixels, (size, size, 3).

A library's own pictures stand on white (`indexer.render`). A screenshot stands on a ground of its own, and white bars
beside a dark one are what a model sees first: what lacks to a square is filled with that ground instead.
"""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from indexer.render import draw, render

Pixels = NDArray[np.uint8]

_DRAWN_AT = 4
"""An opaque picture is decoded at so many times the model's size, and made smaller once it is square."""


def squared(content: bytes, *, size: int) -> Pixels:
    """Draw a picture at `size`, centred, on a square of its ground: the median colour of its border.

    What is transparent, or square already, is drawn as a library's own pictures are. Over Tabler, 150 icons, R@1 of
    screenshots with all changes at 48 / 24 / 16 px: .493 / .300 / .100 on white, .720 / .580 / .240 so.

    Raises RenderError as `indexer.render.render` does.
    """
    rendered = render(content, size=size)
    picture = draw(content, size=_DRAWN_AT * size)
    height, width = picture.shape[:2]
    if height == width or (picture[..., 3] < 255).any():
        return rendered.pixels
    colours = picture[..., :3]
    border = np.concatenate([colours[0], colours[-1], colours[:, 0], colours[:, -1]])
    side = max(height, width)
    square = np.empty((side, side, 3), np.uint8)
    square[:] = np.median(border, axis=0)
    top, left = (side - height) // 2, (side - width) // 2
    square[top : top + height, left : left + width] = colours
    return np.asarray(Image.fromarray(square).resize((size, size), Image.Resampling.BICUBIC, reducing_gap=3.0))
