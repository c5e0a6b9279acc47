"""Was a word meant as another one that this library knows? Only words that no name and no tag bears are corrected."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import cached_property
from pathlib import Path

_SHORTEST = 4
"""Of three letters nearly everything is one letter away from something."""
_LONG = 8
"""From this length two slips are forgiven instead of one."""


class Speller:
    """The vocabulary of one generation; `knows` tells the words that need no correction."""

    def __init__(self, catalog: Path, knows: Callable[[str], bool]) -> None:
        self._catalog = catalog
        self._knows = knows

    def correct(self, words: str) -> str | None:
        """Spell normalised words as they were probably meant; None where there is nothing to correct."""
        meant = [word if self._knows(word) else self._nearest(word) or word for word in words.split()]
        corrected = " ".join(meant)
        return None if corrected == words else corrected

    def _nearest(self, word: str) -> str | None:
        """The known word with the fewest slips, of equal ones the most frequent; or two known words run together."""
        if len(word) < _SHORTEST or not word.isalpha():
            return None
        from rapidfuzz import process  # only where a word is unknown
        from rapidfuzz.distance import OSA

        slips = 2 if len(word) >= _LONG else 1
        found = process.extract(word, self._terms, scorer=OSA.distance, score_cutoff=slips, limit=None)
        if found:
            return min(found, key=lambda match: (match[1], -self._n_names[match[0]], match[0]))[0]
        return self._apart(word)

    def _apart(self, word: str) -> str | None:
        cuts = [(word[:cut], word[cut:]) for cut in range(2, len(word) - 1)]
        known = [pair for pair in cuts if all(part in self._n_names for part in pair)]
        if not known:
            return None
        return " ".join(max(known, key=lambda pair: (min(self._n_names[part] for part in pair), pair)))

    @cached_property
    def _n_names(self) -> dict[str, int]:
        uri = f"{self._catalog.absolute().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            return dict(connection.execute("SELECT term, doc FROM vocabulary WHERE length(term) > 1"))

    @cached_property
    def _terms(self) -> list[str]:
        return list(self._n_names)
