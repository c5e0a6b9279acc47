"""Batches that are under way on a device: in order, never overwritten, halved where there is no room."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from indexer.arrays import Halves, Ids, Pixels
from indexer.embedding.device import (
    Batch,
    Collect,
    CpuDevice,
    Layout,
    QueuedDevice,
    default_workers,
    encode_pipelined,
    in_batches,
)
from indexer.encoders.graphs import LoadedEncoder
from indexer.errors import EmbedError
from indexer.process import cores_of_rank
from indexer.rendering.pool import CHUNK, RenderedChunk

SIDE = 2


class Means(LoadedEncoder):
    """The vector of a picture is the mean of its pixels; some pictures wait until they may end."""

    image_size, dim, precision, texts_at_once, out_of_memory = SIDE, 1, "fp32", 64, torch.OutOfMemoryError

    def __init__(self, *, wait: Any = None, most: int = 1 << 30) -> None:
        self.wait, self.most, self.threads, self.sizes = wait, most, list[int](), list[int]()

    def encode_images(self, pixels: Pixels) -> Halves:
        self.threads.append(torch.get_num_threads())
        self.sizes.append(len(pixels))
        if len(pixels) > self.most:
            raise torch.OutOfMemoryError("no room")
        if self.wait is not None:
            self.wait(int(pixels[0].max()))
        return pixels.reshape(len(pixels), -1).mean(axis=1, keepdims=True).astype(np.float16)

    def make_room(self) -> None:
        pass

    def take_threads(self, n: int) -> None:
        torch.set_num_threads(n)

    def encode_text_batches(
        self, texts: Sequence[str], *, batch_size: int | None = None
    ) -> Iterator[tuple[Ids, Halves]]:
        raise NotImplementedError


class Queue(QueuedDevice):
    """A device whose queue is worked off when somebody collects; pixels are read only then, as by a slow copy."""

    def __init__(self, encoder: LoadedEncoder, *, batch_size: int | None = None, room: int = 1 << 30) -> None:
        super().__init__(encoder, name="queue", batch_size=batch_size)
        self.room, self.enqueued = room, list[int]()

    def enqueue(self, pixels: Pixels) -> Collect:
        self.enqueued.append(len(pixels))
        if len(pixels) > self.room:
            raise torch.OutOfMemoryError("no room")
        return lambda: self.encoder.encode_images(pixels)

    def clear(self) -> None:
        pass


def chunks_of(
    numbers: Sequence[int], *, size: int, n_slots: int, failed: Sequence[int] = ()
) -> Iterator[RenderedChunk]:
    """Chunks of blank pictures whose grey is their number, in a circle of slots, as a pool gives them out."""
    memory = np.zeros((n_slots * size, SIDE, SIDE, 3), np.uint8)
    for at, start in enumerate(range(0, len(numbers), size)):
        some = np.array(numbers[start : start + size], np.int64)
        place = slice(at % n_slots * size, at % n_slots * size + len(some))
        memory[place] = some[:, None, None, None]
        good = ~np.isin(some, failed)
        rows = np.flatnonzero(good)
        yield RenderedChunk(0, False, [], some[good], place, rows, np.empty(len(rows), np.void), [], memory)


def batches_of(
    numbers: Sequence[int], *, size: int = 1, n_slots: int = 100, failed: Sequence[int] = ()
) -> Iterator[Batch]:
    return in_batches(chunks_of(numbers, size=size, n_slots=n_slots, failed=failed), chunk=size, n_chunks=lambda: 1)


def numbers_of(found: Any) -> list[tuple[int, float]]:
    return [
        (int(image), float(vector))
        for batch, vectors in found
        for chunk, encoded in batch.split(vectors)
        for image, vector in zip(chunk.ids, encoded[:, 0], strict=True)
    ]


def test_vectors_come_in_the_order_of_the_batches() -> None:
    first_may_end = threading.Event()

    def wait(number: int) -> None:
        if number == 1:
            first_may_end.set()
        if number == 0:
            assert first_may_end.wait(60), "the second was begun before the first had ended"

    with CpuDevice(Means(wait=wait), batch_size=1, n_lanes=2) as device:
        assert numbers_of(encode_pipelined(device, batches_of(range(5)))) == [(n, float(n)) for n in range(5)]


def test_each_lane_has_its_share_of_the_cores() -> None:
    encoder = Means()
    with CpuDevice(encoder, batch_size=1, n_lanes=2) as device:
        list(encode_pipelined(device, batches_of(range(4))))
    assert set(encoder.threads) == {max(1, cores_of_rank() // 2)}


def test_a_batch_of_few_pictures_is_encoded_with_rows_of_anything() -> None:
    encoder = Means()
    with CpuDevice(encoder, batch_size=64, n_lanes=1) as device:
        batches = batches_of(range(70), size=64, n_slots=2, failed=range(64, 68))
        assert numbers_of(encode_pipelined(device, batches)) == [(n, float(n)) for n in [*range(64), 68, 69]]
    assert encoder.sizes == [64, 16]


@pytest.mark.parametrize("n_chunks", [1, 2, 4])
def test_batches_of_several_chunks_are_one_array_and_are_not_overwritten_while_under_way(n_chunks: int) -> None:
    device = Queue(Means(), batch_size=4 * n_chunks)
    chunks = chunks_of(range(103), size=4, n_slots=n_chunks * (device.n_under_way + 1), failed=[5, 17, 18, 102])
    batches = in_batches(chunks, chunk=4, n_chunks=lambda: n_chunks)
    assert numbers_of(encode_pipelined(device, batches)) == [
        (n, float(n)) for n in range(103) if n not in (5, 17, 18, 102)
    ]
    assert device.enqueued[:-1] == [4 * n_chunks] * (len(device.enqueued) - 1)


def test_a_queue_whose_memory_another_process_takes_goes_on_in_smaller_batches() -> None:
    device, found = Queue(Means(), batch_size=16), []
    batches = in_batches(
        chunks_of(range(160), size=4, n_slots=16), chunk=4, n_chunks=lambda: max(1, device.batch_size // 4)
    )
    for at, (batch, vectors) in enumerate(encode_pipelined(device, batches)):
        device.room = 16 if at < 3 else 5  # while the next one is under way
        found += numbers_of([(batch, vectors)])
    assert found == [(n, float(n)) for n in range(160)]
    assert (device.batch_size, set(device.enqueued)) == (4, {16, 8, 4})
    assert device.enqueued == sorted(device.enqueued, reverse=True)


def test_a_queue_without_room_for_one_picture_says_so() -> None:
    with pytest.raises(EmbedError, match='device "queue" has no room for one picture'):
        list(encode_pipelined(Queue(Means(), batch_size=4, room=0), batches_of(range(8), size=4)))


def test_a_cpu_without_room_encodes_halves() -> None:
    with CpuDevice(Means(most=3), batch_size=16, n_lanes=1) as device:
        assert numbers_of(encode_pipelined(device, batches_of(range(16), size=16))) == [
            (n, float(n)) for n in range(16)
        ]


class Timed(Queue):
    """Takes a fixed time for a batch and some for each picture; the first batch of a size takes a second more."""

    def __init__(self, *, fixed: float, each: float, room: int = 1 << 30) -> None:
        super().__init__(Means(), room=room)
        self.fixed, self.each = fixed, each

    def enqueue(self, pixels: Pixels) -> Collect:
        super().enqueue(pixels)
        self.busy_seconds += self.fixed + self.each * len(pixels) + (self.enqueued.count(len(pixels)) == 1)
        return lambda: np.zeros((len(pixels), 1), np.float16)


@pytest.mark.parametrize(
    ("fixed", "each", "room", "n_images", "expected"),
    [
        (0.001, 0.0, 1 << 30, 100_000, 2048),  # bound by launches: as many as may be
        (0.001, 1e-4, 1 << 30, 100_000, 128),  # 64: .0074 s, 128: .0138, a gain of 7 %; 256: .0266, of 4 %
        (0.0, 0.01, 1 << 30, 100_000, 64),  # twice as many would take more than half a second
        (0.001, 0.0, 300, 100_000, 256),
        (0.001, 0.0, 5, 100_000, 4),
        (0.001, 0.0, 1 << 30, 1_000, 64),  # eight batches at least
        (0.001, 0.0, 1 << 30, 5_000, 512),
    ],
)
def test_the_first_batches_tell_how_many_pictures_go_at_once(
    fixed: float, each: float, room: int, n_images: int, expected: int
) -> None:
    """Whole batches lie side by side in the circle of slots, whatever sizes were tried and however blocks end."""
    device = Timed(fixed=fixed, each=each, room=room)
    device.prepare(n_images=n_images, largest=2048)
    most = device.batch_size // CHUNK
    chunks = [chunk for n in (40, 5, 7, 300) for chunk in chunks_of(range(CHUNK * n - 9), size=CHUNK, n_slots=4096)]
    memory = chunks[0].memory
    circle = (
        replace(chunk, place=slice(at % (4 * most) * CHUNK, at % (4 * most) * CHUNK + len(chunk.ids)), memory=memory)
        for at, chunk in enumerate(chunks)
    )
    for batch in in_batches(circle, chunk=CHUNK, n_chunks=lambda: max(1, device.batch_size // CHUNK)):
        assert len(batch.filled) == len(batch.chunks) * CHUNK or batch.chunks[-1] is chunks[-1], "it lies in one piece"
        device.begin(batch)
    assert device.batch_size == expected


def test_what_an_earlier_run_has_found_is_taken() -> None:
    device = Timed(fixed=0.001, each=0.0)
    device.known = 256
    for n_images, expected in ((100_000, 256), (1_000, 64)):
        device.tries_sizes = True
        device.prepare(n_images=n_images, largest=2048)
        assert (device.batch_size, device.tries_sizes) == (expected, False)


@pytest.mark.parametrize(
    ("batch_size", "size", "expected"),
    [
        (None, 64, Layout(CHUNK, 32)),
        (None, 224, Layout(CHUNK, 8)),
        (None, 1024, Layout(CHUNK, 1)),
        (8, 64, Layout(8, 1)),
        (64, 64, Layout(64, 1)),
        (256, 64, Layout(64, 4)),
        (320, 64, Layout(320, 1)),  # halves of five chunks would not divide the circle
        (100, 64, Layout(100, 1)),
    ],
)
def test_slots_hold_whole_batches(batch_size: int | None, size: int, expected: Layout) -> None:
    layout = Layout.of(batch_size, size=size)
    assert layout == expected
    with layout.start_pool(size=2, workers=0, n_under_way=3) as pool:
        assert pool.n_slots % layout.most_chunks == 0 and pool.n_slots > 3 * layout.most_chunks


@pytest.mark.parametrize(("cores", "on_cpu", "on_gpu"), [(8, 8, 7), (4, 4, 3), (2, 2, 2), (1, 1, 1)])
def test_workers_leave_one_of_many_cores_to_what_feeds_a_gpu(
    monkeypatch: pytest.MonkeyPatch, cores: int, on_cpu: int, on_gpu: int
) -> None:
    monkeypatch.setattr("indexer.embedding.device.cores_of_rank", lambda: cores)
    asked = ((5000, False), (5000, True), (499, True))
    assert [default_workers(n, is_fed=is_fed) for n, is_fed in asked] == [on_cpu, on_gpu, 1]
