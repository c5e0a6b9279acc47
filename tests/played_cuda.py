"""CUDA played on the CPU: parts of `torch.cuda` that tests replace, and memory that is not page-locked."""

from typing import Any

import pytest
import torch


def play(monkeypatch: pytest.MonkeyPatch, **parts: Any) -> None:
    """Put parts in the place of CUDA's."""
    empty = torch.empty

    def without_pinning(*size: Any, pin_memory: bool = False, **how: Any) -> torch.Tensor:
        return empty(*size, **how)

    monkeypatch.setattr(torch, "empty", without_pinning)
    for name, part in parts.items():
        monkeypatch.setattr(torch.cuda, name, part)
