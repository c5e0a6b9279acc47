"""Screenshots show what their condition says, and the same for the same seed."""

import io

import numpy as np
import pytest
from conftest import svg
from PIL import Image

from indexer.rendering.render import draw
from search.evaluation.screenshots import (
    CHANGES,
    LEAST_CONTRAST,
    SIZES,
    Condition,
    conditions,
    contrast,
    is_of_one_colour,
    take_screenshot,
)

ARROW = svg('<path d="M12 2l8 10h-5v10h-6v-10h-5z"/>').encode()
BOX = svg('<rect x="1" y="1" width="22" height="22" fill="none" stroke="black" stroke-width="2"/>').encode()
FLAG = svg('<rect width="12" height="24" fill="#c00"/><rect x="12" width="12" height="24" fill="#0a0"/>').encode()
GHOST = svg('<circle cx="12" cy="12" r="9" fill="#fff"/>').encode()


def _take(*changes: str, size: int = 24, seed: int = 0, icon: bytes = ARROW) -> bytes:
    beside = [draw(BOX, size=size)] * 2
    return take_screenshot(draw(icon, size=size), beside, Condition(size, changes), seed=(seed, 7))


def _pixels(picture: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(picture)) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    for condition in conditions():
        first, again = (_take(*condition.changes, size=condition.size, seed=3) for _ in range(2))
        assert first == again, condition.label
        assert (first != _take(*condition.changes, size=condition.size, seed=4)) == bool(condition.changes)


def test_a_clean_screenshot_is_the_icon_on_white_at_its_size() -> None:
    for size in SIZES:
        pixels = _pixels(_take(size=size))
        assert pixels.shape == (size, size, 3)
        alpha = draw(ARROW, size=size)[..., 3].astype(int)
        assert np.abs(pixels - (255 - alpha)[..., None]).max() <= 1


def test_each_change_alone_changes_the_picture_and_only_jpeg_is_jpeg() -> None:
    clean = _pixels(_take())
    for change in CHANGES:
        picture = _take(change)
        assert picture.startswith(b"\xff\xd8\xff" if change == "jpeg" else b"\x89PNG")
        pixels = _pixels(picture)
        assert pixels.shape != clean.shape or np.abs(pixels - clean).max() > 3, change


@pytest.mark.parametrize("seed", range(20))
def test_themes_are_legible_and_stay_the_same_over_sizes(seed: int) -> None:
    looks = []
    for size in (48, 24):
        pixels = _pixels(_take("theme", size=size, seed=seed)).reshape(-1, 3)
        alpha = draw(ARROW, size=size)[..., 3].reshape(-1)
        ink, ground = (np.median(pixels[alpha == shade], axis=0) for shade in (255, 0))
        assert contrast(ink, ground) >= LEAST_CONTRAST - 0.1
        looks.append((*ink, *ground))
    assert looks[0] == pytest.approx(looks[1], abs=1)


def test_careless_cuts_differ_in_frame_and_let_neighbours_in() -> None:
    assert len({_pixels(_take("crop", seed=seed)).shape for seed in range(20)}) > 5
    alone = [take_screenshot(draw(ARROW, size=24), [], Condition(24, ("crop",)), seed=(seed, 7)) for seed in range(20)]
    assert any(picture != _take("crop", seed=seed) for seed, picture in enumerate(alone))


def test_several_colours_are_kept_and_white_icons_stand_on_dark() -> None:
    assert is_of_one_colour(draw(ARROW, size=24)) and not is_of_one_colour(draw(FLAG, size=24))
    for seed in range(5):
        pixels = _pixels(_take("theme", icon=FLAG, seed=seed))
        assert (pixels[12, 4].tolist(), pixels[12, 20].tolist()) == ([204, 0, 0], [0, 170, 0])
    ghost = _pixels(_take(icon=GHOST))
    assert (ghost[0, 0].tolist(), ghost[12, 12].tolist()) == ([0, 0, 0], [255, 255, 255])


def test_an_oblong_icon_stands_in_a_square_as_in_the_index() -> None:
    wide = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 8"><rect width="24" height="8"/></svg>'
    pixels = _pixels(_take(icon=wide))
    assert (pixels.shape, pixels[:7].min(), pixels[9:15].max(), pixels[17:].min()) == ((24, 24, 3), 255, 0, 255)
