"""Where a run's time goes: spans are added up by name, in all threads, and told by rank."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from indexer.reports import timings
from indexer.reports.timings import Span, add, span, taken


def test_spans_of_one_name_are_added_up_whatever_thread_takes_them() -> None:
    timings.begin_anew()
    with span("whole"), ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda seconds: add("part", seconds, processor=seconds / 2), [0.5] * 8))
        with pytest.raises(ValueError, match="meanwhile"), span("failing"):
            time.sleep(0.02)
            raise ValueError("meanwhile")
    found = {one.name: one for one in taken()}
    assert (found["part"].seconds, found["part"].processor, found["part"].times) == (4.0, 2.0, 8)
    assert found["whole"].seconds >= found["failing"].seconds >= 0.02
    assert found["whole"].start <= found["failing"].start


def test_spans_are_told_by_rank_from_the_start_of_the_run() -> None:
    found = timings.rows({"main": [Span("merge", 12.0, 3.0, 5.25, 1)], "0": [Span("names", 11.5, 0.5)]}, began_at=10.0)
    assert [(row["rank"], row["span"], row["start"], row["processor_seconds"]) for row in found] == [
        ("main", "merge", 2.0, 5.25),
        ("0", "names", 1.5, 0.0),
    ]
    assert timings.lines(found)[0] == ["main", "merge", "2.00", "3.00", "5.25", "1"]
