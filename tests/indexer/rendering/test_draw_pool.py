"""Pictures and whole screens drawn for those who wait: as rendering gives them, whatever crashes or hangs a worker."""

import io
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import svg
from PIL import Image
from small_icons import BOMB, saved

from indexer.errors import RenderError
from indexer.rendering.draw_pool import DrawPool
from indexer.rendering.render import draw
from indexer.rendering.screenshot import cut_out, cut_out_pixels

ARROW = svg('<path d="M12 2l8 10h-5v10h-6v-10h-5z"/>').encode()
SIZE = 48


@pytest.fixture(scope="module")
def pool() -> Iterator[DrawPool]:
    with DrawPool(workers=2, seconds=3.0) as opened:
        yield opened


def noise(width: int = 90, height: int = 40) -> Image.Image:
    return Image.fromarray(np.random.default_rng(1).integers(0, 256, (height, width, 3), np.uint8))


WHITE = saved(Image.new("RGB", (32, 20), "white"))
TOO_LARGE = b'<svg xmlns="http://www.w3.org/2000/svg" width="9000" height="9000"><path d="M0 0h99v99z"/></svg>'


def test_pixels_are_what_a_picture_shows(pool: DrawPool) -> None:
    assert np.array_equal(pool.pixels(ARROW, size=SIZE), cut_out(ARROW, size=SIZE))
    ground, image = Image.new("RGBA", (40, 40), "white"), Image.open(io.BytesIO(pool.png(ARROW, size=40)))
    assert (image.format, image.mode, image.size) == ("PNG", "RGBA", (40, 40))
    assert np.array_equal(np.asarray(image), draw(ARROW, size=40))
    ground.alpha_composite(image)
    shot = saved(ground.convert("RGB").resize((300, 100)))
    assert np.array_equal(pool.pixels(shot, size=SIZE), cut_out(shot, size=SIZE))


ENTITY = b'<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg>&a;</svg>'


@pytest.mark.parametrize(
    ("form", "content", "reason"),
    [
        ("pixels", b"", "empty file"),
        ("pixels", b"no picture at all", "not a picture"),
        ("pixels", b"\x89PNG\r\n\x1a\n rest", "its header cannot be read"),
        ("pixels", svg("").encode(), "blank"),
        ("pixels", WHITE, "of one colour all over, so there is no icon to look for"),
        ("pixels", ENTITY, "declares entities"),
        ("screenshot", saved(noise())[:-900], "truncated PNG"),
        ("screenshot", WHITE, "of one colour all over"),
        ("screenshot", svg("").encode(), "of one colour all over"),
        ("screenshot", saved(Image.new("1", (7000, 7000))), "PNG of more than 36 million pixels"),
        ("screenshot", TOO_LARGE, "svg: of more than 36 million pixels"),
        ("screenshot", b"GIF89a" + bytes(50), "GIF: "),
    ],
    ids=range(12),
)
def test_what_is_no_picture_is_refused_with_its_reason(pool: DrawPool, form: str, content: bytes, reason: str) -> None:
    with pytest.raises(RenderError, match=reason):
        getattr(pool, form)(content, size=SIZE)


def test_a_picture_that_takes_too_long_is_given_up_and_the_next_one_is_drawn() -> None:
    with DrawPool(workers=1, seconds=0.5) as pool:
        with pytest.raises(RenderError, match=r"took longer than 0\.5 s"):
            pool.pixels(BOMB, size=32)
        assert pool.png(ARROW, size=16)


def test_a_worker_that_dies_takes_one_picture_with_it_and_closing_ends_the_next() -> None:
    with DrawPool(workers=1, seconds=30) as pool:
        pool.png(ARROW, size=16)
        [worker] = pool._alive
        threading.Timer(0.3, os.kill, (worker.process.pid, signal.SIGKILL)).start()
        with pytest.raises(RenderError, match=r"was killed \(signal 9\)"):
            pool.pixels(BOMB, size=32)
        assert pool.png(ARROW, size=16)
        [worker] = pool._alive
    assert worker.process.poll() is not None


def test_many_may_ask_at_once_and_each_gets_its_own(pool: DrawPool) -> None:
    with ThreadPoolExecutor(24) as threads:
        drawn = list(threads.map(lambda size: pool.png(ARROW, size=size), range(16, 40)))
    assert [Image.open(io.BytesIO(png)).width for png in drawn] == [*range(16, 40)]


def test_a_screen_keeps_its_size_and_its_pixels(pool: DrawPool) -> None:
    shot = pool.screenshot(saved(noise()), size=SIZE)
    assert np.array_equal(shot.pixels, np.asarray(noise())) and shot.icon is None


def test_what_is_transparent_stands_on_white_or_where_it_shows(pool: DrawPool) -> None:
    for shade, ground in ((20, 255), (255, 0)):
        image = Image.new("RGBA", (60, 40), (shade, shade, shade, 0))
        image.paste((shade, shade, shade, 255), (10, 10, 30, 30))
        shot = pool.screenshot(saved(image), size=SIZE)
        assert shot.pixels[[0, 20], [0, 20]].tolist() == [[ground] * 3, [shade] * 3]
        assert np.array_equal(shot.icon, cut_out(saved(image), size=SIZE))


def test_an_svg_is_drawn_as_large_as_it_says_and_a_turned_photograph_upright(pool: DrawPool) -> None:
    shot = pool.screenshot(ARROW, size=SIZE)
    assert shot.pixels.shape == (24, 24, 3) and np.array_equal(shot.icon, cut_out(ARROW, size=SIZE))
    exif = Image.Exif()
    exif[0x0112] = 6
    assert pool.screenshot(saved(noise(), "JPEG", exif=exif), size=SIZE).pixels.shape == (90, 40, 3)


def test_an_opaque_picture_as_an_icon_is_what_an_index_sees() -> None:
    image = Image.new("RGB", (64, 50), "navy")
    image.paste((255, 255, 255), (20, 12, 44, 36))
    assert np.array_equal(cut_out_pixels(np.asarray(image), size=SIZE), cut_out(saved(image), size=SIZE))


@pytest.mark.slow
def test_the_largest_screen_fits_into_a_worker(pool: DrawPool) -> None:
    image = Image.new("RGBA", (6000, 6000), (250, 250, 250, 255))
    image.paste((0, 0, 0, 0), (0, 0, 100, 100))
    image.paste((9, 9, 9, 255), (3000, 3000, 3024, 3024))
    with DrawPool(workers=1, seconds=30.0) as patient:
        assert patient.screenshot(saved(image, compress_level=1), size=SIZE).pixels.shape == (6000, 6000, 3)
