"""One icon: which one is meant by "mdi:home", and what is known of it?"""

import re

import numpy as np

from indexer.errors import UnknownIconError
from indexer.naming import normalise
from search.hits import hits_of
from search.opened import Opened
from search.query import Details, refuse_broken
from search.snapshot import Ids, Snapshot

MOST_SHOWN = 200
"""Variants, and equal drawings, of one icon."""
_ID = re.compile("[0-9]{1,19}")


def find_icon(snapshot: Snapshot, spelling: str) -> int:
    """Find an icon by its key ("mdi:home"), its id ("123"), or its name ("home").

    Raises:
        UnknownIconError: there is none; the message names near ones.
        IconsError: it is no Unicode text.
    """
    refuse_broken(spelling)
    spelling = spelling.strip()
    found = snapshot.with_key(spelling) if ":" in spelling else None
    if found is None and _ID.fullmatch(spelling) and snapshot.has_icon(int(spelling)):
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
    alike = _alike(opened, icon)
    return Details(
        hit=hits_of(opened, np.array([icon]))[0],
        caption=facts.caption,
        tags=facts.tags,
        categories=facts.categories,
        author=facts.author,
        version=facts.version,
        set_licence=facts.set_licence,
        source=facts.source,
        variants=hits_of(opened, variants[variants != icon][:MOST_SHOWN]),
        near_duplicates=hits_of(opened, np.setdiff1d(alike, variants)[:MOST_SHOWN]),
    )


def _alike(opened: Opened, icon: int) -> Ids:
    """Icons that show the drawing of an icon, itself included, ascending."""
    drawing = opened.drawings[opened.facets.positions(np.array([icon]))]
    return np.asarray(opened.facets.column("icon")[opened.drawings == drawing])
