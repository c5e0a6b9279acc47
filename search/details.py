"""One icon: which one is meant by "mdi:home", and what is known of it?"""

from collections.abc import Sequence

import numpy as np

from indexer.errors import UnknownIconError
from indexer.naming import normalise
from search.hits import as_hits
from search.opened import Opened
from search.query import Details, Hit
from search.snapshot import Ids, Snapshot

ALIKE = 0.9995
"""Least inner product of two picture vectors, kept in fp16, of which the pictures are taken for the same."""
MOST_ALIKE = 50


def find_icon(snapshot: Snapshot, spelling: str) -> int:
    """Find an icon by its key ("mdi:home"), its id ("123"), or its name ("home").

    Raises:
        UnknownIconError: there is none; the message names near ones.
    """
    spelling = spelling.strip()
    found = snapshot.with_key(spelling) if ":" in spelling else None
    if found is None and spelling.isascii() and spelling.isdigit() and snapshot.has_icon(int(spelling)):
        found = int(spelling)
    if found is None and ":" not in spelling:
        named = snapshot.spelt(spelling, normalise(spelling))
        found = int(named[0]) if len(named) else None
    if found is None:
        near = snapshot.keys_near(spelling)
        hint = f"near: {', '.join(near)}" if near else "`icons search` finds one by words"
        raise UnknownIconError(f'no icon "{spelling}" in this library; {hint}')
    return found


def show_icon(opened: Opened, icon: int) -> Details:
    """Tell everything that a library knows of one icon.

    Raises:
        UnknownIconError: no icon has this id.
    """
    found = opened.snapshot.icon(icon)
    facts = opened.snapshot.facts(icon)
    variants = opened.snapshot.variants_of(found.set_id, found.name_id)
    alike = _alike(opened, found.image_id)
    [hit] = _as_hits(opened, [icon])
    return Details(
        hit=hit,
        caption=facts.caption,
        tags=facts.tags,
        categories=facts.categories,
        author=facts.author,
        version=facts.version,
        set_licence=facts.set_licence,
        source=facts.source,
        variants=_as_hits(opened, variants[variants != icon].tolist()),
        near_duplicates=_as_hits(opened, alike[alike != icon].tolist()),
    )


def _alike(opened: Opened, image: int) -> Ids:
    """Icons that show a picture or one that is equal to it but for its bytes, ascending."""
    [vector] = opened.pictures.reconstruct(np.array([image]))
    nearest = opened.pictures.search(vector, k=MOST_ALIKE)
    images: Ids = np.union1d(nearest.ids[nearest.scores >= ALIKE], [image])
    return opened.snapshot.showing(images)[:MOST_ALIKE]


def _as_hits(opened: Opened, icons: Sequence[int]) -> list[Hit]:
    found = opened.snapshot.candidates(np.array(icons, np.int64))
    return as_hits(opened, [found[icon] for icon in icons], dict.fromkeys(icons, 1.0), exact=(), flat=False)
