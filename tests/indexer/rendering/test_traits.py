"""What is seen of a picture beside its pixels: colour, movement, and of its ink what a ruler measures."""

import numpy as np
import pytest
from conftest import disc, svg
from PIL import Image, ImageFilter
from small_icons import saved

from indexer.library.shards import Ink
from indexer.rendering.render import GRID, measure, render

SIZES = (32, 64, 224)


def _saved(frames: list[Image.Image], kind: str, **options: object) -> bytes:
    more = {"save_all": True, "append_images": frames[1:], "duration": 100} if len(frames) > 1 else {}
    return saved(frames[0], kind, **more, **options)


def _spot(ink: tuple[int, int, int], *, place: int = 10) -> Image.Image:
    image = Image.new("RGB", (64, 64), "white")
    image.paste(ink, (place, place, place + 30, place + 30))
    return image


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("body", "coloured"),
    [
        ('<circle cx="12" cy="12" r="9"/>', False),
        ('<circle cx="12" cy="12" r="9" fill="#64748b"/>', False),
        ('<circle cx="12" cy="12" r="9" fill="white" stroke="#eee"/>', False),
        ('<circle cx="12" cy="12" r="9" fill="#1d4ed8"/>', True),
        ('<circle cx="12" cy="12" r="9" fill="none" stroke="red"/>', True),
        ('<circle cx="12" cy="12" r="9"/><circle cx="20" cy="4" r="1.5" fill="red"/>', True),
        ('<circle cx="12" cy="12" r="9" fill="#ff0" opacity=".5"/>', True),
    ],
)
def test_colour_is_seen_at_any_size_and_shades_of_grey_are_none(body: str, coloured: bool, size: int) -> None:
    assert render(svg(body).encode(), size=size).coloured is coloured


def test_noise_of_a_grey_jpeg_is_no_colour() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (8, 8), np.uint8)
    shades = Image.fromarray(noise).resize((256, 256), Image.Resampling.NEAREST).convert("RGB")
    jpegs = [_saved([image], "JPEG", quality=20) for image in (shades, _spot((200, 30, 30)))]
    assert [render(jpeg, size=64).coloured for jpeg in jpegs] == [False, True]


@pytest.mark.parametrize(
    ("content", "animated"),
    [
        (disc(12, 12), False),
        (svg('<circle cx="12" cy="12" r="4"><animate attributeName="r" to="9" dur="1s"/></circle>'), True),
        (svg('<g><animateTransform attributeName="transform"/><path d="M2 2h9v9z"/></g>'), True),
        (svg('<path d="M2 2h9v9z"><set attributeName="d" to="M0 0"/></path>'), True),
        (svg("<style>@keyframes turn {to {rotate: 1turn}}</style><path d='M2 2h9v9z'/>"), True),
        (svg('<path id="animated-settings" d="M2 2h9v9z"/>'), False),
    ],
)
def test_movement_of_an_svg_is_seen(content: str, animated: bool) -> None:
    assert render(content.encode(), size=32).made.animated is animated


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP"])
def test_a_bitmap_of_several_frames_moves_and_one_of_a_single_frame_does_not(kind: str) -> None:
    frames = [_spot((0, 0, 0), place=place) for place in (4, 20, 30)]
    assert [render(_saved(some, kind), size=32).made.animated for some in (frames, frames[:1])] == [True, False]


def test_a_second_frame_that_cannot_be_read_changes_nothing() -> None:
    whole = _saved([_spot((0, 0, 0), place=place) for place in (4, 20)], "GIF")
    second = whole.index(b"\x21\xf9", whole.index(b"\x21\xf9") + 2)
    assert np.array_equal(render(whole[: second + 12], size=32).pixels, render(whole, size=32).pixels)


RING = '<circle cx="12" cy="12" r="9" fill="none" stroke="black" stroke-width="2"/>'
DISC = '<circle cx="12" cy="12" r="10"/>'
DUOTONE = f'<circle cx="12" cy="12" r="9" opacity=".3"/>{RING}'
FLAT = '<rect x="2" y="2" width="10" height="20" fill="#e11"/><rect x="12" y="2" width="10" height="20" fill="#1a1"/>'


@pytest.mark.parametrize("body", [RING, DISC, '<path d="M2 12h20M12 2v20" stroke="black" stroke-width="4"/>'])
def test_thickness_and_what_is_enclosed_are_those_of_a_slow_look_at_every_pixel(body: str) -> None:
    rendered = render(svg(body).encode(), size=GRID)
    mask = (255 - rendered.pixels.min(axis=2)) > 127  # where there is at least half of the ink
    enclosed = sum(
        mask[y, : x + 1].any() and mask[y, x:].any() and mask[: y + 1, x].any() and mask[y:, x].any()
        for y in range(GRID)
        for x in range(GRID)
    )
    left, expected = Image.fromarray(mask), []
    for _ in range(4):
        left = left.convert("L").filter(ImageFilter.MinFilter(3))
        expected.append(round(100 * np.count_nonzero(left) / mask.sum()))
    ink = Ink._make(rendered.ink)
    assert (ink.solid, list(ink[3:7])) == (round(100 * mask.sum() / enclosed), expected)


def test_a_second_tone_is_pale_and_several_colours_are_several_hues() -> None:
    duotone, flat = (Ink._make(render(svg(body).encode(), size=64).ink) for body in (DUOTONE, FLAT))
    assert duotone.pale > 30 and [(ink.coloured, ink.n_hues) for ink in (duotone, flat)] == [(0, 0), (100, 2)]


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
    channels = np.full((2, 1, GRID, GRID), 255, np.uint8)
    channels[..., -1] = channels[1, :, 0] = 0
    inks = [Ink._make(ink) for ink in measure(channels, on_light=np.ones(2, bool)).tolist()]
    assert [(ink.solid, ink.thick_1) for ink in inks] == [(100, 0), (100, 0)]
