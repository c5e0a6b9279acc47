"""Which icons an answer can be, and their original pictures."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from indexer.arrays import Ids
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
    snapshot: Snapshot
    """What the catalog says of them."""

    def __len__(self) -> int:
        return len(self.icon_ids)

    @classmethod
    def read(cls, generation: Generation) -> "Corpus":
        """Read all icons of a generation."""
        snapshot = Snapshot(generation.catalog)
        rows = list(snapshot.all_icons())
        icon_ids, set_ids, names, images = np.array([row[:4] for row in rows], np.int64).reshape(-1, 4).T
        keys = snapshot.set_keys()
        name_ids, name_rows = np.unique(names, return_inverse=True)
        image_ids, image_rows = np.unique(images, return_inverse=True)
        return cls(
            icon_ids=np.ascontiguousarray(icon_ids),
            group_rows=np.unique(np.stack([set_ids, names]), axis=1, return_inverse=True)[1].reshape(-1),
            name_ids=name_ids,
            name_rows=name_rows,
            image_ids=image_ids,
            image_rows=image_rows,
            drawing_rows=np.unique(read_array(generation.drawings), return_inverse=True)[1],
            names=[row[4] for row in rows],
            sets=[keys[set_id] for set_id in set_ids.tolist()],
            words=snapshot.all_words(),
            tag_ids=read_tag_ids(snapshot.path),
            snapshot=snapshot,
        )

    def variants(self, rows: Ids) -> Ids:
        """Rows of all icons that are variants of some rows, those included; ascending."""
        return np.flatnonzero(np.isin(self.group_rows, self.group_rows[rows]))

    def drawn_alike(self, rows: Ids) -> Ids:
        """Rows of all icons that have the drawing of some rows, those included; ascending."""
        return np.flatnonzero(np.isin(self.drawing_rows, self.drawing_rows[rows]))

    def outside(self, sets: Collection[str]) -> Ids:
        """Rows of the icons of all sets but some; none where no set is named."""
        return np.flatnonzero([bool(sets) and key not in sets for key in self.sets])

    def showing(self, image: int) -> Ids:
        """Rows of all icons that show a picture, by its place in `image_ids`; ascending."""
        return np.flatnonzero(self.image_rows == image)

    @cached_property
    def first_rows(self) -> Ids:
        """Row of the first icon that shows each picture."""
        return np.unique(self.image_rows, return_index=True)[1]

    def icons(self, rows: Ids) -> list[IconRow]:
        """Read what the catalog says of some icons, by their rows."""
        ids = self.icon_ids[rows]
        found = self.snapshot.candidates(ids)
        return [found[icon] for icon in ids.tolist()]

    def shown(self, rows: Ids, *, k: int) -> "list[Shown]":
        """Show the first `k` hits of some rows, best first, as a search would: variants and equal drawings once."""
        kept = group_many(self.group_rows[rows], self.drawing_rows[rows])[:k]
        return [Shown(icon.id, icon.image_id, icon.name, icon.set) for icon in self.icons(rows[kept])]

    def content_of(self, image_id: int) -> bytes:
        """Read the bytes of a picture by its id in the catalog; errors as `content`."""
        return self.content(int(np.searchsorted(self.image_ids, image_id)))

    def content(self, image: int) -> bytes:
        """Read the bytes of a picture, by its place in `image_ids`, from its source. In ascending order it is quick.

        Raises:
            SourceError: the source has gone, or holds another picture by now.
        """
        [icon] = self.icons(self.first_rows[[image]])
        return read_indexed(icon.address(self.snapshot.digests([icon.image_id])[icon.image_id]))


N_INSTEAD = 5


@dataclass(frozen=True, slots=True)
class Shown:
    """An icon in a report: ids of the catalog, its name and its set."""

    icon: int
    image: int
    name: str
    set: str


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


def as_rank(rank: int) -> int | None:
    """Spell a rank for people and programs."""
    return None if rank == UNRANKED else rank
