"""CUDA played on the CPU: parts of `torch.cuda` that tests replace, memory that is not page-locked, and graphs."""

from collections import Counter
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves


def play(monkeypatch: pytest.MonkeyPatch, **parts: Any) -> None:
    """Put parts in the place of CUDA's."""
    empty = torch.empty

    def without_pinning(*size: Any, pin_memory: bool = False, **how: Any) -> torch.Tensor:
        return empty(*size, **how)

    monkeypatch.setattr(torch, "empty", without_pinning)
    for name, part in parts.items():
        monkeypatch.setattr(torch.cuda, name, part)


class Graph(TorchDispatchMode):
    """Records what is done within it, and does it again in the same memory. A capture itself changes nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[Any] = []
        self.before: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self.n_replays = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for it in tree_leaves((args, kwargs)):
            if isinstance(it, torch.Tensor):
                self.before.setdefault(id(it), (it, it.clone()))
        out = func(*args, **(kwargs or {}))
        self.done.append((func, args, kwargs or {}, out))
        return out

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        with torch.no_grad():
            for it, before in reversed(self.before.values()):  # views were seen later than what they show
                if not torch.equal(it, before):
                    it.copy_(before)
        self.before.clear()

    def replay(self) -> None:
        self.n_replays += 1
        with torch.no_grad(), _disable_current_modes():  # who counts launches counts one
            for func, args, kwargs, out in self.done:
                for old, new in zip(tree_leaves(out), tree_leaves(func(*args, **kwargs)), strict=True):
                    if isinstance(old, torch.Tensor) and old.data_ptr() != new.data_ptr():
                        old.copy_(new)

    def pool(self) -> str:
        return "pool"


class Launches(TorchDispatchMode):
    """Counts what a GPU would be told to compute: views and memory that is only taken are no launches."""

    def __init__(self) -> None:
        super().__init__()
        self.counts = Counter[str]()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._schema.name.removeprefix("aten::")
        if not (func.is_view or name in {"detach", "_unsafe_view"} or "empty" in name or "::" in name):
            self.counts[name] += 1
        return func(*args, **(kwargs or {}))
