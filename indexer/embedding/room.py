"""What if a device has no room for what it is given? Batches are halved; what does not fit at all is named."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from indexer.arrays import Halves, Ids, Pixels
from indexer.encoders.loaded import LoadedEncoder, is_no_room
from indexer.errors import EmbedError


def encode_within_memory(encoder: LoadedEncoder, pixels: Pixels, *, device: str) -> Halves:
    """Encode a batch, in halves of halves if the device has no room for it.

    Raises:
        EmbedError: not even one picture fits.
    """
    try:
        return encoder.encode_images(pixels)
    except encoder.out_of_memory:
        if len(pixels) == 1:
            raise no_room(device, "one picture") from None
    # Outside the handler, so that the failed batch's tensors are free.
    encoder.make_room()
    middle = len(pixels) // 2
    halves = (pixels[:middle], pixels[middle:])
    return np.concatenate([encode_within_memory(encoder, half, device=device) for half in halves])


def encode_names_within_memory(
    encoder: LoadedEncoder, names: Sequence[str], *, device: str
) -> Iterator[tuple[Ids, Halves]]:
    """Yield places of some names with their vectors until all were encoded; fewer at once if the device has no room.

    Raises:
        EmbedError: not even one name fits.
    """
    at_once, left = encoder.texts_at_once, np.arange(len(names))
    while len(left):
        texts, done = [names[place] for place in left.tolist()], np.zeros(len(left), bool)
        try:
            for rows, vectors in encoder.encode_text_batches(texts, batch_size=at_once):
                done[rows] = True
                yield left[rows], vectors
        except encoder.out_of_memory:
            if at_once == 1:
                raise no_room(device, "one name") from None
        left = left[~done]
        if len(left):
            encoder.make_room()
            at_once //= 2


@contextmanager
def out_of_memory_explained(device: str) -> Iterator[None]:
    """Say it clearly where a device has no room for the encoder itself.

    Raises:
        EmbedError: instead of torch's own error.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_no_room(error):
            raise
        raise no_room(device, "the encoder") from error


def no_room(device: str, what: str) -> EmbedError:
    """Name what a device has no room for."""
    return EmbedError(f'device "{device}" has no room for {what}; free its memory, or use --devices cpu')
