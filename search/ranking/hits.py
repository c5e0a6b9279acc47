"""Icons that were found, as hits: what the catalog says of each, beside its score."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Ids
from indexer.sources.licences import family
from search.generation.opened import Opened
from search.generation.snapshot import IconRow, numbered_key
from search.query import Hit
from search.ranking.candidates import Candidates, untold
from search.ranking.scores import NAMED

_NUMBERED = re.compile("#[0-9]+$")


def as_hits(opened: Opened, found: Candidates, places: NDArray[np.intp], *, flat: bool) -> list[Hit]:
    """Spell the candidates at some places as hits, in that order."""
    ids = found.ids[places]
    icons = opened.snapshot.candidates(ids)
    in_order = [icons[icon] for icon in ids.tolist()]
    groups = dict.fromkeys((icon.set_id, icon.name_id) for icon in in_order)
    variants = opened.snapshot.variants(list(groups)) if groups else {}
    rows = opened.facets.rows[opened.facets.positions(ids)]
    styles = opened.facets.looks(ids)
    return [
        Hit(
            id=icon.id,
            key=_key(opened, icon, variants[icon.set_id, icon.name_id]),
            image=icon.image_id,
            name=icon.name,
            words=icon.words,
            set=icon.set,
            set_title=icon.set_title,
            style=style,
            size=icon.size,
            licence=icon.licence,
            licence_family=family(icon.licence),
            coloured=_known(row["coloured"]),
            animated=_known(row["animated"]),
            path=str(_file_of(icon)),
            member=icon.member,
            score=round(float(found.confidence[place]), 4),
            similarity=round(float(found.similarities[place]), 4),
            exact=bool(found.tiers[place] <= NAMED),
            variants=1 if flat else len(variants[icon.set_id, icon.name_id]),
        )
        for icon, row, style, place in zip(in_order, rows, styles, places.tolist(), strict=True)
    ]


def hits_of(opened: Opened, ids: Ids) -> list[Hit]:
    """Spell some icons as hits that were asked for themselves: score and similarity are 1."""
    ones = np.ones(len(ids), np.float32)
    found = Candidates(ids, untold(ids), ones, ones, ones, ones, beyond=0)
    return as_hits(opened, found, np.arange(len(ids)), flat=False)


def _key(opened: Opened, icon: IconRow, variants: Sequence[tuple[int, str]]) -> str:
    """Spell what comes back to this icon: its set and name, and its id where another one comes first by these."""
    first = next(other for other, name in variants if name == icon.name)
    is_first = first == icon.id and icon.set_id not in opened.snapshot.second_sets
    is_plain = ":" not in icon.set + icon.name and not _NUMBERED.search(icon.name)  # falls apart in one way alone
    return f"{icon.set}:{icon.name}" if is_first and is_plain else numbered_key(icon.set, icon.name, icon.id)


def _known(trait: int) -> bool | None:
    return None if trait < 0 else bool(trait)


def _file_of(icon: IconRow) -> Path:
    """Where the file lies that holds an icon; paths in a manifest are relative to the manifest's folder."""
    if icon.kind == "manifest":
        from indexer.sources.manifests import path_of_row  # the other kinds need none of all that this imports

        return Path(icon.location).parent / path_of_row(icon.path)
    return Path(icon.location, icon.path)
