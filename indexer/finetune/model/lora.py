"""How is a tower trained through a few numbers? Low-rank additions to its matrices (LoRA, Hu et al. 2021)."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from indexer.errors import ModelError


class LowRank(nn.Module):
    """Adds `scale` * up @ down to a matrix (rows, columns); `up` starts at zero, so nothing changes at first."""

    def __init__(self, matrix: Tensor, *, rank: int, scale: float) -> None:
        super().__init__()
        rows, columns = matrix.shape
        rank = min(rank, rows, columns)
        self.down = nn.Parameter(torch.empty(rank, columns, dtype=matrix.dtype))
        self.up = nn.Parameter(torch.zeros(rows, rank, dtype=matrix.dtype))
        self.scale = scale
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, matrix: Tensor) -> Tensor:
        """The matrix as the tower sees it."""
        return matrix + self.scale * (self.up @ self.down)


def add_lora(towers: list[nn.Module], *, rank: int, scale: float) -> None:
    """Give every linear layer and attention projection of frozen towers a low-rank addition, which is trained.

    Raises:
        ModelError: a tower holds no such matrix.
    """
    matrices = [matrix for tower in towers for matrix in _matrices(tower)]
    if not matrices:
        raise ModelError("this tower has no linear layers to add to; train it in full, or leave it locked")
    for module, name in matrices:
        addition = LowRank(getattr(module, name), rank=rank, scale=scale)
        parametrize.register_parametrization(module, name, addition)


def merged_weights(model: nn.Module) -> dict[str, Tensor]:
    """The state of `model` with additions merged and under the names that it had without them; nothing is changed."""
    weights = {name: tensor for name, tensor in model.state_dict().items() if "parametrizations." not in name}
    for path, module in model.named_modules():
        if parametrize.is_parametrized(module):
            for name in module.parametrizations:
                weights[f"{path}.{name}" if path else name] = getattr(module, name).detach()
    return weights


def _matrices(tower: nn.Module) -> Iterator[tuple[nn.Module, str]]:
    for module in tower.modules():
        if isinstance(module, nn.Linear):
            yield module, "weight"
        elif isinstance(getattr(module, "in_proj_weight", None), nn.Parameter):
            yield module, "in_proj_weight"
