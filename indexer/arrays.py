"""What travels between modules: one name for each kind of array, docstrings have the shapes; values cut and grouped."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Value = TypeVar("Value", bound=Hashable)
Item = TypeVar("Item")
Many = TypeVar("Many", bound=Sequence[Any] | NDArray[Any])

Ids = NDArray[np.int64]
"""Ids of the catalog: icons, images or names."""
Floats = NDArray[np.float32]
"""Vectors, similarities, scores."""
Halves = NDArray[np.float16]
"""Vectors as they are kept."""
Mask = NDArray[np.bool_]
Positions = NDArray[np.intp]
"""Rows of other arrays."""
Tiers = NDArray[np.int8]
"""How directly each icon answers (`search.ranking.order`); lower ones come first."""
Pixels = NDArray[np.uint8]
"""RGB, (size, size, 3), or several of them."""


def in_chunks(values: Many, size: int) -> Iterator[Many]:
    """Values, `size` at a time; the last chunk may be smaller."""
    for start in range(0, len(values), size):
        yield cast(Many, values[start : start + size])


def grouped(items: Iterable[Item], key: Callable[[Item], Value]) -> dict[Value, list[Item]]:
    """Items by what they have in common, in their order."""
    found: dict[Value, list[Item]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def distinct(ids: Ids) -> Ids:
    """Each of some ids once, ascending, as `np.unique` does: that hashes them first, which takes up to forty times as
    long."""
    ordered = np.sort(ids)
    is_first = np.ones(len(ids), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


def is_in(held: Ids, ids: Ids) -> Mask:
    """Which of some ids are among others that ascend."""
    if not len(held):
        return np.zeros(len(ids), bool)
    return np.asarray(held[np.minimum(np.searchsorted(held, ids), len(held) - 1)] == ids)


def rows_by_id(ids: Ids) -> Ids:
    """The row of each of some ids, which ascend, at its place; -1 where no id is.

    Looked up in a tenth of the time that a binary search takes.
    """
    rows = np.full(int(ids[-1]) + 1 if len(ids) else 0, -1, np.int64)
    rows[ids] = np.arange(len(ids))
    return rows


def firsts_of(numbers: Ids) -> Positions:
    """For each of some numbers, which are 0 or more, the place where it comes first.

    Small ones are looked up, in a fifth of the time of a sort. Others are sorted together with their places, in a tenth
    of the time of a stable sort.
    """
    bits, largest = len(numbers).bit_length(), int(numbers.max(initial=0))
    if largest <= 4 * len(numbers):
        places = np.empty(largest + 1, np.int64)
        places[numbers[::-1]] = np.arange(len(numbers))[::-1]  # of equal numbers the last one written stays
        return places[numbers]
    if largest.bit_length() + bits > 63:  # of a number that is 0 or more
        numbers = np.unique(numbers, return_inverse=True)[1]
    order = np.sort(numbers << bits | np.arange(len(numbers)))
    places, in_order = order & (1 << bits) - 1, order >> bits
    is_first = np.ones(len(numbers), bool)
    np.not_equal(in_order[1:], in_order[:-1], out=is_first[1:])
    firsts = np.empty(len(numbers), np.int64)
    firsts[places] = places[is_first][np.cumsum(is_first) - 1]
    return firsts


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and deviation of cosines: measured in spreads they are the same for any encoder and library."""

    mean: Floats
    deviation: Floats

    def of(self, cosines: Floats) -> Floats:
        """Measure cosines in spreads."""
        return np.asarray((cosines - self.mean) / self.deviation, np.float32)


def spread_of(left: Floats, right: Floats, *, of_each: bool = False) -> Spread:
    """The spread of all pairs of two sets of vectors, found without the pairs: they may be fifty millions.

    `of_each`: one for each on the right, over all on the left.
    """
    means = right @ left.mean(axis=0, dtype=np.float64)
    squares = np.sum(right @ (left.T @ left / len(left)) * right, axis=1, dtype=np.float64)
    if not of_each:
        means, squares = means.mean(), squares.mean()
    deviations = np.sqrt(np.maximum(squares - means * means, 1e-8))
    return Spread(np.asarray(means, np.float32), np.asarray(deviations, np.float32))


class Numbers(dict[Value, int]):
    """Numbers different values as they are asked for: the first one is 0."""

    def __missing__(self, value: Value) -> int:
        self[value] = number = len(self)
        return number

    def of(self, values: Iterable[Value]) -> NDArray[np.int32]:
        """The number of each value, (n,)."""
        return np.fromiter(map(self.__getitem__, values), np.int32)
