"""Blocks that workers claim: each once, none lost, whoever comes first."""

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexer.embedding.block_queue import BlockQueue, Claims
from indexer.embedding.plan_store import LibraryPlanStore
from indexer.errors import StoreError
from indexer.library.folder import Library
from indexer.library.plans import Block, Plan, write_plan
from indexer.library.shards import Failed, Shard, pack_shard, partial_shard_name, shard_name
from indexer.library.stores import FolderStore

SHOWN = ("folder", "/icons", "a.svg", "", "0" * 32)
BLOCKS = [Block(f"images-{n}", "images", [(2 * n, *SHOWN), (2 * n + 1, *SHOWN)]) for n in range(6)]
NAMES = Block("names-0", "names", [(7, "arrow")])


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = Library(tmp_path)
    write_plan(library.work("f00d"), Plan("f00d", "{}", 12, 1, 7), [NAMES, *BLOCKS])
    library.begin_run("f00d", "0")
    return library


def a_queue(library: Library, *, alone: bool = False) -> BlockQueue:
    store = FolderStore(library.root / "claims")
    return BlockQueue(LibraryPlanStore(library, "f00d"), None if alone else Claims(store, worker="a", lease_seconds=60))


def write(queue: BlockQueue, block: str, ids: list[int], *, is_piece: bool = False) -> None:
    settled = Shard("images", np.array(ids[:-1], np.int64), np.zeros((len(ids) - 1, 2), np.float16), {})
    settled.failures[ids[-1]] = Failed("broken", is_final=True)
    name = partial_shard_name(block, ids) if is_piece else shard_name(block)
    queue.place.write(block, name, pack_shard(settled, fingerprint="f00d", facts={}))


def test_every_block_is_claimed_once_and_who_is_fast_claims_more(library: Library) -> None:
    fast, slow = a_queue(library), a_queue(library)
    by_fast, by_slow = fast.claim("images"), slow.claim("images")
    found = [next(by_fast), next(by_slow), next(by_fast), next(by_fast), *by_slow, *by_fast]
    assert [block.name for block in found] == [block.name for block in BLOCKS]
    assert [tuple(item) for item in found[0].items] == list(BLOCKS[0].items)
    assert [list(queue.claimed) for queue in (fast, slow)] == [
        ["images-0", "images-2", "images-3"],
        ["images-1", "images-4", "images-5"],
    ]


def test_what_is_done_is_not_claimed_and_what_is_begun_is_cut_to_its_rest(library: Library) -> None:
    mine = a_queue(library, alone=True)
    write(mine, "images-0", [0, 1])
    write(mine, "images-1", [2], is_piece=True)
    claimed = list(mine.claim("images"))
    assert [block.name for block in claimed] == [block.name for block in BLOCKS[1:]]
    assert [tuple(item) for item in claimed[0].items] == [(3, *SHOWN)]


def test_what_was_claimed_and_not_done_counts_and_what_nobody_claimed(library: Library) -> None:
    mine, other = a_queue(library), a_queue(library)
    assert mine.count_undone() == 7, "nobody has claimed anything"
    others = other.claim("images")
    next(others), next(others)
    assert len(list(mine.claim("images"))) == 4
    assert (mine.count_undone(), other.count_undone()) == (5, 3), "the names are nobody's"
    list(mine.claim("names"))
    write(mine, "images-5", [10, 11])
    assert (mine.count_undone(), other.count_undone()) == (4, 2)
    assert a_queue(library, alone=True).count_undone() == 6


def test_a_block_that_another_has_just_done_is_passed_over(library: Library) -> None:
    mine, other = a_queue(library), a_queue(library)
    claimed = mine.claim("images")
    next(claimed)
    write(other, "images-1", [2, 3])
    assert next(claimed).name == "images-2"
    assert not (library.root / "claims" / "images-1.json").exists()


def test_names_that_a_dead_worker_has_left_are_not_kept_waiting_until_all_pictures_are_done(library: Library) -> None:
    claims = Claims(FolderStore(library.root / "claims"), worker="dead", lease_seconds=0.3)
    assert claims.take(NAMES.name)
    mine = replace(a_queue(library), claims=Claims(claims.store, worker="a", lease_seconds=0.3), stays=True)
    assert list(mine.claim("names")) == []
    pictures = mine.claim("images")
    assert next(pictures).name == "images-0"
    time.sleep(0.4)
    assert list(pictures) == []
    assert mine.await_more(pytest.fail)
    assert [block.name for block in mine.claim("names")] == [NAMES.name]
    assert next(mine.claim("images")).name == "images-1"


def test_who_finds_blocks_free_and_never_gets_one_says_so_and_pauses(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that it can be ended, and leaves the store in peace."""
    monkeypatch.setattr(Claims, "take", lambda *_: False)
    mine = replace(a_queue(library), stays=True)
    told = list[str]()

    def tell(what: str) -> None:
        told.append(what)
        if len(told) == 2:
            raise InterruptedError

    mine.claims.lease_seconds = 0.1
    rounds = 0
    with pytest.raises(InterruptedError):
        while mine.await_more(tell):
            assert list(mine.claim("images")) == []
            rounds += 1
    assert rounds == 2


LEASE = 1.2


def claims(folder: Path, worker: str, **others: Callable[[], None]) -> Claims:
    return Claims(FolderStore(folder), worker=worker, lease_seconds=LEASE, **others)


def test_of_many_who_claim_a_block_at_once_one_has_it(tmp_path: Path) -> None:
    workers = [claims(tmp_path, str(number)) for number in range(8)]
    line = threading.Barrier(8)

    def compete(worker: Claims) -> bool:
        line.wait()
        return worker.take("images-1")

    with ThreadPoolExecutor(8) as threads:
        [winner] = [workers[number].worker for number, won in enumerate(threads.map(compete, workers)) if won]
    said = json.loads((tmp_path / "images-1.json").read_text())
    assert (said["worker"], said["lease_seconds"], said["renewals"]) == (winner, LEASE, 0)


def test_a_claim_is_kept_while_its_worker_lives_and_given_back_when_it_ends(tmp_path: Path) -> None:
    other = claims(tmp_path, "b")
    with claims(tmp_path, "a") as living:
        assert living.take("images-1")
        until = time.monotonic() + 2.5 * LEASE
        while time.monotonic() < until:
            other.look()
            assert (other.take("images-1"), other.held_by_others()) == (False, {"images-1"})
            time.sleep(LEASE / 10)
    other.look()
    assert (other.held_by_others(), other.take("images-1")) == (set(), True)


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
    assert (first.take("images-1"), second.take("images-1")) == (True, False), "it has seen an older state"
    second.look()
    assert second.held_by_others() == {"images-1"}


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
