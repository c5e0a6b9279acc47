"""How far do more devices help? Speed-up, efficiency, and the parallel share P that two laws say they have.

Amdahl (AFIPS 1967), the same work on N devices: S = 1 / ((1 - P) + P / N). Gustafson (CACM 31, 1988), N times the work
on N devices: S = (1 - P) + P * N. Each is a straight line through the origin in the right coordinates, so P is found by
least squares in closed form: 1 - 1/S = P * (1 - 1/N), and S - 1 = P * (N - 1).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from indexer.reports.measures import RESAMPLES, Figure, Scores

Law = Literal["Amdahl", "Gustafson"]


@dataclass(frozen=True, slots=True)
class Speedups:
    """Speed-up and efficiency by the number of devices, with intervals over the repeats."""

    devices: tuple[int, ...]
    speedup: tuple[Figure, ...]
    efficiency: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """A law fitted to speed-ups; the share is not cut to 0..1, so that what the law can't explain shows."""

    law: Law
    parallel_share: Figure
    extrapolated: dict[int, Figure]
    """Speed-up by a number of devices that was not measured."""


def amdahl(share: float, n: float) -> float:
    """Speed-up of the same work on n devices."""
    return 1 / ((1 - share) + share / n)


def gustafson(share: float, n: float) -> float:
    """Speed-up of n times the work on n devices."""
    return (1 - share) + share * n


def fitted_share(law: Law, devices: Sequence[int], speedups: Sequence[float]) -> float:
    """The parallel share by least squares; needs a number of devices above one."""
    n, s = np.asarray(devices, float), np.asarray(speedups, float)
    x, y = (1 - 1 / n, 1 - 1 / s) if law == "Amdahl" else (n - 1, s - 1)
    return float((x @ y) / (x @ x))


def speedups(rates: Mapping[int, Sequence[float]]) -> Speedups:
    """Speed-ups against one device from images/s by number of devices, one value a repeat."""
    devices = tuple(sorted(rates))
    drawn = _drawn_speedups(rates)
    value = {n: float(np.median(rates[n]) / np.median(rates[1])) for n in devices}
    figures = tuple(_figure(value[n], drawn[n]) for n in devices)
    shares = tuple(
        Figure(figure.value / n, figure.low / n, figure.high / n) for n, figure in zip(devices, figures, strict=True)
    )
    return Speedups(devices, figures, shares)


def fit(law: Law, rates: Mapping[int, Sequence[float]], *, beyond: Sequence[int]) -> Fit | None:
    """Fit a law to images/s by number of devices, of the same work (Amdahl) or of as much for each (Gustafson).

    Intervals come from the repeats, drawn anew (bootstrap). None where only one number of devices was measured.
    """
    devices = [n for n in sorted(rates) if n > 1]
    if not devices or 1 not in rates:
        return None
    drawn = _drawn_speedups(rates)
    found = fitted_share(law, devices, [float(np.median(rates[n]) / np.median(rates[1])) for n in devices])
    shares = np.array([fitted_share(law, devices, [drawn[n][row] for n in devices]) for row in range(RESAMPLES)])
    curve = amdahl if law == "Amdahl" else gustafson
    extrapolated = {n: _figure(curve(found, n), np.array([curve(share, n) for share in shares])) for n in beyond}
    return Fit(law, _figure(found, shares), extrapolated)


def _drawn_speedups(rates: Mapping[int, Sequence[float]]) -> dict[int, Scores]:
    """For each number of devices the speed-ups of `RESAMPLES` draws of the repeats."""
    generator = np.random.default_rng(0)
    medians = {
        n: np.median(generator.choice(np.asarray(of_n), (RESAMPLES, len(of_n))), axis=1) for n, of_n in rates.items()
    }
    return {n: of_n / medians[1] for n, of_n in medians.items()}


def _figure(value: float, drawn: Scores) -> Figure:
    low, high = np.percentile(drawn, (2.5, 97.5))
    return Figure(value, float(low), float(high))
