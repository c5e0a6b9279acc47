"""Does drawing for those who wait give what rendering gives, and survive pictures that crash or hang it?"""

import io
import os
import signal
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from conftest import svg
from PIL import Image
from small_icons import BOMB

from indexer.errors import RenderError
from indexer.rendering.draw_pool import DrawPool
from indexer.rendering.render import draw
from indexer.rendering.screenshot import cut_out

ARROW = svg('<path d="M12 2l8 10h-5v10h-6v-10h-5z"/>').encode()
_white = io.BytesIO()
Image.new("RGB", (32, 20), "white").save(_white, "PNG")
ONE_COLOUR = _white.getvalue()


@pytest.fixture(scope="module")
def pool() -> Iterator[DrawPool]:
    with DrawPool(workers=2, seconds=1.0) as opened:
        yield opened


def test_pixels_are_what_a_picture_shows(pool: DrawPool) -> None:
    assert np.array_equal(pool.pixels(ARROW, size=48), cut_out(ARROW, size=48))
    shot = io.BytesIO()
    ground = Image.new("RGBA", (40, 40), "white")
    ground.alpha_composite(Image.open(io.BytesIO(pool.png(ARROW, size=40))))
    ground.convert("RGB").resize((300, 100)).save(shot, "PNG")
    assert np.array_equal(pool.pixels(shot.getvalue(), size=48), cut_out(shot.getvalue(), size=48))


def test_a_png_keeps_what_is_transparent(pool: DrawPool) -> None:
    with Image.open(io.BytesIO(pool.png(ARROW, size=40))) as image:
        assert (image.format, image.mode, image.size) == ("PNG", "RGBA", (40, 40))
        assert np.array_equal(np.asarray(image), draw(ARROW, size=40))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty file"),
        (b"no picture at all", "not a picture"),
        (b"\x89PNG\r\n\x1a\n rest", "its header cannot be read"),
        (svg("").encode(), "blank"),
        (ONE_COLOUR, "of one colour all over, so there is no icon to look for"),
        (b'<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg>&a;</svg>', "declares entities"),
    ],
)
def test_what_is_no_picture_is_refused_with_its_reason(pool: DrawPool, content: bytes, reason: str) -> None:
    with pytest.raises(RenderError, match=reason):
        pool.pixels(content, size=32)


def test_a_picture_that_takes_too_long_is_given_up_and_the_next_one_is_drawn() -> None:
    with DrawPool(workers=1, seconds=0.5) as pool:
        with pytest.raises(RenderError, match=r"took longer than 0\.5 s"):
            pool.pixels(BOMB, size=32)
        assert pool.png(ARROW, size=16)


def test_a_worker_that_dies_takes_one_picture_with_it_and_closing_ends_the_next() -> None:
    with DrawPool(workers=1, seconds=30) as pool:
        pool.png(ARROW, size=16)
        [worker] = pool._alive
        killing = threading.Timer(0.3, os.kill, (worker.process.pid, signal.SIGKILL))
        killing.start()
        with pytest.raises(RenderError, match=r"was killed \(signal 9\)"):
            pool.pixels(BOMB, size=32)
        assert pool.png(ARROW, size=16)
        [worker] = pool._alive
    assert worker.process.poll() is not None


def test_many_may_ask_at_once_and_each_gets_its_own(pool: DrawPool) -> None:
    answers: dict[int, int] = {}

    def ask(size: int) -> None:
        with Image.open(io.BytesIO(pool.png(ARROW, size=size))) as image:
            answers[size] = image.width

    asking = [threading.Thread(target=ask, args=(size,)) for size in range(16, 40)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert answers == {size: size for size in range(16, 40)}
