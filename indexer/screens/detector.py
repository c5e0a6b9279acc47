"""Pixels of a screen -> boxes of icons, and how surely each holds one; ONNX Runtime, no torch."""

import json
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from indexer.arrays import Floats, Mask, Pixels
from indexer.encoders.tokens import Tower
from indexer.errors import IconsError
from indexer.library.bundled import bundled
from indexer.screens.boxes import Boxes, without_overlaps

STRIDE = 4
"""Pixels of a cell's side."""
GRAPH, FACTS = "icons.onnx", "training.json"
MOST_SHARED = 0.5
"""Of the smaller of two boxes: those that share more are one icon."""
_MULTIPLE = 32
"""Pixels of which a picture's sides must be multiples."""
_BAND = 1536
"""Pixels of a picture that are looked at together, to each side: what is larger is looked at in parts, for memory."""
_OVERLAP = 128
"""Pixels that neighbouring parts share: more than the largest icon has at full size."""
_LARGE = 64
"""Pixels: longer sides are sought in a picture of half the size."""
_LEAST_SCORE = 0.05
_MOST_CELLS = 3_000
"""Best cells that become boxes."""


class _Part(NamedTuple):
    """A part of a picture, by its left top corner and its sides."""

    left: int
    top: int
    width: int
    height: int


