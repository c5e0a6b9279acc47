"""Batches in the queue of a device that works beside its host, and how many pictures go at once.

`cuda_device` is a GPU; tests have one that is simulated.
"""

import time
from collections import deque

import numpy as np

from indexer.arrays import Pixels
from indexer.embedding.device import Batch, Collect, Device, no_room
from indexer.encoders.loaded import LoadedEncoder, is_no_room

SMALLEST = 64
LEAST_GAIN = 1.05
"""A doubling that gives less than this is not worth its memory."""
LONGEST_SECONDS = 0.5
"""Of one batch: who waits for the last one waits so long, and ranks end so far apart."""
_COUNTED = 3


class QueuedDevice(Device):
    """What is the same for every device with a queue. Its subclasses say how a batch is enqueued.

    Two batches are under way: one that the device is at, and the next, which it begins while the vectors of the one
    before are written away. More would only lie there when all is claimed, and another device could have had them.
    """

    n_under_way = 2
    busy_seconds: float

    def __init__(self, encoder: LoadedEncoder, *, name: str, batch_size: int | None) -> None:
        super().__init__(encoder, name=name, batch_size=batch_size or SMALLEST)
        self.busy_seconds = 0.0
        self._has_size = batch_size is not None

    def __exit__(self, *_: object) -> None:
        self.clear()

    def enqueue(self, pixels: Pixels) -> Collect:
        """Begin to encode pictures (n, size, size, 3), at most `batch_size`, which stay until they are collected.

        Raises:
            torch.OutOfMemoryError: the device has no room for them.
        """
        raise NotImplementedError

    def clear(self) -> None:
        """Wait for all that is under way, and give back the memory that batches take."""

    def halve(self) -> None:
        """Take half as many pictures at once from now on."""
        self.clear()
        self.batch_size //= 2

    def sample(self, n: int) -> Pixels:
        """Pixels of so many pictures to be tried, (n, size, size, 3)."""
        side = self.encoder.image_size
        return np.full((n, side, side, 3), 255, np.uint8)

    def begin(self, batch: Batch) -> Collect:
        """Enqueue a batch; where the device has no room for it, this one and all later ones go in smaller parts.

        Raises:
            EmbedError: not even one picture fits.
        """
        while True:
            try:
                return self._begin(batch)
            except RuntimeError as error:
                if not is_no_room(error):
                    raise
                if self.batch_size == 1:
                    raise no_room(self.name, "one picture") from None
            # Outside the handler, so that the failed batch's tensors are free.
            self.halve()

    def prepare(self, *, n_images: int, largest: int) -> None:
        """Find out how many pictures go at once, unless that is stated."""
        if not self._has_size:
            find_batch_size(self, n_images=n_images, largest=largest)
        self.busy_seconds = 0.0

    def _begin(self, batch: Batch) -> Collect:
        """Enqueue a batch, or, where batches have become larger than what goes at once, wait for part after part.

        The last one of a block, which may be small, is not enqueued then either: parts of the next would take its place
        on the device before it is collected.
        """
        if len(batch.filled) <= self.batch_size:
            return self.enqueue(batch.pixels)
        n, at_once = len(batch.pixels), self.batch_size
        vectors = np.concatenate([self.enqueue(batch.pixels[at : at + at_once])() for at in range(0, n, at_once)])
        return lambda: vectors


def find_batch_size(device: QueuedDevice, *, n_images: int, largest: int) -> None:
    """Let a device choose its batch size: doubled from 64 until images/s no longer grow, on pictures of anything.

    Each size runs once before it is timed: the first pass of a size loads libraries and chooses kernels.

    Raises:
        EmbedError: the device has no room even for one picture.
    """
    best_size, best_rate, size = 0, 0.0, min(SMALLEST, largest)
    while size <= largest:
        seconds = _seconds_if_it_fits(device, size)
        if seconds is None or (best_size and size / seconds < LEAST_GAIN * best_rate):
            break
        best_size, best_rate = size, size / seconds
        if size >= n_images or 2 * seconds > LONGEST_SECONDS:
            break
        size *= 2
    while not best_size:
        size //= 2
        if not size:
            raise no_room(device.name, "one picture")
        best_size = size if _seconds_if_it_fits(device, size) is not None else 0
    device.batch_size = best_size


def _seconds_if_it_fits(device: QueuedDevice, size: int) -> float | None:
    device.batch_size = size
    try:
        return _seconds_of_batch(device, size)
    except RuntimeError as error:
        if not is_no_room(error):
            raise
        return None
    finally:
        device.clear()


def _seconds_of_batch(device: QueuedDevice, size: int) -> float:
    """Seconds that a batch takes in a full queue, once the device has made room for all that are under way."""
    pixels = device.sample(size)
    for collect in [device.enqueue(pixels) for _ in range(device.n_under_way)]:
        collect()
    started = time.perf_counter()
    under_way: deque[Collect] = deque()
    for _ in range(_COUNTED):
        if len(under_way) == device.n_under_way:
            under_way.popleft()()
        under_way.append(device.enqueue(pixels))
    for collect in under_way:
        collect()
    return (time.perf_counter() - started) / _COUNTED
