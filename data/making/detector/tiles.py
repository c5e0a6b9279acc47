"""What one step of training sees: parts of screens, made smaller, larger, darker, blurred and compressed by lot.

What a tile holds follows from the seed and its number alone, so a run that was cut goes on with the same tiles.
"""

import io
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from indexer.arrays import Floats, Mask, Pixels
from search.evaluation.screens import Screen, read_screens

SIDE = 384
"""Pixels of a tile."""
_NEAR_ICONS = 0.75
"""Share of tiles that are laid around an icon."""
_SMALLEST = 5.0
"""Pixels of a side, below which no icon is asked for."""
_LEAST_INSIDE = 0.7
"""Of its area: icons that are cut deeper are asked for neither way."""
_TOWARDS_ONE = 0.35
"""Share of tiles at the size of their screen."""
_SCALES = (0.5, 1.7)


class Tile(NamedTuple):
    """Pixels (SIDE, SIDE, 3) with boxes (k, 4), and boxes (j, 4) inside of which nothing is asked."""

    pixels: Pixels
    boxes: Floats
    ignored: Floats


class Screens:
    """Screens of some folders, decoded once into a file that is mapped."""

    def __init__(self, folders: list[Path], *, cache: Path) -> None:
        self._screens = [(folder, screen) for folder in folders for screen in read_screens(folder)]
        areas = [screen.width * screen.height * 3 for _, screen in self._screens]
        self._begins = np.concatenate([[0], np.cumsum(areas)])
        self._pixels = self._decoded(cache)
        self._boxes = [_boxes_of(screen) for _, screen in self._screens]
        self._with_icons = [row for row, boxes in enumerate(self._boxes) if len(boxes)]

    def __len__(self) -> int:
        return len(self._screens)

    def tile(self, number: int, *, seed: int) -> Tile:
        """Make a tile by lot."""
        lot = np.random.default_rng((seed, number))
        is_near = lot.random() < _NEAR_ICONS
        row = int(lot.choice(self._with_icons)) if is_near else int(lot.integers(len(self)))
        scale = _scale(lot)
        pixels, boxes = self._pixels_of(row), self._boxes[row]
        left, top, side = _place(lot, pixels, boxes if is_near else boxes[:0], scale)
        cut = _cut(pixels, left, top, side)
        resampling = lot.choice([Image.Resampling.BILINEAR, Image.Resampling.BICUBIC, Image.Resampling.BOX])
        resized = np.asarray(Image.fromarray(cut).resize((SIDE, SIDE), int(resampling))) if side != SIDE else cut
        moved = (boxes - np.array([left, top] * 2)) * (SIDE / side)
        if lot.random() < 0.5:
            resized = resized[:, ::-1]
            moved = np.stack([SIDE - moved[:, 2], moved[:, 1], SIDE - moved[:, 0], moved[:, 3]], axis=1)
        return _with_asked(changed(resized, lot), moved)

    def _pixels_of(self, row: int) -> Pixels:
        screen = self._screens[row][1]
        flat = self._pixels[self._begins[row] : self._begins[row + 1]]
        return np.asarray(flat.reshape(screen.height, screen.width, 3))

    def _decoded(self, cache: Path) -> NDArray[np.uint8]:
        total = int(self._begins[-1])
        if not cache.exists() or cache.stat().st_size != total:
            pixels = np.memmap(cache, np.uint8, "w+", shape=(total,))
            for row, (folder, screen) in enumerate(self._screens):
                with Image.open(folder / screen.file) as picture:
                    pixels[self._begins[row] : self._begins[row + 1]] = np.asarray(picture.convert("RGB")).reshape(-1)
            pixels.flush()
        return np.memmap(cache, np.uint8, "r", shape=(total,))


def _boxes_of(screen: Screen) -> Floats:
    return np.array([icon.box for icon in screen.icons], np.float32).reshape(-1, 4)


