import numpy as np

from indexer.library.traits import NOT_KNOWN, TRAITS, digest_of, find_drawings

VECTORS = np.random.default_rng(0).standard_normal((6, 64)).astype(np.float16)


def traits(*drawings: int) -> np.ndarray:
    known = np.zeros(len(drawings), TRAITS)
    known["drawing"] = drawings
    return known


def test_pictures_of_equal_pixels_have_the_number_of_the_first() -> None:
    assert find_drawings(traits(70, -3, 70, 5, 70, -3), VECTORS).tolist() == [0, 1, 0, 3, 0, 1]


def test_where_pixels_are_not_known_equal_vectors_tell() -> None:
    vectors = VECTORS.copy()
    vectors[4] = vectors[1]
    known = traits(NOT_KNOWN, NOT_KNOWN, 8, 8, NOT_KNOWN, NOT_KNOWN)
    assert find_drawings(known, vectors).tolist() == [0, 1, 2, 2, 1, 5]


def test_a_digest_tells_arrays_apart_and_is_never_what_stands_for_unknown() -> None:
    pixels = np.zeros((500, 8, 8, 3), np.uint8)
    pixels[np.arange(500), 0, 0, 0] = np.arange(500) % 256
    pixels[np.arange(500), 0, 0, 1] = np.arange(500) // 256
    digests = {digest_of(picture) for picture in pixels}
    assert len(digests) == 500
    assert NOT_KNOWN not in digests
