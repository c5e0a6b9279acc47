"""Workers around devices that are simulated: one takes its time for each picture, behind a queue, as a GPU does."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import Silent, disc

from indexer.arrays import Halves, Pixels
from indexer.embedding.device import Collect, DeviceSpec, QueuedDevice
from indexer.embedding.plan_store import BlockQueue, LibraryPlanStore
from indexer.embedding.planning import EmbedOptions
from indexer.embedding.progress import EmbeddingProgress, EmbeddingReporter
from indexer.embedding.worker import MOST_WAITING, ShardWriter, work_off
from indexer.encoders.checkpoint import Checkpoint, ModelChoice
from indexer.encoders.devices import HOST
from indexer.encoders.graphs import LoadedEncoder, load_encoder
from indexer.library.folder import Library
from indexer.library.plans import BLOCK_SIZE, Plan, write_plan
from indexer.library.shards import TRAITS, Shard
from indexer.pipeline import IndexOptions, plan_only, scan
from indexer.ranks import Gauge


class SimulatedDevice(QueuedDevice):
    """Works off its queue by the clock: a batch begins when the one before it ends, whoever waits for either."""

    def __init__(self, encoder: LoadedEncoder, *, rate: float) -> None:
        super().__init__(encoder, name="simulated", batch_size=8)
        self._rate, self._free_at = rate, 0.0

    def enqueue(self, pixels: Pixels) -> Collect:
        """Put a batch at the end of the queue. Its pixels are read when it is done, as late as a device may."""
        seconds = len(pixels) / self._rate
        self._free_at = ends_at = max(self._free_at, time.perf_counter()) + seconds
        self.busy_seconds += seconds

        def collect() -> Halves:
            time.sleep(max(0.0, ends_at - time.perf_counter()))
            return self.encoder.encode_images(pixels)

        return collect


def simulated(rate: float, look: Callable[[Pixels], object]) -> DeviceSpec:
    """A device of `rate` pictures a second; `look` sees the memory that pictures will lie in, before it is there."""

    def load(checkpoint: Checkpoint, memory: Pixels | None, n_images: int) -> SimulatedDevice:
        look(memory)
        return SimulatedDevice(load_encoder(checkpoint, device=HOST, precision="fp32", n_images=n_images), rate=rate)

    return DeviceSpec(True, 8, QueuedDevice.n_under_way, load)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BLOCK_SIZE, "images", 8)


def _planned(tmp_path: Path, model: Path, *, workers: int) -> LibraryPlanStore:
    """Ninety-six pictures, to be drawn by so many processes."""
    folder = tmp_path / "dots"
    folder.mkdir()
    for number in range(96):
        (folder / f"dot {number:02}.svg").write_text(disc(4 + number % 8 * 2, 4 + number // 8))
    library, how = Library(tmp_path / "library"), EmbedOptions(workers=workers)
    options = IndexOptions(sources=[folder], choice=ModelChoice(f"local-dir:{model}"), devices="cpu", embed=how)
    scan(library, options, Silent())
    return LibraryPlanStore(library, plan_only(library, options, Silent()).split()[-1])


def _work(place: LibraryPlanStore, spec: DeviceSpec, number: int = 0, n: int = 1) -> EmbeddingProgress:
    """What one worker has reported in the end."""
    progress = EmbeddingProgress(number, n)
    with BlockQueue(place, f"rank-{number}") as queue:
        work_off(queue, spec, EmbeddingReporter(lambda _: None, progress, Gauge(HOST, 1)))
    return progress


def test_pictures_are_drawn_while_the_encoder_loads(tmp_path: Path, tiny_model: Path) -> None:
    seen = []

    def look(memory: Pixels) -> None:
        until = time.monotonic() + 60
        while not memory.any() and time.monotonic() < until:
            time.sleep(0.01)
        seen.append(memory.any())

    progress = _work(_planned(tmp_path, tiny_model, workers=1), simulated(10_000.0, look))
    assert np.all(seen)
    assert (progress.images, progress.batch_size) == (96, 8)
    assert progress.busy_seconds == pytest.approx(96 / 10_000)


def test_unequal_devices_share_the_work_by_what_they_can_do(tmp_path: Path, tiny_model: Path) -> None:
    planned, both = _planned(tmp_path, tiny_model, workers=0), Barrier(2)

    def work(number: int, rate: float) -> EmbeddingProgress:
        return _work(planned, simulated(rate, lambda _: both.wait(60)), number, 2)

    with ThreadPoolExecutor(2) as threads:
        fast, slow = threads.map(work, range(2), (200.0, 10.0))
    assert (fast.images + slow.images, [*planned.missing()]) == (96, [])
    assert fast.images > 2 * slow.images > 0, "dealt out evenly they would be equal"


ENCODER: Any = SimpleNamespace(precision="fp32", dim=4)


@pytest.fixture
def queue(tmp_path: Path) -> BlockQueue:
    library = Library(tmp_path)
    write_plan(library, Plan("f00d", "{}", 0, 0, 0), [])
    return BlockQueue(LibraryPlanStore(library, "f00d"), "a")


def add(writer: ShardWriter, *ids: int) -> None:
    n = len(ids)
    piece = Shard("images", np.array(ids), np.ones((n, 4), np.float16), {}, np.zeros(n, TRAITS))
    writer.add(piece, dict.fromkeys(ids, 0))


def test_a_device_waits_for_a_slow_drive_before_memory_fills(
    queue: BlockQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    drive_works, written, handed_over = threading.Event(), list[str](), list[int]()
    monkeypatch.setattr(LibraryPlanStore, "write", lambda *it: drive_works.wait(60) and written.append(it[2]))
    with ShardWriter(queue, encoder=ENCODER) as writer:

        def embed() -> None:
            for number in range(2 * MOST_WAITING):
                add(writer, number)
                writer.write(f"images-{number}", "images")
                handed_over.append(number)

        device = threading.Thread(target=embed)
        device.start()
        device.join(0.3)
        found = device.is_alive(), len(handed_over)
        drive_works.set()
        device.join(60)
    assert found == (True, MOST_WAITING)
    assert written == [f"images-{number}.safetensors" for number in range(2 * MOST_WAITING)]


def test_after_a_part_that_could_not_be_written_no_shard_is(
    queue: BlockQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, goes_on, calls = LibraryPlanStore.write, threading.Event(), iter(range(10))

    def write(place: LibraryPlanStore, *what: Any) -> None:
        if next(calls) == 0 and goes_on.wait(60):
            raise OSError("the drive is away")
        real(place, *what)

    monkeypatch.setattr(LibraryPlanStore, "write", write)
    with pytest.raises(OSError, match="is away"), ShardWriter(queue, encoder=ENCODER) as writer:
        writer.part_seconds = 0.0
        for number, write_one in enumerate((writer.write_due_part, writer.write)):
            add(writer, number)
            write_one("images-0", "images")
        goes_on.set()
    assert list(Library(tmp_path).vectors("f00d").glob("*.safetensors")) == []
