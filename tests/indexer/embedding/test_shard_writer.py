"""Shards are written in the background, as far as memory allows."""

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from indexer.embedding.shard_writer import MOST_WAITING, ShardWriter
from indexer.library.plans import Plan
from indexer.library.traits import TRAITS
from indexer.ranks.distributed import Rank


def test_a_device_waits_for_a_slow_drive_before_memory_fills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drive_works, written, handed_over = threading.Event(), list[Path](), list[int]()

    def write(path: Path, *_: object, **__: object) -> None:
        assert drive_works.wait(60)
        written.append(path)

    monkeypatch.setattr("indexer.embedding.shard_writer.write_shard", write)
    encoder: Any = SimpleNamespace(precision="fp32", dim=4)
    plan = Plan("f00d", "{}", 0, 0, 0)
    with ShardWriter(tmp_path, plan=plan, run=tmp_path, rank=Rank(), encoder=encoder) as writer:

        def embed() -> None:
            for number in range(2 * MOST_WAITING):
                writer.add(np.array([number]), np.ones((1, 4), np.float16), np.zeros(1, TRAITS))
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
    assert [path.name for path in written] == [f"images-{number}.safetensors" for number in range(2 * MOST_WAITING)]
