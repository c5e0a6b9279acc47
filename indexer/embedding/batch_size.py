"""How many pictures go through a device at once: doubled while that pays, halved when memory runs out."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from indexer.arrays import Halves, Ids, Pixels
from indexer.errors import EmbedError
from indexer.ranks.devices import Device

if TYPE_CHECKING:
    from indexer.encoders.loading import AnyEncoder

SMALLEST, LARGEST = 32, 2048
ON_CPU = 64
"""Larger batches leave the caches: the bundled model does 2,955 pictures/s at 64 and 2,118 at 256 on two cores."""
LEAST_GAIN = 1.05
"""A doubling that gives less than this is not worth its memory."""
LONGEST_TRIAL_SECONDS = 2.0


def find_batch_size(encoder: "AnyEncoder", *, n_images: int) -> int:
    """Try batches of blank pictures on a GPU, doubling from 32 until images/s no longer grow; a CPU takes 64."""
    if encoder.device_type == "cpu":
        return ON_CPU
    size, best_rate = SMALLEST, 0.0
    while size <= LARGEST:
        try:
            seconds = _time(encoder, size)
        except encoder.out_of_memory:
            break
        rate = size / seconds
        if rate < best_rate * LEAST_GAIN:
            break
        best_rate = rate
        if size >= n_images or seconds > LONGEST_TRIAL_SECONDS:
            return size
        size *= 2
    return max(SMALLEST, size // 2)


def encode_within_memory(encoder: "AnyEncoder", pixels: Pixels) -> Halves:
    """Encode a batch, in halves of halves if the device has no room for it.

    Raises:
        EmbedError: not even one picture fits.
    """
    try:
        return encoder.encode_images(pixels)
    except encoder.out_of_memory:
        if len(pixels) == 1:
            raise _no_room(encoder.device, "one picture") from None
    # Outside the handler, so that the failed batch's tensors are free.
    encoder.make_room()
    middle = len(pixels) // 2
    return np.concatenate([encode_within_memory(encoder, part) for part in (pixels[:middle], pixels[middle:])])


def encode_names_within_memory(encoder: "AnyEncoder", names: Sequence[str]) -> Iterator[tuple[Ids, Halves]]:
    """Yield places of some names with their vectors until all were encoded; fewer at once if the device has no room.

    Raises:
        EmbedError: not even one name fits.
    """
    size, left = encoder.texts_at_once, np.arange(len(names))
    while len(left):
        texts, done = [names[place] for place in left.tolist()], np.zeros(len(left), bool)
        try:
            for rows, vectors in encoder.encode_text_batches(texts, batch_size=size):
                done[rows] = True
                yield left[rows], vectors
        except encoder.out_of_memory:
            if size == 1:
                raise _no_room(encoder.device, "one name") from None
        left = left[~done]
        if len(left):
            encoder.make_room()
            size //= 2


@contextmanager
def out_of_memory_explained(device: Device) -> Iterator[None]:
    """Say it clearly where a device has no room for the encoder itself.

    Raises:
        EmbedError: instead of torch's own error.
    """
    try:
        yield
    except RuntimeError as error:
        if type(error).__name__ != "OutOfMemoryError":  # torch's, which need not be imported here
            raise
        raise _no_room(device, "the encoder") from error


def _no_room(device: Device, what: str) -> EmbedError:
    return EmbedError(f"device {device} has no room for {what}; free its memory, or use --devices cpu")


def _time(encoder: "AnyEncoder", size: int) -> float:
    """Seconds of the faster of two passes; `encode_images` ends with a copy to the host, so the device is done."""
    pixels = np.full((size, encoder.image_size, encoder.image_size, 3), 255, dtype=np.uint8)
    passes = []
    for _ in range(2):
        started = time.perf_counter()
        encoder.encode_images(pixels)
        passes.append(time.perf_counter() - started)
        if passes[0] > LONGEST_TRIAL_SECONDS:
            break
    return min(passes)
