"""What speaks for an icon? All that is known of it in one currency, log-odds of being right, added up. Pure functions.

What a cosine is worth differs between encoders and libraries: every merge measures it (`calibration`). All else is
worth the same wherever it is met; docs/ranking.md tells how each figure was found.
"""

import numpy as np

from indexer.arrays import Floats

COVERAGE = 1.5
"""Of all words of a query standing in an icon's name."""
STYLE = 0.75
"""Of the style that was asked for."""
SAYS_STYLE = 0.05
"""Of stating it, beside others that only look so: "arrow-up-filled" is that icon, though "arrow-up" is filled too."""
WITHOUT = -4.5
"""Of being all that was asked to leave out."""
SETS_FIRST = 3.0
"""How many times more the standing of its set counts for an icon that bears the query as its name or tag: the vectors
of those differ by less than their sets, of four in five among 214 icons called "home" by .26 or less."""
PLAIN = 0.3
"""Of such an icon that states no style where none was asked for: "bell" is that icon, before its "bell-thin"."""
SYNONYM = 2.0
"""Of bearing a name of which most other sets say what is asked, instead of what its words say."""
BESIDE_NAMED = 0.5
"""Of that, where a name here says all that is asked: "fishing rod" stays before the fish."""
DRAWN, DRAWN_NEXT = -3.0, -0.6
"""Of being what is customarily drawn for what is meant, beside being asked for by name; of each further drawing."""
PARTS = 0.7
"""Of each log-odd by which what is worst shown of a drawing's parts lies below their mean."""


def of_cosines(similarities: Floats, *, unit: float) -> Floats:
    """Log-odds, up to a constant of the library, by cosines with a vector of words; `unit` is what one is worth."""
    return np.asarray(similarities / np.float32(unit), np.float32)


def of_coverage(coverage: Floats) -> Floats:
    """Log-odds by how much names cover of words, 0 to 1."""
    return np.asarray(np.float32(COVERAGE) * coverage, np.float32)


def of_words(similarities: Floats, coverage: Floats, *, unit: float) -> Floats:
    """Both together."""
    return of_cosines(similarities, unit=unit) + of_coverage(coverage)


def of_parts(of_each: Floats) -> Floats:
    """Log-odds that a drawing loses where it shows some of its parts less than others, (icons,), 0 or below.

    `of_each` (parts, icons) is the evidence for each part; the worst is a soft minimum.
    """
    worst = -np.log(np.exp(-(of_each - of_each.mean(axis=0))).mean(axis=0))
    return np.asarray(np.float32(PARTS) * worst, np.float32)
