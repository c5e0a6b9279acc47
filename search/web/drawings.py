"""Which pictures of icons does the server send? SVGs as they are stored, many as one, and PNGs."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from indexer.rendering.draw_pool import DrawPool
from search.engine import SearchEngine
from search.stored_pictures import StoredPicture
from search.web.gate import Gate
from search.web.svg import fitting, stacked, svg_text

_ID = re.compile("[0-9]{1,18}")


def id_of(engine: SearchEngine, icon: str) -> int:
    """Id of an icon that a request names: a number is one, whatever icons are called; all else is a key or name.

    Raises:
        UnknownIconError: there is none.
    """
    return int(icon) if _ID.fullmatch(icon) else engine.find(icon)


class Layer(NamedTuple):
    """A picture of a stack: an id, and the digest without which that may be another one in another library."""

    image: int
    digest: str | None

    @classmethod
    def read(cls, text: str) -> Self:
        """Read "17", or "17-" and the digest."""
        image, _, digest = text.partition("-")
        return cls(int(image), digest or None)

    def __str__(self) -> str:
        return str(self.image) if self.digest is None else f"{self.image}-{self.digest}"


class SentPicture(NamedTuple):
    """A picture that is ready to leave: hashing one here keeps that off the loop that answers everybody."""

    content: bytes
    tag: str
    """Stands for these bytes and no others."""
    is_fixed: bool
    """Whether what was asked for can never mean another picture."""

    @classmethod
    def of(cls, content: bytes, *, is_fixed: bool = False) -> Self:
        """Take the digest."""
        return cls(content, f'"{hashlib.sha256(content).hexdigest()[:32]}"', is_fixed)


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

    async def svg(self, icon: str, *, colour: str | None, digest: str | None) -> SentPicture | None:
        """Read an icon's SVG, perhaps in a colour; None where it is a bitmap. Nothing but what was indexed is sent."""

        def read() -> SentPicture | None:
            found = self._stored(icon)
            document = svg_text(found.content, colour=colour)
            return None if document is None else SentPicture.of(document, is_fixed=digest == found.digest)

        return await self._gate.run(read)

    def _stored(self, icon: str) -> StoredPicture:
        return self._engine.together(lambda engine: engine.stored_picture(id_of(engine, icon)))

    async def svgs(self, layers: Sequence[Layer]) -> tuple[SentPicture, list[int]]:
        """Stack the SVGs of some pictures; with the ids of those that are not in the stack.

        It is not fixed if one could not be read: it may be there the next time.
        """
        asked = {layer.image: layer for layer in layers}

        def right() -> Iterator[tuple[str, bytes]]:
            for image, content in self._engine.pictures(list(asked)):
                if asked[image].digest in (None, StoredPicture(content).digest):
                    yield str(asked[image]), content

        def stack() -> tuple[SentPicture, list[int]]:
            documents, n_too_many = fitting(right())
            left_out = [image for image, layer in asked.items() if str(layer) not in documents]
            is_fixed = len(left_out) <= n_too_many and all(layer.digest for layer in layers)
            return SentPicture.of(stacked(documents), is_fixed=is_fixed), left_out

        return await self._gate.run(stack)

    async def png(self, icon: str, *, colour: str | None, size: int, digest: str | None) -> SentPicture:
        """Draw an icon as a PNG, its longer side `size`."""

        def draw() -> SentPicture:
            found = self._stored(icon)
            content = found.content if colour is None else svg_text(found.content, colour=colour) or found.content
            return SentPicture.of(self._pool.png(content, size=size), is_fixed=digest == found.digest)

        return await self._gate.run(draw)
