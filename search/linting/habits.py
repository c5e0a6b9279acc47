"""What does a set do as a rule? Learnt from its own icons: the most frequent value, and how many share it."""

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

Value = TypeVar("Value", bound=Hashable)
LEAST_SHARE = 0.8
"""From here on it is a habit, and what differs from it is odd; below, a set is a mixture."""
LEAST_ICONS = 10
"""Fewer show no habit."""


@dataclass(frozen=True, slots=True)
class Habit(Generic[Value]):
    """The most frequent value among some icons."""

    value: Value
    n_with: int
    n_icons: int
    others: tuple[tuple[Value, int], ...]
    """The next values, most frequent first, and how many icons have each."""

    @property
    def holds(self) -> bool:
        """Whether so many icons have it that others are odd."""
        return self.n_icons >= LEAST_ICONS and self.n_with >= LEAST_SHARE * self.n_icons

    @property
    def is_mixed(self) -> bool:
        """Whether there are enough icons to tell that none is the habit."""
        return self.n_icons >= LEAST_ICONS and not self.holds

    @property
    def counted(self) -> str:
        """Say how many do so: "1,412 of 1,420 icons"."""
        return f"{self.n_with:,} of {self.n_icons:,} icons"


def habit_of(values: Iterable[Value]) -> Habit[Value] | None:
    """Find the habit among the values of icons, one each; None where there are none."""
    counts = Counter(values)
    if not counts:
        return None
    (value, n_with), *others = counts.most_common(4)
    return Habit(value, n_with, counts.total(), tuple(others))


def number(value: float) -> str:
    """Spell a measure as a person would: 1.5, 2."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
