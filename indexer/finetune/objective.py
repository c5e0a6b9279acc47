"""What is wrong with the vectors of a batch, all terms together."""

import math
from dataclasses import dataclass
from typing import Any, cast

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional

from indexer.embedding.distributed import Rank
from indexer.finetune.batches import Sides
from indexer.finetune.options import Loss

Features = dict[str, Tensor]
"""What a model says of some icons: unit vectors (n, dim) as `images` and `texts`, the logits' `scale` and `bias`; where
asked for, `seconds` of a second caption of each icon, and `words` whose similarities are to be kept."""


@dataclass(frozen=True, slots=True)
class Right:
    """What fits what in the rows of a batch that a rank compares, and what the parent said of the batch's words."""

    texts: Sides
    """Icon and caption."""
    seconds: Sides | None = None
    """Caption and second caption."""
    words: Tensor | None = None
    """The parent's vectors of the batch's words."""


def batch_loss(features: Features, right: Right, options: Loss, *, rank: Rank) -> tuple[Tensor, dict[str, Tensor]]:
    """Loss of the whole batch from this rank's features, and its terms; every rank gets the same unless it is local."""
    images, texts = gathered(features["images"]), gathered(features["texts"])
    n_own = len(features["images"])
    rows = slice(rank.index * n_own, (rank.index + 1) * n_own) if options.local else slice(0, len(images))
    scalars = (features["scale"], features["bias"])
    terms = {"contrast": both_ways(images, texts, scalars, right.texts, rows, options)}
    if "seconds" in features:
        assert right.seconds is not None
        seconds = gathered(features["seconds"])
        pair = both_ways(texts, seconds, scalars, right.seconds, rows, options)
        terms["caption pair"] = options.caption_pair_weight * pair
    if "words" in features:
        assert right.words is not None
        terms["keep words"] = options.keep_words_weight * keeping_loss(gathered(features["words"]), right.words)
    return torch.stack(list(terms.values())).sum(), {name: term.detach() for name, term in terms.items()}


def both_ways(
    first: Tensor, second: Tensor, scalars: tuple[Tensor, Tensor], right: Sides, rows: slice, options: Loss
) -> Tensor:
    """Loss of some `rows` of `first` against all of `second`, and of those of `second` against all of `first`."""
    own = torch.arange(len(first), device=first.device)[rows]
    masked = options.related == "masked"
    if options.kind == "sigmoid":  # symmetric in itself: every pair counts once
        return sigmoid_loss(first[rows], second, scalars, right[0], own, masked=masked)
    there = softmax_loss(first[rows], second, scalars[0], right[0], own, masked=masked)
    back = softmax_loss(second[rows], first, scalars[0], right[1], own, masked=masked)
    return (there + back) / 2


def softmax_loss(rows: Tensor, columns: Tensor, scale: Tensor, right: Tensor, own: Tensor, *, masked: bool) -> Tensor:
    """Mean cross entropy from each row to all columns (CLIP, Radford et al. 2021), a scalar.

    `rows` (n, dim) and `columns` (m, dim) are unit vectors, `right` bool (n, m) says which columns fit a row, `own`
    int64 (n,) which column was drawn for it. What else fits shares the target, or is left out (`masked`).
    """
    logits = scale * rows @ columns.T
    if masked:
        logits = logits.masked_fill(right & ~_is_own(right, own), -math.inf)
        return functional.cross_entropy(logits, own)
    targets = right.to(logits.dtype)
    return functional.cross_entropy(logits, targets / targets.sum(1, keepdim=True))


def sigmoid_loss(
    rows: Tensor, columns: Tensor, scalars: tuple[Tensor, Tensor], right: Tensor, own: Tensor, *, masked: bool
) -> Tensor:
    """Log loss of every pair on its own, summed over columns, mean over rows (SigLIP, Zhai et al. 2023), a scalar.

    Takes what `softmax_loss` takes, with scale and bias of the logits in `scalars`.
    """
    scale, bias = scalars
    logits = scale * rows @ columns.T + bias
    is_own = _is_own(right, own)
    signs = torch.where(is_own if masked else right, 1.0, -1.0)
    losses = -functional.logsigmoid(signs * logits)
    if masked:
        losses = losses.masked_fill(right & ~is_own, 0.0)
    return losses.sum() / len(rows)


def keeping_loss(vectors: Tensor, parents: Tensor) -> Tensor:
    """Mean squared difference of two similarity matrices over the same texts, from unit vectors (n, any dim) each."""
    return functional.mse_loss(vectors @ vectors.T, parents @ parents.T)


def _is_own(right: Tensor, own: Tensor) -> Tensor:
    return torch.zeros_like(right).scatter_(1, own[:, None], True)


def gathered(vectors: Tensor) -> Tensor:
    """Concatenate all ranks' vectors in rank order; gradients flow back to the rank that each came from.

    Every rank then computes the loss of the whole batch. The backward pass of the gather sums W equal gradients, which
    DDP's averaging over W ranks cancels: parameters get exactly the gradient of the whole batch's loss. With a local
    loss the W gradients differ, and their mean is that gradient.
    """
    return cast(Tensor, _Gather.apply(vectors)) if dist.is_initialized() else vectors


class _Gather(torch.autograd.Function):
    """All ranks' rows; backward adds up what every rank's loss says about this rank's rows."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor) -> Tensor:
        """Rows of all ranks, in rank order."""
        vectors = vectors.contiguous()
        parts = [torch.empty_like(vectors) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, vectors)
        return torch.cat(parts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        """Own rows of the sum over ranks."""
        total = gradients[0].clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total)
        return total.chunk(dist.get_world_size())[dist.get_rank()]
