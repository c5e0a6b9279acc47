"""Shards are written in the background, as far as memory allows."""

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from indexer.embedding.block_queue import Share
from indexer.embedding.plan_store import LibraryWork
from indexer.embedding.shard_writer import MOST_WAITING, Ended, ShardWriter
from indexer.errors import EmbedError
from indexer.library.folder import Library
from indexer.library.plans import Plan, write_plan
from indexer.library.shards import partial_shards_by_block, read_finished
from indexer.library.traits import TRAITS


def test_a_device_waits_for_a_slow_drive_before_memory_fills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drive_works, written, handed_over = threading.Event(), list[str](), list[int]()
    library = Library(tmp_path)
    write_plan(library.work("f00d"), Plan("f00d", "{}", 0, 0, 0), [])
    library.begin_run("f00d", "0")

    def write(_: LibraryWork, block: str, name: str, content: bytes) -> None:
        del block, content
        assert drive_works.wait(60)
        written.append(name)

    monkeypatch.setattr(LibraryWork, "write", write)
    encoder: Any = SimpleNamespace(precision="fp32", dim=4)
    with ShardWriter(Share(LibraryWork(library, "f00d")), worker="rank 0", encoder=encoder) as writer:

        def embed() -> None:
            for number in range(2 * MOST_WAITING):
                writer.add(np.array([number]), np.ones((1, 4), np.float16), {number: 0}, np.zeros(1, TRAITS))
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


def test_a_worker_that_is_asked_to_end_leaves_what_it_has_as_a_piece(tmp_path: Path) -> None:
    library = Library(tmp_path)
    write_plan(library.work("f00d"), Plan("f00d", "{}", 0, 0, 0), [])
    library.begin_run("f00d", "0")
    encoder: Any = SimpleNamespace(precision="fp32", dim=4)
    for cause, kept in ((EmbedError("lost"), {}), (Ended("asked"), {"images-0": [3, 4]})):
        with (
            pytest.raises(type(cause)),
            ShardWriter(Share(LibraryWork(library, "f00d")), worker="a", encoder=encoder) as writer,
        ):
            writer.add(np.array([4, 3]), np.ones((2, 4), np.float16), {3: 30, 4: 40}, np.zeros(2, TRAITS))
            writer.write_due_piece("images-0", "images")
            raise cause
        pieces = partial_shards_by_block(library.vectors("f00d"))
        assert {block: read_finished(path)[1].tolist() for block, [path] in pieces.items()} == kept


def test_after_a_piece_that_could_not_be_written_no_shard_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(tmp_path)
    write_plan(library.work("f00d"), Plan("f00d", "{}", 0, 0, 0), [])
    library.begin_run("f00d", "0")
    real, goes_on, calls = LibraryWork.write, threading.Event(), iter(range(10))

    def write(work: LibraryWork, block: str, name: str, content: bytes) -> None:
        if next(calls) == 0:
            assert goes_on.wait(60)
            raise OSError("the drive is away")
        real(work, block, name, content)

    monkeypatch.setattr(LibraryWork, "write", write)
    encoder: Any = SimpleNamespace(precision="fp32", dim=4)
    with (
        pytest.raises(OSError, match="is away"),
        ShardWriter(Share(LibraryWork(library, "f00d")), worker="a", encoder=encoder) as writer,
    ):
        writer.piece_seconds = 0.0
        writer.add(np.array([1]), np.ones((1, 4), np.float16), {1: 0}, np.zeros(1, TRAITS))
        writer.write_due_piece("images-0", "images")
        writer.add(np.array([2]), np.ones((1, 4), np.float16), {2: 0}, np.zeros(1, TRAITS))
        writer.write("images-0", "images")
        goes_on.set()
    assert list(library.vectors("f00d").glob("*.safetensors")) == []
