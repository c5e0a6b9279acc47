"""A picture that somebody asks with -> pixels, and the stored picture of an icon, if it is still the one indexed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.errors import ChangedError, IconsError, RenderError
from indexer.library.folder import Library, note_changed
from search.generation.backend import IconRow
from search.generation.snapshot import Snapshot

if TYPE_CHECKING:
    from indexer.rendering.draw_pool import DrawPool
    from indexer.rendering.screenshot import Screenshot

MAX_BYTES = 64 << 20
"""More than any picture has that an icon is looked for with."""
_DRAWING_SECONDS = 10.0
"""As long as an index takes for one."""


def pixels_of(content: bytes, *, name: str, size: int) -> NDArray[np.uint8]:
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


def digest_of(content: bytes) -> str:
    """Digest of a picture as its source holds it, as hits have it."""
    from indexer.sources.records import content_digest

    return content_digest(content).hex()


class PicturePlace(NamedTuple):
    """An icon, and where the bytes are that it was indexed from."""

    icon: IconRow
    content: bytes | None
    """They lie beside the catalog; None: where the source is."""
    digest: bytes
    """Of these bytes."""

    def read(self, library: Library) -> bytes:
        """The bytes that the icon was indexed from, and no others; a file that has changed is noted for the scan.

        Raises:
            SourceError: the source has gone or changed since it was indexed.
        """
        if self.content is not None:
            return self.content
        from indexer.sources.source import read_indexed

        icon = self.icon
        try:
            return read_indexed(icon.address(self.digest))
        except ChangedError:
            note_changed(library.root, (icon.location, icon.path))
            raise


def look_up(snapshot: Snapshot, icons: Sequence[IconRow]) -> list[PicturePlace]:
    """Where the pictures of some icons are, in their order."""
    contents = snapshot.contents([icon.image_id for icon in icons])
    digests = snapshot.digests([icon.image_id for icon in icons if icon.image_id not in contents])
    return [PicturePlace(icon, contents.get(icon.image_id), digests.get(icon.image_id, b"")) for icon in icons]


def showing(snapshot: Snapshot, images: Sequence[int]) -> list[PicturePlace]:
    """Where some pictures are, each once, in their order; without those that no icon shows."""
    icons = snapshot.candidates(snapshot.showing(np.array(images, np.int64))).values()
    found = {icon.image_id: icon for icon in icons}
    return look_up(snapshot, [found[image] for image in dict.fromkeys(images) if image in found])
