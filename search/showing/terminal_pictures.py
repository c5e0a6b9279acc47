"""How do icons look in this terminal? As kitty or sixel graphics, or as half blocks of colour, above their names.

textual_image asks the terminal what it can do when it is first imported; so that happens here alone, and only when
there is something to draw.
"""

import logging
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, TextIO

from indexer.errors import RenderError
from search.showing.terminal_ground import Colour, terminal_ground

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

MOST_DRAWN = 50
"""Pictures of one answer; a sheet takes them all."""
_TILE_COLUMNS = 16
_GRAPHICS_CELLS, _GRAPHICS_PIXELS = (8, 4), 128
_BLOCK_CELLS, _BLOCK_PIXELS = (16, 8), 16
"""A cell shows two pixels, one above the other; an icon of less than 16 pixels is hard to tell from others."""

Tile = tuple[str, bytes | None]
"""A caption and a picture's bytes; None where its source has gone."""


def can_draw(console: "Console") -> bool:
    """Tell whether stdout is a terminal that can show pictures, at least as blocks of colour."""
    is_coloured = console.color_system is not None and not console.no_color
    return is_coloured and not console.is_dumb_terminal and _has_cells(console.file)


def _has_cells(stream: IO[str]) -> bool:
    """Tell whether a stream is a terminal that says how large it is, whatever the environment (FORCE_COLOR) makes rich
    believe; those of containers and build machines may have no size.
    """
    return stream.isatty() and min(os.get_terminal_size(stream.fileno())) > 0


def draw_pictures(console: "Console", tiles: Sequence[Tile]) -> None:
    """Draw pictures with their captions, as many beside each other as fit."""
    from rich.console import Console
    from rich.table import Table

    from indexer.reports.tables import plain

    n_beside = max(1, (console.width + 1) // (_TILE_COLUMNS + 1))
    with _terminal_answers() as terminal, warnings.catch_warnings():
        ground = terminal_ground(terminal)
        warnings.filterwarnings("ignore", "Image.Image.getdata", DeprecationWarning)  # textual_image 0.12 on Pillow 13
        if _draws_graphics():  # kitty tells pictures apart by all 24 bits of the colour of text that holds their place
            console = Console(color_system="truecolor")
        for start in range(0, len(tiles), n_beside):
            row = tiles[start : start + n_beside]
            grid = Table.grid(padding=(0, 1, 0, 0))
            for _ in row:
                grid.add_column(width=_TILE_COLUMNS, no_wrap=True, overflow="ellipsis")
            grid.add_row(*(_picture(content, ground) for _, content in row))
            grid.add_row(*(plain(caption) for caption, _ in row))
            console.print(grid)
            console.print()


def _picture(content: bytes | None, ground: Colour | None) -> "RenderableType":
    from PIL import Image
    from textual_image import renderable

    from search.showing.terminal_tiles import tile

    is_graphics = _draws_graphics()
    (columns, rows), pixels = (_GRAPHICS_CELLS, _GRAPHICS_PIXELS) if is_graphics else (_BLOCK_CELLS, _BLOCK_PIXELS)
    try:
        drawn = tile(content or b"", size=pixels, ground=ground)
    except RenderError:
        return "gone"
    kind = renderable.Image if is_graphics else renderable.HalfcellImage
    return kind(Image.fromarray(drawn), width=columns, height=rows)


def _draws_graphics() -> bool:
    """Tell whether the terminal has answered that it draws pixels."""
    from textual_image import renderable

    return renderable.Image in (renderable.TGPImage, renderable.SixelImage)


@contextmanager
def _terminal_answers() -> Iterator[int | None]:
    """Let textual_image hear what the terminal answers, also where stdin is a pipe; where it can't be heard, not ask.

    It reads from `sys.__stdin__`, and fails on one that is no terminal. Yields the terminal that may be asked, if any.
    """
    logging.getLogger("textual_image").addHandler(logging.NullHandler())  # it warns of a size that it has to guess
    kept, terminal = sys.__stdin__, _own_terminal()
    sys.__stdin__ = terminal  # type: ignore[assignment,misc]
    try:
        yield terminal.fileno() if terminal else None
    finally:
        sys.__stdin__ = kept  # type: ignore[misc]
        if terminal:
            terminal.close()


def _own_terminal() -> TextIO | None:
    """Open the terminal that this process may read from; one in the background would be stopped by that."""
    try:
        terminal = open(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))  # noqa: SIM115, PTH123 (asked, read, and closed)
    except OSError:
        return None
    if os.tcgetpgrp(terminal.fileno()) == os.getpgrp():
        return terminal
    terminal.close()
    return None
