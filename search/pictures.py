"""How does a picture that somebody asks with become pixels? In a process of its own, which may hang or die."""

from typing import TYPE_CHECKING

from indexer.errors import IconsError, RenderError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from indexer.rendering.draw_pool import DrawPool
    from indexer.rendering.screenshot import Screenshot

MAX_BYTES = 64 << 20
"""More than any picture has that an icon is looked for with."""
_DRAWING_SECONDS = 10.0
"""As long as an index takes for one."""


def pixels_of(content: bytes, *, name: str, size: int) -> "NDArray[np.uint8]":
    """Draw a picture as an index does: RGB, (size, size, 3); `name` is what a message calls it.

    Raises:
        IconsError: it is no picture, too large, or took too long.
    """
    try:
        with drawing() as pool:
            return pool.pixels(content, size=size)
    except RenderError as error:
        raise IconsError(f'picture "{name}" can\'t be looked for: {error}') from error


def drawing() -> "DrawPool":
    """Begin to draw pictures of strangers, one after the other; a context manager."""
    from indexer.rendering.draw_pool import DrawPool

    return DrawPool(workers=1, seconds=_DRAWING_SECONDS)


def screenshot_of(pool: "DrawPool", content: bytes, *, name: str, size: int) -> "Screenshot":
    """Draw a picture of a whole screen at its natural size; `size` is the model's, `name` what a message calls it.

    Raises:
        IconsError: it is no picture, of one colour, too large, or took too long.
    """
    try:
        return pool.screenshot(content, size=size)
    except RenderError as error:
        raise IconsError(f'no icons can be found in "{name}": {error}') from error
