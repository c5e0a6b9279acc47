"""Convolutions computed sooner than torch does by itself: over small maps as products, and with the ReLU behind.

Over a map of 4 x 4 or 2 x 2 pixels much of what a kernel touches is padding, and oneDNN reaches a fraction of the rate
of a matrix product. Three such layers took 45 % of the bundled model's time; docs/log.md has the figures.
"""

from operator import add, iadd
from typing import Any, cast

import torch
from torch import Tensor, fx, nn
from torch.fx.passes.shape_prop import ShapeProp

_PADDED_3X3 = {"kernel_size": (3, 3), "padding": (1, 1), "dilation": (1, 1), "groups": 1, "padding_mode": "zeros"}

# Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", arXiv 1509.09308, section 4.3: F(4 x 4, 3 x 3).
# The first and last of its six inputs are padding here, so their columns are left out.
_INPUT = [[0, -5, 0, 1], [-4, -4, 1, 1], [4, -4, -1, 1], [-2, -1, 2, 1], [2, -1, -2, 1], [4, 0, -5, 0]]
_KERNEL_24 = [[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]]
_OUTPUT = [[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]]


def goes_as_ever(maps: Tensor) -> bool:
    """Whether maps (n, channels, height, width) are convolved by torch's own operator, in any form of it.

    So is what is exported, and a single picture: it waits for the weights, of which there are more here.
    """
    return torch.onnx.is_in_onnx_export() or len(maps) < 2


def multiply_small_maps(tower: nn.Module, images: Tensor) -> None:
    """Replace those convolutions of a tower that see small maps when it is given `images` (n, 3, side, side).

    Their type tells what the tower computes in: in bf16 Winograd's way is no faster, and rounds more.
    """
    convolutions = {
        name: module
        for name, module in tower.named_modules()
        if type(module) is nn.Conv2d and all(getattr(module, key) == value for key, value in _PADDED_3X3.items())
    }
    if not convolutions:
        return
    sides = _sides(list(convolutions.values()), tower, images)
    for name, convolution in convolutions.items():
        way = _WAYS.get((sides[convolution], convolution.stride))
        if way and (way is not Tile or images.dtype != torch.bfloat16):
            tower.set_submodule(name, way(convolution, sides[convolution]))


def _sides(convolutions: list[nn.Conv2d], tower: nn.Module, images: Tensor) -> dict[nn.Module, int]:
    """What each sees, as the side of a square map; 0 where it is no square."""
    seen: dict[nn.Module, int] = dict.fromkeys(convolutions, 0)

    def note(convolution: nn.Module, inputs: tuple[Tensor]) -> None:
        height, width = inputs[0].shape[2:]
        seen[convolution] = height if height == width else 0

    hooks = [convolution.register_forward_pre_hook(note) for convolution in convolutions]
    with torch.no_grad():
        tower(images)
    for hook in hooks:
        hook.remove()
    return seen


class SmallMap(nn.Conv2d):
    """A convolution that knows another way over square maps of one side; others it goes as ever."""

    def __init__(self, convolution: nn.Conv2d, side: int) -> None:
        shape = convolution.in_channels, convolution.out_channels, 3, cast(Any, convolution.stride), 1
        super().__init__(*shape, bias=convolution.bias is not None, device="meta")
        self.weight, self.bias, self.side = convolution.weight, convolution.bias, side

    def forward(self, maps: Tensor) -> Tensor:
        """Convolve maps (n, channels, height, width)."""
        if goes_as_ever(maps) or maps.shape[2:] != (self.side, self.side):
            return super().forward(maps)
        convolved = self.multiply(maps.permute(0, 2, 3, 1))
        if self.bias is not None:
            convolved += self.bias
        side = self.side // self.stride[0]
        return convolved.reshape(-1, side, side, self.out_channels).permute(0, 3, 1, 2)

    def multiply(self, maps: Tensor) -> Tensor:
        """Convolve maps with channels last (n, side, side, channels), without the bias: (n, pixels, channels)."""
        raise NotImplementedError


class Windows(SmallMap):
    """To maps of 2 x 2: for each pixel one product of what it sees, without the padding."""

    def __init__(self, convolution: nn.Conv2d, side: int) -> None:
        super().__init__(convolution, side)
        stride = side // 2
        spans = [(max(0, stride * at - 1), min(side, stride * at + 2)) for at in range(2)]
        self.windows = [(rows, columns) for rows in spans for columns in spans]
        for number, (rows, columns) in enumerate(self.windows):
            top, left = (1 - stride * (number // 2), 1 - stride * (number % 2))
            seen = self.weight.detach()[:, :, rows[0] + top : rows[1] + top, columns[0] + left : columns[1] + left]
            product = seen.permute(2, 3, 1, 0).reshape(-1, self.out_channels)
            self.register_buffer(f"window_{number}", product.contiguous(), persistent=False)

    def multiply(self, maps: Tensor) -> Tensor:
        """Convolve maps with channels last."""
        pixels = [
            maps[:, rows[0] : rows[1], columns[0] : columns[1]].flatten(1) @ getattr(self, f"window_{number}")
            for number, (rows, columns) in enumerate(self.windows)
        ]
        return torch.stack(pixels, dim=1)


class Tile(SmallMap):
    """From 4 x 4 to 4 x 4: Winograd's way, 36 products of channels instead of 144."""

    before: Tensor
    products: Tensor
    after: Tensor

    def __init__(self, convolution: nn.Conv2d, side: int) -> None:
        super().__init__(convolution, side)
        weight = self.weight.detach().double()
        before, kernel, after = (torch.tensor(rows, dtype=torch.float64) for rows in (_INPUT, _KERNEL_24, _OUTPUT))
        products = torch.einsum("pi,ocij,qj->pqco", kernel / 24, weight, kernel / 24).flatten(0, 1)
        for name, tensor in (
            ("before", torch.kron(before, before)), ("products", products), ("after", torch.kron(after, after)),
        ):  # fmt: skip
            self.register_buffer(name, tensor.to(self.weight.dtype).contiguous(), persistent=False)

    def multiply(self, maps: Tensor) -> Tensor:
        """Convolve maps with channels last."""
        parts = (self.before @ maps.flatten(1, 2)).transpose(0, 1)
        return self.after @ torch.bmm(parts, self.products).transpose(0, 1)


_WAYS: dict[tuple[int, Any], type[SmallMap]] = {(4, (1, 1)): Tile, (4, (2, 2)): Windows, (2, (1, 1)): Windows}
"""By the side of a map and the stride."""


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
