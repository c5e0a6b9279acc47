"""Blocks that workers claim: each once, none lost, whoever comes first, dies or is superseded."""

import errno
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from indexer.embedding.plan_store import BlockQueue, LibraryPlanStore
from indexer.embedding.planning import EmbedOptions
from indexer.embedding.progress import EmbeddingProgress
from indexer.errors import StoreError
from indexer.library.folder import Library
from indexer.library.plans import BLOCK_SIZE, Block, Plan, cut_blocks, write_plan
from indexer.library.shards import Failed, Shard, pack_shard, partial_shard_name, shard_name
from indexer.library.stores import FolderStore

SHOWN = ("folder", "/icons", "a.svg", "", "0" * 32)
BLOCKS = [Block(f"images-{n}", "images", [(2 * n, *SHOWN), (2 * n + 1, *SHOWN)]) for n in range(6)]
NAMES = Block("names-0", "names", [(7, "arrow")])
LEASE = 1.2


def begin(library: Library, run: str) -> None:
    """Plan the same blocks for a run, in place of the one before."""
    plan = Plan("f00d", "{}", 12, 1, 7, run, asdict(EmbedOptions(lease_seconds=LEASE)))
    write_plan(library, plan, [NAMES, *BLOCKS])


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = Library(tmp_path)
    begin(library, "0")
    return library


Start = Callable[..., BlockQueue]


@pytest.fixture
def start(library: Library) -> Iterator[Start]:
    """Start a worker that renews its leases, or, without `lives`, one that has died already."""
    with ExitStack() as closing:

        def start(worker: str = "a", *, lives: bool = True, beside: Callable[[], None] = lambda: None) -> BlockQueue:
            queue = BlockQueue(LibraryPlanStore(library, "f00d"), worker, beside=beside)
            return closing.enter_context(queue) if lives else queue

        yield start


def names(queue: BlockQueue, n: int = 99, kind: str | None = "images") -> list[str]:
    """Names of the next blocks that a worker gets, at most `n`."""
    found: list[str] = []
    while len(found) < n and isinstance(block := queue.next(kind), Block):  # type: ignore[arg-type]
        found.append(block.name)
    return found


def claims(library: Library) -> list[str]:
    return sorted(path.stem for path in library.run("f00d", "0").glob("claims/*.json"))


def write(queue: BlockQueue, block: str, ids: list[int], *, is_piece: bool = False) -> None:
    failures = {ids[-1]: Failed("broken", is_final=True)}
    settled = Shard("images", np.array(ids[:-1], np.int64), np.zeros((len(ids) - 1, 2), np.float16), failures)
    name = partial_shard_name(block, ids) if is_piece else shard_name(block)
    queue.place.write(block, name, pack_shard(settled, fingerprint="f00d", facts={}))


def test_a_plan_names_its_blocks_and_gives_back_each(library: Library) -> None:
    items = [(number, f"näme {number}") for number in range(5 * BLOCK_SIZE["names"] + 1)]
    blocks = list(cut_blocks("names", items, n=len(items), attempt=""))
    plan, older = Plan("f00d", "{}", 0, len(items), len(blocks), "1"), library.work("f00d") / "plan.jsonl"
    older.write_text("")
    write_plan(library, plan, blocks)
    place = LibraryPlanStore(library, "f00d")
    assert (place.plan, older.exists()) == (plan, False)
    assert [asdict(place.read(header)) for header in place.headers] == list(map(asdict, blocks))


def test_every_block_is_claimed_once_and_who_is_fast_claims_more(start: Start) -> None:
    fast, slow = start("a"), start("b")
    found = [names(fast, 1), names(slow, 1), names(fast, 2), names(slow)]
    assert found == [["images-0"], ["images-1"], ["images-2", "images-3"], ["images-4", "images-5"]]
    assert (fast.next("images"), slow.next("images")) == ("wait", "wait")
    assert fast.next() == NAMES


def test_what_is_done_is_not_claimed_and_what_is_begun_is_cut_to_its_rest(start: Start, library: Library) -> None:
    mine, other = start("a"), start("b")
    write(mine, "images-0", [0, 1])
    write(mine, "images-1", [2], is_piece=True)
    found = mine.next("images")
    assert (found.name, [tuple(item) for item in found.items]) == ("images-1", [(3, *SHOWN)])
    write(other, "images-2", [4, 5])
    assert names(mine, 1) == ["images-3"]
    assert claims(library) == ["images-1", "images-3"]


