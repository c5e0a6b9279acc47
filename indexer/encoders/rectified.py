"""A convolution, the addition and the ReLU behind it as one operation of oneDNN: the same function on a CPU.

By themselves addition and ReLU go through all of a map once more, which in bf16 costs as much as the convolution does;
docs/log.md has the figures.
"""

from operator import add, iadd
from typing import Any, cast

import torch
from torch import Tensor, fx, nn
from torch.fx.passes.shape_prop import ShapeProp

from indexer.encoders.small_maps import goes_as_ever

_NOTHING = (nn.Identity, nn.Dropout)
"""What does nothing in evaluation mode."""


class Rectified(nn.Module):
    """A convolution, the sum with another map where there is one, and a ReLU."""

    def __init__(self, convolution: nn.Conv2d) -> None:
        super().__init__()
        self.convolution = convolution
        self.shape = convolution.padding, convolution.stride, convolution.dilation, convolution.groups

    def forward(self, maps: Tensor, other: Tensor | None = None) -> Tensor:
        """Convolve maps (n, channels, height, width); `other` has the shape of what comes of it."""
        weight, bias, fused = self.convolution.weight, self.convolution.bias, torch.ops.mkldnn._convolution_pointwise
        # Autocast sees through torch's own operators alone.
        if goes_as_ever(maps) or maps.dtype != weight.dtype or not _is_taken(maps.dtype):
            convolved = self.convolution(maps)
            return torch.relu(convolved if other is None else convolved + other)
        if other is None:
            return cast(Tensor, fused(maps, weight, bias, *self.shape, "relu", [], ""))
        return cast(Tensor, fused.binary(maps, other, weight, bias, *self.shape, "add", 1.0, "relu", [], ""))


def fuse_rectified(tower: nn.Module, images: Tensor) -> None:
    """Replace the convolutions of a traced tower that a ReLU follows, at once or behind a sum of two maps of one shape.

    `images` (n, 3, side, side) tell the shapes. A tower that could not be traced stays as it is, as does one where
    torch has no oneDNN.
    """
    if not isinstance(tower, fx.GraphModule) or not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return
    modules = dict(tower.named_modules())
    with torch.inference_mode():
        ShapeProp(tower).propagate(images)
    for node in list(tower.graph.nodes):
        if _is_module(node, modules, *_NOTHING):
            _replace(node, node.all_input_nodes[0])
    for relu in list(tower.graph.nodes):
        if _is_module(relu, modules, nn.ReLU):
            _fuse(relu, tower, modules)
    tower.recompile()


def _fuse(relu: fx.Node, tower: fx.GraphModule, modules: dict[str, nn.Module]) -> None:
    """Have the convolution before a ReLU do its work, and that of a sum in between."""
    before = relu.all_input_nodes[0]
    summed = _of_one_shape(before)
    convolution = next((node for node in summed or [before] if _is_fit(node, modules, is_summed=bool(summed))), None)
    if convolution is None:
        return
    name = str(convolution.target)
    tower.set_submodule(name, Rectified(cast(nn.Conv2d, modules[name])))
    others = [node for node in summed if node is not convolution]
    with tower.graph.inserting_before(relu):
        fused = tower.graph.call_module(name, (*convolution.all_input_nodes, *others))
    fused.meta = relu.meta  # its shape, which the next sum asks for
    _replace(relu, fused)
    if summed:
        tower.graph.erase_node(before)
    tower.graph.erase_node(convolution)


def _is_taken(dtype: torch.dtype) -> bool:
    """Whether oneDNN convolves maps of a type here: bf16 wants units of the processor that not all have."""
    return dtype == torch.float32 or (dtype == torch.bfloat16 and torch.ops.mkldnn._is_mkldnn_bf16_supported())


def _is_module(node: fx.Node, modules: dict[str, nn.Module], *kinds: type[nn.Module]) -> bool:
    return node.op == "call_module" and type(modules[str(node.target)]) in kinds


def _replace(node: fx.Node, other: fx.Node) -> None:
    node.replace_all_uses_with(other)
    node.graph.erase_node(node)


def _of_one_shape(node: fx.Node) -> list[fx.Node]:
    """The two maps of which a node that is used once is the sum; empty where it is none, or has to stretch one."""
    is_sum = node.op == "call_function" and node.target in (add, iadd, torch.add) and not node.kwargs
    if not is_sum or len(node.users) > 1 or not all(isinstance(one, fx.Node) for one in node.args):
        return []
    one, other = cast(list[fx.Node], list(node.args))
    return [one, other] if one is not other and _shape(one) == _shape(other) else []


def _shape(node: fx.Node) -> Any:
    return getattr(node.meta.get("tensor_meta"), "shape", None)


def _is_fit(node: fx.Node, modules: dict[str, nn.Module], *, is_summed: bool) -> bool:
    """Whether a node is a convolution as oneDNN knows them, computed in one place for one user."""
    if not _is_module(node, modules, nn.Conv2d) or len(node.users) > 1:
        return False
    convolution = cast(nn.Conv2d, modules[str(node.target)])
    is_plain = convolution.padding_mode == "zeros" and isinstance(convolution.padding, tuple)
    has_sum = convolution.groups == 1 or not is_summed
    return is_plain and has_sum and sum(other.target == node.target for other in node.graph.nodes) == 1
