"""Which arrays travel between modules? One name for each kind of element; docstrings tell the shapes."""

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
"""Ids of the catalog: icons, images or names."""
Floats = NDArray[np.float32]
"""Vectors, similarities, scores."""
Halves = NDArray[np.float16]
"""Vectors as they are kept."""
Mask = NDArray[np.bool_]
Positions = NDArray[np.intp]
"""Rows of other arrays."""
Pixels = NDArray[np.uint8]
"""RGB, (size, size, 3), or several of them."""
