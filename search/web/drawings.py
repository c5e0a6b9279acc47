"""Which pictures of icons does the server send? SVGs as they are stored, many as one, and PNGs."""

import hashlib
import re
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from indexer.rendering.draw_pool import DrawPool
from search.engine import SearchEngine
from search.web.gate import Gate
from search.web.svg import fitting, stacked, svg_text

_ID = re.compile("[0-9]{1,18}")


def id_of(engine: SearchEngine, icon: str) -> int:
    """Id of an icon that a request names: a number is one, whatever icons are called; all else is a key or name.

    Raises:
        UnknownIconError: there is none.
    """
    return int(icon) if _ID.fullmatch(icon) else engine.find(icon)


class SentPicture(NamedTuple):
    """A picture that is ready to leave: hashing one here keeps that off the loop that answers everybody."""

    content: bytes
    tag: str
    """Stands for these bytes and no others."""
    image: int | None
    """Id of what is seen; None where that may be something else the next time."""

    @classmethod
    def of(cls, content: bytes, *, image: int | None) -> Self:
        """Take the digest."""
        return cls(content, f'"{hashlib.sha256(content).hexdigest()[:32]}"', image)


class Drawings:
    """Reads and draws what is stored, in threads and processes that others use, too."""

    def __init__(self, engine: SearchEngine, gate: Gate, pool: DrawPool) -> None:
        self._engine = engine
        self._gate = gate
        self._pool = pool

    async def pixels(self, picture: bytes) -> NDArray[np.uint8]:
        """Draw a stranger's picture for the encoder, (size, size, 3); only a drawing process decodes it."""
        size = self._engine.image_size
        return await self._gate.run(lambda: self._pool.pixels(picture, size=size))

    async def svg(self, icon: str, *, colour: str | None) -> SentPicture | None:
        """Read an icon's SVG, perhaps in a colour; None where it is a bitmap. Nothing but what was indexed is sent."""

        def read() -> SentPicture | None:
            found = self._engine.stored_picture(id_of(self._engine, icon))
            document = svg_text(found.content, colour=colour)
            return None if document is None else SentPicture.of(document, image=found.image)

        return await self._gate.run(read)

    async def svgs(self, images: Sequence[int]) -> tuple[SentPicture, list[int]]:
        """Stack the SVGs of some pictures; with the ids of those that are not in the stack.

        Its `image` is None if one could not be read: it may be there the next time.
        """

        def stack() -> tuple[SentPicture, list[int]]:
            documents, n_too_many = fitting(self._engine.pictures(images))
            left_out = [image for image in dict.fromkeys(images) if image not in documents]
            return SentPicture.of(stacked(documents), image=None if len(left_out) > n_too_many else 0), left_out

        return await self._gate.run(stack)

    async def png(self, icon: str, *, colour: str | None, size: int) -> SentPicture:
        """Draw an icon as a PNG, its longer side `size`."""

        def draw() -> SentPicture:
            found = self._engine.stored_picture(id_of(self._engine, icon))
            content = found.content if colour is None else svg_text(found.content, colour=colour) or found.content
            return SentPicture.of(self._pool.png(content, size=size), image=found.image)

        return await self._gate.run(draw)
