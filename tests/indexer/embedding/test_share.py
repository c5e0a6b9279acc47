"""Blocks that ranks claim: each once, none lost, whoever comes first."""

from pathlib import Path

import numpy as np
import pytest

from indexer.embedding.share import Share
from indexer.library.plans import Block, Plan, write_plan
from indexer.library.shards import Failed, Shard, piece_path, shard_path, write_shard

BLOCKS = [Block(f"images-{number}", "images", [(2 * number, "x"), (2 * number + 1, "y")]) for number in range(6)]
NAMES = Block("names-0", "names", [(7, "arrow")])


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    (tmp_path / "claims").mkdir()
    return write_plan(tmp_path / "work", Plan("f00d", "{}", 12, 1, 7), [NAMES, *BLOCKS])


def share(plan: Path, *, alone: bool = False) -> Share:
    root = plan.parent.parent
    return Share(plan, root / "shards", None if alone else root / "claims")


def write(share: Share, name: str, ids: list[int], *, piece: int | None = None) -> None:
    path = shard_path(share.shards, name) if piece is None else piece_path(share.shards, name, piece)
    settled = Shard("images", np.array(ids[:-1], np.int64), np.zeros((len(ids) - 1, 2), np.float16), {})
    settled.failures[ids[-1]] = Failed("broken", is_final=True)
    write_shard(path, settled, fingerprint="f00d", facts={})


def test_every_block_is_claimed_once_and_who_is_fast_claims_more(plan: Path) -> None:
    fast, slow = share(plan), share(plan)
    by_fast, by_slow = fast.claim("images"), slow.claim("images")
    found = [next(by_fast), next(by_slow), next(by_fast), next(by_fast), *by_slow, *by_fast]
    assert [block.name for block in found] == [block.name for block in BLOCKS]
    assert [tuple(item) for item in found[0].items] == list(BLOCKS[0].items)
    assert fast.claimed == ["images-0", "images-2", "images-3"]
    assert slow.claimed == ["images-1", "images-4", "images-5"]


def test_kinds_are_claimed_apart(plan: Path) -> None:
    assert [block.name for block in share(plan).claim("names")] == [NAMES.name]
    assert [block.name for block in share(plan).claim("images")] == [block.name for block in BLOCKS]


def test_what_is_done_is_not_claimed_and_what_is_begun_is_cut_to_its_rest(plan: Path) -> None:
    mine = share(plan, alone=True)
    write(mine, "images-0", [0, 1])
    write(mine, "images-1", [2], piece=2)
    claimed = list(mine.claim("images"))
    assert [block.name for block in claimed] == [block.name for block in BLOCKS[1:]]
    assert [tuple(item) for item in claimed[0].items] == [(3, "y")]


def test_what_was_claimed_and_not_done_counts_and_what_nobody_claimed(plan: Path) -> None:
    mine, other = share(plan), share(plan)
    assert mine.count_undone() == 7, "nobody has claimed anything"
    others = other.claim("images")
    next(others), next(others)
    assert len(list(mine.claim("images"))) == 4
    assert (mine.count_undone(), other.count_undone()) == (5, 3), "the names are nobody's"
    list(mine.claim("names"))
    write(mine, "images-5", [10, 11])
    assert (mine.count_undone(), other.count_undone()) == (4, 2)
    assert share(plan, alone=True).count_undone() == 6
