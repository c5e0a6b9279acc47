"""Where does a value stand on a scale? Axes of charts: shares, quantities from zero, and powers of ten."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from indexer.reports.measures import short

Written = Callable[[float], str]
"""How a value is spelled beside a chart."""
_STEPS = (1, 2, 4, 6, 8, 10)


@dataclass(frozen=True, slots=True)
class Axis:
    """One scale, from `low` to `high`."""

    title: str
    low: float
    high: float
    ticks: Sequence[float]
    written: Written
    is_log: bool = False

    def share(self, value: float) -> float:
        """How far along the axis a value stands, from 0 to 1."""
        low, high, value = (math.log10(x) if self.is_log else x for x in (self.low, self.high, value))
        return (value - low) / (high - low)


SHARES = Axis("", 0.0, 1.0, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0), short)


def from_zero(values: Sequence[float], *, written: Written, title: str = "") -> Axis:
    """Begin at zero and end a little above the largest value."""
    high = round_up(max(values, default=1.0))
    return Axis(title, 0.0, high, [high * share for share in (0, 0.25, 0.5, 0.75, 1)], written)


def from_share(values: Sequence[float], *, title: str = "") -> Axis:
    """Show shares from a little below the least to 1."""
    low = max(0.0, math.floor(10 * min(values, default=1.0) - 0.5) / 10)
    step = next(step for step in (0.02, 0.05, 0.1, 0.2) if 1 - low <= 6 * step)
    return Axis(title, low, 1.0, [1 - n * step for n in range(round((1 - low) / step), -1, -1)], short)


def decades(values: Sequence[float], *, written: Written, title: str = "") -> Axis:
    """Show positive values on powers of ten, with 2 and 5 between them where there is room."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    between = (1, 2, 5) if high - low <= 2 else (1,)  # more would touch
    ticks = [step * 10.0**power for power in range(low, high) for step in between]
    return Axis(title, 10.0**low, 10.0**high, [*ticks, 10.0**high], written, is_log=True)


def round_up(largest: float) -> float:
    """Choose the end of a scale that shows a largest value: 0.1 at least."""
    power = 10.0 ** math.floor(math.log10(max(largest, 0.1)))
    return next((round(step * power, 10) for step in _STEPS if largest <= step * power * (1 + 1e-9)), 10 * power)
