"""What the parts of an embedding take by themselves: counted against what is obvious, and run in small."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from indexer.bench import alone
from indexer.bench.processes import ask_alone
from indexer.encoders.checkpoint import ModelChoice
from indexer.process import cores


class _Tower(nn.Module):
    """A convolution of 3 x 3 to four channels, and a matrix of all of those to ten numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution, self.matrix = nn.Conv2d(3, 4, 3, padding=1), nn.Linear(4 * 8 * 8, 10, bias=False)

    def forward(self, pixels: torch.Tensor) -> Any:
        return self.matrix(self.convolution(pixels.permute(0, 3, 1, 2).float()).flatten(1))


def test_operations_are_counted_and_a_ceiling_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(alone._SIDES, "cpu", 64)
    encoder = SimpleNamespace(image_tower=_Tower(), image_size=8, device=torch.device("cpu"), precision="fp32")
    flops, ceiling = alone._roofline(encoder)
    assert flops == 2 * (8 * 8 * 4 * 3 * 3 * 3) + 2 * (4 * 8 * 8 * 10)
    assert ceiling > 1e6


def _asked(model: Path) -> dict[str, Any]:
    return {"choice": ModelChoice(f"local-dir:{model}").to_json(), "kind": "cpu"}


def test_passes_are_timed_by_the_size_of_the_batch(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(alone._SIDES, "cpu", 64)
    rows = list(alone.limit(**_asked(tiny_model), batches=(4, 2), seconds=0.01))
    assert [row["name"] for row in rows] == ["batch 2, pass by pass", "batch 4, pass by pass"]
    assert all(row["images/s"] > 0 and row["ms of a core"] > 0 and row["MFU"] > 0 for row in rows)
    monkeypatch.setattr(alone, "_LONGEST_SECONDS", 0.0)
    assert len(list(alone.limit(**_asked(tiny_model), batches=(2, 4), seconds=0.01))) == 1, "larger ones take longer"


@pytest.mark.slow
def test_vectors_of_a_precision_are_held_against_exact_ones(tiny_model: Path) -> None:
    exact, rounded = alone.parity(**_asked(tiny_model), precisions=("fp32", "bf16"))
    assert (exact["name"], rounded["name"]) == ("fp32, pass by pass", "bf16, pass by pass")
    assert exact["least cosine"] > 0.99999 > rounded["least cosine"] > 0.99
    assert exact["queries moved"] < rounded["queries moved"] <= 1
    assert 0 <= exact["R@10"] < 0.5, "it has learnt nothing"


@pytest.mark.slow
def test_rows_are_kept_when_something_goes_wrong(tiny_model: Path) -> None:
    found = ask_alone("parity", **_asked(tiny_model), precisions=["fp32", "bf17"], n=4)
    assert found[0]["least cosine"] > 0.99999
    assert "bf17" in found[-1]["error"]


def test_drawing_is_timed_alone(icon_folder: Path) -> None:
    (row,) = alone.drawing(source=str(icon_folder), n=80, size=16, workers=1)
    assert row["name"] == "1 renderers"
    assert row["images/s"] > 0
    assert row["ms of a core"] > 0


def test_a_machine_is_described() -> None:
    (found,) = alone.describe()
    assert found["cores"] == cores()
    assert torch.__version__.startswith(found["packages"]["torch"])
    assert "gpus" not in found
