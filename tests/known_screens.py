"""Screenshots with icons whose places are known."""

import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from conftest import build_library, disc, svg
from PIL import Image, ImageDraw
from small_icons import ARROW, HOUSE, drawn

from data.making.eval.components import connected_components
from indexer.arrays import Pixels
from indexer.encoders.query_encoder import open_query_encoder
from indexer.library.folder import Library
from indexer.merging.manifest import answering_manifest
from indexer.rendering.render import draw
from indexer.screens.add import Sight
from indexer.screens.located import Locator
from indexer.screens.looks import LookKey
from search.engine import SearchEngine
from search.evaluation.evaluate import Subject
from search.evaluation.screens import Screen, ScreenIcon

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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three screens: two with icons, of which one is nobody's, and one without, where two squares look like icons."""
    folder = tmp_path_factory.mktemp("screens")
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


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Subject:
    """A library of the icons above."""
    folder = tmp_path_factory.mktemp("known")
    (folder / "own").mkdir()
    for name, content in ICONS.items():
        (folder / "own" / f"{name}.svg").write_text(content)
    library = Library(folder / "library")
    build_library(library, tiny_model, [folder / "own"])
    return Subject(library)


CIRCLE = '<circle cx="12" cy="12" r="9"/>'
BODIES = {"house": HOUSE, "arrow-left": ARROW, "disc": CIRCLE}


def plain_sight(library: Library) -> Sight:
    """Find icons by what stands apart from its ground: quick, and known beforehand for pages as these."""
    manifest = answering_manifest(library)
    encoder = open_query_encoder(library.encoder(manifest.fingerprint))
    return Sight(
        LookKey(manifest.fingerprint, "components", manifest.dim), Locator(connected_components, None), encoder
    )


def save_screen(path: Path, names: Sequence[str], *, shade: int = 255, side: int = 24) -> Path:
    """A page of icons of `BODIES`, 60 px from each other; `shade` tells pages apart that are drawn alike."""
    pictures = [draw(drawn(BODIES[name]).encode(), size=side) for name in names]
    image = Image.new("RGB", (60 + 60 * len(names), 90), (shade, shade, shade))
    for number, picture in enumerate(pictures):
        icon = Image.fromarray(picture)
        image.paste(Image.new("RGB", icon.size, (30, 34, 40)), (30 + 60 * number, 32), icon.getchannel("A"))
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path)
    return path