def test_a_plan_is_done_once_every_block_has_its_shard_whoever_has_written_it(start: Start, library: Library) -> None:
    mine, other = start("a"), start("b")
    assert names(mine, kind=None) == [NAMES.name, *(block.name for block in BLOCKS)]
    assert [mine.next(), other.next()] == ["wait", "wait"]
    for block in [NAMES, *BLOCKS]:
        write(mine, block.name, [item[0] for item in block.items])
        mine.mark_done(block.name)
    assert (mine.next(), other.next(), claims(library)) == ("done", "done", [])


def test_names_that_the_dead_have_left_come_before_pictures_a_lease_after_somebody_comes(start: Start) -> None:
    """Who comes looks once an interval, whatever a report takes."""
    turns = list[float]()

    def report() -> None:
        turns.append(time.monotonic())
        time.sleep(0.2 * LEASE)

    assert names(start("dead", lives=False), 1, "names") == [NAMES.name]
    mine = start("a", beside=report)
    time.sleep(1.15 * LEASE)  # as loading an encoder takes
    assert max(np.diff(turns)) < 0.35 * LEASE
    assert names(mine, 2, None) == [NAMES.name, "images-0"]


def test_who_waits_has_what_a_dead_worker_held_after_a_lease_and_one_interval_at_most(start: Start) -> None:
    dead, first, second = start("dead"), start("b"), start("c", lives=False)
    assert names(dead, 1, "names") == [NAMES.name]
    assert (first.next("names"), second.next("names")) == ("wait", "wait")
    dead._over.set()
    died = time.monotonic()
    while first.next("names") == "wait":
        first.pause()
    assert time.monotonic() - died + LEASE / 4 >= LEASE and time.monotonic() - died < 1.25 * LEASE + 0.5
    assert second.next("names") == "wait", "it has seen an older state"
    dead.leases.clear()


@pytest.mark.parametrize("error", [None, StoreError("away"), OSError(errno.ENOSPC, "full")])
def test_a_claim_is_kept_while_its_worker_lives_and_given_back_when_it_ends(
    start: Start, monkeypatch: pytest.MonkeyPatch, error: Exception | None
) -> None:
    """Also where the store fails for a while."""
    real, failing = FolderStore.replace, [error] * 2 if error else []

    def fail(store: FolderStore, name: str, content: bytes, *, version: str) -> str | None:
        if failing:
            raise failing.pop()
        return real(store, name, content, version=version)

    monkeypatch.setattr(FolderStore, "replace", fail)
    other, until = start("b", lives=False), time.monotonic() + 2.5 * LEASE
    with start("a", lives=False) as living:
        assert names(living, 1, "names") == [NAMES.name]
        while time.monotonic() < until:
            assert other.next("names") == "wait"
            time.sleep(LEASE / 10)
    assert (other.next("names"), failing) == (NAMES, [])


def test_claims_may_vanish_between_two_looks(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they do where the thread that renews looks while a block is being taken."""
    mine = start("a", lives=False)
    assert names(start("b"), 1, "names") == [NAMES.name]
    mine._look()
    real = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: mine._changes.clear() or real())
    assert not mine._take(NAMES.name)


def test_who_is_superseded_gets_nothing_more_and_makes_nothing_anew(start: Start, library: Library) -> None:
    mine = start("a")
    assert names(mine, 1) == ["images-0"]
    begin(library, "1")
    folder = library.run("f00d", "0")
    assert (mine.next(), mine.place.is_over(), folder.exists()) == ("done", True, False)
    for write_late in (lambda: mine._take("images-1"), lambda: mine.place.run.report("a", EmbeddingProgress(0, 1))):
        with pytest.raises(FileNotFoundError):
            write_late()
    folder.mkdir()
    assert (mine.next(), mine.place.is_over()) == ("done", True), "its id decides, not a folder that is there"


def test_a_claim_that_another_has_taken_is_left_to_it(start: Start, library: Library) -> None:
    with start("a", lives=False) as first:
        assert names(first, 1, "names") == [NAMES.name]
        first._over.set()
        first._thread.join()
        second = start("b", lives=False)
        second._look()
        time.sleep(1.1 * LEASE)
        assert names(second, 1, "names") == [NAMES.name]
    assert claims(library) == [NAMES.name]
