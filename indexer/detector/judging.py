"""Screens -> what of a box is evidence for an icon: `python -m indexer.detector judge`.

Asks the exported detector for boxes of screens that it was not trained on, sees which of them are icons, and fits how
the detector's score, the box's shape and the encoder's vector add up. The threshold is chosen on screens of a third
folder.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn

from indexer.arrays import Floats, Mask
from indexer.encoders.query_encoder import QueryEncoder
from indexer.library.durable import write_file
from indexer.locating.boxes import Boxes, iou_matrix
from indexer.locating.crops import crops
from indexer.locating.detector import Detector
from indexer.locating.evidence import FLOOR, MOST_CANDIDATES, N_SHAPE, WEIGHTS, Judge, shape_of
from indexer.reports.bars import Progress
from indexer.screens.stored import Screen, read_screens

_SAME = 0.5
"""IoU from which a box is an icon's."""
_UNSURE = 0.3
"""Boxes between both are fitted neither way."""
_MOST_FALSE = 1.5
"""False boxes on a screen without icons, on average, at the threshold."""
_HIDDEN = 48
_STEPS = 600
_DROPOUT = 0.3
_ENCODED_AT_ONCE = 128


class Judged(NamedTuple):
    """Boxes of some screens, one after another."""

    boxes: Boxes
    vectors: Floats
    screens: NDArray[np.int64]
    """(n,): which screen each is of."""
    is_icon: Mask
    is_asked: Mask
    """Whether it counts: boxes that overlap an icon a little do not."""
    n_icons: NDArray[np.int64]
    """(screens,): icons of each."""


def judge(
    folders: Sequence[Path], *, held: Path, detector: Detector, encoder: QueryEncoder, tell: Progress
) -> dict[str, Judge]:
    """Fit on the screens of `folders`, choose thresholds on those of `held`: judges with the encoder, and alone."""
    fitted = _gathered(
        [(folder, screen) for folder in folders for screen in read_screens(folder)], detector, encoder, tell
    )
    kept = _gathered([(held, screen) for screen in read_screens(held)], detector, encoder, tell)
    judges = {"encoder": _fit(fitted, n_hidden=_HIDDEN), "alone": _fit(fitted, n_hidden=0)}
    return {
        kind: one._replace(threshold=threshold_of(one.scores(kept.boxes, kept.vectors), kept))
        for kind, one in judges.items()
    }


def write_judges(judges: dict[str, Judge], folder: Path, *, fingerprint: str) -> None:
    """Write them beside the detector."""
    from safetensors.numpy import save

    facts: dict[str, Any] = {
        "fingerprint": fingerprint,
        "thresholds": {kind: one.threshold for kind, one in judges.items()},
    }
    tensors = {
        f"{kind}.{name}": value
        for kind, one in judges.items()
        for name, value in one._asdict().items()
        if name != "threshold"
    }
    write_file(folder / WEIGHTS, save(tensors, {"facts": json.dumps(facts)}))


def _gathered(screens: list[tuple[Path, Screen]], detector: Detector, encoder: QueryEncoder, tell: Progress) -> Judged:
    parts = []
    for place, (folder, screen) in enumerate(screens, 1):
        with Image.open(folder / screen.file) as picture:
            pixels = np.asarray(picture.convert("RGB"))
        boxes = detector.detect(pixels, least_score=FLOOR)
        boxes = boxes.at(np.arange(len(boxes.scores))[:MOST_CANDIDATES])
        parts.append((boxes, _vectors(pixels, boxes, encoder), *_matched(boxes, screen)))
        tell("Judging boxes", place, len(screens))
    found, vectors, is_icon, is_asked = zip(*parts, strict=True)
    return Judged(
        Boxes(*map(np.concatenate, zip(*found, strict=True))),
        np.concatenate(vectors),
        np.repeat(np.arange(len(found)), [len(boxes.scores) for boxes in found]),
        np.concatenate(is_icon),
        np.concatenate(is_asked),
        np.array([len(screen.icons) for _, screen in screens]),
    )


