"""How much of a query do the names and tags of icons say? Coverage by words, through a generation's lexicon."""

from functools import cached_property

import numpy as np

from indexer.arrays import Floats, Ids
from indexer.publishing.lexicon import Lexicon, stems
from search.id_table import rows_by_id

LEXICAL_WEIGHT = 0.1
"""What full coverage adds to a similarity. Over held-out names of four sets, R@1 of tags that share a word
with the name: 0 .561, 0.05 .644, 0.1 .692, 0.15 .724, 0.2 .727; of others: .189, .182, .177, .171, .169."""
TOLD_SHARE = 0.5
"""What a word that only a tag says counts, beside 1 for a word of the name."""
FUNCTION_WORDS = frozenset(
    ["a", "an", "the", "of", "that", "this", "these", "those", "its", "is", "are", "some", "someone", "something"]
)
"""Words that say nothing of an icon, though icons of letters bear "a". Those that tell log in from log out count."""
_LONGEST_NAME = 50


class Lexical:
    """The lexical arm of one generation. Coverage is by rows of the lexicon: (names,), 0 to 1."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        n_names = len(lexicon.name_ids)
        self._lengths = np.bincount(lexicon.names.values, minlength=n_names).clip(max=_LONGEST_NAME)

    def coverage(self, words: str) -> Floats:
        """Say how much of some normalised words each name covers: the weights of those it bears, over those of all.

        A word that no name bears weighs most: a name that covers all the others does not cover the query.
        Function words count where there are no others.
        """
        covered = np.zeros(len(self._lexicon.name_ids), np.float32)
        total = 0.0
        for term in stems(telling(words)):
            place = self._lexicon.place(term)
            if place is None:
                total += 1
                continue
            weight = self._lexicon.weights[place]
            total += float(weight)
            covered[self._lexicon.names.of(place)] += weight
            covered[self._lexicon.tagged.of(place)] += TOLD_SHARE * weight
        return covered / np.float32(total or 1)

    def rows(self, name_ids: Ids) -> Ids:
        """Rows of some names."""
        return self._rows_by_id[name_ids]

    @cached_property
    def _rows_by_id(self) -> Ids:
        return rows_by_id(self._lexicon.name_ids)

    def best_icons(self, coverage: Floats, *, most: int) -> Ids:
        """Ids of the icons whose names cover most, of equal ones the shortest names first; `most` at most."""
        rows = np.flatnonzero(coverage)
        merit = coverage[rows] - self._lengths[rows] * np.float32(1e-4)
        if len(rows) > most:
            chosen = np.argpartition(-merit, most)[:most]
            rows, merit = rows[chosen], merit[chosen]
        return self._lexicon.icons.of_many(rows[np.lexsort((rows, -merit))])[:most]

    def icons_of(self, name_ids: Ids) -> Ids:
        """Ids of the icons of some names, name by name."""
        return self._lexicon.icons.of_many(self.rows(name_ids))

    def knows(self, word: str) -> bool:
        """Tell whether a name or a tag bears a word, in any form of it."""
        return all(self._lexicon.place(term) is not None for term in stems(word))


def telling(words: str) -> str:
    """Leave out the function words of some normalised words, unless there are no others."""
    return " ".join(word for word in words.split() if word not in FUNCTION_WORDS) or words