class Detector:
    """The net, open; several threads may ask it at once."""

    def __init__(self, folder: Path, *, threads: int = 0) -> None:
        """Open the net in a folder, with so many threads (0: one a core).

        Raises:
            IconsError: the folder holds none that can be read.
        """
        try:
            self.facts: dict[str, Any] = json.loads((folder / FACTS).read_text())
            self._net = Tower(folder / GRAPH, threads=threads)
        except (OSError, ValueError, RuntimeError) as error:
            raise IconsError(f'detector "{folder}" can\'t be read ({error}); install icons again') from error

    @classmethod
    def open(cls, folder: Path | None = None) -> Self:
        """Open the net that ships with `icons`, or the one in a folder."""
        return cls(folder or bundled("detector"))

    def detect(self, pixels: Pixels, *, least_score: float = _LEAST_SCORE) -> Boxes:
        """Find icons in a picture, RGB (height, width, 3): boxes of this score and more, best first."""
        found = [self._at_full_size(pixels, least_score)]
        if max(pixels.shape[:2]) >= 4 * _LARGE:
            found.append(self._at_half_size(pixels, least_score))
        boxes = Boxes(*map(np.concatenate, zip(*found, strict=True)))
        return boxes.at(without_overlaps(boxes, most_shared=MOST_SHARED))

    def _at_full_size(self, pixels: Pixels, least_score: float) -> Boxes:
        parts = [self._in_part(pixels, part, least_score) for part in _parts(pixels)]
        return Boxes(*map(np.concatenate, zip(*parts, strict=True)))

    def _at_half_size(self, pixels: Pixels, least_score: float) -> Boxes:
        """Icons that are too large to be seen whole at full size."""
        height, width = pixels.shape[:2]
        half = Image.fromarray(pixels).resize((width // 2, height // 2), Image.Resampling.BOX)
        boxes = self._at_full_size(np.asarray(half), least_score)
        corners = boxes.corners * np.array([width / (width // 2), height / (height // 2)] * 2, np.float32)
        is_large = (corners[:, 2:] - corners[:, :2]).max(axis=1, initial=0) > _LARGE
        return Boxes(corners[is_large], boxes.scores[is_large])

    def _in_part(self, pixels: Pixels, part: _Part, least_score: float) -> Boxes:
        inside = pixels[part.top : part.top + part.height, part.left : part.left + part.width]
        down, right = (-side % _MULTIPLE for side in inside.shape[:2])
        padded = np.pad(inside, ((0, down), (0, right), (0, 0)), mode="edge")
        scores, sides = self._net.run_all("pixels", padded[None])
        boxes = _decoded(scores[0], sides[0], least_score)
        boxes = boxes.at(without_overlaps(boxes, most_shared=MOST_SHARED))
        corners = np.clip(boxes.corners, 0, [part.width, part.height] * 2) + np.array([part.left, part.top] * 2)
        whole = Boxes(corners.astype(np.float32), boxes.scores)
        return whole.at(np.flatnonzero(~_is_cut(whole.corners, part, pixels)))


def _parts(pixels: Pixels) -> list[_Part]:
    height, width = pixels.shape[:2]
    return [
        _Part(left, top, part_width, part_height)
        for top, part_height in _stretches(height)
        for left, part_width in _stretches(width)
    ]


def _is_cut(corners: Floats, part: _Part, pixels: Pixels) -> Mask:
    """Whether boxes end where the part does, though the picture goes on: a neighbouring part has them whole."""
    height, width = pixels.shape[:2]
    low = np.array([part.left or -1, part.top or -1])
    high = np.array([part.left + part.width, part.top + part.height])
    high += high >= [width, height]
    return np.asarray((corners[:, :2] <= low).any(axis=1) | (corners[:, 2:] >= high).any(axis=1))


def _stretches(length: int) -> list[tuple[int, int]]:
    """Where parts of a side begin, and how long they are."""
    if length <= _BAND + _OVERLAP:
        return [(0, length)]
    n = -(-(length - _OVERLAP) // (_BAND - _OVERLAP))
    step = -(-(length - _OVERLAP) // n)
    return [(begin, min(step + _OVERLAP, length - begin)) for begin in range(0, length - _OVERLAP, step)]


def _decoded(scores: Floats, sides: NDArray[np.float32], least_score: float) -> Boxes:
    """Cells (h, w) with the distances of their sides (4, h, w) -> the boxes of the best ones."""
    rows, columns = np.nonzero(scores >= least_score)
    if len(rows) > _MOST_CELLS:
        best = np.argpartition(-scores[rows, columns], _MOST_CELLS)[:_MOST_CELLS]
        rows, columns = rows[best], columns[best]
    left, top, right, bottom = sides[:, rows, columns]
    x, y = (columns + 0.5) * STRIDE, (rows + 0.5) * STRIDE
    corners = np.stack([x - left, y - top, x + right, y + bottom], axis=1)
    return Boxes(corners.astype(np.float32), scores[rows, columns])


WEIGHTS = "evidence.safetensors"
WITH_ENCODER, ALONE = "encoder", "alone"
FLOOR = 0.2
"""Least score of the detector that is looked at closer: half as many boxes as from .1, .967 of the icons, not .968."""
MOST_CANDIDATES = 1_500
"""Of one picture: the detector's surest boxes."""
N_SHAPE = 4
"""What is known of a box besides its vector: see `shape_of`."""


class Judge(NamedTuple):
    """A straight sum and two layers: sigmoid(shape @ plain + bias + relu(all @ hidden + hidden_bias) @ out)."""

    threshold: float
    """Least score of what is shown, chosen on a validation split."""
    plain: Floats
    """(N_SHAPE,)"""
    bias: Floats
    """(1,)"""
    hidden: Floats
    """(N_SHAPE + dim, k); k may be 0."""
    hidden_bias: Floats
    out: Floats
    """(k,)"""

    def scores(self, boxes: Boxes, vectors: Floats) -> Floats:
        """Judge boxes with their vectors (n, dim): how surely each holds an icon, (n,)."""
        shape = shape_of(boxes)
        logits = shape @ self.plain + self.bias
        if self.out.size:
            inputs = np.concatenate([shape, vectors], axis=1)
            logits = logits + np.maximum(inputs @ self.hidden + self.hidden_bias, 0) @ self.out
        return np.asarray(1 / (1 + np.exp(-logits)), np.float32)


def read_judge(fingerprint: str | None, folder: Path | None = None) -> Judge:
    """Read how boxes are judged with the vectors of an encoder; without any where it is another than was fitted.

    Raises:
        IconsError: the file can't be read.
    """
    from safetensors import SafetensorError, safe_open

    path = (folder or bundled("detector")) / WEIGHTS
    try:
        with safe_open(path, "numpy") as file:
            facts = json.loads(file.metadata()["facts"])
            kind = WITH_ENCODER if fingerprint == facts["fingerprint"] else ALONE
            tensors = {name: file.get_tensor(f"{kind}.{name}") for name in Judge._fields[1:]}
    except (SafetensorError, OSError, ValueError, TypeError, KeyError) as error:
        raise IconsError(f'"{path}" can\'t be read ({error}); install icons again') from error
    return Judge(threshold=float(facts["thresholds"][kind]), **tensors)


def shape_of(boxes: Boxes) -> Floats:
    """Logit of the detector's score, logarithm of the longer side, of width by height without and with its sign."""
    scores = np.clip(boxes.scores, 1e-4, 1 - 1e-4)
    sides = np.maximum(boxes.corners[:, 2:] - boxes.corners[:, :2], 1)
    longer = np.log(sides.max(axis=1) / 20)
    wide = np.log(sides[:, 0] / sides[:, 1])
    return np.stack([np.log(scores / (1 - scores)), longer, np.abs(wide), wide], axis=1).astype(np.float32)
