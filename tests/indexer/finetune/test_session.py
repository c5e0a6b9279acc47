"""Training starts on the GPUs that `--devices` counts in CUDA_VISIBLE_DEVICES."""

from pathlib import Path
from typing import Any

import pytest
import torch

from indexer.errors import TrainError
from indexer.finetune import session
from indexer.finetune.session import Request


@pytest.mark.parametrize(("devices", "where"), [("3,", "cuda:3"), ("3,1", "7,5")])
def test_training_runs_on_the_gpus_that_were_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, devices: str, where: str
) -> None:
    def run_rank(*_: object, device: torch.device, **__: object) -> None:
        raise TrainError(str(device))

    def start_ranks(*_: object, devices: Any, **__: object) -> None:
        raise TrainError(devices.visible)

    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,6,7")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    for name in ("prepare", "_describe"):
        monkeypatch.setattr(session, name, lambda *_: None)
    monkeypatch.setattr(session, "run_rank", run_rank)
    monkeypatch.setattr(session, "Ranks", start_ranks)
    request = Request(tmp_path / "out")
    viewer: Any = type("Viewer", (), {"stage": lambda *_: None})()
    with pytest.raises(TrainError, match=f"^{where}$"):
        session.finetune(request, devices=devices, viewer=viewer)
