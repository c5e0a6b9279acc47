"""In what order do icons stand that are browsed? Writes the place of each icon by name; a search reads it.

Names sort as people count: arrow-2 stands before arrow-10. Of equal names the set decides.
"""

import re
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Numbers
from indexer.library.folder import Generation
from indexer.publishing.facets import read_array

_NUMBER = re.compile("[0-9]+")
_ONE_GAP = str.maketrans("_-", "  ")
Places = NDArray[np.int32]


def write_places(generation: Generation) -> None:
    """Write the place of each icon of a snapshot whose facets are there, in the order of these."""
    with closing(sqlite3.connect(generation.catalog)) as connection:
        sets = connection.execute("SELECT value FROM labels WHERE kind = 'set' ORDER BY code")
        keys = [key for (key,) in sets]
        names = (name for (name,) in connection.execute("SELECT name FROM icons ORDER BY id"))
        np.save(generation.places, places_by_name(names, keys, read_array(generation.facets)["set"]))


def places_by_name(names: Iterable[str], keys: Sequence[str], sets: NDArray[np.integer]) -> Places:
    """The place of each icon among these by name, then by the key of its set, which `sets` index, then as they come."""
    numbers = Numbers[str]()
    named = numbers.of(names)
    order = np.lexsort((natural_ranks(keys)[sets], natural_ranks(list(numbers))[named]))
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places


def natural_ranks(different: Sequence[str]) -> NDArray[np.int32]:
    """A number for each of different names, which grows as people count."""
    ranks = np.empty(len(different), np.int32)
    ranks[sorted(range(len(different)), key=lambda number: natural(different[number]))] = np.arange(len(different))
    return ranks


def natural(name: str) -> tuple[str, str]:
    """What a name is compared by: numbers by their size, letters without case, gaps alike; then as it is spelt."""
    return _NUMBER.sub(_by_size, name.casefold().translate(_ONE_GAP)), name


def _by_size(number: re.Match[str]) -> str:
    digits = number[0].lstrip("0")
    return f"{len(digits):06}{digits}"
