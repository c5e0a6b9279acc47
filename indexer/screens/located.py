"""From the pixels of a screen to its icons: a net's boxes, how surely each holds one, crops as the encoder sees them.

ONNX Runtime, no torch.
"""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from indexer.arrays import Floats, Pixels, in_chunks
from indexer.encoders.query_encoder import QueryEncoder, Tower
from indexer.errors import IconsError, explain_unreadable
from indexer.library.bundled import bundled
from indexer.library.shards import DAMAGES
from indexer.process import cores
from indexer.screens.boxes import NO_BOXES, Boxes, rim, without_overlaps
from indexer.sources.records import content_digest

STRIDE = 4
"""Pixels of a cell's side."""
GRAPH = "icons.onnx"
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
_MOST_CELLS = 3_000
"""Best cells that become boxes."""


class Detector:
    """The net, open; several threads may ask it at once."""

    def __init__(self, folder: Path | None = None) -> None:
        """Open the net in a folder, or the one that ships with `icons`.

        Raises:
            IconsError: the folder holds none that can be read.
        """
        folder = folder or bundled("detector")
        with explain_unreadable(f'detector "{folder}"', "install icons again", IconsError, damages=RuntimeError):
            self._net = Tower(folder / GRAPH, threads=0)

    def detect(self, pixels: Pixels, *, least_score: float = 0.05) -> Boxes:
        """Find icons in a picture, RGB (height, width, 3): boxes of this score and more, best first."""
        height, width = pixels.shape[:2]
        found = self._at_one_size(pixels, least_score)
        if max(height, width) >= 4 * _LARGE:  # icons that are too large to be seen whole at full size
            half = Image.fromarray(pixels).resize((width // 2, height // 2), Image.Resampling.BOX)
            for boxes in self._at_one_size(np.asarray(half), least_score):
                corners = boxes.corners * np.array([width / (width // 2), height / (height // 2)] * 2, np.float32)
                is_large = (corners[:, 2:] - corners[:, :2]).max(axis=1, initial=0) > _LARGE
                found.append(Boxes(corners[is_large], boxes.scores[is_large]))
        joined = Boxes(*map(np.concatenate, zip(*found, strict=True)))
        return joined.at(without_overlaps(joined, most_shared=MOST_SHARED))

    def _at_one_size(self, pixels: Pixels, least_score: float) -> list[Boxes]:
        """What each part of a picture holds, but for boxes that end where the part does: a neighbour has those."""
        height, width = pixels.shape[:2]
        found = []
        for top, bottom in _stretches(height):
            for left, right in _stretches(width):
                boxes = self._in_part(pixels[top:bottom, left:right], least_score)
                corners = (boxes.corners + np.array([left, top] * 2)).astype(np.float32)
                is_cut = (corners[:, :2] <= [left or -1, top or -1]).any(axis=1)
                is_cut |= ((corners[:, 2:] >= [right, bottom]) & [right < width, bottom < height]).any(axis=1)
                found.append(Boxes(corners[~is_cut], boxes.scores[~is_cut]))
        return found

    def _in_part(self, pixels: Pixels, least_score: float) -> Boxes:
        height, width = pixels.shape[:2]
        padded = np.pad(pixels, ((0, -height % _MULTIPLE), (0, -width % _MULTIPLE), (0, 0)), mode="edge")
        scores, sides = (found[0] for found in self._net.run_all("pixels", padded[None]))  # of cells (h, w), (4, h, w)
        rows, columns = np.nonzero(scores >= least_score)
        if len(rows) > _MOST_CELLS:
            best = np.argpartition(-scores[rows, columns], _MOST_CELLS)[:_MOST_CELLS]
            rows, columns = rows[best], columns[best]
        left, top, right, bottom = sides[:, rows, columns]
        x, y = (columns + 0.5) * STRIDE, (rows + 0.5) * STRIDE
        corners = np.stack([x - left, y - top, x + right, y + bottom], axis=1).astype(np.float32)
        boxes = Boxes(corners, scores[rows, columns])
        boxes = boxes.at(without_overlaps(boxes, most_shared=MOST_SHARED))
        return Boxes(np.clip(boxes.corners, 0, [width, height] * 2), boxes.scores)


def _stretches(length: int) -> list[tuple[int, int]]:
    """Where parts of a side begin and end."""
    if length <= _BAND + _OVERLAP:
        return [(0, length)]
    step = -(-(length - _OVERLAP) // -(-(length - _OVERLAP) // (_BAND - _OVERLAP)))
    return [(begin, min(begin + step + _OVERLAP, length)) for begin in range(0, length - _OVERLAP, step)]


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
    from safetensors import safe_open

    path = (folder or bundled("detector")) / WEIGHTS
    with (
        explain_unreadable(f'"{path}"', "install icons again", IconsError, damages=DAMAGES),
        safe_open(path, "numpy") as file,
    ):
        facts = json.loads(file.metadata()["facts"])
        kind = WITH_ENCODER if fingerprint == facts["fingerprint"] else ALONE
        tensors = {name: file.get_tensor(f"{kind}.{name}") for name in Judge._fields[1:]}
    return Judge(threshold=float(facts["thresholds"][kind]), **tensors)


def shape_of(boxes: Boxes) -> Floats:
    """Logit of the detector's score, logarithm of the longer side, of width by height without and with its sign."""
    scores = np.clip(boxes.scores, 1e-4, 1 - 1e-4)
    sides = np.maximum(boxes.corners[:, 2:] - boxes.corners[:, :2], 1)
    longer = np.log(sides.max(axis=1) / 20)
    wide = np.log(sides[:, 0] / sides[:, 1])
    return np.stack([np.log(scores / (1 - scores)), longer, np.abs(wide), wide], axis=1).astype(np.float32)


MARGIN = 0.2
"""Of ground around a box, of its longer side. Icons named rightly from true boxes, with .1, .2 and .3: of 556 on real
products .797, .865, .863; of 2,634 on rendered screens .852, .849, .838."""


def crops(pixels: Pixels, corners: Floats, *, size: int) -> Pixels:
    """Cut boxes (n, 4) out of a picture (height, width, 3): uint8 (n, size, size, 3).

    What is drawn around an icon is no part of it: outside its box stands the ground, the median of the box's rim.
    """
    height, width = pixels.shape[:2]
    cut = np.empty((len(corners), size, size, 3), np.uint8)
    for row, box in enumerate(corners):
        left, top = np.clip(np.floor(box[:2]).astype(int), 0, [width - 1, height - 1])
        right, bottom = np.clip(np.ceil(box[2:]).astype(int), [left + 1, top + 1], [width, height])
        side = round(max(bottom - top, right - left) * (1 + 2 * MARGIN))
        square = np.empty((side, side, 3), np.uint8)
        square[:] = np.median(rim(pixels[max(top - 1, 0) : bottom + 1, max(left - 1, 0) : right + 1]), axis=0)
        down, along = (side - (bottom - top)) // 2, (side - (right - left)) // 2
        square[down : down + bottom - top, along : along + right - left] = pixels[top:bottom, left:right]
        cut[row] = np.asarray(Image.fromarray(square).resize((size, size), Image.Resampling.BICUBIC, reducing_gap=3.0))
    return cut


MOST_ICONS = 1_000
"""Of one picture: the surest ones."""
_BATCH = 16
"""Crops that are encoded at once: more take memory, and no less time."""


class LocatedIcons(NamedTuple):
    """Icons of one picture, the surest first."""

    boxes: Boxes
    vectors: Floats
    """(n, dim), of unit length."""
    n_found: int
    """How many there are; `boxes` are `MOST_ICONS` of them at most."""


NO_ICONS = LocatedIcons(NO_BOXES, np.zeros((0, 0), np.float32), 0)


class Locator(NamedTuple):
    """What finds icons: something that proposes boxes, best first, and who judges them by what the encoder sees."""

    detect: Callable[[Pixels], Boxes]
    judge: Judge | None
    """None: whatever is proposed is an icon."""

    def locate(self, pixels: Pixels, encoder: QueryEncoder) -> LocatedIcons:
        """Find the icons of a picture, RGB (height, width, 3)."""
        found = self.candidates(pixels, encoder)
        is_icon = found.boxes.scores >= (self.judge.threshold if self.judge else 0)
        rows = np.flatnonzero(is_icon)
        rows = rows[np.argsort(-found.boxes.scores[rows], kind="stable")][:MOST_ICONS]
        return LocatedIcons(found.boxes.at(rows), found.vectors[rows], int(is_icon.sum()))

    def candidates(self, pixels: Pixels, encoder: QueryEncoder) -> LocatedIcons:
        """Judge all that is proposed, whatever its score; as `locate` otherwise."""
        proposed = self.detect(pixels)
        proposed = proposed.at(np.argsort(-proposed.scores, kind="stable")[:MOST_CANDIDATES])
        if not len(proposed.scores):
            return NO_ICONS
        vectors = seen_in(pixels, proposed.corners, encoder)
        scores = self.judge.scores(proposed, vectors) if self.judge else proposed.scores
        return LocatedIcons(Boxes(proposed.corners, scores), vectors, len(scores))


@lru_cache(maxsize=4)
def open_locator(fingerprint: str | None) -> Locator:
    """Open the detector that ships with `icons`, judged by an encoder of this fingerprint.

    Raises:
        IconsError: it can't be read.
    """
    return Locator(partial(Detector().detect, least_score=FLOOR), read_judge(fingerprint))


@lru_cache(maxsize=1)
def detector_version() -> str:
    """What stands for the detector that ships with `icons`: other files of it may find other boxes."""
    folder = bundled("detector")
    return content_digest(b"".join((folder / name).read_bytes() for name in (GRAPH, WEIGHTS))).hex()[:12]


def seen_in(pixels: Pixels, corners: Floats, encoder: QueryEncoder) -> Floats:
    """What an encoder sees in some boxes (n, 4), (n, dim); equal crops are encoded once, and have one vector."""
    cut = crops(pixels, corners, size=encoder.image_size)
    _, firsts, numbers = np.unique(cut.reshape(len(cut), -1), axis=0, return_index=True, return_inverse=True)
    batches = in_chunks(cut[firsts], _BATCH)
    with ThreadPoolExecutor(cores()) as threads:
        encoded = list(threads.map(encoder.encode_many_pictures, batches))
    return np.concatenate(encoded)[numbers.reshape(-1)]
