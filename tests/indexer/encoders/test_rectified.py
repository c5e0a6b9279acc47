from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, fx, nn

from indexer.encoders.convolutions import Rectified, fuse_rectified

pytestmark = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="torch without oneDNN")  # type: ignore[no-untyped-call]


class _Residual(nn.Module):
    """What residual towers have: a stem, a sum with what went in, one with a 1 x 1 convolution of it, groups."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.first, self.second = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1, bias=False)
        self.narrow, self.beside = nn.Conv2d(8, 16, 3, stride=2, padding=1, groups=4), nn.Conv2d(8, 16, 1, stride=2)
        self.nothing, self.relu = nn.Identity(), nn.ReLU(inplace=True)

    def forward(self, images: Tensor) -> Tensor:
        maps = self.relu(self.stem(images))
        inner = self.second(self.relu(self.nothing(self.first(maps))))
        inner += maps
        maps = self.relu(inner)
        maps = self.relu(self.narrow(maps) + self.beside(maps))
        return maps.mean(dim=(2, 3))


def _traced(tower: nn.Module, kind: torch.dtype = torch.float32) -> fx.GraphModule:
    torch.manual_seed(0)
    return fx.symbolic_trace(tower.eval().to(kind, memory_format=torch.channels_last))


def _n_fused(tower: nn.Module) -> int:
    return sum(isinstance(module, Rectified) for module in tower.modules())


@pytest.mark.parametrize(("kind", "most"), [(torch.float32, 1e-5), (torch.bfloat16, 0.05)])
@pytest.mark.parametrize("n_pictures", [1, 3])
def test_a_fused_tower_gives_what_it_gave_before(kind: torch.dtype, most: float, n_pictures: int) -> None:
    if kind is torch.bfloat16 and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        pytest.skip("a processor on which oneDNN has no bf16")
    tower = _traced(_Residual(), kind)
    images = torch.randn(n_pictures, 3, 16, 16).to(kind)
    with torch.inference_mode():
        before = tower(images)
        fuse_rectified(tower, torch.zeros(2, 3, 16, 16, dtype=kind))
        assert _n_fused(tower) == 4
        assert not [node for node in tower.graph.nodes if node.op == "call_function" and "add" in node.name]
        assert (tower(images) - before).abs().max() < most


def test_a_fused_tower_computes_in_fp64_too() -> None:
    tower, images = _traced(_Residual()), torch.randn(2, 3, 16, 16)
    with torch.inference_mode():
        before = tower(images)
        fuse_rectified(tower, images)
        assert (tower.double()(images.double()) - before).abs().max() < 1e-5


def test_autocast_computes_as_before() -> None:
    tower, images = _traced(_Residual(), torch.bfloat16), torch.randn(2, 3, 16, 16)
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        before = tower(images)
        fuse_rectified(tower, images.bfloat16())
        assert (tower(images) - before).abs().max() < 0.05


class _Unlike(nn.Module):
    def __init__(self, then: Callable[[nn.Conv2d, Tensor], Tensor], **unlike: str) -> None:
        super().__init__()
        self.convolution, self.relu, self.then = nn.Conv2d(3, 3, 3, padding=1, **unlike), nn.ReLU(), then  # type: ignore[arg-type]

    def forward(self, images: Tensor) -> Tensor:
        return self.relu(self.then(self.convolution, images))


@pytest.mark.parametrize(
    "unlike",
    [
        _Unlike(lambda convolution, images: convolution(images) + images.mean(dim=(2, 3), keepdim=True)),
        _Unlike(lambda convolution, images: convolution(convolution(images))),
        _Unlike(lambda convolution, images: convolution(images) * 2),
        _Unlike(lambda convolution, images: convolution(images) + 1),
        _Unlike(lambda convolution, images: convolution(images), padding_mode="reflect"),
    ],
    ids=["a sum that stretches", "twice the same", "no sum", "a number", "a mirrored edge"],
)
def test_what_has_no_such_operation_stays_as_it_is(unlike: nn.Module) -> None:
    tower, images = _traced(unlike), torch.randn(2, 3, 8, 8)
    with torch.inference_mode():
        before = tower(images)
        fuse_rectified(tower, images)
        assert _n_fused(tower) == 0
        assert torch.equal(tower(images), before)


def test_a_convolution_that_somebody_else_reads_as_well_is_not_rectified_for_them() -> None:
    tower = _traced(_Unlike(lambda convolution, images: (maps := convolution(images)) + torch.relu(maps)))
    images = torch.randn(2, 3, 8, 8)
    with torch.inference_mode():
        before = tower(images)
        fuse_rectified(tower, images)
        assert torch.equal(tower(images), before)


def test_an_exported_tower_holds_plain_operators(tmp_path: Path) -> None:
    import onnx

    tower, images = _traced(_Residual()), torch.zeros(2, 3, 16, 16)
    fuse_rectified(tower, images)
    with pytest.warns(DeprecationWarning):
        torch.onnx.export(tower, (images,), tmp_path / "tower.onnx", dynamo=False)
    kinds = [node.op_type for node in onnx.load(tmp_path / "tower.onnx").graph.node]
    assert kinds.count("Conv") == 5
    assert kinds.count("Relu") == 4


def test_operations_are_counted_as_ever() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    counts = []
    tower, images = _traced(_Residual()), torch.zeros(1, 3, 16, 16)
    for _ in range(2):
        with torch.inference_mode(), FlopCounterMode(display=False) as counter:
            tower(images)
        counts.append(counter.get_total_flops())
        fuse_rectified(tower, torch.zeros(2, 3, 16, 16))
    assert counts[0] == counts[1] > 0
