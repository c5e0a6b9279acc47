from pathlib import Path

import pytest
import torch
from torch import nn

from indexer.encoders.torch_encoder import SmallMap, multiply_small_maps


def _tower(*, bias: bool = True) -> nn.Sequential:
    torch.manual_seed(0)
    layers = [
        nn.Conv2d(3, 5, 3, stride=2, padding=1, bias=bias),  # 8 x 8 -> 4 x 4
        nn.Conv2d(5, 7, 3, padding=1, bias=bias),
        nn.Conv2d(7, 9, 3, stride=2, padding=1, bias=bias),  # -> 2 x 2
        nn.Conv2d(9, 4, 3, padding=1, bias=bias),
    ]
    return nn.Sequential(*layers).double().eval()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("n_pictures", [1, 3])
def test_convolutions_over_small_maps_give_what_they_gave_before(bias: bool, n_pictures: int) -> None:
    tower, images = _tower(bias=bias), torch.randn(n_pictures, 3, 8, 8, dtype=torch.float64)
    with torch.inference_mode():
        before = tower(images)
        multiply_small_maps(tower)
        assert all(isinstance(layer, SmallMap) for layer in tower)
        assert (tower(images) - before).abs().max() < 1e-12


def test_a_picture_of_another_size_is_convolved_as_ever() -> None:
    tower, images = _tower(), torch.randn(2, 3, 12, 16, dtype=torch.float64)
    before = tower(images)
    multiply_small_maps(tower)
    assert torch.equal(tower(images), before)


def test_what_has_no_small_map_to_convolve_stays_as_it_is() -> None:
    unlike = [
        nn.Conv2d(3, 3, 3, stride=3, padding=1),
        nn.Conv2d(3, 3, 1),
        nn.Conv2d(3, 3, 3, padding=1, groups=3),
        nn.Conv2d(3, 3, 3, padding=2, dilation=2),
        nn.Conv2d(3, 3, 3, padding=1, padding_mode="reflect"),
        nn.Conv2d(3, 3, (1, 3), padding=(0, 1)),
    ]
    tower = nn.Sequential(*unlike)
    multiply_small_maps(tower)
    assert not any(isinstance(layer, SmallMap) for layer in tower)


def test_an_exported_tower_holds_the_convolutions_alone(tmp_path: Path) -> None:
    import onnx

    tower = _tower()
    multiply_small_maps(tower)
    with pytest.warns(DeprecationWarning):
        torch.onnx.export(tower, (torch.zeros(2, 3, 8, 8, dtype=torch.float64),), tmp_path / "tower.onnx", dynamo=False)
    assert [node.op_type for node in onnx.load(tmp_path / "tower.onnx").graph.node] == ["Conv"] * 4
