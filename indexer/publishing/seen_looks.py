"""What does a picture look like, by how its ink lies: an outline, filled, duotone, of many colours? Pure functions.

A logistic regression over what `rendering.ink` measures, learnt from 100 icons of each style of each set of Iconify, of
every second set (`publishing.agreement`): looks are those that their sources state, colour is what a palette shows in
sets that Iconify marks so. docs/searching.md tells how often it agrees with all others.
"""

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats
from indexer.library.traits import NOT_KNOWN, Ink
from indexer.naming.looks import LOOKS

_WEIGHTS = np.array(
    [
        [-20.2, -2.5, -9.4, 20.1, 4.2, 5.5, -1.3, -0.8, -1.7, 21.2, 8.3, 8.4, -22.5, 0.1, 6.4, -0.7, -1.0, -1.1],
        [-11.8, 23.4, 3.0, 7.1, 4.3, -7.1, -2.2, 15.6, 9.4, 2.3, -10.1, -0.9, 2.1, -6.3, 17.8, -0.2, 9.5, 15.4],
        [-37.5, 27.8, 0.7, 11.4, 2.3, 5.9, -16.9, 19.2, 29.9, 18.6, -16.9, 3.2, -5.2, 7.6, -1.5, 13.0, 7.9, 3.0],
    ],
    np.float32,
)
"""Of the roots of all measures, then of themselves, for each look but the first, which they are held against."""
_CONSTANTS = np.array([0.3, -5.2, -5.2], np.float32)
_SCALES = np.array([5 if measure == "n_hues" else 100 for measure in Ink._fields], np.float32)


def likelihoods(ink: NDArray[np.int8]) -> Floats:
    """How well each of `LOOKS` explains what was measured (`library.traits.Ink`), (n, 9) -> (n, 4).

    Rows add up to 1; where nothing was measured they are 0. What shows no colour has none.
    """
    shares = np.maximum(ink, 0) / _SCALES
    logits = np.zeros((len(ink), len(LOOKS)), np.float32)
    logits[:, 1:] = np.concatenate([np.sqrt(shares), shares], axis=1) @ _WEIGHTS.T + _CONSTANTS
    likely = np.exp(logits - logits.max(axis=1, keepdims=True))
    likely[ink[:, Ink._fields.index("coloured")] == 0, LOOKS.index("color")] = 0
    likely /= likely.sum(axis=1, keepdims=True)
    likely[ink[:, 0] == NOT_KNOWN] = 0
    return np.asarray(likely, np.float32)
