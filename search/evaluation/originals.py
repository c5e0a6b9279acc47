"""What did a library's picture look like where it came from? Reads its very bytes again.

What is read here may be drawn in this process: a picture that has a vector was drawn once by a render worker, within
limits of time and memory, and only the bytes that were drawn then are given out.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from indexer.arrays import Ids
from indexer.sources.source import read_indexed
from search.evaluation.corpus import Corpus
from search.generation.rows import IconRow
from search.generation.snapshot import Snapshot

_IDS_AT_ONCE = 10_000
"""SQLite takes 32,766 values in one statement."""


class Originals:
    """The pictures of a corpus by their places in `image_ids`, and the icons that show them."""

    def __init__(self, snapshot: Snapshot, corpus: Corpus) -> None:
        self._snapshot = snapshot
        self._corpus = corpus

    def icons(self, rows: Iterable[int]) -> dict[int, IconRow]:
        """Read what the catalog says of some icons, by their rows."""
        distinct = list(dict.fromkeys(rows))
        found: dict[int, IconRow] = {}
        for start in range(0, len(distinct), _IDS_AT_ONCE):
            part = distinct[start : start + _IDS_AT_ONCE]
            candidates = self._snapshot.candidates(self._corpus.icon_ids[part])
            found |= {row: candidates[int(self._corpus.icon_ids[row])] for row in part}
        return found

    def showing(self, images: Ids) -> list[IconRow]:
        """Read of each picture the first icon that shows it, in the order given."""
        rows = [int(self._corpus.showing(np.array([image]))[0]) for image in images.tolist()]
        icons = self.icons(rows)
        return [icons[row] for row in rows]

    def content_of(self, image_id: int) -> bytes:
        """Read the bytes of a picture by its id in the catalog; errors as `content`."""
        return self.content(int(np.searchsorted(self._corpus.image_ids, image_id)))

    def content(self, image: int) -> bytes:
        """Read the bytes of a picture from its source. Pictures in ascending order are read fastest: set by set.

        Raises:
            SourceError: the source has gone, or holds another picture by now.
        """
        [icon] = self.showing(np.array([image]))
        digests = self._snapshot.digests([icon.image_id])
        return read_indexed(icon.kind, Path(icon.location), icon.path, icon.member, digest=digests[icon.image_id])
