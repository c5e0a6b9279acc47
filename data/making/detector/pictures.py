"""Large pictures on screens: photographs, charts and maps, all of them made of numbers."""

import base64
import io
import math
from collections.abc import Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from data.making.detector.theme import Theme, hsl


def photo(random: Random, width: float, height: float) -> str:
    """What a photograph is to a page: soft areas, edges, texture; never the same twice."""
    pixels = _scene(np.random.default_rng(random.getrandbits(32)), max(int(height / 2), 4), max(int(width / 2), 4))
    written = io.BytesIO()
    Image.fromarray(pixels).filter(ImageFilter.GaussianBlur(random.choice((0, 0.6, 1, 2)))).save(
        written, "JPEG", quality=random.randrange(60, 90)
    )
    data = base64.b64encode(written.getvalue()).decode()
    sides = f"width:{width:g}px;height:{height:g}px"
    return (
        f'<img alt="" decoding="sync" src="data:image/jpeg;base64,{data}" '
        f'style="display:block;object-fit:cover;{sides}">'
    )


def _scene(random: np.random.Generator, height: int, width: int) -> NDArray[np.uint8]:
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    x, y = x / max(width, height), y / max(width, height)
    colours = random.uniform(10, 245, (8, 3)).astype(np.float32)
    greys = colours.mean(axis=1, keepdims=True)
    colours = greys + (colours - greys) * random.uniform(0.1, 0.9)
    scene = colours[0] + (colours[1] - colours[0]) * (y / max(y.max(), 1e-6))[..., None]
    for colour in colours[2 : 2 + int(random.integers(2, 6))]:
        scene = np.where(_shape(random, x, y)[..., None], colour + 0.25 * (scene - colour), scene)
    for step in (4, 16, 48):
        scene = scene + _texture(random, height, width, step=step)[..., None] * random.uniform(0, 26)
    return np.asarray(np.clip(scene + random.normal(0, random.uniform(0, 5), scene.shape), 0, 255), np.uint8)


def _texture(random: np.random.Generator, height: int, width: int, *, step: int) -> NDArray[np.float32]:
    """Soft spots of about `step` pixels, around 0."""
    coarse = random.normal(0, 1, (height // step + 2, width // step + 2)).astype(np.float32)
    return np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC))


def _shape(random: np.random.Generator, x: NDArray[np.float32], y: NDArray[np.float32]) -> NDArray[np.bool_]:
    cx, cy, size = random.uniform(0, 1), random.uniform(0, 0.8), random.uniform(0.05, 0.4)
    kind = random.integers(3)
    if kind == 0:
        return np.asarray((x - cx) ** 2 + ((y - cy) * random.uniform(0.5, 2)) ** 2 < size**2)
    if kind == 1:  # hills
        return np.asarray(y > cy + 0.1 * np.sin(x * random.uniform(3, 14) + cx * 9) * random.uniform(0.2, 1.5))
    return np.asarray((abs(x - cx) < size) & (abs(y - cy) < size * random.uniform(0.2, 2)))


def chart(random: Random, theme: Theme, width: float, height: float) -> str:
    """A chart of one of the usual kinds."""
    kind = random.choice((_bars, _lines, _lines, _ring, _points, _sparkline, _heat))
    hue = random.random()
    inks = [theme.accent, *(hsl(hue + step / 5, 65, 60 if theme.is_dark else 45) for step in range(4))]
    body = kind(random, theme, inks, (width, height))
    return (
        f'<svg width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
        f'style="display:block;flex:none">{body}</svg>'
    )


_Size = tuple[float, float]


def _bars(random: Random, theme: Theme, inks: Sequence[str], size: _Size) -> str:
    width, height = size
    n = random.randrange(4, 20)
    step = width / n
    return "".join(
        (
            f'<rect x="{at * step + step * 0.15:.1f}" y="{height - tall:.1f}" width="'
            f'{step * 0.7:.1f}" height="{tall:.1f}" rx="2" fill="'
            f'{inks[at % random.choice((1, 1, 2))]}"/>'
        )
        for at in range(n)
        for tall in (random.uniform(0.08, 0.95) * height,)
    )


def _grid(theme: Theme, size: _Size) -> str:
    width, height = size
    return "".join(
        f'<path d="M0 {height * at / 4:.1f}H{width:g}" stroke="{theme.border}" fill="none"/>' for at in range(1, 4)
    )


