"""How far are pictures and captions from where they belong? Softmax loss with soft targets, over one rank or many."""

from typing import Any, cast

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional

from indexer.finetune.captions import Captions, Ids


def soft_targets(captions: Captions, bases: Ids, *, icons: Ids, drawn: Ids) -> Tensor:
    """Say which captions (columns) are right for which icons (rows): 1 or 0, float32 (n, n).

    A caption is right for its own icon, for every icon that bears the same caption, and for every icon of the same base
    name (`bases`, a number for each icon of the corpus): none of these may be pushed away.
    """
    right = captions.fitting(icons, drawn) | (bases[icons][:, None] == bases[icons][None, :])
    return torch.from_numpy(right).float()


def contrastive_loss(images: Tensor, texts: Tensor, scale: Tensor, targets: Tensor) -> Tensor:
    """Cross entropy from pictures to captions and back (CLIP, Radford et al. 2021); right answers share the target."""
    logits = scale * images @ texts.T
    to_texts = functional.cross_entropy(logits, targets / targets.sum(1, keepdim=True))
    to_images = functional.cross_entropy(logits.T, (targets / targets.sum(0, keepdim=True)).T)
    return (to_texts + to_images) / 2


def gathered(vectors: Tensor) -> Tensor:
    """Concatenate all ranks' vectors in rank order; gradients flow back to the rank that each came from.

    Every rank then computes the loss of the whole batch. The backward pass of the gather sums W equal gradients, which
    DDP's averaging over W ranks cancels: parameters get exactly the gradient of the whole batch's loss.
    """
    return cast(Tensor, _Gather.apply(vectors)) if dist.is_initialized() else vectors


def gathered_ids(ids: Ids) -> Ids:
    """Concatenate all ranks' numbers in rank order."""
    if not dist.is_initialized():
        return ids
    parts = [torch.empty(len(ids), dtype=torch.int64) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, torch.from_numpy(ids))
    return cast(Ids, np.concatenate([part.numpy() for part in parts]))


class _Gather(torch.autograd.Function):
    """All ranks' rows; backward adds up what every rank's loss says about this rank's rows."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor) -> Tensor:
        """Rows of all ranks, in rank order."""
        parts = [torch.empty_like(vectors) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, vectors.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        """Own rows of the sum over ranks."""
        total = gradients[0].clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total)
        return total.chunk(dist.get_world_size())[dist.get_rank()]
