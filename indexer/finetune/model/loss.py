"""How far are vectors from where they belong? Softmax and sigmoid losses with related pairs, and what is gathered."""

import math
from typing import Any, cast

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional

MAX_SCALE = 100.0


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
