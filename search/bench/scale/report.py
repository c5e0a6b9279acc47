"""What grows how fast? Figures by stage and size, and the power of the size with which each grows."""

from collections import defaultdict
from collections.abc import Callable, Iterable

import numpy as np

from search.bench.scale.run import Measured
from search.bench.tables import Grid

_MADE = "made"
Spell = Callable[[float], str]
Figures = dict[str, dict[int, float]]
"""What was measured -> size -> value."""


def grids(measured: Iterable[Measured]) -> list[Grid]:
    """Lay out times, memory and disk: a row for each thing, a column for each size, and the exponent."""
    seconds: Figures = defaultdict(dict)
    memory: Figures = defaultdict(dict)
    disk: Figures = defaultdict(dict)
    for one in measured:
        for step, value in one.seconds.items():
            if not step.startswith(_MADE):
                seconds[step][one.n] = value
        for what, size in one.n_bytes.items():
            memory[what][one.n] = size
        if one.stage != "sets":
            memory[f"{one.stage}, at most"][one.n] = one.peak_bytes
            disk[f"library after {one.stage}"][one.n] = one.disk_bytes
    return [
        _grid("time", seconds, _as_time),
        _grid("memory of its own", memory, _as_bytes),
        _grid("disk", disk, _as_bytes),
    ]


def exponent(values: dict[int, float]) -> float | None:
    """The power of the size with which a figure grows, by least squares of logarithms; None for one size alone."""
    if len(values) < 2 or min(values.values()) <= 0:
        return None
    slope, _ = np.polyfit(np.log(list(values)), np.log(list(values.values())), 1)
    return round(float(slope), 2)


def _grid(title: str, figures: Figures, spell: Spell) -> Grid:
    sizes = sorted({n for values in figures.values() for n in values})
    rows = [[name, *(_cell(values, n, spell) for n in sizes), _power(values)] for name, values in figures.items()]
    return Grid(title, ["", *(f"{n:,}" for n in sizes), "grows as n^"], rows)


def _cell(values: dict[int, float], n: int, spell: Spell) -> str:
    return spell(values[n]) if n in values else "-"


def _power(values: dict[int, float]) -> str:
    power = exponent(values)
    return "-" if power is None else f"{power:.2f}"


def _as_time(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms" if seconds < 1 else f"{seconds:,.1f} s"


def _as_bytes(n: float) -> str:
    return f"{n / 1e6:,.0f} MB" if n < 1e9 else f"{n / 1e9:,.2f} GB"
