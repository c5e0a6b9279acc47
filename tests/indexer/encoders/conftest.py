"""A small model with graphs beside its weights, made once; an encoder that is loaded once."""

import shutil
from pathlib import Path

import pytest
import torch
from conftest import save_tiny_model

from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.export import write_graphs
from indexer.encoders.torch_encoder import Encoder


@pytest.fixture(scope="session")
def graphed_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Not to be changed."""
    folder = save_tiny_model(tmp_path_factory.mktemp("graphed") / "model", seed=3)
    write_graphs(folder)
    return folder


@pytest.fixture
def model(graphed_model: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(graphed_model, tmp_path / "model")


@pytest.fixture(scope="module")
def tiny_encoder(tiny_model: Path) -> Encoder:
    checkpoint = find_checkpoint(ModelChoice(f"local-dir:{tiny_model}"))
    return Encoder(checkpoint, device=torch.device("cpu"), precision="fp32")
