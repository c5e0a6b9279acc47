"""How a model trains that no device holds whole: in shards from the start (FSDP).

Rank 0 reads the weights on the CPU. All ranks build the model without weights, shard it by its blocks, and rank 0 hands
out one tensor after the other.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.utils.parametrize import ParametrizationList

from indexer.embedding.distributed import Rank
from indexer.errors import TrainError
from indexer.finetune.checkpoints import put_whole
from indexer.finetune.student import Student, weights_left_out


def check_shardable(*, rank: Rank, precision: str) -> None:
    """See that a model can be sharded.

    Raises:
        TrainError: there is one process alone, or fp16, in whose loss scaling FSDP does not take part here.
    """
    if rank.world == 1:
        raise TrainError(
            "strategy=fsdp needs several processes; give --devices with two or more, or --set strategy=ddp"
        )
    if precision == "fp16":
        why = "which precision=auto takes on GPUs older than Ampere"
        raise TrainError(f'strategy=fsdp does not work in "fp16", {why}; give --set precision=bf16 or fp32')


def sharded(whole: Student | None, make: Callable[[], Student], *, rank: Rank, device: torch.device) -> Student:
    """Make a student of which each rank has a part, with the weights of rank 0's `whole` one."""
    with weights_left_out():
        student = make()
    shard(student, rank=rank, device=device)
    fill(student, whole.state_dict() if whole is not None else {}, rank=rank, device=device)
    return student


def shard(student: Student, *, rank: Rank, device: torch.device) -> None:
    """Shard every block and the rest in place; the scalars of the logits stay whole, as FSDP takes none."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

    mesh = init_device_mesh(device.type, (rank.world,))  # by itself FSDP takes GPUs where there are any
    whole = {parameter for parameter in student.parameters() if parameter.ndim == 0}
    for block in blocks(student):
        fully_shard(block, mesh=mesh, ignored_params=whole)
    sharded: Any = fully_shard(student, mesh=mesh, ignored_params=whole)
    for method in ("encode_images", "encode_texts"):
        register_fsdp_forward_method(sharded, method)


def blocks(module: nn.Module) -> Iterator[nn.Module]:
    """What a model is a row of, innermost first found: members of lists and sequences that have parts of their own.

    So are transformer blocks wherever they stand in a row, and the blocks of ResNet's and ConvNeXt's stages.
    """
    is_row = isinstance(module, nn.ModuleList | nn.Sequential)
    for child in module.children():
        if isinstance(child, ParametrizationList):  # low-rank additions belong to the block that they are added to
            continue
        inner = list(blocks(child))
        if inner:
            yield from inner
        elif is_row and _n_with_weights(child) > 1:
            yield child


def _n_with_weights(module: nn.Module) -> int:
    return sum(any(True for _ in part.parameters(recurse=False)) for part in module.modules())


@torch.no_grad()
def fill(student: Student, weights: Mapping[str, Tensor], *, rank: Rank, device: torch.device) -> None:
    """Give a sharded student without weights those that rank 0 has, whole and on the CPU; elsewhere there are none.

    Of the whole model a device holds one tensor at a time.
    """
    buffers = {name: buffer.clone() for name, buffer in student.named_buffers()}
    student.to_empty(device=device)
    for name, buffer in student.named_buffers():
        buffer.copy_(buffers[name])
    for name, tensor in student.state_dict().items():  # in one order on all ranks
        if hasattr(tensor, "full_tensor"):
            put_whole(tensor, weights[name] if rank.index == 0 else torch.empty(tensor.shape, dtype=tensor.dtype))
        else:
            tensor.copy_(weights.get(name, tensor))
            dist.broadcast(tensor, src=0)
