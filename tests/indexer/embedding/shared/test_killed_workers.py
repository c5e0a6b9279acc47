"""Workers over an S3 server that fails and is late, killed at random: each block counts once, none waits for long."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Silent
from s3_server import Faults, Written
from shared_work import assert_same, draw_many, of_one_process, options_of, scanned, vectors_of

from indexer.library.plans import BLOCK_SIZE
from indexer.pipeline import collect, plan_only

SLACK_SECONDS = 3.0
"""Beyond a lease: S3 tells whole seconds, requests are late or asked again, and some come between look and claim."""
NURSERY = Path(__file__).parents[3] / "worker_nursery.py"


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
) -> dict[str, int]:
    """Have a plan done by workers that are killed, hold what came of it against one process, and count."""
    work = f"s3://{s3.bucket}/plans"
    options = options_of(draw_many(tmp_path / "many", n), model, work=work, lease_seconds=lease)
    library = scanned(tmp_path / "library", options)
    plan_only(library, options, Silent())
    counts = run_nursery(work, *arguments)
    found = collect(library, work)
    assert (found.blocks, found.damaged) == (found.of, 0)
    s3.fail_every = s3.late_every = 0
    assert found.fingerprint is not None
    assert_same(vectors_of(library, found.fingerprint), of_one_process(tmp_path, tmp_path / "many", model))
    assert passed_over(s3.writes, seconds=lease + SLACK_SECONDS) == []
    return {**counts, "blocks": found.of}


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
    arguments = ("--at-once", "8", "--kills", "200", "--seed", "7", "--pause", "1.2", "--batch-seconds", "1.5")
    counts = kill_workers(s3, tmp_path, tiny_model, n=8000, lease=2.5, arguments=arguments)
    assert counts["killed"] == 200
