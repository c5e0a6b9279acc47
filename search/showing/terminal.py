"""Pictures in a terminal: kitty or sixel graphics, or half blocks, on the ground that it has.

textual_image asks the terminal what it can do when it is first imported; so that happens here alone, and only when
there is something to draw.
"""

import logging
import os
import re
import sys
import termios
import time
import tty
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from select import select
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from indexer.arrays import Floats
from indexer.errors import RenderError
from indexer.reports.terminal import open_console, plain

Colour = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""
_COLOUR = re.compile(rb"\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})")
_LAST = re.compile(rb"\x1b\[\?[0-9;]*c")
_PATIENCE_SECONDS = 0.5
"""For a terminal at the other end of a slow line."""
_DARK = frozenset(["0", "1", "2", "3", "4", "5", "6", "8"])
"""Of the sixteen colours that COLORFGBG counts."""


def terminal_ground(terminal: int | None) -> Colour | None:
    """Tell the colour of the ground: of a terminal that may be read from, else by the environment; None: not known."""
    if terminal is not None:
        with suppress(OSError, termios.error):
            if asked := _COLOUR.search(_answers(terminal)):
                red, green, blue = (round(255 * int(part, 16) / (16 ** len(part) - 1)) for part in asked.groups())
                return red, green, blue
    stated = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return ((0, 0, 0) if stated in _DARK else (255, 255, 255)) if stated.isdecimal() else None


def is_dark(ground: Colour) -> bool:
    """Whether black does not show on a ground: by its lightness as people see it (ITU-R BT.601)."""
    red, green, blue = ground
    return 0.299 * red + 0.587 * green + 0.114 * blue < 128


def _answers(terminal: int) -> bytes:
    """What a terminal says to the request, as far as it has come in time; read at once, and not shown."""
    kept, said = termios.tcgetattr(terminal), b""
    tty.setcbreak(terminal, termios.TCSANOW)
    try:
        os.write(terminal, b"\x1b]11;?\x1b\\\x1b[c")
        ends = time.monotonic() + _PATIENCE_SECONDS
        while not _LAST.search(said) and len(said) < 1_000:
            if not select([terminal], [], [], max(0.0, ends - time.monotonic()))[0]:
                termios.tcflush(terminal, termios.TCIFLUSH)
                break
            said += os.read(terminal, 100)
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, kept)
    return said


MOST_DRAWN = 50
"""Pictures of one answer; a sheet takes them all."""
_TILE_COLUMNS = 16
_GRAPHICS_CELLS, _GRAPHICS_PIXELS = (8, 4), 128
_BLOCK_CELLS, _BLOCK_PIXELS = (16, 8), 16
"""A cell shows two pixels, one above the other; an icon of less than 16 pixels is hard to tell from others."""

Tile = tuple[str, bytes | None]
"""A caption and a picture's bytes; None where its source has gone."""


def can_draw() -> bool:
    """Tell whether stdout is a terminal that can show pictures, at least as blocks of colour.

    Whatever the environment (FORCE_COLOR) makes rich believe; those of containers and build machines may have no size.
    """
    console = open_console()
    is_coloured = console.color_system is not None and not console.no_color and not console.is_dumb_terminal
    return is_coloured and console.file.isatty() and min(os.get_terminal_size(console.file.fileno())) > 0


