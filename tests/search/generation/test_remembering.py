"""Are the last vectors kept, no more than so many, and the ones that the encoder makes?"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats
from indexer.encoders.query_encoder import QueryEncoder
from search.generation.opened import N_KEPT, RememberingEncoder


class Letters(QueryEncoder):
    """Encodes words by their letters, a picture by its sums; counts what it is asked."""

    def __init__(self) -> None:
        self.image_size = 4
        self.n_asked = 0

    def encode_many_words(self, texts: Sequence[str]) -> Floats:
        self.n_asked += len(texts)
        return np.stack([np.bincount(np.frombuffer(text.encode(), np.uint8), minlength=256) for text in texts]).astype(
            np.float32
        )

    def encode_many_pictures(self, pixels: NDArray[np.uint8]) -> Floats:
        self.n_asked += len(pixels)
        return pixels.reshape(len(pixels), -1).astype(np.float32)


def test_what_was_asked_a_moment_ago_is_not_encoded_again() -> None:
    plain = Letters()
    encoder = RememberingEncoder(plain)
    assert np.array_equal(encoder.encode_words("arrow"), Letters().encode_words("arrow"))
    several = encoder.encode_many_words(["left", "arrow", "left"])
    assert np.array_equal(several, Letters().encode_many_words(["left", "arrow", "left"]))
    assert plain.n_asked == 3
    encoder.encode_many_words(["left", "arrow"])
    assert plain.n_asked == 3


def test_pictures_are_told_apart_by_their_pixels() -> None:
    plain = Letters()
    encoder = RememberingEncoder(plain)
    white, black = np.full((4, 4, 3), 255, np.uint8), np.zeros((4, 4, 3), np.uint8)
    for _ in range(2):
        for picture in (white, black):
            assert np.array_equal(encoder.encode_picture(picture), Letters().encode_picture(picture))
    assert plain.n_asked == 2


def test_so_many_vectors_are_kept_and_the_oldest_go_first() -> None:
    plain = Letters()
    encoder = RememberingEncoder(plain)
    for number in range(N_KEPT + 1):
        encoder.encode_words(f"word {number}")
    encoder.encode_words(f"word {N_KEPT}")
    assert plain.n_asked == N_KEPT + 1
    encoder.encode_words("word 0")
    assert plain.n_asked == N_KEPT + 2


def test_a_vector_that_is_changed_by_its_reader_stays_as_it_was() -> None:
    encoder = RememberingEncoder(Letters())
    encoder.encode_words("arrow")[:] = 0
    assert encoder.encode_words("arrow").any()


def test_many_threads_get_their_own_words() -> None:
    encoder = RememberingEncoder(Letters())
    texts = [f"word {number % (2 * N_KEPT)}" for number in range(2_000)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(encoder.encode_words, texts))
    assert np.array_equal(np.stack(found), Letters().encode_many_words(texts))
