"""What a process has spent its time on: spans under a name each, added up where one recurs, and a table of all.

    with span("weights"): ...                # what takes the wall's time and this process's
    add("exchange", seconds)                 # what another clock has measured, one of CUDA's events, say

Ranks and workers report their own spans with their progress. Spans may lie within each other and beside each other in
threads: all of them count what the whole process has computed meanwhile.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any


@dataclass(frozen=True, slots=True)
class Span:
    """All that a process has spent under one name."""

    name: str
    start: float
    """When it first began, as `time.time` has it: processes of one machine are compared."""
    seconds: float = 0.0
    processor: float = 0.0
    """Seconds of processors meanwhile, where that was asked."""
    times: int = 0


_spans: dict[str, Span] = {}
_adding = Lock()


def add(name: str, seconds: float, *, processor: float = 0.0, start: float | None = None) -> None:
    """Add what was spent under a name; it began `seconds` ago where no `start` is given."""
    with _adding:
        before = _spans.get(name) or Span(name, time.time() - seconds if start is None else start)
        total, computed = before.seconds + seconds, before.processor + processor
        _spans[name] = Span(name, before.start, total, computed, before.times + 1)


@contextmanager
def span(name: str, *, clock: Callable[[], float] = time.process_time) -> Iterator[None]:
    """Add what the block takes to a name; `clock` tells processor time, that of this process by itself."""
    start, began, computed = time.time(), time.perf_counter(), clock()
    try:
        yield
    finally:
        add(name, time.perf_counter() - began, processor=clock() - computed, start=start)


def taken() -> list[Span]:
    """All spans so far, by their start."""
    with _adding:
        return sorted(_spans.values(), key=lambda one: one.start)


def begin_anew() -> None:
    """Forget all spans: another run begins in this process."""
    with _adding:
        _spans.clear()


HEAD = ("", "span", "start, s", "seconds", "processor, s", "times")


def rows(spans: Mapping[str, Iterable[Span]], *, began_at: float) -> list[dict[str, Any]]:
    """Spell spans by whose they are for programs: starts are seconds after `began_at`."""
    return [
        {
            "rank": rank,
            "span": one.name,
            "start": round(one.start - began_at, 3),
            "seconds": round(one.seconds, 3),
            "processor_seconds": round(one.processor, 3),
            "times": one.times,
        }
        for rank, of_rank in spans.items()
        for one in of_rank
    ]


def lines(timings: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    """Spell `rows` for people, as `HEAD` has them."""
    figures = ("start", "seconds", "processor_seconds")
    return [
        [one["rank"], one["span"], *(f"{one[name]:,.2f}" for name in figures), f"{one['times']:,}"] for one in timings
    ]