def _scale(lot: np.random.Generator) -> float:
    """How much larger a tile shows its screen; a third stays as it is, as most screenshots do."""
    if lot.random() < _TOWARDS_ONE:
        return 1.0
    low, high = np.log(_SCALES)
    return float(np.exp(lot.uniform(low, high)))


def _place(lot: np.random.Generator, pixels: Pixels, boxes: Floats, scale: float) -> tuple[int, int, int]:
    """Left, top and side of the part of a screen that a tile shows."""
    side = round(SIDE / scale)
    height, width = pixels.shape[:2]
    if len(boxes):
        box = boxes[lot.integers(len(boxes))]
        left, top = (box[:2] + box[2:]) / 2 - lot.uniform(0.1, 0.9, 2) * side
    else:
        left, top = lot.uniform(0, 1, 2) * np.maximum([width - side, height - side], 0)
    return (
        int(np.clip(left, 0, max(width - side, 0))),
        int(np.clip(top, 0, max(height - side, 0))),
        side,
    )


def _cut(pixels: Pixels, left: int, top: int, side: int) -> Pixels:
    """A square part; what lies beyond the screen repeats its rim."""
    part = pixels[top : top + side, left : left + side]
    down, right = side - part.shape[0], side - part.shape[1]
    return np.pad(part, ((0, down), (0, right), (0, 0)), mode="edge") if down or right else part


def _with_asked(pixels: Pixels, boxes: Floats) -> Tile:
    """Keep the boxes that are in sight, and tell which are not asked for."""
    inside = np.clip(boxes, 0, SIDE)
    sides, whole = inside[:, 2:] - inside[:, :2], boxes[:, 2:] - boxes[:, :2]
    is_seen: Mask = np.asarray((sides > 0).all(axis=1))
    share = sides.prod(axis=1) / np.maximum(whole.prod(axis=1), 1e-6)
    is_asked = is_seen & (share >= _LEAST_INSIDE) & (sides.max(axis=1, initial=0) >= _SMALLEST)
    return Tile(pixels, inside[is_asked].astype(np.float32), inside[is_seen & ~is_asked].astype(np.float32))


def changed(pixels: Pixels, lot: np.random.Generator) -> Pixels:
    """Change a tile's colours and sharpness by lot, as themes, filters and compression do."""
    values = pixels[..., lot.permutation(3)] if lot.random() < 0.3 else pixels
    if lot.random() < 0.15:
        values = 255 - values
    if lot.random() < 0.4:
        values = _toned(values, lot)
    picture = Image.fromarray(np.ascontiguousarray(values))
    if lot.random() < 0.15:
        picture = picture.filter(ImageFilter.GaussianBlur(float(lot.uniform(0.3, 0.9))))
    if lot.random() < 0.25:
        picture = _compressed(picture, quality=int(lot.integers(40, 95)))
    values = np.asarray(picture)
    if lot.random() < 0.1:
        noise = lot.normal(0, lot.uniform(1, 6), values.shape)
        values = np.clip(values + noise, 0, 255).astype(np.uint8)
    return values


def _toned(values: Pixels, lot: np.random.Generator) -> Pixels:
    """Another contrast, brightness and gamma of each channel."""
    steps = np.arange(256) / 255
    table = np.stack([steps ** lot.uniform(0.7, 1.4) * lot.uniform(0.75, 1) + lot.uniform(0, 0.2) for _ in range(3)])
    if lot.random() < 0.7:
        table[:] = table[0]
    toned = (np.clip(table, 0, 1) * 255).astype(np.uint8)
    return np.stack([toned[channel][values[..., channel]] for channel in range(3)], axis=-1)


def _compressed(picture: Image.Image, *, quality: int) -> Image.Image:
    written = io.BytesIO()
    picture.save(written, "JPEG", quality=quality)
    return Image.open(io.BytesIO(written.getvalue())).convert("RGB")
