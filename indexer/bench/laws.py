"""How far more devices help: speed-up, efficiency, and the parallel share P that two laws say they have.

Amdahl (AFIPS 1967), the same work on N devices: S = 1 / ((1 - P) + P / N). Gustafson (CACM 31, 1988), N times the work
on N devices: S = (1 - P) + P * N. Each is a straight line through the origin in the right coordinates, so P is found by
least squares in closed form: 1 - 1/S = P * (1 - 1/N), and S - 1 = P * (N - 1). Intervals come from the repeats, drawn
anew (bootstrap).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from indexer.reports.measures import RESAMPLES, Figure, Scores

Law = Literal["Amdahl", "Gustafson"]
Rates = Mapping[int, Sequence[float]]
"""Pictures a second by the number of devices, one value a repeat."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A law fitted to speed-ups; the share is not cut to 0..1, so that what the law can't explain shows."""

    law: Law
    parallel_share: Figure
    extrapolated: dict[int, Figure]
    """Speed-up by a number of devices that was not measured."""


def speedup(law: Law, share: float, n: float) -> float:
    """What a law says of n devices, with this parallel share."""
    return 1 / ((1 - share) + share / n) if law == "Amdahl" else (1 - share) + share * n


def fitted_share(law: Law, devices: Sequence[int], speedups: Sequence[float]) -> float:
    """The parallel share by least squares; needs a number of devices above one."""
    n, s = np.asarray(devices, float), np.asarray(speedups, float)
    x, y = (1 - 1 / n, 1 - 1 / s) if law == "Amdahl" else (n - 1, s - 1)
    return float((x @ y) / (x @ x))


def speedups(rates: Rates) -> dict[int, Figure]:
    """Speed-ups against one device, with intervals."""
    drawn = _drawn_speedups(rates)
    return {n: _figure(float(np.median(rates[n]) / np.median(rates[1])), drawn[n]) for n in sorted(rates)}


def fit(law: Law, rates: Rates, *, beyond: Sequence[int]) -> Fit | None:
    """Fit a law to rates of the same work (Amdahl) or of as much for each (Gustafson).

    None where one device was not measured, or nothing else was.
    """
    devices = [n for n in sorted(rates) if n > 1]
    if not devices or 1 not in rates:
        return None
    drawn = _drawn_speedups(rates)
    found = fitted_share(law, devices, [float(np.median(rates[n]) / np.median(rates[1])) for n in devices])
    shares = np.array([fitted_share(law, devices, [drawn[n][row] for n in devices]) for row in range(RESAMPLES)])
    extrapolated = {
        n: _figure(speedup(law, found, n), np.array([speedup(law, share, n) for share in shares])) for n in beyond
    }
    return Fit(law, _figure(found, shares), extrapolated)


def _drawn_speedups(rates: Rates) -> dict[int, Scores]:
    """For each number of devices the speed-ups of `RESAMPLES` draws of the repeats."""
    generator = np.random.default_rng(0)
    medians = {
        n: np.median(generator.choice(np.asarray(of_n), (RESAMPLES, len(of_n))), axis=1) for n, of_n in rates.items()
    }
    return {n: of_n / medians[1] for n, of_n in medians.items()}


def _figure(value: float, drawn: Scores) -> Figure:
    low, high = np.percentile(drawn, (2.5, 97.5))
    return Figure(value, float(low), float(high))
