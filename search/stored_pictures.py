"""Where does the picture of an icon lie, and is it still the one that was indexed?"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from indexer.errors import ChangedError
from indexer.library.changed import note_changed
from indexer.library.folder import Library
from search.generation.rows import IconRow
from search.generation.snapshot import Snapshot


class StoredPicture(NamedTuple):
    """A picture as its source holds it."""

    content: bytes
    """SVG or bitmap."""

    @property
    def digest(self) -> str:
        """That of these bytes, as hits have it."""
        from indexer.sources.records import content_digest

        return content_digest(self.content).hex()


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
            return read_indexed(icon.kind, Path(icon.location), icon.path, icon.member, digest=self.digest)
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
