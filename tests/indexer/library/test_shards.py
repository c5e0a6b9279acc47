import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from indexer.errors import ShardError
from indexer.library.plans import BLOCK_SIZE, block_sizes, cut_blocks
from indexer.library.shards import (
    TRAITS,
    Contents,
    Failed,
    Ink,
    Shard,
    block_of,
    content_of,
    partial_shard_name,
    read_coverage,
    read_shard,
    read_traits,
    read_vectors,
    shard_name,
    unread_images,
    write_shard,
)


def _write(
    folder: Path,
    name: str,
    ids: list[int],
    failures: dict[int, str | Failed],
    *,
    kind: str = "images",
    traits: list[tuple[int, int, int]] | None = None,
) -> Path:
    vectors = np.arange(len(ids) * 4, dtype=np.float16).reshape(-1, 4)
    path = folder / f"{kind}-{name}.safetensors"
    failed = {item: why if isinstance(why, Failed) else Failed(why, True) for item, why in failures.items()}
    known = (
        None
        if traits is None
        else np.array([(*trait, [trait[2]] * len(Ink._fields), trait[2]) for trait in traits], TRAITS)
    )
    shard = Shard(kind, np.array(ids), vectors, failed, known)  # type: ignore[arg-type]
    write_shard(path, shard, fingerprint="f00d", facts={})
    return path


def _plain(traits: np.ndarray) -> list[tuple[int, ...]]:
    """Flags, the digest, and what all measures of the ink have in common."""
    return [(trait["coloured"], trait["animated"], trait["drawing"], *set(trait["ink"].tolist())) for trait in traits]


def test_pieces_of_a_block_that_two_have_cut_in_other_places_are_two_files() -> None:
    names = {partial_shard_name("images-1", ids) for ids in ([3, 4, 5], [5, 4, 3], [3, 4], [4, 3, 5, 6])}
    assert len(names) == 3
    assert {block_of(name) for name in (*names, shard_name("images-1"))} == {"images-1"}


def test_the_same_items_make_the_same_shard_name_and_a_retry_or_other_contents_another() -> None:
    items = [(1, "a"), (2, "b")]
    first, again, retry = (
        next(cut_blocks("names", items, n=len(items), attempt=attempt)).name for attempt in ("", "", "later")
    )
    other = next(cut_blocks("names", [(1, "a"), (2, "c")], n=2, attempt="")).name
    assert first == again
    assert len({first, retry, other}) == 3, "the same ids are other names in another library"


def test_a_shard_tells_what_its_items_are_and_is_refused_where_they_are_others(tmp_path: Path) -> None:
    words = {1: "house", 2: "arrow", 3: "tree"}
    shard = Shard("names", np.array([1, 3]), np.ones((2, 4), np.float16), {2: Failed("blank", True)})
    path = tmp_path / "names-a.safetensors"
    write_shard(path, replace(shard, contents=_contents(words, 1, 3, 2).values), fingerprint="f00d", facts={})
    ids = np.array([1, 3])

    def read(known: Contents) -> list[bool]:
        return read_vectors(tmp_path, "names", ids, fingerprint="f00d", contents=known)[1].tolist()

    assert read(_contents(words, 1, 2, 3)) == [True, True]
    assert read(_contents(words, 3)) == [True, True], "what is not known here is no contradiction"
    for number in words:
        with pytest.raises(ShardError, match="belongs to another library: 1 of its names are others here; `icons doc"):
            read(_contents({**words, number: "boat"}, 1, 2, 3))
    write_shard(path, shard, fingerprint="f00d", facts={})
    assert read(_contents({1: "boat"}, 1)) == [True, True], "a shard of an older program does not say"


def _contents(words: dict[int, str], *ids: int) -> Contents:
    return Contents(np.array(ids), np.array([content_of(words[number]) for number in ids]))


def test_a_truncated_shard_and_one_of_another_encoder_are_refused(tmp_path: Path) -> None:
    path = _write(tmp_path, "a", [1, 2], {})
    with pytest.raises(ShardError, match='belongs to encoder "f00d"'):
        read_shard(path, fingerprint="beef")
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ShardError, match="can't be read"):
        read_shard(path, fingerprint="f00d")


