"""Is seen of a picture what a person sees: colour, movement?"""

import io

import numpy as np
import pytest
from conftest import disc, svg
from PIL import Image

from indexer.rendering.render import render

SIZES = (32, 64, 224)


def _saved(frames: list[Image.Image], kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    more = {"save_all": True, "append_images": frames[1:], "duration": 100} if len(frames) > 1 else {}
    frames[0].save(file, kind, **more, **options)
    return file.getvalue()


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
    rng = np.random.default_rng(0)
    shades = Image.fromarray(rng.integers(0, 256, (8, 8), np.uint8)).resize((256, 256), Image.Resampling.NEAREST)
    content = _saved([shades.convert("RGB")], "JPEG", quality=20)
    assert not render(content, size=64).coloured
    assert render(_saved([_spot((200, 30, 30))], "JPEG", quality=20), size=64).coloured


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
    assert render(content.encode(), size=32).animated is animated


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP"])
def test_a_bitmap_of_several_frames_moves_and_one_of_a_single_frame_does_not(kind: str) -> None:
    frames = [_spot((0, 0, 0), place=place) for place in (4, 20, 30)]
    assert render(_saved(frames, kind), size=32).animated
    assert not render(_saved(frames[:1], kind), size=32).animated


def test_a_second_frame_that_cannot_be_read_changes_nothing() -> None:
    whole = _saved([_spot((0, 0, 0), place=place) for place in (4, 20)], "GIF")
    second = whole.index(b"\x21\xf9", whole.index(b"\x21\xf9") + 2)
    cut = render(whole[: second + 12], size=32)
    assert np.array_equal(cut.pixels, render(whole, size=32).pixels)