def draw_pictures(tiles: Sequence[Tile]) -> None:
    """Draw pictures with their captions, as many beside each other as fit."""
    console = open_console()
    n_beside = max(1, (console.width + 1) // (_TILE_COLUMNS + 1))
    with _terminal_answers() as terminal, warnings.catch_warnings():
        from PIL import Image
        from textual_image import renderable

        ground = terminal_ground(terminal)
        warnings.filterwarnings("ignore", "Image.Image.getdata", DeprecationWarning)  # textual_image 0.12 on Pillow 13
        kind: type[Any] = renderable.HalfcellImage
        cells, pixels = _BLOCK_CELLS, _BLOCK_PIXELS
        if renderable.Image in (renderable.TGPImage, renderable.SixelImage):
            kind, cells, pixels = renderable.Image, _GRAPHICS_CELLS, _GRAPHICS_PIXELS
            # Kitty tells pictures apart by all 24 bits of the colour of text that holds their place.
            console = Console(color_system="truecolor")
        for start in range(0, len(tiles), n_beside):
            row = tiles[start : start + n_beside]
            grid = Table.grid(padding=(0, 1, 0, 0))
            for _ in row:
                grid.add_column(width=_TILE_COLUMNS, no_wrap=True, overflow="ellipsis")
            drawn = [_drawn(content, size=pixels, ground=ground) for _, content in row]
            pictures = (one if isinstance(one, str) else kind(Image.fromarray(one), *cells) for one in drawn)
            grid.add_row(*pictures)
            grid.add_row(*(plain(caption) for caption, _ in row))
            console.print(grid)
            console.print()


def _drawn(content: bytes | None, *, size: int, ground: Colour | None) -> NDArray[np.uint8] | str:
    try:
        return tile(content or b"", size=size, ground=ground)
    except RenderError:
        return "gone"


@contextmanager
def _terminal_answers() -> Iterator[int | None]:
    """Let textual_image hear what the terminal answers, also where stdin is a pipe; where it can't be heard, not ask.

    It reads from `sys.__stdin__`, and fails on one that is no terminal. Yields the terminal that this process may read
    from, if any: one in the background would be stopped by that.
    """
    logging.getLogger("textual_image").addHandler(logging.NullHandler())  # it warns of a size that it has to guess
    kept, terminal = sys.__stdin__, None
    with suppress(OSError):
        terminal = open(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))  # noqa: SIM115, PTH123 (asked, read, and closed)
    is_ours = terminal is not None and os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    sys.__stdin__ = terminal if is_ours else None  # type: ignore[misc]
    try:
        yield terminal.fileno() if terminal and is_ours else None
    finally:
        sys.__stdin__ = kept  # type: ignore[misc]
        if terminal:
            terminal.close()


_LIGHT_INK = 232
"""Of 255: black turned to light, a little less than white, as terminals write."""
_COLOURED = 32
"""Of 255, between the channels of a pixel: from here on it has a hue."""
_SHARE = 0.02
"""Of what is drawn: as much of it decides."""
_CONTRAST = 64
"""Of 255, in one channel at least: what is nearer to the ground than this is lost on it."""


def tile(content: bytes, *, size: int, ground: Colour | None) -> NDArray[np.uint8]:
    """Draw a picture on a terminal's ground, (size, size, 3); on white, as it was indexed, where that is not known.

    Raises:
        RenderError: it can't be drawn.
    """
    from indexer.rendering.render import draw, render

    if ground is None:
        return render(content, size=size).pixels
    drawn = draw(content, size=size).astype(np.float32)
    ink, alpha = drawn[..., :3], drawn[..., 3:] / 255
    is_drawn = alpha[..., 0] > 0.5
    if is_dark(ground) and not (np.ptp(ink[is_drawn], axis=1) > _COLOURED).sum() > _SHARE * is_drawn.sum():
        ink = np.asarray(_LIGHT_INK * (1 - ink / 255), np.float32)
    paper = np.array(ground, np.float32)
    mixed: Floats = np.asarray(ink * alpha + paper * (1 - alpha), np.float32)
    is_lost = np.abs(mixed[is_drawn] - paper).max(axis=1, initial=0) < _CONTRAST
    if is_lost.sum() > 10 * _SHARE * len(is_lost) or not len(is_lost):  # the black letters of a coloured logo
        return render(content, size=size).pixels
    canvas = np.full((size, size, 3), ground, np.uint8)
    height, width = mixed.shape[:2]
    top, left = (size - height) // 2, (size - width) // 2
    canvas[top : top + height, left : left + width] = mixed.round().astype(np.uint8)
    return canvas
