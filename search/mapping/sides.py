"""What is known of the icons of one set that are held against those of another: pictures, names, both fused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from indexer.arrays import Floats, Ids, Mask, Positions
from indexer.publishing.facets import NO_STYLE
from search.generation.backend import Ability
from search.generation.opened import Opened
from search.generation.rows import IconRow
from search.query import Filters
from search.ranking.order import firsts_of

_NAMES_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Side:
    """The icons of one set, a row each, ascending by id."""

    set: str
    ids: Ids
    rows: Sequence[IconRow]
    pictures: Floats
    """(n, dim)"""
    fused: Floats
    """(n, dim) of picture and name together."""
    drawings: Ids
    """(n,) equal where the drawing is."""

    by_name: Mapping[str, int]
    """Row of each name."""
    by_words: Mapping[str, Sequence[int]]
    """Rows of each name without its style: variants of one icon."""
    looks: Sequence[str | None]
    """Style of each: "filled", "sharp outline"."""
    is_plain: Mask
    """Which state no style in their name."""
    is_tagged: Mask
    """Which have tags. Sets that keep an icon's former name as a copy of its file give it none."""
    variant_groups: Positions
    """(n,) equal for the variants of one name."""

    def variants(self, row: int) -> Sequence[int]:
        """Rows of an icon and its variants."""
        return self.by_words[self.rows[row].words]

    def own_look(self, row: int) -> str | None:
        """The style of an icon that its set draws in several; None where there is but one, which tells nothing."""
        look = self.looks[row]
        return look if any(self.looks[other] != look for other in self.variants(row)) else None


def open_side(opened: Opened, key: str) -> Side:
    """Read the icons of a set, given by its key.

    Raises:
        IconsError: it is unknown here; the message names near ones.
    """
    facets = opened.in_memory(Ability.MAP)
    ids = facets.every(facets.select(Filters(sets=(key,))))
    found = opened.snapshot.candidates(ids)
    rows, known = [found[icon] for icon in ids.tolist()], facets.at(ids)
    return Side(
        set=key,
        ids=ids,
        rows=rows,
        pictures=opened.pictures.reconstruct(opened.images_of(ids)),
        fused=opened.icons.reconstruct(ids),
        drawings=known["drawing"],
        by_words=_by_words(rows),
        looks=facets.looks(known),
        is_plain=known["states"] == NO_STYLE,
        is_tagged=np.isin(known.positions, facets.pairs("tag")[0]),
        variant_groups=firsts_of(facets.variants(known)),
        by_name={row.name: place for place, row in reversed(list(enumerate(rows)))},
    )


def _by_words(rows: Sequence[IconRow]) -> Mapping[str, Sequence[int]]:
    found: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        found.setdefault(row.words, []).append(place)
    return found


def encode_names(opened: Opened, side: Side) -> Floats:
    """Encode what the icons of a set are called, (n, dim); each name once."""
    names = sorted({row.words for row in side.rows})
    blocks = [
        opened.encoder.encode_many_words(names[first : first + _NAMES_AT_ONCE])
        for first in range(0, len(names), _NAMES_AT_ONCE)
    ]
    vectors = np.concatenate(blocks)
    places = {name: place for place, name in enumerate(names)}
    return np.asarray(vectors[[places[row.words] for row in side.rows]], np.float32)
