"""Pages with icons of a library on them, drawn without a browser."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from indexer.arrays import Pixels
from indexer.rendering.render import draw
from search.engine import SearchEngine

KEYS = ["heart", "search", "settings", "bell", "trash-2", "download", "calendar", "star"]
WHITE, INK = (255, 255, 255), (40, 44, 52)


def screen(
    engine: SearchEngine,
    names: Sequence[str] = KEYS,
    *,
    side: int = 24,
    ground: tuple[int, int, int] = WHITE,
    ink: tuple[int, int, int] = INK,
) -> Pixels:
    """A page with a bar of icons, four in a row, words beside each."""
    image = Image.new("RGB", (640, 80 + 80 * -(-len(names) // 4)), ground)
    pen = ImageDraw.Draw(image)
    pen.text((20, 20), "Settings of your account", fill=ink)
    for number, name in enumerate(names):
        drawn = Image.fromarray(draw(engine.picture(engine.find(name)), size=side))
        left, top = 30 + 150 * (number % 4), 70 + 80 * (number // 4)
        image.paste(Image.new("RGB", drawn.size, ink), (left, top), drawn.getchannel("A"))
        pen.text((left + side + 8, top + 6), "some words", fill=ink)
    return np.asarray(image)


def saved(pixels: Pixels, path: Path) -> Path:
    Image.fromarray(pixels).save(path)
    return path