def _vectors(pixels: NDArray[np.uint8], boxes: Boxes, encoder: QueryEncoder) -> Floats:
    cut = crops(pixels, boxes.corners, size=encoder.image_size)
    stretches = [cut[begin : begin + _ENCODED_AT_ONCE] for begin in range(0, len(cut), _ENCODED_AT_ONCE)]
    dim = (
        encoder.encode_picture(np.zeros((encoder.image_size, encoder.image_size, 3), np.uint8)).shape[0]
        if not stretches
        else 0
    )
    return (
        np.concatenate([encoder.encode_many_pictures(one) for one in stretches])
        if stretches
        else np.zeros((0, dim), np.float32)
    )


def _matched(boxes: Boxes, screen: Screen) -> tuple[Mask, Mask]:
    """Which boxes, best first, are icons' (each icon has one), and which count."""
    wanted = np.array([icon.box for icon in screen.icons], np.float32).reshape(-1, 4)
    overlaps = iou_matrix(boxes.corners, wanted)
    nearest = overlaps.max(axis=1, initial=0)
    is_icon = np.zeros(len(boxes.scores), bool)
    for row in range(len(boxes.scores)):
        if nearest[row] >= _SAME and (icon := int(overlaps[row].argmax())) >= 0 and overlaps[row, icon] >= _SAME:
            is_icon[row] = True
            overlaps[:, icon] = 0
    return is_icon, is_icon | (nearest < _UNSURE)


def _fit(judged: Judged, *, n_hidden: int) -> Judge:
    """Logistic regression over shapes, with a small net over shapes and vectors beside it."""
    torch.manual_seed(0)
    shapes = torch.from_numpy(shape_of(judged.boxes)[judged.is_asked])
    inputs = torch.cat([shapes, torch.from_numpy(judged.vectors[judged.is_asked].astype(np.float32))], dim=1)
    wanted = torch.from_numpy(judged.is_icon[judged.is_asked].astype(np.float32))
    plain = nn.Linear(N_SHAPE, 1)
    hidden, out = nn.Linear(inputs.shape[1], n_hidden), nn.Linear(n_hidden, 1, bias=False)
    parts: list[nn.Module] = [plain, hidden, out] if n_hidden else [plain]
    optimizer = torch.optim.AdamW(
        [weight for part in parts for weight in part.parameters()], lr=5e-3, weight_decay=0.02
    )
    for step in range(_STEPS):
        for group in optimizer.param_groups:
            group["lr"] = 5e-3 * (1 - step / _STEPS)
        logits = plain(shapes)[:, 0]
        if n_hidden:
            logits = logits + out(nn.functional.dropout(hidden(inputs).relu(), _DROPOUT))[:, 0]
        loss = nn.functional.binary_cross_entropy_with_logits(logits, wanted)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return Judge(
        0.5,
        _values(plain.weight[0]),
        _values(plain.bias),
        _values(hidden.weight.T),
        _values(hidden.bias),
        _values(out.weight[0]),
    )


def _values(weight: Tensor) -> Floats:
    return np.ascontiguousarray(weight.detach().numpy(), np.float32)


def threshold_of(scores: Floats, judged: Judged) -> float:
    """The score from which F1 is best, of those at which screens without icons show few false boxes."""
    order = np.argsort(-scores, kind="stable")
    right = np.cumsum(judged.is_icon[order])
    f1 = 2 * right / (np.arange(1, len(order) + 1) + judged.n_icons.sum())
    is_free = judged.n_icons[judged.screens[order]] == 0
    n_free = max(int((judged.n_icons == 0).sum()), 1)
    few = np.cumsum(is_free) / n_free <= _MOST_FALSE
    best = int(np.argmax(np.where(few, f1, -1)))
    return float(scores[order[best]])
