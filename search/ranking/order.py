"""In what order do candidates answer, and which of them are one hit? Pure functions."""

from collections.abc import Hashable, Iterable

import numpy as np

from indexer.arrays import Floats, Ids, Positions, Tiers


def rank(ids: Ids, evidence: Floats, tiers: Tiers) -> Positions:
    """Order candidates best first: by tier, then by evidence; ties by id, so order is stable. Returns their places."""
    return np.lexsort((ids, -evidence, tiers))


def group(keys: Iterable[tuple[Hashable, Hashable]], *, k: int | None = None) -> list[int]:
    """Keep the best of each variant group and of each drawing, at most `k`, in the order given.

    `keys` are (group, drawing) of each candidate; returns the places of those kept.
    """
    kept: list[int] = []
    groups: set[Hashable] = set()
    drawings: set[Hashable] = set()
    for place, (variants, drawing) in enumerate(keys):
        if variants in groups or drawing in drawings:
            continue
        groups.add(variants)
        drawings.add(drawing)
        kept.append(place)
        if len(kept) == k:
            break
    return kept
