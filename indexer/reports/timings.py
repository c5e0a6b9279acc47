"""What a run has spent its time on: spans under a name each, added up where one recurs, and a table of them by rank.

    with span("weights"): ...                # what takes the wall's time and this process's
    add("exchange", seconds)                 # what another clock has measured, one of CUDA's events, say

A process has one `Timings`; ranks and workers report theirs with their progress. Spans may lie within each other, and
beside each other in threads: each counts what the whole process has computed meanwhile, and children that have ended.
"""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

OWN = "main"
"""Stands for the process itself among ranks."""


@dataclass(frozen=True, slots=True)
class Span:
    """All that was spent under one name."""

    name: str
    start: float
    """When it first began, as `time.time` has it: processes are compared."""
    seconds: float = 0.0
    processor: float = 0.0
    """Seconds of processors meanwhile."""
    times: int = 0


def _computed() -> float:
    return sum(os.times()[:4])


class Timings:
    """The spans of a run, whose first step begins with the process."""

    def __init__(self) -> None:
        self._adding = Lock()
        self.begin_anew()

    def begin_anew(self, first: str = "", *, at: float | None = None) -> None:
        """Forget all spans: another run begins in this process, with its `first` step."""
        self.began_at = time.time() if at is None else at
        self._spans: dict[str, dict[str, Span]] = {OWN: {}}
        self._step = first, self.began_at, _computed()

    def add(self, name: str, seconds: float, *, processor: float = 0.0, start: float | None = None) -> None:
        """Add what was spent under a name; it began `seconds` ago where no `start` is given."""
        with self._adding:
            before = self._spans[OWN].get(name) or Span(name, time.time() - seconds if start is None else start)
            self._spans[OWN][name] = Span(
                name, before.start, before.seconds + seconds, before.processor + processor, before.times + 1
            )

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """Add what the block takes to a name."""
        start, began, computed = time.time(), time.perf_counter(), _computed()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - began, processor=_computed() - computed, start=start)

    def step(self, title: str) -> None:
        """Begin a step, which ends the one before; without a title none begins."""
        (name, start, computed), self._step = self._step, (title, time.time(), _computed())
        if name:
            self.add(name, self._step[1] - start, processor=self._step[2] - computed, start=start)

    def keep(self, rank: str, spans: Iterable[Span]) -> None:
        """Take what a rank has reported of its own spans, in place of what it said before."""
        self._spans[rank] = {one.name: one for one in spans}

    def taken(self) -> list[Span]:
        """The spans of this process so far, by their start."""
        return sorted(self._spans[OWN].copy().values(), key=lambda one: one.start)

    def rows(self) -> list[dict[str, Any]]:
        """Spell all spans for programs; starts are seconds after that of the run."""
        self.step("")
        return [
            {
                "rank": rank,
                "span": one.name,
                "start": round(one.start - self.began_at, 3),
                "seconds": round(one.seconds, 3),
                "processor_seconds": round(one.processor, 3),
                "times": one.times,
            }
            for rank, spans in self._spans.items()
            for one in sorted(spans.values(), key=lambda one: one.start)
        ]


TIMINGS = Timings()
add, span = TIMINGS.add, TIMINGS.span
HEAD = ("rank", "span", "start, s", "seconds", "processor, s", "times")


def lines(rows: Iterable[dict[str, Any]]) -> list[list[str]]:
    """Lay out `Timings.rows` for people, under `HEAD`."""
    return [[f"{value:,.2f}" if isinstance(value, float) else str(value) for value in row.values()] for row in rows]
