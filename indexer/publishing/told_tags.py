"""Which tags does an icon have? Those that are stated, and what those in another language say in English.

An icon is filtered, counted and found in words by all of them; its vector is made of those in English.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexer.naming.words import normalise_tag

ALL_TAGS = "CASE english_tags WHEN '' THEN tags ELSE tags || char(10) || english_tags END"
"""All tags of an icon, in SQL, as lines."""
_TRANSLATED = "SELECT place, tags, english_tags FROM ({placed}) WHERE english_tags <> '' ORDER BY place"
_PLACED = "SELECT ROW_NUMBER() OVER (ORDER BY id) - 1 AS place, tags, english_tags FROM icons"


def in_english(catalog: Path, pairs: NDArray[np.integer]) -> NDArray[np.integer]:
    """Leave out of a snapshot's pairs of an icon's place and a tag's code, (2, n), what others say in English."""
    with closing(sqlite3.connect(f"{catalog.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        if connection.execute("SELECT 1 FROM icons WHERE english_tags <> '' LIMIT 1").fetchone() is None:
            return pairs
        codes = dict(connection.execute("SELECT value, code FROM labels WHERE kind = 'tag'"))
        foreign = np.array(list(_foreign(connection, codes)), np.int64).reshape(-1, 2)
    n_codes = len(codes) + 1
    of_pairs = pairs[0].astype(np.int64) * n_codes + pairs[1]
    return pairs[:, np.isin(of_pairs, foreign[:, 0] * n_codes + foreign[:, 1], invert=True)]


def _foreign(connection: sqlite3.Connection, codes: dict[str, int]) -> Iterator[tuple[int, int]]:
    """Yield the place of an icon and the code of a tag for each that is said otherwise in English."""
    for place, stated, english in connection.execute(_TRANSLATED.format(placed=_PLACED)):
        for tag in {*map(normalise_tag, stated.split("\n"))} - {*english.split("\n"), ""}:
            yield place, codes[tag]
