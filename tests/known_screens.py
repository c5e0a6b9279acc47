"""Prepared screens of a few icons, painted by hand, and a library that knows most of these."""

import io
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
from conftest import build_library, disc, svg
from PIL import Image

from indexer.library.folder import Library
from indexer.rendering.render import draw
from search.evaluation.screens import Screen, ScreenIcon

ICONS = {
    "disc": disc(12, 12, 9),
    "box": svg('<path d="M2 2h20v20H2z"/>'),
    "arrow": svg('<path d="M12 2l8 10h-5v10h-6v-10h-5z"/>'),
    "copy-of-box": svg('<path d="M2 2h20v20H2z "/>'),
    "red": svg('<path d="M2 2h20v20H2z" fill="#d00"/>'),
}
Placed = tuple[str, int, int, int]
"""Name, left, top and size in pixels."""
_PLANS: list[tuple[str, float, list[Placed], int]] = [
    ("mail", 1, [("own:disc", 20, 20, 24), ("own:box", 80, 20, 24), ("own:arrow", 140, 20, 16)], 1),
    ("chart", 2, [("own:box", 20, 20, 40), ("gone:disc", 120, 20, 40)], 0),
    ("plain-form", 1, [], 2),
]


def paint(placed: list[Placed], *, words: int = 0) -> tuple[np.ndarray, tuple[ScreenIcon, ...]]:
    """Paint icons on white, and `words` squares that are none."""
    pixels = np.full((300, 400, 3), 255, np.uint8)
    icons = []
    for name, left, top, size in placed:
        drawn = draw(ICONS[name.partition(":")[2]].encode(), size=size)
        alpha = drawn[..., 3:] / 255
        part = pixels[top : top + size, left : left + size]
        part[:] = np.round(part * (1 - alpha) + drawn[..., :3] * alpha)
        rows, columns = (np.flatnonzero(drawn[..., 3].any(axis=axis)) for axis in (1, 0))
        box = (left + columns[0], top + rows[0], left + columns[-1] + 1, top + rows[-1] + 1)
        icons.append(ScreenIcon(tuple(map(float, box)), name, "inline"))  # type: ignore[arg-type]
    for number in range(words):
        pixels[250:266, 30 + 40 * number : 46 + 40 * number] = 90
    return pixels, tuple(icons)


def write_screens(folder: Path) -> Path:
    """Three screens: two with icons, of which one is nobody's, and one without, where two squares look like icons."""
    folder.mkdir(exist_ok=True)
    lines = []
    for number, (template, scale, placed, words) in enumerate(_PLANS):
        pixels, icons = paint(placed, words=words)
        written = io.BytesIO()
        Image.fromarray(pixels).save(written, "PNG")
        (folder / f"{number:05}.png").write_bytes(written.getvalue())
        lines.append(
            json.dumps(asdict(Screen(f"{number:05}.png", 400, 300, scale, template, "light", number, icons))) + "\n"
        )
    (folder / "screens.jsonl").write_text("".join(lines))
    return folder


def build_known_library(folder: Path, model: Path) -> Library:
    """A library of the icons above."""
    (folder / "own").mkdir()
    for name, content in ICONS.items():
        (folder / "own" / f"{name}.svg").write_text(content)
    library = Library(folder / "library")
    build_library(library, model, [folder / "own"])
    return library
