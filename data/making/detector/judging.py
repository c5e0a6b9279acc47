"""Boxes of screens -> evidence for an icon: how the detector's score, a box's shape and what the encoder sees in
it add up.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, dropout

from indexer.arrays import Floats, Mask
from indexer.encoders.query_encoder import QueryEncoder
from indexer.library.durable import write_file
from indexer.reports.terminal import Progress
from indexer.screens.boxes import Boxes, iou_matrix
from indexer.screens.located import ALONE, N_SHAPE, WEIGHTS, WITH_ENCODER, Judge, Locator, shape_of
from search.evaluation.screens import Screen, read_pixels, read_screens

_SAME = 0.5
"""IoU from which a box is an icon's."""
_APART = 0.3
"""IoU below which it is false; what lies between both counts neither way."""


class Matched(NamedTuple):
    """Proposed boxes of some screens, one screen after another."""

    boxes: Boxes
    vectors: Floats
    """(n, dim): what the encoder sees in each."""
    screens: NDArray[np.int64]
    """(n,): which screen each is of."""
    is_icon: Mask
    is_false: Mask
    n_icons: NDArray[np.int64]
    """Icons of each screen."""


def match(folders: Sequence[Path], locator: Locator, encoder: QueryEncoder, *, progress: Progress) -> Matched:
    """Ask a locator for all boxes of the screens of some folders."""
    screens = [(folder, screen) for folder in folders for screen in read_screens(folder)]
    boxes, vectors, is_icon, is_false = [], [], [], []
    for place, (folder, screen) in enumerate(screens, 1):
        found = locator.candidates(read_pixels(folder, screen), encoder)
        right, wrong = icons_among(found.boxes, screen)
        boxes.append(found.boxes)
        vectors += [found.vectors] if len(found.vectors) else []
        is_icon.append(right)
        is_false.append(wrong)
        progress("Judging boxes", place, len(screens))
    return Matched(
        Boxes(*map(np.concatenate, zip(*boxes, strict=True))),
        np.concatenate(vectors),
        np.repeat(np.arange(len(screens)), [len(found.scores) for found in boxes]),
        np.concatenate(is_icon),
        np.concatenate(is_false),
        np.array([len(screen.icons) for _, screen in screens]),
    )


def icons_among(boxes: Boxes, screen: Screen) -> tuple[Mask, Mask]:
    """Which boxes, best first, are icons of a screen, each icon once; and which are false."""
    wanted = np.array([icon.box for icon in screen.icons], np.float32).reshape(-1, 4)
    overlaps = iou_matrix(boxes.corners, wanted)
    is_false = overlaps.max(axis=1, initial=0) < _APART
    is_icon = np.zeros(len(boxes.scores), bool)
    for row in range(len(boxes.scores)) if len(wanted) else ():
        icon = int(overlaps[row].argmax())
        if overlaps[row, icon] >= _SAME:
            is_icon[row] = True
            overlaps[:, icon] = 0
    return is_icon, is_false


_MOST_FALSE = {WITH_ENCODER: 0.75, ALONE: 10.0}
"""False boxes on a screen without icons, on average, at the threshold: half of what is promised, as screens differ.
Without the encoder so few would cost half of the icons, on screens that are full of what is none."""
_HIDDEN = 48
_STEPS = 600
_RATE = 5e-3
_DECAY = 0.02
_DROPPED = 0.3


def fit_judges(
    fit: Sequence[Path], held: Sequence[Path], *, locator: Locator, encoder: QueryEncoder, progress: Progress
) -> dict[str, Judge]:
    """Fit on the screens of some folders, choose thresholds on others: a judge with the encoder, and one without."""
    fitted = match(fit, locator, encoder, progress=progress)
    kept = match(held, locator, encoder, progress=progress)
    judges = {WITH_ENCODER: _fit(fitted, n_hidden=_HIDDEN), ALONE: _fit(fitted, n_hidden=0)}
    return {
        kind: judge._replace(
            threshold=threshold_of(judge.scores(kept.boxes, kept.vectors), kept, most_false=_MOST_FALSE[kind])
        )
        for kind, judge in judges.items()
    }


def write_judges(judges: Mapping[str, Judge], folder: Path, *, fingerprint: str) -> None:
    """Write them beside the detector; `fingerprint` is the encoder's."""
    from safetensors.numpy import save

    thresholds = {kind: judge.threshold for kind, judge in judges.items()}
    tensors = {f"{kind}.{name}": getattr(judge, name) for kind, judge in judges.items() for name in Judge._fields[1:]}
    facts = json.dumps({"fingerprint": fingerprint, "thresholds": thresholds})
    write_file(folder / WEIGHTS, save(tensors, {"facts": facts}))


def _fit(matched: Matched, *, n_hidden: int) -> Judge:
    """Logistic regression over shapes, and a net of one hidden layer over shapes and vectors beside it."""
    torch.manual_seed(0)
    counts = matched.is_icon | matched.is_false
    shapes = torch.from_numpy(shape_of(matched.boxes)[counts])
    inputs = torch.cat([shapes, torch.from_numpy(matched.vectors[counts])], dim=1)
    wanted = torch.from_numpy(matched.is_icon[counts].astype(np.float32))
    plain = nn.Linear(N_SHAPE, 1)
    layers = [nn.Linear(inputs.shape[1], n_hidden), nn.Linear(n_hidden, 1, bias=False)] if n_hidden else []
    weights = [weight for layer in (plain, *layers) for weight in layer.parameters()]
    optimizer = torch.optim.AdamW(weights, lr=_RATE, weight_decay=_DECAY)
    for step in range(_STEPS):
        for group in optimizer.param_groups:
            group["lr"] = _RATE * (1 - step / _STEPS)
        logits = plain(shapes)[:, 0]
        if layers:
            logits = logits + layers[1](dropout(layers[0](inputs).relu(), _DROPPED))[:, 0]
        optimizer.zero_grad()
        binary_cross_entropy_with_logits(logits, wanted).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    hidden = (layers[0].weight.T, layers[0].bias, layers[1].weight[0]) if layers else (torch.zeros(N_SHAPE, 0),) * 3
    return Judge(0.5, *map(_values, (plain.weight[0], plain.bias, *hidden)))


def _values(weight: Tensor) -> Floats:
    return np.ascontiguousarray(weight.detach().numpy(), np.float32)


def threshold_of(scores: Floats, matched: Matched, *, most_false: float) -> float:
    """The score from which F1 is best, of those at which a screen without icons shows `most_false` boxes or fewer."""
    order = np.argsort(-scores, kind="stable")
    right = np.cumsum(matched.is_icon[order])
    f1 = 2 * right / (np.arange(1, len(order) + 1) + matched.n_icons.sum())
    is_bare = matched.n_icons[matched.screens[order]] == 0
    n_bare = max(int((matched.n_icons == 0).sum()), 1)
    has_few = np.cumsum(is_bare) <= most_false * n_bare
    return float(scores[order[int(np.argmax(np.where(has_few, f1, -1)))]])
