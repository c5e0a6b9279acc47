"""Claims: one of several takes a block, keeps it while it lives, and what a dead one held is free after its lease."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.embedding.block_queue import Claims
from indexer.errors import StoreError
from indexer.library.stores import FolderStore

LEASE = 1.2


def claims(folder: Path, worker: str, **others: Callable[[], None]) -> Claims:
    return Claims(FolderStore(folder), worker=worker, lease_seconds=LEASE, **others)


def test_of_many_who_claim_a_block_at_once_one_has_it(tmp_path: Path) -> None:
    workers = [claims(tmp_path, str(number)) for number in range(8)]
    line, won = threading.Barrier(8), list[str]()

    def compete(worker: Claims) -> None:
        line.wait()
        if worker.take("images-1"):
            won.append(worker.worker)

    rivals = [threading.Thread(target=compete, args=(worker,)) for worker in workers]
    for rival in rivals:
        rival.start()
    for rival in rivals:
        rival.join()
    assert len(won) == 1
    said = json.loads((tmp_path / "images-1.json").read_text())
    assert (said["worker"], said["lease_seconds"], said["renewals"]) == (won[0], LEASE, 0)


def test_a_claim_is_kept_while_its_worker_lives_and_given_back_when_it_ends(tmp_path: Path) -> None:
    other = claims(tmp_path, "b")
    with claims(tmp_path, "a") as living:
        assert living.take("images-1")
        until = time.monotonic() + 2.5 * LEASE
        while time.monotonic() < until:
            other.look()
            assert not other.take("images-1")
            assert other.held_by_others() == {"images-1"}
            time.sleep(LEASE / 10)
    other.look()
    assert other.held_by_others() == set()
    assert other.take("images-1")


def test_what_a_dead_worker_held_is_free_after_a_lease_and_then_held_by_one(tmp_path: Path) -> None:
    began = time.monotonic()
    assert claims(tmp_path, "dead").take("images-1")
    first, second = claims(tmp_path, "b"), claims(tmp_path, "c")
    for worker in (first, second):
        worker.look()
        assert not worker.take("images-1")
    while first.held_by_others():
        assert not first.take("images-1")
        time.sleep(0.02)
    assert LEASE <= time.monotonic() - began < 2 * LEASE
    assert first.take("images-1")
    assert not second.take("images-1"), "it has seen an older state of the claim"
    second.look()
    assert second.held_by_others() == {"images-1"}


def test_a_worker_that_was_stopped_too_long_loses_its_claim_and_leaves_the_others_alone(tmp_path: Path) -> None:
    stopped, other = claims(tmp_path, "stopped"), claims(tmp_path, "b")
    assert stopped.take("images-1")
    other.look()
    time.sleep(1.2 * LEASE)
    assert other.take("images-1")
    with stopped:
        time.sleep(LEASE)  # it has renewed, and found that it can't
        stopped.release("images-1")
    assert json.loads((tmp_path / "images-1.json").read_text())["worker"] == "b"


def test_a_store_that_is_away_for_a_look_does_not_end_the_renewals(tmp_path: Path) -> None:
    looks = list[int]()

    def fail_at_first() -> None:
        looks.append(1)
        if len(looks) < 3:
            raise StoreError("away")

    with claims(tmp_path, "a", beside=fail_at_first) as worker:
        assert worker.take("images-1")
        until = time.monotonic() + 20
        while len(looks) < 4 and time.monotonic() < until:
            time.sleep(0.05)
    assert len(looks) >= 4


@pytest.mark.parametrize("is_late", [False, True])
def test_a_claim_that_is_given_back_is_free_at_once_unless_another_has_it(tmp_path: Path, is_late: bool) -> None:
    first, second = claims(tmp_path, "a"), claims(tmp_path, "b")
    second.look()
    assert first.take("images-1")
    if is_late:
        second.look()
        time.sleep(1.1 * LEASE)
        assert second.take("images-1")
    with first:
        pass
    assert (tmp_path / "images-1.json").exists() is is_late
