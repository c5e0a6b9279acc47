"""Workers over an S3 server that fails and is late, killed at random: each block counts once, none waits for long."""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from conftest import Silent
from s3_server import Faults, Written
from shared_work import draw_many, options_of, scanned, vectors_of

from indexer.library.plans import BLOCK_SIZE
from indexer.pipeline import collect, embed, plan_only

SLACK_SECONDS = 3.0
"""Beyond a lease: S3 tells whole seconds, requests are late or asked again, and some come between look and claim."""
NURSERY = Path(__file__).parents[3] / "worker_nursery.py"


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def run_nursery(work: str, *arguments: str) -> dict[str, int]:
    nursery = subprocess.run(
        [sys.executable, str(NURSERY), work, *arguments], capture_output=True, text=True, check=False
    )
    assert "Traceback" not in nursery.stderr, nursery.stderr[-4000:]
    counts: dict[str, int] = json.loads(nursery.stdout)
    assert counts.pop("ended 1", 0) == 0, nursery.stderr[-4000:]
    return counts


def is_shard(write: Written) -> bool:
    """Whether that has written what a block has become."""
    return write.method == "PUT" and "/shards/" in write.path and "+" not in write.path


def waits(writes: list[Written]) -> dict[str, float]:
    """For each block, the longest time without a sign of life between its first claim and its shard, in seconds."""
    longest: defaultdict[str, float] = defaultdict(float)
    last: dict[str, float] = {}
    done = set()
    for write in writes:
        name = write.path.rpartition("/")[2]
        block = name.partition(".")[0].partition("+")[0]
        if block in done:
            continue
        if "/claims/" in write.path:
            longest[block] = max(longest[block], write.seconds - last.get(block, write.seconds))
            last[block] = write.seconds
        elif is_shard(write):
            longest[block] = max(longest[block], write.seconds - last[block])
            done.add(block)
    return longest


def passed_over(writes: list[Written], *, seconds: float) -> list[str]:
    """Blocks of pictures that somebody took while one before it in the plan had been without a sign of life so long."""
    found = []
    last: dict[str, float] = {}
    for write in writes:
        block = write.path.rpartition("/")[2].partition(".")[0].partition("+")[0]
        if is_shard(write):
            last[block] = float("inf")
        elif "/claims/images" in write.path:
            if write.takes:
                found += [
                    f"{block} taken {write.seconds - since:.1f} s after the last sign of {other}"
                    for other, since in last.items()
                    if other < block and write.seconds - since > seconds
                ]
            last[block] = max(write.seconds, last.get(block, 0.0))
    return found


def kill_workers(
    s3: Faults, tmp_path: Path, model: Path, *, n: int, lease: float, arguments: tuple[str, ...]
) -> dict[str, float]:
    """Have a plan done by workers that are killed, hold what came of it against one process, and count."""
    work = f"s3://{s3.bucket}/plans"
    options = options_of(draw_many(tmp_path / "many", n), model, work=work, lease_seconds=lease)
    library = scanned(tmp_path / "library", options)
    plan_only(library, options, Silent())
    counts = run_nursery(work, *arguments)
    found = collect(library, work)
    assert (found.blocks, found.damaged) == (found.of, 0)
    s3.fail_every = s3.late_every = 0
    alone = options_of(tmp_path / "many", model)
    one = scanned(tmp_path / "alone", alone)
    expected = vectors_of(one, embed(one, alone, Silent()).fingerprint)
    assert found.fingerprint is not None
    vectors = vectors_of(library, found.fingerprint)
    assert vectors.keys() == expected.keys()
    assert max(np.abs(vectors[key] - vector).max() for key, vector in expected.items()) < 1e-3
    n_twice = sum(map(is_shard, s3.writes)) - found.of
    longest = waits(s3.writes)
    print(sorted(longest.items(), key=lambda wait: -wait[1])[:5])
    assert passed_over(s3.writes, seconds=lease + SLACK_SECONDS) == []
    return {**counts, "blocks": found.of, "twice": n_twice, "longest wait": max(longest.values()), "calls": s3.n}


@pytest.mark.slow
def test_workers_that_are_killed_leave_a_plan_that_others_finish(
    s3: Faults, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BLOCK_SIZE, "images", 8)
    s3.fail_every, s3.late_every, s3.late_seconds = 11, 7, 0.1
    arguments = ("--at-once", "3", "--kills", "4", "--seed", "1", "--pause", "0.4", "--batch-seconds", "0.1")
    counts = kill_workers(s3, tmp_path, tiny_model, n=96, lease=1.5, arguments=arguments)
    assert counts["killed"] == 4
    assert counts["blocks"] == 13


@pytest.mark.slow
def test_200_kills(s3: Faults, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BLOCK_SIZE, "images", 16)
    s3.fail_every, s3.late_every, s3.late_seconds = 13, 9, 0.3
    lease = 2.5
    arguments = ("--at-once", "8", "--kills", "200", "--seed", "7", "--pause", "1.2", "--batch-seconds", "1.5")
    counts = kill_workers(s3, tmp_path, tiny_model, n=8000, lease=lease, arguments=arguments)
    print(json.dumps(counts))
    assert counts["killed"] == 200
