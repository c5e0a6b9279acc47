"""In what order does one read boxes? Row by row, each from left to right."""

import numpy as np

from indexer.arrays import Floats, Positions

_SHARED = 0.5
"""Of its height, or that of the row, a box shares with a row that it stands in."""


def reading_order(corners: Floats) -> Positions:
    """Places of some boxes (n, 4) in the order of reading: a row begins with the highest box that none has yet."""
    rows: list[tuple[float, float, list[int]]] = []  # top and bottom of the box that began it; its boxes
    for place in np.lexsort((corners[:, 0], corners[:, 1])).tolist():
        top, bottom = float(corners[place, 1]), float(corners[place, 3])
        for upper, lower, row in reversed(rows):
            if min(bottom, lower) - max(top, upper) >= _SHARED * min(bottom - top, lower - upper):
                row.append(place)
                break
        else:
            rows.append((top, bottom, [place]))
    ordered = [place for _, _, row in rows for place in sorted(row, key=lambda one: float(corners[one, 0]))]
    return np.array(ordered, np.intp)
