"""How does a picture that somebody asks with become pixels? In a process of its own, which may hang or die."""

from typing import TYPE_CHECKING

from indexer.errors import IconsError, RenderError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_BYTES = 64 << 20
"""More than any picture has that an icon is looked for with."""
_DRAWING_SECONDS = 10.0
"""As long as an index takes for one."""


def pixels_of(content: bytes, *, name: str, size: int) -> "NDArray[np.uint8]":
    """Draw a picture as an index does: RGB, (size, size, 3); `name` is what a message calls it.

    Raises:
        IconsError: it is no picture, too large, or took too long.
    """
    from indexer.rendering.draw_pool import DrawPool

    try:
        with DrawPool(workers=1, seconds=_DRAWING_SECONDS) as pool:
            return pool.pixels(content, size=size)
    except RenderError as error:
        raise IconsError(f'picture "{name}" can\'t be looked for: {error}') from error