def test_coverage_lets_a_vector_outweigh_an_earlier_failure(tmp_path: Path) -> None:
    _write(tmp_path, "a", [1], {2: "took longer than 10 s", 3: "blank"})
    _write(tmp_path, "b", [2], {})
    _write(tmp_path, "c", [9], {}, kind="names")
    (tmp_path / ".aside-1-images-d.safetensors").write_bytes(b"half")
    coverage = read_coverage(tmp_path)
    assert coverage.images.tolist() == [1, 2]
    assert coverage.names.tolist() == [9]
    assert coverage.failures == {3: Failed("blank", True)}


def test_a_failure_is_worth_another_try_until_a_shard_says_that_it_is_final(tmp_path: Path) -> None:
    encoder = tmp_path / "f00d"
    encoder.mkdir()
    _write(encoder, "b", [1], {2: "blank", 3: Failed("can't be read: gone", False)})
    _write(encoder, "c", [], {2: Failed("can't be read: gone", False)})
    assert read_coverage(encoder).failures == {2: Failed("blank", True), 3: Failed("can't be read: gone", False)}
    assert list(unread_images(tmp_path)) == [3]
    _write(encoder, "d", [3], {})
    assert list(unread_images(tmp_path)) == []


def test_traits_are_read_by_image_and_unknown_where_an_older_shard_has_none(tmp_path: Path) -> None:
    _write(tmp_path, "a", [2, 5, 9], {}, traits=[(1, 0, 70), (0, 1, 71), (1, 1, 70)])
    _write(tmp_path, "b", [3, 4], {})
    found = read_traits(tmp_path, np.array([2, 3, 9, 11]))
    assert _plain(found) == [(1, 0, 70, 70), (-1, -1, -1, -1), (1, 1, 70, 70), (-1, -1, -1, -1)]


@pytest.mark.parametrize("has_drawings", [False, True])
def test_a_shard_of_an_older_program_says_nothing_of_ink_and_drawings_and_whether_failures_are_final(
    tmp_path: Path, has_drawings: bool
) -> None:
    ids, flags = np.array([4]), np.array([[1, 0]], np.int8)
    tensors = {"ids": ids, "vectors": np.ones((1, 4), np.float16), "traits": flags}
    tensors |= {"drawings": np.array([70])} if has_drawings else {}
    content = hashlib.sha256(b"".join(tensor.tobytes() for tensor in tensors.values())).hexdigest()
    receipt = {"fingerprint": "f00d", "kind": "images", "count": "1", "sha256": content, "reasons": '["blank"]'}
    save_file({**tensors, "failed": np.array([5])}, tmp_path / "images-a.safetensors", metadata=receipt)
    shard = read_shard(tmp_path / "images-a.safetensors", fingerprint="f00d")
    assert shard.failures == {5: Failed("blank", False)}
    assert shard.traits is not None
    assert _plain(shard.traits) == _plain(read_traits(tmp_path, ids)) == [(1, 0, 70 if has_drawings else -1, -1)]


CHANGES = {
    "a vector": (np.arange(4, dtype=np.float16).tobytes(), np.ones(4, np.float16).tobytes()),
    "a trait": (bytes([70] * 9), bytes([70] * 8 + [71])),
    "a failure": ((258).to_bytes(8, "little"), (259).to_bytes(8, "little")),
    "a reason": (b"blank", b"blink"),
    "its items": ((77).to_bytes(8, "little"), (78).to_bytes(8, "little")),
    "whether it names them": (b'"contents"', b'"cortents"'),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_byte_does_not_match_the_receipt(tmp_path: Path, what: str) -> None:
    path = _write(tmp_path, "a", [1, 2], {258: "blank"}, traits=[(1, 0, 70), (0, 1, 71)])
    shard = replace(read_shard(path, fingerprint="f00d"), contents=np.array([77, 5, 6]))
    write_shard(path, shard, fingerprint="f00d", facts={})
    old, new = CHANGES[what]
    content = path.read_bytes()
    assert content.count(old) == 1
    path.write_bytes(content.replace(old, new))
    with pytest.raises(ShardError, match="does not match its receipt"):
        read_shard(path, fingerprint="f00d")


@pytest.mark.parametrize("n_items", [1, 300, 6000, 400_000])
def test_blocks_grow_smaller_towards_the_end_so_that_ranks_end_together(n_items: int) -> None:
    sizes = list(block_sizes("images", n_items))
    assert (sum(sizes), sizes) == (n_items, sorted(sizes, reverse=True))
    assert max(sizes) <= min(BLOCK_SIZE["images"], 64 + n_items / 16)
    assert len(sizes) <= 80 + n_items / BLOCK_SIZE["images"]
    assert list(block_sizes("names", 7447)) == [2048, 2048, 2048, 1303]
