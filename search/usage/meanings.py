"""What does a drawing mean? The name that most sets give to what looks like it."""

from collections import defaultdict

import numpy as np

from indexer.arrays import Floats, Ids
from indexer.publishing.curves import Curve
from search.generation.backend import Ability
from search.generation.opened import Opened


class Meanings:
    """Names of what is like a drawing, in a library."""

    def __init__(self, opened: Opened, curve: Curve) -> None:
        self._curve = curve
        facets = self._facets = opened.in_memory(Ability.USAGE)
        self._order = facets.keep("rows by image", lambda: np.argsort(facets.column("image"), kind="stable"))
        self._images: Ids = facets.keep("images in order", lambda: facets.column("image")[self._order])
        self._words: dict[int, str] = facets.keep("words by name", opened.snapshot.all_words)

    def icons_showing(self, images: Ids) -> Ids:
        """The first icon that shows each of some pictures, in their order."""
        rows = self._order[np.searchsorted(self._images, images)]
        return np.asarray(self._facets.column("icon")[rows], np.int64)

    def drawings(self, icons: Ids) -> Ids:
        """The drawing of each of some icons."""
        return np.asarray(self._facets.at(icons)["drawing"], np.int64)

    def of(self, icons: Ids, cosines: Floats) -> str:
        """Name what is shown, given the icons that are most like it, best first.

        Each set has one vote, for the name of the icon that it has nearest; it weighs as much as that is nearer.
        """
        known = self._facets.at(icons)
        sets, names = known["set"], known["name"]
        _, first = np.unique(sets, return_index=True)
        weights = np.exp(self._curve.slope * (cosines - cosines[0]))
        votes: dict[str, float] = defaultdict(float)
        for place in sorted(first.tolist()):
            votes[self._words[int(names[place])]] += float(weights[place])
        return max(votes, key=lambda words: (round(votes[words], 6), -len(words), words))
