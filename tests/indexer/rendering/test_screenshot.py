"""Is a picture of a whole screen drawn as large as it is, on one ground, and refused where it can't be?"""

import io
from collections.abc import Iterator

import numpy as np
import pytest
from conftest import svg
from PIL import Image
from small_icons import BOMB

from indexer.errors import RenderError
from indexer.rendering.draw_pool import DrawPool
from indexer.rendering.screenshot import cut_out, cut_out_pixels

ARROW = svg('<path d="M12 2l8 10h-5v10h-6v-10h-5z"/>').encode()
SIZE = 48


@pytest.fixture(scope="module")
def pool() -> Iterator[DrawPool]:
    with DrawPool(workers=1, seconds=3.0) as opened:
        yield opened


def saved(image: Image.Image, kind: str, **options: object) -> bytes:
    written = io.BytesIO()
    image.save(written, kind, **options)
    return written.getvalue()


def noise(width: int = 90, height: int = 40) -> Image.Image:
    return Image.fromarray(np.random.default_rng(1).integers(0, 256, (height, width, 3), np.uint8))


def test_a_screen_keeps_its_size_and_its_pixels(pool: DrawPool) -> None:
    shot = pool.screenshot(saved(noise(), "PNG"), size=SIZE)
    assert np.array_equal(shot.pixels, np.asarray(noise()))
    assert shot.icon is None


def test_what_is_transparent_stands_on_white_or_where_it_shows(pool: DrawPool) -> None:
    for shade, ground in ((20, 255), (255, 0)):
        image = Image.new("RGBA", (60, 40), (shade, shade, shade, 0))
        image.paste((shade, shade, shade, 255), (10, 10, 30, 30))
        shot = pool.screenshot(saved(image, "PNG"), size=SIZE)
        assert shot.pixels[0, 0].tolist() == [ground] * 3
        assert shot.pixels[20, 20].tolist() == [shade] * 3
        assert shot.icon is not None
        assert np.array_equal(shot.icon, cut_out(saved(image, "PNG"), size=SIZE))


def test_an_svg_is_drawn_as_large_as_it_says(pool: DrawPool) -> None:
    shot = pool.screenshot(ARROW, size=SIZE)
    assert shot.pixels.shape == (24, 24, 3)
    assert shot.icon is not None
    assert np.array_equal(shot.icon, cut_out(ARROW, size=SIZE))


def test_a_turned_photograph_stands_upright(pool: DrawPool) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    assert pool.screenshot(saved(noise(), "JPEG", exif=exif), size=SIZE).pixels.shape == (90, 40, 3)


def test_an_opaque_picture_as_an_icon_is_what_an_index_sees() -> None:
    image = Image.new("RGB", (64, 50), "navy")
    image.paste((255, 255, 255), (20, 12, 44, 36))
    whole = cut_out(saved(image, "PNG"), size=SIZE)
    assert np.array_equal(cut_out_pixels(np.asarray(image), size=SIZE), whole)


def too_large_svg() -> bytes:
    return b'<svg xmlns="http://www.w3.org/2000/svg" width="9000" height="9000"><path d="M0 0h99v99z"/></svg>'


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (saved(noise(), "PNG")[:-900], "truncated PNG"),
        (saved(Image.new("RGB", (80, 40), "white"), "PNG"), "of one colour all over"),
        (svg("").encode(), "of one colour all over"),
        (saved(Image.new("1", (7000, 7000)), "PNG"), "PNG of more than 36 million pixels"),
        (too_large_svg(), "svg: of more than 36 million pixels"),
        (b"", "empty file"),
        (b"GIF89a" + bytes(50), "GIF: "),
        (b"<html></html>", "not a picture"),
    ],
    ids=["truncated", "blank", "blank svg", "huge", "huge svg", "empty", "broken", "no picture"],
)
def test_what_can_not_be_a_screen_is_refused_with_a_reason(content: bytes, reason: str, pool: DrawPool) -> None:
    with pytest.raises(RenderError, match=reason):
        pool.screenshot(content, size=SIZE)


@pytest.mark.slow
def test_a_picture_that_never_ends_costs_its_worker_alone(pool: DrawPool) -> None:
    with pytest.raises(RenderError, match=r"took longer|want of memory"):
        pool.screenshot(BOMB, size=SIZE)
    assert pool.screenshot(ARROW, size=SIZE).pixels.shape == (24, 24, 3)


@pytest.mark.slow
def test_the_largest_screen_fits_into_a_worker(pool: DrawPool) -> None:
    image = Image.new("RGBA", (6000, 6000), (250, 250, 250, 255))
    image.paste((0, 0, 0, 0), (0, 0, 100, 100))
    image.paste((9, 9, 9, 255), (3000, 3000, 3024, 3024))
    content = saved(image, "PNG", compress_level=1)
    with DrawPool(workers=1, seconds=30.0) as patient:
        assert patient.screenshot(content, size=SIZE).pixels.shape == (6000, 6000, 3)
