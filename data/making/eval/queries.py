"""Makes bundled queries to the byte: the benchmark of Lucide and sketches of its icons.

    npm install lucide-static@1.62.0
    python -m data.making.eval.queries lucide node_modules/lucide-static | xz -9e > data/eval/lucide-1.62.0.jsonl.xz
    python -m data.making.eval.queries sketches data/samples/lucide-static > data/eval/sketches.json

A sketch is strokes of points on a canvas of 320 by 320 px. The 20 of sketches-by-hand.txt were written from memory, as
lists of points, without looking at any icon; 40 are drawn by lot and bent by lot, always the same.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.svgLib import SVGPath
from numpy.random import Generator
from numpy.typing import NDArray

CANVAS, N, SEED = 320, 40, 20261124
Points = NDArray[np.float64]
STEP = 0.7
"""Of 24: between two points of a stroke, as a mouse tells them."""


def print_sketches(package: Path) -> None:
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


def lines_of(file: Path) -> list[Points]:
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


def evenly(line: Points) -> Points:
    """Points `STEP` apart along a line."""
    along = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    at = np.linspace(0, along[-1], max(2, round(along[-1] / STEP) + 1))
    return np.stack([np.interp(at, along, line[:, axis]) for axis in (0, 1)], axis=1)


def bent(lines: list[Points], random: Generator) -> list[Points]:
    """Draw it as a person does: other proportions, a shaking hand, ends that do not meet, details left out."""
    if len(lines) > 2 and random.random() < 0.35:
        shortest = min(range(len(lines)), key=lambda at: len(lines[at]))
        lines = [line for at, line in enumerate(lines) if at != shortest]
    turn, slant, wide = random.normal(0, 0.05), random.normal(0, 0.06), random.uniform(0.82, 1.22)
    matrix = np.array([[wide * np.cos(turn), -np.sin(turn) + slant], [np.sin(turn), np.cos(turn)]])
    strokes: list[Points] = []
    for line in lines:
        drawn = ends_missed(line, random) @ matrix.T + random.normal(0, 0.45, 2)
        drawn = drawn + shaking(len(drawn), random)
        if len(drawn) > 16 and random.random() < 0.4:  # the pen was lifted on the way
            at = int(random.integers(5, len(drawn) - 5))
            strokes += [drawn[:at], drawn[at - 1 :] + random.normal(0, 0.35, 2)]
        else:
            strokes.append(drawn)
    return strokes


def ends_missed(line: Points, random: Generator) -> Points:
    """Stop early, or go on for a bit."""
    n = round(len(line) * random.uniform(-0.03, 0.07))
    if n > 0 and len(line) - n > 2:
        return line[:-n]
    direction = line[-1] - line[-2]
    return np.concatenate([line, line[-1] + direction * np.arange(1, 1 - n)[:, None]]) if n < 0 else line


def shaking(n: int, random: Generator) -> Points:
    """Slow drifts of about half a unit and quick ones of a twelfth."""
    at = np.arange(n) * STEP
    slow = sum(
        random.normal(0, 0.4, 2) * np.sin(2 * np.pi * at[:, None] / length + random.uniform(0, 6.3, 2))
        for length in (19.0, 8.0)
    )
    return np.asarray(slow + random.normal(0, 0.08, (n, 2)))


def on_canvas(strokes: list[Points], random: Generator) -> list[list[list[int]]]:
    """Somewhere on the canvas, somewhat smaller than it, in whole pixels."""
    everything = np.concatenate(strokes)
    low, extent = everything.min(axis=0), np.ptp(everything, axis=0).max()
    side = random.uniform(0.45, 0.85) * CANVAS
    corner = random.uniform(0.05, 0.95, 2) * (CANVAS - side)
    return [np.rint((stroke - low) / extent * side + corner).astype(int).tolist() for stroke in strokes]


def by_hand() -> Iterator[dict[str, object]]:
    """Those of the file beside this one: a line a sketch, strokes parted by "/", points by spaces."""
    for line in Path(__file__).with_name("sketches-by-hand.txt").read_text("utf-8").splitlines():
        right, _, drawn = line.partition(":")
        strokes = [[[int(n) for n in point.split(",")] for point in stroke.split()] for stroke in drawn.split("/")]
        yield {"by": "hand", "right": right.split(), "strokes": strokes}


VERSION = "1.62.0"


def print_lucide(package: Path) -> None:
    """Print one query a line, in the order of code points."""
    found = json.loads((package / "package.json").read_text("utf-8"))["version"]
    if found != VERSION:
        raise SystemExit(
            f'"{package}" is version "{found}"; `npm install lucide-static@{VERSION}` brings the right one'
        )
    tags = json.loads((package / "tags.json").read_text("utf-8"))
    for query in queries(tags):
        print(json.dumps(query))


def queries(tags: Mapping[str, Sequence[str]]) -> Iterator[dict[str, object]]:
    """Turn `{icon: its tags}` round: each tag, in lower case, asks for all icons that carry it."""
    carriers: dict[str, set[str]] = defaultdict(set)
    for icon, own in tags.items():
        for tag in own:
            carriers[tag.strip().lower()].add(icon)
    for tag, icons in sorted(carriers.items()):
        yield {"query": tag, "kind": kind(tag, icons), "relevant": sorted(icons)}


def kind(tag: str, icons: set[str]) -> str:
    """Tell queries that a look at the name answers ("tag-in-name") from those that ask for the meaning."""
    words = set(tag.split())
    return "meaning" if all(words.isdisjoint(icon.split("-")) for icon in icons) else "tag-in-name"


if __name__ == "__main__":
    {"lucide": print_lucide, "sketches": print_sketches}[sys.argv[1]](Path(sys.argv[2]))
