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
WITHOUT = -4.5
"""Of being all that was asked to leave out."""


def of_words(similarities: Floats, coverage: Floats, *, unit: float) -> Floats:
    """Log-odds, up to a constant of the library, by cosines with the query's vector and by what names cover of it.

    `unit` is the cosine that is worth one log-odd.
    """
    return np.asarray(similarities / np.float32(unit) + np.float32(COVERAGE) * coverage, np.float32)
