"""Icons that were found, as hits: what the catalog says of each, beside its score."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from indexer.arrays import Ids
from indexer.sources.licences import family
from search.generation.opened import Opened
from search.generation.rows import IconRow, numbered_key
from search.generation.standing import Standing
from search.ranking.bearers import others_bearing
from search.ranking.candidates import Candidates, untold
from search.ranking.scores import NAMED
from search.results import MOST_ALSO, Hit

_NUMBERED = re.compile("#[0-9]+$")


def as_hits(opened: Opened, found: Candidates, sets: Standing, *, flat: bool) -> list[Hit]:
    """Spell candidates as hits, in their order."""
    ids = found.ids
    others = [ids[:0] for _ in ids] if flat else others_bearing(opened, sets, ids)
    also = [some[:MOST_ALSO] for some in others]
    icons = opened.snapshot.candidates(np.concatenate([ids, *also]))
    groups = dict.fromkeys((icon.set_id, icon.name_id) for icon in icons.values())
    variants = opened.snapshot.variants(list(groups)) if groups else {}
    keys = {icon.id: _key(opened, icon, variants[icon.set_id, icon.name_id]) for icon in icons.values()}
    in_order = [icons[icon] for icon in ids.tolist()]
    digests = opened.snapshot.digests([icon.image_id for icon in in_order])
    rows = opened.facets.at(ids)
    traits = zip(opened.facets.looks(rows), rows["coloured"].tolist(), rows["animated"].tolist(), strict=True)
    return [
        Hit(
            id=icon.id,
            key=keys[icon.id],
            image=icon.image_id,
            digest=digests[icon.image_id].hex(),
            name=icon.name,
            words=icon.words,
            set=icon.set,
            set_title=icon.set_title,
            style=style,
            size=icon.size,
            licence=icon.licence,
            licence_family=family(icon.licence),
            coloured=_known(coloured),
            animated=_known(animated),
            path=_file_of(icon),
            member=icon.member,
            score=round(float(found.confidence[place]), 4),
            similarity=_rounded(found.similarities[place]),
            exact=bool(found.tiers[place] <= NAMED),
            n_variants=1 if flat else len(variants[icon.set_id, icon.name_id]),
            also=tuple(keys[other] for other in also[place].tolist()),
            n_also=len(others[place]),
        )
        for place, (icon, (style, coloured, animated)) in enumerate(zip(in_order, traits, strict=True))
    ]


def hits_of(opened: Opened, ids: Ids, *, sets: Standing | None = None, flat: bool = False) -> list[Hit]:
    """Spell some icons as hits that nobody looked for: their score is 1."""
    ones, none = np.ones(len(ids), np.float32), np.full(len(ids), np.nan, np.float32)
    found = Candidates(ids, untold(ids), none, ones, ones, ones, beyond=0)
    return as_hits(opened, found, sets or opened.standing(()), flat=flat)


def _key(opened: Opened, icon: IconRow, variants: Sequence[tuple[int, str]]) -> str:
    """Spell what comes back to this icon: its set and name, and its id where another one comes first by these."""
    first = next(other for other, name in variants if name == icon.name)
    is_first = first == icon.id and icon.set_id not in opened.snapshot.second_sets
    is_plain = ":" not in icon.set + icon.name and not _NUMBERED.search(icon.name)  # falls apart in one way alone
    return f"{icon.set}:{icon.name}" if is_first and is_plain else numbered_key(icon.set, icon.name, icon.id)


def _rounded(similarity: np.floating[Any]) -> float | None:
    return None if np.isnan(similarity) else round(float(similarity), 4)


def _known(trait: int) -> bool | None:
    return None if trait < 0 else bool(trait)


def _file_of(icon: IconRow) -> str:
    """Where the file lies that holds an icon; paths in a manifest are relative to the manifest's folder."""
    if icon.kind == "manifest":
        from indexer.sources.manifests import path_of_row  # the other kinds need none of all that this imports

        return str(Path(icon.location).parent / path_of_row(icon.path))
    return os.path.join(icon.location, icon.path) if icon.path else icon.location  # noqa: PTH118 - ten times as quick
