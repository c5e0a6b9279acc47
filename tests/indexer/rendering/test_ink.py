"""Is measured of the ink of a picture what a ruler measures?"""

import numpy as np
import pytest
from conftest import svg
from PIL import Image, ImageFilter

from indexer.rendering.ink import GRID, Planes, measure
from indexer.rendering.render import render

RING = '<circle cx="12" cy="12" r="9" fill="none" stroke="black" stroke-width="2"/>'
DISC = '<circle cx="12" cy="12" r="10"/>'
DUOTONE = f'<circle cx="12" cy="12" r="9" opacity=".3"/>{RING}'
FLAT = '<rect x="2" y="2" width="10" height="20" fill="#e11"/><rect x="12" y="2" width="10" height="20" fill="#1a1"/>'


def _masks(pixels: np.ndarray) -> np.ndarray:
    """The grid as the slow check sees it: black where there is at least half of the ink."""
    return (255 - pixels.min(axis=2)) > 127


@pytest.mark.parametrize("body", [RING, DISC, '<path d="M2 12h20M12 2v20" stroke="black" stroke-width="4"/>'])
def test_thickness_and_what_is_enclosed_are_those_of_a_slow_look_at_every_pixel(body: str) -> None:
    rendered = render(svg(body).encode(), size=GRID)
    mask = _masks(rendered.pixels)
    enclosed = sum(
        mask[y, : x + 1].any() and mask[y, x:].any() and mask[: y + 1, x].any() and mask[y:, x].any()
        for y in range(GRID)
        for x in range(GRID)
    )
    left, expected = Image.fromarray(mask), []
    for _ in range(4):
        left = left.convert("L").filter(ImageFilter.MinFilter(3))
        expected.append(round(100 * np.count_nonzero(left) / mask.sum()))
    assert rendered.ink.solid == round(100 * mask.sum() / enclosed)
    assert list(rendered.ink[3:7]) == expected


def test_a_second_tone_is_pale_and_several_colours_are_several_hues() -> None:
    duotone, flat = (render(svg(body).encode(), size=64).ink for body in (DUOTONE, FLAT))
    assert duotone.pale > 30
    assert (duotone.coloured, duotone.n_hues) == (0, 0)
    assert (flat.coloured, flat.n_hues) == (100, 2)


@pytest.mark.parametrize("size", [32, 96, 224])
def test_measures_hardly_depend_on_the_size_that_the_model_sees(size: int) -> None:
    for body in (RING, DISC, DUOTONE, FLAT):
        usual, other = (render(svg(body).encode(), size=side).ink for side in (64, size))
        assert np.abs(np.subtract(usual, other)).max() <= 20, (usual, other)


def test_ink_that_shows_on_black_alone_is_measured_as_on_white() -> None:
    white = render(svg(RING.replace("black", "white")).encode(), size=64)
    assert white.background == "dark"
    assert np.abs(np.subtract(white.ink, render(svg(RING).encode(), size=64).ink)).max() <= 2


def test_ink_at_an_edge_is_not_taken_for_that_of_the_opposite_edge() -> None:
    channels = np.full((3, GRID, GRID), 255, np.uint8)
    channels[:, :, -1] = 0
    ink = measure(Planes.of(channels), on_light=True)
    assert (ink.solid, ink.thick_1) == (100, 0)
    channels[:, 0] = 0
    assert measure(Planes.of(channels), on_light=True).thick_1 == 0
