"""Makes sketches.json: 40 icons of the samples as an unsure hand would draw them, and 20 that were written down by hand.

python data/eval/make_sketches.py data/samples/lucide-static > data/eval/sketches.json

A sketch is strokes of points on a canvas of 320 by 320 px. The 20 at the end of this file were written from memory, as
lists of points, without looking at any icon; the 40 are drawn by lot and bent by lot, always the same.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.svgLib import SVGPath
from numpy.random import Generator
from numpy.typing import NDArray

CANVAS, N, SEED = 320, 40, 20261124
POINTS = NDArray[np.float64]
STEP = 0.7
"""Of 24: between two points of a stroke, as a mouse tells them."""


def main(package: Path) -> None:
    """Print one sketch a line, inside a JSON list."""
    lines = [json.dumps(sketch, separators=(",", ":")) for sketch in (*by_lot(package / "icons"), *by_hand())]
    print("[\n" + ",\n".join(lines) + "\n]")


def by_lot(icons: Path) -> Iterator[dict[str, object]]:
    """Icons of one shape or several, bent."""
    random = np.random.default_rng(SEED)
    files = sorted(icons.glob("*.svg"))
    chosen = [files[at] for at in sorted(random.permutation(len(files))[:N].tolist())]
    for file in chosen:
        strokes = bent(lines_of(file), random)
        yield {"by": "lot", "right": [file.stem], "strokes": on_canvas(strokes, random)}


def lines_of(file: Path) -> list[POINTS]:
    """The outline of every part of an icon as points `STEP` apart."""
    root = ElementTree.parse(file).getroot()
    pen = DecomposingRecordingPen({})
    SVGPath.fromstring(ElementTree.tostring(root)).draw(pen)
    lines: list[list[tuple[float, float]]] = []
    for operator, points in pen.value:
        if operator == "moveTo":
            lines.append([points[0]])
        elif operator == "closePath":
            lines[-1].append(lines[-1][0])
        elif operator != "endPath":
            lines[-1].extend(curve([lines[-1][-1], *points]))
    return [evenly(np.array(line, float)) for line in lines]


def curve(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """A Bezier curve of any degree as points (de Casteljau)."""
    at = np.linspace(0, 1, 24)[1:, None, None]
    left = np.broadcast_to(np.array(points, float), (len(at), len(points), 2))
    while left.shape[1] > 1:
        left = (1 - at) * left[:, :-1] + at * left[:, 1:]
    return [tuple(point) for point in left[:, 0].tolist()]


def evenly(line: POINTS) -> POINTS:
    along = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    wanted = np.linspace(0, along[-1], max(2, round(along[-1] / STEP) + 1))
    return np.stack([np.interp(wanted, along, line[:, axis]) for axis in (0, 1)], axis=1)


def bent(lines: list[POINTS], random: Generator) -> list[POINTS]:
    """Draw it as a person does: other proportions, a shaking hand, ends that do not meet, details left out."""
    if len(lines) > 2 and random.random() < 0.35:
        shortest = min(range(len(lines)), key=lambda at: len(lines[at]))
        lines = [line for at, line in enumerate(lines) if at != shortest]
    turn, slant, wide = random.normal(0, 0.05), random.normal(0, 0.06), random.uniform(0.82, 1.22)
    matrix = np.array([[wide * np.cos(turn), -np.sin(turn) + slant], [np.sin(turn), np.cos(turn)]])
    strokes: list[POINTS] = []
    for line in lines:
        drawn = ends_missed(line, random) @ matrix.T + random.normal(0, 0.45, 2)
        drawn = drawn + shaking(len(drawn), random)
        if len(drawn) > 16 and random.random() < 0.4:  # the pen was lifted on the way
            at = int(random.integers(5, len(drawn) - 5))
            strokes += [drawn[:at], drawn[at - 1 :] + random.normal(0, 0.35, 2)]
        else:
            strokes.append(drawn)
    return strokes


def ends_missed(line: POINTS, random: Generator) -> POINTS:
    """Stop early, or go on for a bit."""
    n = round(len(line) * random.uniform(-0.03, 0.07))
    if n > 0 and len(line) - n > 2:
        return line[:-n]
    direction = line[-1] - line[-2]
    return np.concatenate([line, line[-1] + direction * np.arange(1, 1 - n)[:, None]]) if n < 0 else line


def shaking(n: int, random: Generator) -> POINTS:
    """Slow drifts of about half a unit and quick ones of a twelfth."""
    at = np.arange(n) * STEP
    slow = sum(
        random.normal(0, 0.4, 2) * np.sin(2 * np.pi * at[:, None] / length + random.uniform(0, 6.3, 2))
        for length in (19.0, 8.0)
    )
    return np.asarray(slow + random.normal(0, 0.08, (n, 2)))


def on_canvas(strokes: list[POINTS], random: Generator) -> list[list[list[int]]]:
    """Somewhere on the canvas, somewhat smaller than it, in whole pixels."""
    everything = np.concatenate(strokes)
    low, extent = everything.min(axis=0), np.ptp(everything, axis=0).max()
    side = random.uniform(0.45, 0.85) * CANVAS
    corner = random.uniform(0.05, 0.95, 2) * (CANVAS - side)
    return [np.rint((stroke - low) / extent * side + corner).astype(int).tolist() for stroke in strokes]


def by_hand() -> Iterator[dict[str, object]]:
    """Those below: a line a sketch, strokes parted by "/", points by spaces."""
    for line in HAND.strip().splitlines():
        right, _, drawn = line.partition(":")
        strokes = [[[int(n) for n in point.split(",")] for point in stroke.split()] for stroke in drawn.split("/")]
        yield {"by": "hand", "right": right.split(), "strokes": strokes}


HAND = """
house home:40,165 95,112 152,60 165,58 220,105 282,170 / 72,142 70,200 74,268 75,272 150,275 248,270 250,266 246,200 244,140 / 132,272 130,215 133,205 160,202 185,206 186,240 188,272
heart:160,105 148,82 128,66 104,62 80,70 64,92 60,120 70,150 92,182 122,214 160,254 164,252 200,216 232,180 252,148 260,118 254,88 238,68 214,60 190,66 172,82 162,108
star:160,40 178,92 196,128 240,130 292,138 252,170 214,202 228,246 240,290 200,264 160,236 118,266 80,288 94,240 108,200 66,168 30,134 84,130 124,126 142,84 158,44
bell:84,222 92,196 96,160 98,128 108,96 130,74 158,66 188,74 212,96 222,130 224,164 230,198 240,222 160,226 82,224 / 160,66 160,48 / 132,228 138,246 158,256 180,246 188,228
settings cog gear:160,112 190,122 208,148 204,178 184,202 156,208 128,196 112,170 116,138 134,118 162,112 / 142,44 178,44 182,76 206,86 230,66 256,92 236,116 246,142 278,144 278,178 246,184 236,206 256,230 230,256 206,238 180,248 178,280 142,280 138,248 114,238 90,256 66,230 86,206 76,182 44,178 44,142 76,138 86,114 66,90 92,66 114,86 138,76 140,46
lock:80,150 78,200 82,268 160,272 240,268 244,210 240,150 160,146 80,150 / 110,148 108,112 116,80 138,60 162,54 188,62 206,84 212,116 210,148
mail envelope:40,88 38,160 42,236 160,240 282,236 284,160 280,86 160,84 40,88 / 42,92 100,136 160,178 220,134 280,90
cloud:96,232 66,226 48,204 50,176 68,154 94,148 100,116 124,92 158,86 192,96 214,122 220,148 250,152 272,172 276,200 260,224 230,234 160,236 98,234
sun:160,108 188,116 208,138 212,164 200,190 176,206 148,206 122,192 108,166 112,138 130,116 158,108 / 160,70 162,34 / 160,248 160,288 / 74,160 34,162 / 246,158 288,160 / 100,100 72,74 / 220,98 250,70 / 102,218 72,250 / 220,220 248,248
moon:196,48 160,46 120,58 84,90 66,132 66,176 84,220 118,254 162,270 206,264 244,240 268,206 232,218 194,208 166,182 154,146 158,106 176,72 198,50
arrow-right move-right arrow right:40,162 100,158 170,162 278,160 / 204,88 240,124 282,160 244,198 206,236
shopping-cart cart:30,66 66,68 76,92 92,150 108,206 180,208 250,204 266,150 278,104 180,100 82,98 / 124,240 138,248 140,264 126,272 112,264 112,248 124,240 / 232,240 246,246 248,262 236,272 220,264 220,248 232,238
camera:46,112 44,180 48,248 160,252 276,248 278,180 274,112 220,108 204,80 160,76 118,80 102,110 46,112 / 160,134 190,144 204,170 196,200 168,218 138,212 118,188 118,160 136,138 162,132
phone telephone:92,44 66,58 52,84 58,124 78,170 110,212 152,246 198,270 238,272 264,254 280,226 240,196 212,190 190,212 160,196 128,164 112,136 132,112 124,84 94,44
search magnify magnifying-glass:136,56 172,62 200,86 210,122 202,160 176,188 140,198 102,190 74,164 64,128 72,92 98,66 134,56 / 190,182 226,220 274,270
trash trash-2 delete bin:56,88 160,86 264,88 / 84,90 90,160 98,270 160,274 222,270 230,170 238,90 / 124,86 126,60 160,56 194,60 196,86 / 134,124 138,232 / 186,124 182,232
pencil edit pen:60,264 70,214 120,162 196,84 222,62 250,70 264,94 244,124 176,194 112,256 60,266 / 196,86 220,104 240,126
user person account:160,50 188,60 204,86 202,116 182,138 156,144 130,134 116,110 118,80 134,58 160,50 / 62,276 66,232 90,198 124,182 164,178 202,184 236,206 256,238 260,276
play:96,56 94,160 98,266 102,268 180,214 266,164 262,156 180,104 98,54
wifi:36,128 76,94 118,74 162,68 208,76 248,96 284,130 / 76,172 108,148 142,136 178,136 212,148 244,174 / 116,214 142,198 166,194 188,200 208,216 / 158,252 164,254 162,260 156,258
"""

if __name__ == "__main__":
    main(Path(sys.argv[1]))
