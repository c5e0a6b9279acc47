"""Icons that were found, as hits: what the catalog says of each, beside its score."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from search.opened import Opened
from search.query import Hit
from search.snapshot import Candidate


def as_hits(
    opened: Opened, icons: Sequence[Candidate], scores: Mapping[int, float], *, exact: Collection[int], flat: bool
) -> list[Hit]:
    """Spell icons as hits, in the order given."""
    groups = [(icon.set_id, icon.name_id) for icon in icons]
    variants = {} if flat or not groups else opened.snapshot.count_variants(groups)
    return [
        Hit(
            id=icon.id,
            key=f"{icon.set}:{icon.name}",
            image=icon.image_id,
            name=icon.name,
            words=icon.words,
            set=icon.set,
            set_title=icon.set_title,
            style=icon.style,
            size=icon.size,
            licence=icon.licence,
            licence_family="unknown",
            coloured=None,
            animated=None,
            path=str(Path(icon.location, icon.path)),
            member=icon.member,
            score=round(min(1.0, max(0.0, scores[icon.id])), 4),
            similarity=round(scores[icon.id], 4),
            exact=icon.id in exact,
            variants=variants.get((icon.set_id, icon.name_id), 1),
        )
        for icon in icons
    ]
