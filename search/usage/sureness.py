"""How sure is it that a drawing on a screen is an icon? By their likeness, and what else it may be. Pure functions."""

import numpy as np

from indexer.arrays import Floats
from indexer.publishing.curves import sigmoid
from indexer.usage.manifest import Sameness

OWN_SET = 1.0
"""Log-odds by which an icon of one's own set comes before an equally like one of another: it is what one expects."""


def is_icon(own: Floats, rival: Floats, same: Sameness, *, expected: float = 0.0) -> Floats:
    """Probability by the cosine with the icon and the highest one with something else that it may be instead.

    Both equal leave half of what the likeness alone says; `expected` log-odds speak for the icon beforehand.
    """
    return np.asarray(same.known.scores(own) * sigmoid(same.lead.logits(own - rival) + expected), np.float32)
