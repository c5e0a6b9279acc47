"""Convolutions over small maps as products of what each pixel sees, without the padding.

Over a map of 4 x 4 or 2 x 2 pixels much of what a kernel touches is padding, and oneDNN reaches a fraction of the rate
of a matrix product. Such layers took 40 % of the bundled model's time; docs/performance.md has the figures.
"""

from typing import Any, cast

import torch
from torch import Tensor, nn

_PADDED_3X3 = {"kernel_size": (3, 3), "padding": (1, 1), "dilation": (1, 1), "groups": 1, "padding_mode": "zeros"}
_SMALL = {(4, (2, 2)), (2, (1, 1))}
"""Side of a map, and stride: those that give a map of 2 x 2."""


def multiply_small_maps(tower: nn.Module, images: Tensor) -> None:
    """Replace those convolutions of a tower that see small maps when it encodes `images` (n, 3, side, side)."""
    seen: dict[nn.Module, Any] = {}

    def note(convolution: nn.Module, inputs: tuple[Tensor]) -> None:
        seen[convolution] = tuple(inputs[0].shape[2:])

    named = {
        name: module
        for name, module in tower.named_modules()
        if type(module) is nn.Conv2d and all(getattr(module, key) == value for key, value in _PADDED_3X3.items())
    }
    hooks = [convolution.register_forward_pre_hook(note) for convolution in named.values()]
    if hooks:
        with torch.no_grad():
            tower(images)
    for hook in hooks:
        hook.remove()
    for name, convolution in named.items():
        height, width = seen[convolution]
        if height == width and (height, convolution.stride) in _SMALL:
            tower.set_submodule(name, SmallMap(convolution, height))


class SmallMap(nn.Conv2d):
    """A convolution that multiplies square maps of one side, and convolves all others."""

    def __init__(self, convolution: nn.Conv2d, side: int) -> None:
        shape = convolution.in_channels, convolution.out_channels, 3, cast(Any, convolution.stride), 1
        super().__init__(*shape, bias=convolution.bias is not None, device="meta")
        self.weight, self.bias, self.side = convolution.weight, convolution.bias, side
        stride = side // 2
        spans = [(max(0, stride * at - 1), min(side, stride * at + 2)) for at in range(2)]
        self.windows = [(rows, columns) for rows in spans for columns in spans]
        for number, (rows, columns) in enumerate(self.windows):
            top, left = (1 - stride * (number // 2), 1 - stride * (number % 2))
            kernel = self.weight.detach()[:, :, rows[0] + top : rows[1] + top, columns[0] + left : columns[1] + left]
            product = kernel.permute(2, 3, 1, 0).reshape(-1, self.out_channels)
            self.register_buffer(f"window_{number}", product.contiguous(), persistent=False)

    def forward(self, maps: Tensor) -> Tensor:
        """Convolve maps (n, channels, height, width).

        An exported graph holds the plain operator. So does a single picture: it waits for the weights, of which there
        are more here.
        """
        if torch.onnx.is_in_onnx_export() or len(maps) < 2 or maps.shape[2:] != (self.side, self.side):
            return super().forward(maps)
        channels_last = maps.permute(0, 2, 3, 1)
        pixels = [
            channels_last[:, rows[0] : rows[1], columns[0] : columns[1]].flatten(1) @ getattr(self, f"window_{number}")
            for number, (rows, columns) in enumerate(self.windows)
        ]
        convolved = torch.stack(pixels, dim=1)
        if self.bias is not None:
            convolved += self.bias
        return convolved.reshape(-1, 2, 2, self.out_channels).permute(0, 3, 1, 2)
