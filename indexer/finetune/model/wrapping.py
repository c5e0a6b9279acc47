"""How do ranks share a model? DDP keeps it whole on each and averages gradients; FSDP keeps a part on each."""

from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils.parametrize import ParametrizationList

from indexer.errors import TrainError
from indexer.finetune.model.student import Student
from indexer.finetune.options import Distribution
from indexer.ranks.distributed import Rank


def wrap(student: Student, options: Distribution, *, rank: Rank, device: torch.device, precision: str) -> nn.Module:
    """Make a student ready for several ranks; alone it stays what it is.

    Raises:
        TrainError: FSDP with fp16, whose loss scaling it does not take part in here, or with one process.
    """
    if options.strategy == "fsdp":
        return _sharded(student, rank=rank, precision=precision)
    if rank.world == 1:
        return student
    return DistributedDataParallel(
        student,
        device_ids=[device] if device.type == "cuda" else None,
        bucket_cap_mb=options.bucket_cap_mb,
        gradient_as_bucket_view=options.gradient_as_bucket_view,
        static_graph=options.static_graph,
    )


def _sharded(student: Student, *, rank: Rank, precision: str) -> nn.Module:
    """Shard every block and the rest in place; the scalars of the logits stay whole, as FSDP takes none."""
    from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

    if rank.world == 1:
        raise TrainError("--strategy fsdp needs several processes; give --devices with two or more, or --strategy ddp")
    if precision == "fp16":
        raise TrainError("--strategy fsdp works in bf16 and fp32; give --precision bf16")
    whole = {parameter for parameter in student.parameters() if parameter.ndim == 0}
    for module in list(student.modules()):
        # Low-rank additions stand in such a list, too; they belong to the block that they are added to.
        if isinstance(module, nn.ModuleList) and not isinstance(module, ParametrizationList):
            for block in module:
                fully_shard(block, ignored_params=whole)
    sharded: Any = fully_shard(student, ignored_params=whole)
    for method in ("encode_images", "encode_texts"):
        register_fsdp_forward_method(sharded, method)
    return student
