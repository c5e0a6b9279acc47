"""Which icons an answer can be, and their original pictures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from indexer.arrays import Ids, Numbers
from indexer.library.folder import Generation
from indexer.merging.facets import read_array
from indexer.merging.merge import read_tag_ids
from indexer.reports.figures import UNRANKED
from indexer.sources.source import read_indexed
from search.generation.backend import IconRow
from search.generation.snapshot import Snapshot
from search.ranking.order import group_many


@dataclass(frozen=True)
class Corpus:
    """All icons of a generation in the order of their ids; names and pictures that several share are there once."""

    icon_ids: Ids
    group_rows: Ids
    """Number of the variant group of each icon: icons of one set and one name."""
    name_ids: Ids
    """Distinct, ascending; `name_rows` says which of them each icon bears."""
    name_rows: Ids
    image_ids: Ids
    """Distinct, ascending; `image_rows` says which of them each icon shows."""
    image_rows: Ids
    drawing_rows: Ids
    """Number of the drawing of each icon: pictures that are drawn alike, whatever their bytes."""
    names: Sequence[str]
    """Each icon's name as its source spells it."""
    sets: Sequence[str]
    """Each icon's set key."""
    words: Mapping[int, str]
    """Words of a name by its id."""
    tag_ids: Ids
    """In the table of names, the words of each tag, by its code."""

    def __len__(self) -> int:
        return len(self.icon_ids)

    @classmethod
    def read(cls, generation: Generation) -> "Corpus":
        """Read all icons of a generation."""
        snapshot = Snapshot(generation.catalog)
        rows = list(snapshot.all_icons())
        columns = np.array([row[:4] for row in rows], np.int64).reshape(-1, 4)
        icon_ids, set_ids, names, images = columns.T
        keys = snapshot.set_keys()
        name_ids, name_rows = np.unique(names, return_inverse=True)
        image_ids, image_rows = np.unique(images, return_inverse=True)
        groups = np.unique(np.stack([set_ids, names]), axis=1, return_inverse=True)[1]
        return cls(
            icon_ids=np.ascontiguousarray(icon_ids),
            group_rows=groups.reshape(-1),
            name_ids=name_ids,
            name_rows=name_rows,
            image_ids=image_ids,
            image_rows=image_rows,
            drawing_rows=np.unique(read_array(generation.drawings), return_inverse=True)[1],
            names=[row[4] for row in rows],
            sets=[keys[set_id] for set_id in set_ids.tolist()],
            words=snapshot.all_words(),
            tag_ids=read_tag_ids(snapshot.path),
        )

    def variants(self, rows: Ids) -> Ids:
        """Rows of all icons that are variants of some rows, those included; ascending."""
        return np.flatnonzero(np.isin(self.group_rows, self.group_rows[rows]))

    def drawn_alike(self, rows: Ids) -> Ids:
        """Rows of all icons that have the drawing of some rows, those included; ascending."""
        return np.flatnonzero(np.isin(self.drawing_rows, self.drawing_rows[rows]))

    def showing(self, image: int) -> Ids:
        """Rows of all icons that show a picture, by its place in `image_ids`; ascending."""
        return np.flatnonzero(self.image_rows == image)


class Originals:
    """The pictures of a corpus by their places in `image_ids`, and the icons that show them."""

    def __init__(self, snapshot: Snapshot, corpus: Corpus) -> None:
        self._snapshot = snapshot
        self._corpus = corpus

    def icons(self, rows: Iterable[int]) -> dict[int, IconRow]:
        """Read what the catalog says of some icons, by their rows."""
        distinct = list(dict.fromkeys(rows))
        ids = self._corpus.icon_ids[distinct]
        candidates = self._snapshot.candidates(ids)
        return {row: candidates[icon] for row, icon in zip(distinct, ids.tolist(), strict=True)}

    def showing(self, images: Ids) -> list[IconRow]:
        """Read of each picture the first icon that shows it, in that order."""
        rows = [int(self._corpus.showing(image)[0]) for image in images.tolist()]
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
        return read_indexed(icon.address(self._snapshot.digests([icon.image_id])[icon.image_id]))


N_INSTEAD = 5


@dataclass(frozen=True, slots=True)
class Shown:
    """An icon in a report: ids of the catalog, its name and its set."""

    icon: int
    image: int
    name: str
    set: str

    @classmethod
    def of(cls, icon: IconRow) -> "Shown":
        """Keep of an icon what a report says."""
        return cls(icon.id, icon.image_id, icon.name, icon.set)


@dataclass(frozen=True, slots=True)
class Case:
    """One query with what came of it."""

    query: str
    """Words, or for a screenshot the name of the icon."""
    task: str
    rank: int | None
    """Of the first right answer, None where no right answer was ranked."""
    n_right: int
    right: Sequence[Shown]
    """Right answers, best ranked first."""
    instead: Sequence[Shown]
    """The first hits."""
    picture: bytes | None = None
    """The screenshot that was asked with."""


def shown(icons: Sequence[IconRow], *, k: int) -> list[Shown]:
    """Show the first `k` hits of some icons, best first."""
    groups = Numbers[tuple[int, int]]().of((icon.set_id, icon.name_id) for icon in icons)
    kept = group_many(groups.astype(np.int64), np.array([icon.image_id for icon in icons], np.int64))
    return [Shown.of(icons[place]) for place in kept[:k]]


def as_rank(rank: int) -> int | None:
    """Spell a rank for people and programs."""
    return None if rank == UNRANKED else rank