def _walk(random: Random, n: int, size: _Size) -> list[tuple[float, float]]:
    width, height = size
    level, points = random.uniform(0.2, 0.8), []
    for at in range(n):
        level = min(max(level + random.uniform(-0.18, 0.18), 0.05), 0.95)
        points.append((at * width / (n - 1), height * (1 - level)))
    return points


def _lines(random: Random, theme: Theme, inks: Sequence[str], size: _Size) -> str:
    drawn = _grid(theme, size)
    for ink in inks[: random.randrange(1, 4)]:
        points = _walk(random, random.randrange(6, 30), size)
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        drawn += f'<path d="M{path}" stroke="{ink}" stroke-width="{random.choice((1, 1.5, 2, 3))}" fill="none"/>'
        if random.random() < 0.4:
            drawn += f'<path d="M{path}V{size[1]:g}H0Z" fill="{ink}" opacity=".15"/>'
        if random.random() < 0.3:
            drawn += "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{ink}"/>' for x, y in points)
    return drawn


def _sparkline(random: Random, theme: Theme, inks: Sequence[str], size: _Size) -> str:
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in _walk(random, 16, size))
    return f'<path d="M{path}" stroke="{random.choice(inks)}" stroke-width="1.5" fill="none"/>'


def _ring(random: Random, theme: Theme, inks: Sequence[str], size: _Size) -> str:
    width, height = size
    thick, round_ = random.choice((0.15, 0.3, 1.0)), min(size) / 2 * 0.9
    radius = round_ * (1 - thick / 2)
    length, at, drawn = 2 * math.pi * radius, 0.0, ""
    for ink in inks:
        share = random.uniform(0.05, 0.35)
        share = min(share, 1 - at)
        drawn += (
            f'<circle cx="{width / 2:g}" cy="{height / 2:g}" r="{radius:.1f}" fill="none" stroke="'
            f'{ink}" stroke-width="{round_ * thick:.1f}" '
            f'stroke-dasharray="{share * length:.1f} {length:.1f}" stroke-dashoffset="{-at * length:.1f}"/>'
        )
        at += share
    return drawn


def _points(random: Random, theme: Theme, inks: Sequence[str], size: _Size) -> str:
    width, height = size
    return _grid(theme, size) + "".join(
        f'<circle cx="{random.uniform(0, width):.1f}" cy="{random.uniform(0, height):.1f}" r="'
        f'{random.uniform(2, 7):.1f}" '
        f'fill="{random.choice(inks)}" opacity=".7"/>'
        for _ in range(random.randrange(10, 50))
    )


def _heat(random: Random, theme: Theme, inks: Sequence[str], size: _Size) -> str:
    width, height = size
    step = random.choice((9, 11, 13, 16))
    return "".join(
        (
            f'<rect x="{x}" y="{y}" width="{step - 2}" height="{step - 2}" rx="2" fill="{inks[0]}'
            f'" opacity="{random.choice((0.1, 0.1, 0.3, 0.6, 1))}"/>'
        )
        for x in range(0, int(width) - step, step)
        for y in range(0, int(height) - step, step)
    )


def street_map(random: Random, theme: Theme, width: float, height: float) -> str:
    """A map of streets, parks and water, without signs."""
    land, road, park, water = (
        ("#242f3e", "#38414e", "#263c3f", "#17263c") if theme.is_dark else ("#f2efe9", "#ffffff", "#cfe8c4", "#aad3df")
    )
    areas = "".join(
        f'<ellipse cx="{random.uniform(0, width):.0f}" cy="{random.uniform(0, height):.0f}" '
        f'rx="{random.uniform(30, 200):.0f}" '
        f'ry="{random.uniform(30, 140):.0f}" fill="{random.choice((park, water))}"/>'
        for _ in range(random.randrange(2, 7))
    )
    roads = "".join(
        f'<path d="M{random.uniform(-50, width):.0f} {random.choice((-10, height + 10, random.uniform(0, height))):.0f}'
        f"Q{random.uniform(0, width):.0f} {random.uniform(0, height):.0f} "
        f'{random.uniform(0, width + 50):.0f} {random.uniform(0, height):.0f}" '
        f'stroke="{road}" stroke-width="{random.choice((2, 3, 5, 8, 12))}" fill="none"/>'
        for _ in range(random.randrange(12, 50))
    )
    return f'<svg width="{width:g}" height="{height:g}" style="display:block;background:{land}">{areas}{roads}</svg>'
