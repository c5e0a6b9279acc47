"""Shards are written in the background, as far as memory allows."""

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from indexer.embedding.block_queue import BlockQueue
from indexer.embedding.plan_store import LibraryPlanStore
from indexer.embedding.work import MOST_WAITING, Ended, ShardWriter
from indexer.errors import EmbedError
from indexer.library.folder import Library
from indexer.library.plans import Plan, write_plan
from indexer.library.shards import partial_shards_by_block, read_finished
from indexer.library.traits import TRAITS

ENCODER: Any = SimpleNamespace(precision="fp32", dim=4)


@pytest.fixture
def queue(tmp_path: Path) -> BlockQueue:
    library = Library(tmp_path)
    write_plan(library.work("f00d"), Plan("f00d", "{}", 0, 0, 0), [])
    library.begin_run("f00d", "0")
    return BlockQueue(LibraryPlanStore(library, "f00d"))


def add(writer: ShardWriter, *ids: int) -> None:
    n = len(ids)
    writer.add(np.array(ids), np.ones((n, 4), np.float16), dict.fromkeys(ids, 0), np.zeros(n, TRAITS))


def test_a_device_waits_for_a_slow_drive_before_memory_fills(
    queue: BlockQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drive_works, written, handed_over = threading.Event(), list[str](), list[int]()

    def write(_: LibraryPlanStore, block: str, name: str, content: bytes) -> None:
        del block, content
        assert drive_works.wait(60)
        written.append(name)

    monkeypatch.setattr(LibraryPlanStore, "write", write)
    with ShardWriter(queue, worker="rank 0", encoder=ENCODER) as writer:

        def embed() -> None:
            for number in range(2 * MOST_WAITING):
                add(writer, number)
                writer.write(f"images-{number}", "images")
                handed_over.append(number)

        device = threading.Thread(target=embed)
        device.start()
        try:
            device.join(0.3)
            assert device.is_alive()
            assert len(handed_over) == MOST_WAITING
        finally:
            drive_works.set()
            device.join(60)
    assert written == [f"images-{number}.safetensors" for number in range(2 * MOST_WAITING)]


def test_a_worker_that_is_asked_to_end_leaves_what_it_has_as_a_part(queue: BlockQueue, tmp_path: Path) -> None:
    for cause, kept in ((EmbedError("lost"), {}), (Ended("asked"), {"images-0": [3, 4]})):
        with (
            pytest.raises(type(cause)),
            ShardWriter(queue, worker="a", encoder=ENCODER) as writer,
        ):
            add(writer, 4, 3)
            writer.write_due_part("images-0", "images")
            raise cause
        parts = partial_shards_by_block(Library(tmp_path).vectors("f00d"))
        assert {block: read_finished(path)[1].tolist() for block, [path] in parts.items()} == kept


def test_after_a_part_that_could_not_be_written_no_shard_is(
    queue: BlockQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, goes_on, calls = LibraryPlanStore.write, threading.Event(), iter(range(10))

    def write(work: LibraryPlanStore, block: str, name: str, content: bytes) -> None:
        if next(calls) == 0:
            assert goes_on.wait(60)
            raise OSError("the drive is away")
        real(work, block, name, content)

    monkeypatch.setattr(LibraryPlanStore, "write", write)
    with (
        pytest.raises(OSError, match="is away"),
        ShardWriter(queue, worker="a", encoder=ENCODER) as writer,
    ):
        writer.part_seconds = 0.0
        add(writer, 1)
        writer.write_due_part("images-0", "images")
        add(writer, 2)
        writer.write("images-0", "images")
        goes_on.set()
    assert list(Library(tmp_path).vectors("f00d").glob("*.safetensors")) == []
