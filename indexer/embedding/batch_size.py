"""How many pictures go through a device at once: doubled while that pays, halved when memory runs out."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from indexer.arrays import Halves, Ids, Pixels
from indexer.errors import EmbedError

if TYPE_CHECKING:
    import torch

    from indexer.encoders.torch_encoder import Encoder

SMALLEST, LARGEST = 32, 2048
ON_CPU = 64
"""Larger batches leave the caches: the bundled model does 2,955 pictures/s at 64 and 2,118 at 256 on two cores."""
LEAST_GAIN = 1.05
"""A doubling that gives less than this is not worth its memory."""
LONGEST_TRIAL_SECONDS = 2.0


def find_batch_size(encoder: "Encoder", *, n_images: int) -> int:
    """Try batches of blank pictures on a GPU, doubling from 32 until images/s no longer grow; a CPU takes 64."""
    import torch

    if encoder.device.type == "cpu":
        return ON_CPU
    size, best_rate = SMALLEST, 0.0
    while size <= LARGEST:
        try:
            seconds = _time(encoder, size)
        except torch.OutOfMemoryError:
            break
        rate = size / seconds
        if rate < best_rate * LEAST_GAIN:
            break
        best_rate = rate
        if size >= n_images or seconds > LONGEST_TRIAL_SECONDS:
            return size
        size *= 2
    return max(SMALLEST, size // 2)


def encode_within_memory(encoder: "Encoder", pixels: Pixels) -> Halves:
    """Encode a batch, in halves of halves if the device has no room for it.

    Raises:
        EmbedError: not even one picture fits.
    """
    import torch

    try:
        return encoder.encode_images(pixels)
    except torch.OutOfMemoryError:
        if len(pixels) == 1:
            raise _no_room(encoder.device, "one picture") from None
    # Outside the handler, so that the failed batch's tensors are free.
    torch.cuda.empty_cache()
    middle = len(pixels) // 2
    return np.concatenate([encode_within_memory(encoder, part) for part in (pixels[:middle], pixels[middle:])])


def encode_names_within_memory(encoder: "Encoder", names: Sequence[str]) -> Iterator[tuple[Ids, Halves]]:
    """Yield places of some names with their vectors until all were encoded; fewer at once if the device has no room.

    Raises:
        EmbedError: not even one name fits.
    """
    import torch

    from indexer.encoders.torch_encoder import TEXTS_AT_ONCE

    size, left = TEXTS_AT_ONCE[encoder.device.type], np.arange(len(names))
    while len(left):
        texts, done = [names[place] for place in left.tolist()], np.zeros(len(left), bool)
        try:
            for rows, vectors in encoder.encode_text_batches(texts, batch_size=size):
                done[rows] = True
                yield left[rows], vectors
        except torch.OutOfMemoryError:
            if size == 1:
                raise _no_room(encoder.device, "one name") from None
        left = left[~done]
        if len(left):
            torch.cuda.empty_cache()
            size //= 2


@contextmanager
def out_of_memory_explained(device: "torch.device") -> Iterator[None]:
    """Say it clearly where a device has no room for the encoder itself.

    Raises:
        EmbedError: instead of torch's own error.
    """
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        raise _no_room(device, "the encoder") from error


def _no_room(device: "torch.device", what: str) -> EmbedError:
    return EmbedError(f"device {device} has no room for {what}; free its memory, or use --devices cpu")


def _time(encoder: "Encoder", size: int) -> float:
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
