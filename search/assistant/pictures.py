"""How does an assistant show a picture? By the name of a file, or as a data: URI; decoded in a process of its own."""

import base64
import binascii
import re
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.errors import IconsError, SourceError
from indexer.sources.reading import read_regular
from search.pictures import MAX_BYTES, drawing, pixels_of, screenshot_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from indexer.rendering.screenshot import Screenshot

_DATA = re.compile(r"data:[\w/+.-]*(;base64)?,")


def shown_icon(picture: str, *, size: int) -> "NDArray[np.uint8]":
    """A picture of one icon, as a query takes it.

    Raises:
        IconsError: it can't be read, or is no picture.
    """
    content, name = _read(picture)
    return pixels_of(content, name=name, size=size)


def shown_screen(picture: str, *, size: int) -> "Screenshot":
    """A picture of a whole screen; raises as `shown_icon` does."""
    content, name = _read(picture)
    with drawing() as pool:
        return screenshot_of(pool, content, name=name, size=size)


def _read(picture: str) -> tuple[bytes, str]:
    """The bytes of a picture, and what a message calls it."""
    if found := _DATA.match(picture):
        return _decoded(picture[found.end() :]), "data: URI"
    try:
        path = Path(picture).expanduser()
        return read_regular(path, limit=MAX_BYTES), path.name
    except (OSError, ValueError, RuntimeError, SourceError) as error:
        raise IconsError(f'picture "{picture[:200]}" can\'t be read: {error}') from error


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise IconsError(f"the data: URI of the picture is not base64 ({error})") from error
