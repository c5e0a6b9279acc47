from pathlib import Path

import numpy as np
import pytest

from indexer.errors import EmbedError
from indexer.library.shards import (
    BLOCK_SIZE,
    Plan,
    Shard,
    cut_blocks,
    read_blocks,
    read_coverage,
    read_plan,
    read_shard,
    read_traits,
    shard_path,
    write_plan,
    write_shard,
)

PLAN = Plan("f00d", '{"model": "bundled"}', 0, 0, 0)


def _write(
    folder: Path,
    name: str,
    ids: list[int],
    failures: dict[int, str],
    *,
    kind: str = "images",
    traits: np.ndarray | None = None,
) -> Path:
    vectors = np.arange(len(ids) * 4, dtype=np.float16).reshape(-1, 4)
    path = folder / f"{kind}-{name}.safetensors"
    shard = Shard(kind, np.array(ids), vectors, failures, traits)  # type: ignore[arg-type]
    write_shard(path, shard, fingerprint="f00d", facts={})
    return path


@pytest.mark.parametrize("world", [1, 2, 3, 7])
def test_ranks_together_do_every_block_once_in_any_number(tmp_path: Path, world: int) -> None:
    items = [(number, f"name {number}") for number in range(5 * BLOCK_SIZE["names"] + 1)]
    blocks = list(cut_blocks("names", items, attempt=""))
    path = write_plan(tmp_path, PLAN, blocks)
    assert read_plan(path) == PLAN
    done = [block for rank in range(world) for block in read_blocks(path, rank=rank, world=world)]
    assert sorted(item[0] for block in done for item in block.items) == [item[0] for item in items]
    assert {block.name for block in done} == {block.name for block in blocks}


@pytest.mark.parametrize("n_items", [1, 300, 6000, 40_000])
def test_two_ranks_share_a_plan_evenly_but_for_one_block(n_items: int) -> None:
    sizes = [len(block.items) for block in cut_blocks("images", [(id,) for id in range(n_items)], attempt="")]
    assert sum(sizes) == n_items
    assert max(sizes) <= BLOCK_SIZE["images"]
    assert abs(sum(sizes[::2]) - sum(sizes[1::2])) <= max(256, n_items / 8)


def test_the_same_items_make_the_same_shard_name_and_a_retry_makes_another() -> None:
    items = [(1, "a"), (2, "b")]
    first, again, retry = (next(cut_blocks("names", items, attempt=attempt)).name for attempt in ("", "", "later"))
    assert first == again != retry


def test_a_shard_reads_back_as_it_was_written(tmp_path: Path) -> None:
    path = _write(tmp_path, "a", [3, 1], {2: "blank"})
    shard = read_shard(path, fingerprint="f00d")
    assert shard.ids.tolist() == [3, 1]
    assert shard.vectors.dtype == np.float16
    assert shard.vectors.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert shard.failures == {2: "blank"}


def test_a_flipped_byte_in_a_vector_is_noticed(tmp_path: Path) -> None:
    path = _write(tmp_path, "a", [1, 2], {})
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    with pytest.raises(EmbedError, match="does not match its receipt"):
        read_shard(path, fingerprint="f00d")


def test_a_truncated_shard_and_one_of_another_encoder_are_refused(tmp_path: Path) -> None:
    path = _write(tmp_path, "a", [1, 2], {})
    with pytest.raises(EmbedError, match='belongs to encoder "f00d"'):
        read_shard(path, fingerprint="beef")
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(EmbedError, match="can't be read"):
        read_shard(path, fingerprint="f00d")


def test_coverage_lets_a_vector_outweigh_an_earlier_failure(tmp_path: Path) -> None:
    _write(tmp_path, "a", [1], {2: "took longer than 10 s", 3: "blank"})
    _write(tmp_path, "b", [2], {})
    _write(tmp_path, "c", [9], {}, kind="names")
    (tmp_path / ".aside-1-images-d.safetensors").write_bytes(b"half")
    coverage = read_coverage(tmp_path)
    assert coverage.images.tolist() == [1, 2]
    assert coverage.names.tolist() == [9]
    assert coverage.failures == {3: "blank"}


def test_an_empty_shard_says_what_failed(tmp_path: Path) -> None:
    block = next(cut_blocks("images", [(5, "folder", "/x", "a.svg", "", "00")], attempt=""))
    path = shard_path(tmp_path, block.name)
    empty = Shard("images", np.empty(0, np.int64), np.empty((0, 4), np.float16), {5: "blank"})
    write_shard(path, empty, fingerprint="f00d", facts={})
    assert read_shard(path, fingerprint="f00d").failures == {5: "blank"}


def test_traits_are_read_by_image_and_unknown_where_an_older_shard_has_none(tmp_path: Path) -> None:
    _write(tmp_path, "a", [2, 5, 9], {}, traits=np.array([[1, 0], [0, 1], [1, 1]], np.int8))
    _write(tmp_path, "b", [3, 4], {})
    found = read_traits(tmp_path, np.array([2, 3, 9, 11]))
    assert found.tolist() == [[1, 0], [-1, -1], [1, 1], [-1, -1]]


def test_a_changed_trait_does_not_match_the_receipt(tmp_path: Path) -> None:
    path = _write(tmp_path, "a", [7], {}, traits=np.array([[1, 0]], np.int8))
    assert read_shard(path, fingerprint="f00d").traits is not None
    content = path.read_bytes()
    path.write_bytes(content[:-2] + b"\0\0")  # the smallest type lies last
    with pytest.raises(EmbedError, match="does not match its receipt"):
        read_shard(path, fingerprint="f00d")
