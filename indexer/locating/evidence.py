"""How surely does a box hold an icon? The detector's score, the box's shape and what the encoder sees in it, together.

The detector knows places, the encoder knows icons: avatars, digits and letters that look like icons from afar look
unlike them to an encoder that was trained on icons. What weighs how much was fitted on screens that the detector was
not trained on (`data/making/detector/judging.py`), once for the encoder that ships with `icons`, and once without any.
"""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from indexer.arrays import Floats
from indexer.errors import IconsError
from indexer.library.bundled import bundled
from indexer.locating.boxes import Boxes

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
