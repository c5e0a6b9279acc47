import numpy as np

from indexer.publishing.drawings import find_drawings


def unit_vectors(n: int, *, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((n, 64)) + 0.3
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_pictures_equal_but_for_rounding_are_one_drawing_and_no_others_are() -> None:
    vectors = unit_vectors(3000)
    noise = np.random.default_rng(1).standard_normal((500, 64)) * 3e-4
    copies = np.random.default_rng(2).permutation(3000)[:500]
    everything = np.concatenate([vectors, vectors[copies] + noise]).astype(np.float16)
    drawings = find_drawings(everything)
    assert drawings[:3000].tolist() == list(range(3000))
    assert drawings[3000:].tolist() == copies.tolist()


def test_three_copies_have_the_number_of_the_first() -> None:
    vectors = unit_vectors(50).astype(np.float16)
    vectors[[20, 40]] = vectors[7]
    drawings = find_drawings(vectors)
    assert (drawings[[7, 20, 40]] == 7).all()
    assert len(np.unique(drawings)) == 48


def test_an_encoder_that_tells_pictures_hardly_apart_joins_only_equal_ones() -> None:
    near = np.ones((30, 64)) + np.random.default_rng(0).standard_normal((30, 64)) * 0.02
    near[9] = near[4]
    vectors = (near / np.linalg.norm(near, axis=1, keepdims=True)).astype(np.float16)
    drawings = find_drawings(vectors)
    assert drawings[9] == 4
    assert len(np.unique(drawings)) == 29


def test_a_single_picture_is_a_drawing() -> None:
    assert find_drawings(unit_vectors(1).astype(np.float16)).tolist() == [0]
