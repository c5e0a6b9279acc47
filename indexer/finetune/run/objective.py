"""What is wrong with the vectors of a batch, all terms together? Features of one rank -> loss of the whole batch."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Self

import torch
from torch import Tensor

from indexer.arrays import Ids, Mask
from indexer.finetune.corpus.captions import Captions
from indexer.finetune.model.loss import gathered, keeping_loss, sigmoid_loss, softmax_loss
from indexer.finetune.options import Loss
from indexer.ranks.distributed import Rank


@dataclass(frozen=True, slots=True)
class Features:
    """What a model says of some icons: unit vectors (n, dim), and the scalars of the logits."""

    images: Tensor
    texts: Tensor
    scale: Tensor
    bias: Tensor
    seconds: Tensor | None = None
    """Of a second caption of each icon."""
    words: Tensor | None = None
    """Of words whose similarities are to be kept."""

    def map(self, change: Callable[[Tensor], Tensor]) -> Self:
        """Apply a function to every tensor that is there."""
        named = ((field.name, getattr(self, field.name)) for field in fields(self))
        changed: dict[str, Any] = {name: None if tensor is None else change(tensor) for name, tensor in named}
        return type(self)(**changed)

    def present(self) -> list[Tensor]:
        """Every tensor that is there, always in one order."""
        tensors = (getattr(self, field.name) for field in fields(self))
        return [tensor for tensor in tensors if tensor is not None]


def joined(parts: list[Features]) -> Features:
    """Concatenate the features of micro-batches; the scalars are those of the last one."""
    columns: dict[str, Any] = {}
    for field in fields(Features):
        tensors = [getattr(part, field.name) for part in parts]
        is_scalar = field.name in ("scale", "bias")
        columns[field.name] = None if tensors[0] is None else tensors[-1] if is_scalar else torch.cat(tensors)
    return Features(**columns)


@dataclass(frozen=True, slots=True)
class Right:
    """What fits what in a batch of n icons over all ranks, and what the parent said of its words."""

    texts: Tensor
    """bool (n, n): icon, caption."""
    seconds: Tensor | None = None
    """bool (n, n): caption, second caption."""
    words: Tensor | None = None
    """The parent's vectors of the batch's words."""


def related(captions: Captions, bases: Ids, looks: Tensor | None, icons: Ids, drawn: Ids, *, twins: float) -> Tensor:
    """Say which captions (columns) are right for which icons (rows), bool (n, n).

    A caption is right for its own icon, for every icon that bears the same caption, for every icon of the same base
    name, and for every icon whose picture is nearly the same: by `looks`, unit vectors of all icons, cosine `twins`.
    """
    right: Mask = captions.fitting(icons, drawn) | (bases[icons][:, None] == bases[icons][None, :])
    found = torch.from_numpy(right)
    if looks is not None:
        own = looks[torch.from_numpy(icons)].float()
        found = found | (own @ own.T >= twins)
    return found.fill_diagonal_(True)


def batch_loss(features: Features, right: Right, options: Loss, *, rank: Rank) -> tuple[Tensor, dict[str, Tensor]]:
    """Loss of the whole batch from this rank's features, and its terms; every rank gets the same unless it is local."""
    images, texts = gathered(features.images), gathered(features.texts)
    n_own = len(features.images)
    rows = slice(rank.index * n_own, (rank.index + 1) * n_own) if options.local else slice(0, len(images))
    scalars = (features.scale, features.bias)
    terms = {"contrast": _both_ways(images, texts, scalars, right.texts, rows, options)}
    if features.seconds is not None:
        assert right.seconds is not None
        seconds = gathered(features.seconds)
        pair = _both_ways(texts, seconds, scalars, right.seconds, rows, options)
        terms["caption pair"] = options.caption_pair_weight * pair
    if features.words is not None:
        assert right.words is not None
        terms["keep words"] = options.keep_words_weight * keeping_loss(gathered(features.words), right.words)
    return torch.stack(list(terms.values())).sum(), {name: term.detach() for name, term in terms.items()}


def _both_ways(
    first: Tensor, second: Tensor, scalars: tuple[Tensor, Tensor], right: Tensor, rows: slice, options: Loss
) -> Tensor:
    own = torch.arange(len(first), device=first.device)[rows]
    masked = options.related == "masked"
    if options.kind == "sigmoid":  # symmetric in itself: every pair counts once
        return sigmoid_loss(first[rows], second, scalars, right[rows], own, masked=masked)
    there = softmax_loss(first[rows], second, scalars[0], right[rows], own, masked=masked)
    back = softmax_loss(second[rows], first, scalars[0], right.T[rows], own, masked=masked)
    return (there + back) / 2
