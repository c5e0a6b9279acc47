"""One icon: which one is meant by "mdi:home", and what is known of it?"""

import re
from collections.abc import Iterator

import numpy as np

from indexer.errors import UnknownIconError
from indexer.languages.dictionary import Dictionary
from indexer.naming.names import normalise
from indexer.naming.printable import unprinted
from search.generation.opened import Opened
from search.generation.snapshot import Snapshot
from search.query import refuse_broken
from search.ranking.hits import hits_of
from search.results import Details, NameRead

MOST_SHOWN = 200
"""Variants, and equal drawings, of one icon."""
_ID = re.compile("(?:^|#)([0-9]{1,18})$")


def find_icon(opened: Opened, spelling: str) -> int:
    """Find an icon by its key ("mdi:home", "mdi:home#123"), its name ("home") as it is or as it is printed, or its id.

    The set of a key may be called as code calls it: "lucide:house" is found where the set is "lucide-static".

    Raises:
        UnknownIconError: there is none; the message names near ones.
        IconsError: it is no Unicode text.
    """
    refuse_broken(spelling)
    snapshot = opened.snapshot
    as_typed = (spelling, spelling.strip(), unprinted(spelling))
    spellings = dict.fromkeys((*as_typed, *_with_own_sets(opened, spelling.strip())))
    for find in (_exactly, _by_words):
        for spelt in spellings:
            if (found := find(snapshot, spelt)) is not None:
                return found
    near = snapshot.keys_near(spelling.strip())
    hint = f"near: {', '.join(near)}" if near else "`icons search` finds one by words"
    raise UnknownIconError(f'no icon "{spelling}" in this library; {hint}')


def _with_own_sets(opened: Opened, spelling: str) -> Iterator[str]:
    """A key whose set is called otherwise here, with each set's own key."""
    called, separator, name = spelling.partition(":")
    labels = opened.facets.labels("set")
    for code in (labels.set_names.with_key(called) or ()) if separator and name else ():
        yield f"{labels.values[code]}:{name}"


def _exactly(snapshot: Snapshot, spelling: str) -> int | None:
    """A key names one icon; a name that is spelt so comes before an id."""
    number = _ID.search(spelling)
    own = int(number[1]) if number else None
    key = None if own is None else snapshot.key_of(own)
    if key == spelling:
        return own
    if (found := snapshot.with_key(spelling, as_words=False)) is not None:
        return found
    if (found := snapshot.spelt(spelling)) is not None:
        return found
    return own if key and number and spelling == number[1] else None


def _by_words(snapshot: Snapshot, spelling: str) -> int | None:
    """A key or a name in any spelling."""
    if (found := snapshot.with_key(spelling, as_words=True)) is not None:
        return found
    named = snapshot.named(normalise(spelling))
    return int(named.min()) if len(named) else None


def show_icon(opened: Opened, icon: int) -> Details:
    """Tell everything that a library knows of one icon.

    Raises:
        UnknownIconError: no icon has this id.
    """
    found = opened.snapshot.icon(icon)
    variants = opened.snapshot.variants_of(found.set_id, found.name_id)
    [alike] = opened.facets.alike(np.array([icon]))
    return Details(
        hit=hits_of(opened, np.array([icon]))[0],
        name_read=_name_read(opened.snapshot, found.name_id),
        **opened.snapshot.facts(icon),
        variants=hits_of(opened, variants[variants != icon][:MOST_SHOWN]),
        near_duplicates=hits_of(opened, np.setdiff1d(alike, variants)[:MOST_SHOWN]),
    )


def _name_read(snapshot: Snapshot, name_id: int) -> NameRead | None:
    reading = snapshot.reading_of(name_id)
    if reading is None:
        return None
    language, english, others = reading
    return NameRead(language, Dictionary.bundled().languages.get(language, language), english, others)
