"""Claims: one of several takes a block, keeps it while it lives, and what a dead one held is free after its lease."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.embedding.block_queue import Claims
from indexer.errors import StoreError
from indexer.library.stores import FolderStore, Listed, open_store

LEASE = 1.2


def claims(folder: Path, worker: str, **others: Callable[[], None]) -> Claims:
    return Claims(FolderStore(folder), worker=worker, lease_seconds=LEASE, **others)


class Shifted(FolderStore):
    """A store that stamps some objects with a clock that is wrong."""

    def __init__(self, folder: Path, ahead: Callable[[str], float]) -> None:
        super().__init__(folder)
        self.ahead = ahead

    def list(self, prefix: str) -> dict[str, Listed]:
        return {
            name: Listed(listed.version, (listed.written_at or 0) + self.ahead(name))
            for name, listed in super().list(prefix).items()
        }


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


@pytest.mark.parametrize("kind", ["folder", "s3"])
def test_who_comes_later_need_not_wait_for_a_lease_that_has_run_out(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    place = tmp_path if kind == "folder" else f"s3://{request.getfixturevalue('s3').bucket}/claims"
    lease = 2.0  # longer than the second that S3 rounds to

    def worker(name: str) -> Claims:
        return Claims(open_store(str(place)), worker=name, lease_seconds=lease)

    assert worker("dead").take("images-1")
    taken_at = time.monotonic()
    early = worker("early")
    early.look()
    assert early.held_by_others() == {"images-1"}
    time.sleep(lease + 1.1)
    late = worker("late")
    began = time.monotonic()
    late.look()
    assert late.held_by_others() == set(), f"{began - taken_at:.1f} s after it was taken"
    assert late.take("images-1")
    early.look()
    assert early.held_by_others() == {"images-1"}
    assert list(open_store(str(place)).list("")) == ["images-1.json"], "no clock is left"


@pytest.mark.parametrize("ahead", [-3600, 3600])
def test_a_store_whose_clock_is_wrong_frees_nothing_early(tmp_path: Path, ahead: float) -> None:
    """A claim as old as the store says it is, by the store's own clock."""
    store = Shifted(tmp_path, lambda _: ahead)
    worker, other = (Claims(store, worker=name, lease_seconds=LEASE) for name in "ab")
    assert worker.take("images-1")
    other.look()
    assert other.held_by_others() == {"images-1"}
    time.sleep(1.1 * LEASE)
    newcomer = Claims(store, worker="c", lease_seconds=LEASE)
    newcomer.look()
    assert newcomer.take("images-1")


def test_a_claim_that_is_renewed_is_held_though_its_machine_stamps_it_with_a_clock_that_is_late(tmp_path: Path) -> None:
    """As on Lustre and CephFS, where the clients stamp: whoever has seen a claim before does not believe the stamp."""
    store = Shifted(tmp_path, lambda name: -3600 * name.startswith("images"))
    other = Claims(store, worker="b", lease_seconds=LEASE)
    other.look()
    with claims(tmp_path, "a") as living:
        assert living.take("images-1")
        other.look()
        assert other.held_by_others() == {"images-1"}, "it was not there a look ago"
        first = json.loads((tmp_path / "images-1.json").read_text())["renewals"]
        until = time.monotonic() + 2 * LEASE
        while json.loads((tmp_path / "images-1.json").read_text())["renewals"] < first + 2:
            assert time.monotonic() < until
            time.sleep(0.02)
            other.look()
        assert other.held_by_others() == {"images-1"}


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
