"""Where a run's time goes: spans are added up by name, in all threads, and told by rank."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from indexer.reports.terminal import Span, Timings


def test_spans_of_one_name_are_added_up_whatever_thread_takes_them() -> None:
    timings = Timings()
    with timings.span("whole"), ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda seconds: timings.add("part", seconds, processor=seconds / 2), [0.5] * 8))
        with pytest.raises(ValueError, match="meanwhile"), timings.span("failing"):
            time.sleep(0.02)
            raise ValueError("meanwhile")
    found = {one.name: one for one in timings.taken()}
    assert (found["part"].seconds, found["part"].processor, found["part"].times) == (4.0, 2.0, 8)
    assert found["whole"].seconds >= found["failing"].seconds >= 0.02
    assert found["whole"].start <= found["failing"].start


def test_steps_follow_each_other_and_ranks_have_their_own() -> None:
    timings = Timings()
    timings.begin_anew("Starting", at=time.time() - 10)
    for title in ("Embedding", "Merging"):
        timings.step(title)
    for n in (1, 2):  # the later report counts
        timings.keep("0", [Span("names", timings.began_at + 11, 0.5, 0.25, n)])
    rows = timings.rows()
    assert [(row["rank"], row["span"], row["times"]) for row in rows] == [
        *(("main", "Starting", 1), ("main", "Embedding", 1), ("main", "Merging", 1)),
        ("0", "names", 2),
    ]
    assert rows[0]["seconds"] == pytest.approx(10, abs=1)
    assert {**rows[-1], "start": 11} == {
        **{"rank": "0", "span": "names", "start": 11, "seconds": 0.5, "processor_seconds": 0.25, "times": 2},
    }
    timings.begin_anew()
    assert timings.rows() == []
