"""Where the shapes of an SVG lie: path data and basic shapes -> points.

Curves are followed by points on them, not by their control points, which may lie far outside.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from picosvg.svg_transform import Affine2D

Point = tuple[float, float]
_COMMAND = re.compile(r"([MmZzLlHhVvCcSsQqTtAa])([^MmZzLlHhVvCcSsQqTtAa]*+)")
NUMBER = re.compile(r"[-+]?(?:\d++\.?\d*+|\.\d++)(?:[eE][-+]?\d++)?")
_ARC = re.compile(
    rf"\s*+({NUMBER.pattern})[\s,]*+({NUMBER.pattern})[\s,]*+({NUMBER.pattern})"
    rf"[\s,]*+([01])[\s,]*+([01])[\s,]*+({NUMBER.pattern})[\s,]*+({NUMBER.pattern})[\s,]*+"
)
"""Flags may stand without a gap: "a1 1 0 011 1"."""
_N_NUMBERS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
_STEPS = (0.2, 0.35, 0.5, 0.65, 0.8)
"""Of a curve, at which points are taken beside its end."""
_LENGTH = re.compile(rf"\s*+({NUMBER.pattern})\s*+(?:px)?\s*+")
_TRANSFORM = re.compile(r"(?:matrix|translate|scale|rotate|skewX|skewY)\s*\([^()]{0,200}\)")


class Outline(NamedTuple):
    """A shape as points, in its own units."""

    points: list[Point]
    corners: list[Point]
    """Those of them at which straight lines along an axis end: what a designer snaps to a grid."""


def transform(text: str) -> Affine2D:
    """Read a transform attribute; what is wrong in it moves nothing."""
    whole: Affine2D = Affine2D.identity()
    for found in _TRANSFORM.finditer(text):
        with suppress(ValueError, TypeError):
            whole = whole @ Affine2D.fromstring(found[0])
    return whole


def length(text: str | None, otherwise: float = 0.0) -> float:
    """Read a length in user units; what is none, or in other units, is `otherwise`."""
    match = _LENGTH.fullmatch(text) if text else None
    return float(match[1]) if match else otherwise


def outline(tag: str, attributes: Mapping[str, str]) -> Outline:
    """Follow a shape; anything else has no points."""
    if tag == "path":
        return _Pen(attributes.get("d", "")).drawn

    def of(name: str) -> float:
        return length(attributes.get(name))

    if tag == "rect":
        x, y, width, height = (of(name) for name in ("x", "y", "width", "height"))
        corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
        return Outline(corners, corners) if width > 0 and height > 0 else Outline([], [])
    if tag in ("circle", "ellipse"):
        rx, ry = (of("r"), of("r")) if tag == "circle" else (of("rx"), of("ry"))
        turns = [math.tau * n / 16 for n in range(16)] if rx > 0 and ry > 0 else []
        return Outline([(of("cx") + rx * math.cos(turn), of("cy") + ry * math.sin(turn)) for turn in turns], [])
    if tag == "line":
        ends = [(of("x1"), of("y1")), (of("x2"), of("y2"))]
        is_level = ends[0][0] == ends[1][0] or ends[0][1] == ends[1][1]
        return Outline(ends, ends if is_level else [])
    if tag in ("polyline", "polygon"):
        numbers = [float(number) for number in NUMBER.findall(attributes.get("points", ""))]
        return Outline(list(zip(numbers[::2], numbers[1::2], strict=False)), [])
    return Outline([], [])


class _Pen:
    """Follows path data; what is wrong in it ends the path there, as it does for a browser."""

    def __init__(self, data: str) -> None:
        self.drawn = Outline([], [])
        self._at = self._start = self._control = (0.0, 0.0)
        self._before = ""
        for command, text in _COMMAND.findall(data):
            for numbers in _numbers(command.upper(), text):
                self._draw(command, numbers)
                command = {"M": "L", "m": "l"}.get(command, command)  # noqa: PLW2901 - further pairs are lines

    def _draw(self, command: str, n: Sequence[float]) -> None:
        kind = command.upper()
        x, y = (0.0, 0.0) if command.isupper() else self._at
        before = self._at
        if kind == "Z":
            self._at = self._start
        elif kind in "HV":
            self._at = (n[0] + x, before[1]) if kind == "H" else (before[0], n[0] + y)
            self.drawn.corners.extend((before, self._at))
        elif kind in "ML":
            self._at = (n[0] + x, n[1] + y)
            if kind == "M":
                self._start = self._at
            elif self._at[0] == before[0] or self._at[1] == before[1]:
                self.drawn.corners.extend((before, self._at))
        elif kind == "A":
            self._at = (n[5] + x, n[6] + y)
            self.drawn.points.extend(_arc(before, self._at, n))
        else:
            points = [(n[i] + x, n[i + 1] + y) for i in range(0, len(n), 2)]
            if kind in "ST":
                mirrored = (2 * before[0] - self._control[0], 2 * before[1] - self._control[1])
                points.insert(0, mirrored if self._before in ("CS" if kind == "S" else "QT") else before)
            self._control, self._at = points[-2], points[-1]
            self.drawn.points.extend(_bezier([before, *points]))
        if kind != "M":
            self.drawn.points.extend((before, self._at))
        self._before = kind


def _numbers(kind: str, text: str) -> Iterator[list[float]]:
    """Cut what stands behind a command into the numbers of one segment each."""
    if kind == "Z":
        yield []
    elif kind == "A":
        place = 0
        while match := _ARC.match(text, place):
            yield [float(number) for number in match.groups()]
            place = match.end()
    else:
        numbers = [float(number) for number in NUMBER.findall(text)]
        size = _N_NUMBERS[kind]
        for start in range(0, len(numbers) - size + 1, size):
            yield numbers[start : start + size]


def _bezier(points: Sequence[Point]) -> Iterator[Point]:
    """Points on a curve of second or third order (de Casteljau, written out)."""
    for t in _STEPS:
        u = 1 - t
        weights = (u * u, 2 * u * t, t * t) if len(points) == 3 else (u**3, 3 * u * u * t, 3 * u * t * t, t**3)
        x = sum(weight * point[0] for weight, point in zip(weights, points, strict=True))
        yield x, sum(weight * point[1] for weight, point in zip(weights, points, strict=True))


def _arc(start: Point, end: Point, n: Sequence[float]) -> Iterator[Point]:
    """Points on an arc, from its ends to its centre as SVG 1.1 says in F.6.5."""
    rx, ry = abs(n[0]), abs(n[1])
    if not rx or not ry or start == end:
        return
    cos, sin = math.cos(math.radians(n[2])), math.sin(math.radians(n[2]))
    half_x, half_y = (start[0] - end[0]) / 2, (start[1] - end[1]) / 2
    x, y = cos * half_x + sin * half_y, cos * half_y - sin * half_x
    if (over := (x / rx) ** 2 + (y / ry) ** 2) > 1:
        rx, ry, over = rx * math.sqrt(over), ry * math.sqrt(over), 1.0
    root = math.sqrt(max(0.0, 1 / over - 1)) * (-1 if n[3] == n[4] else 1)
    middle_x, middle_y = root * rx * y / ry, -root * ry * x / rx
    centre_x = cos * middle_x - sin * middle_y + (start[0] + end[0]) / 2
    centre_y = sin * middle_x + cos * middle_y + (start[1] + end[1]) / 2
    first = math.atan2((y - middle_y) / ry, (x - middle_x) / rx)
    last = math.atan2((-y - middle_y) / ry, (-x - middle_x) / rx)
    swept = (last - first) % math.tau if n[4] else -((first - last) % math.tau)
    for step in range(1, 12):
        turn = first + swept * step / 12
        across, down = rx * math.cos(turn), ry * math.sin(turn)
        yield centre_x + cos * across - sin * down, centre_y + sin * across + cos * down
