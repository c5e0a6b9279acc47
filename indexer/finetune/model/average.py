"""Which weights are validated and saved? A moving average of those that learn, in shards where these are in shards."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from indexer.finetune.model.student import Student


class Average:
    """Moving average of a student's trained tensors; whole numbers, such as counts of batches, are copied."""

    def __init__(self, student: Student, *, decay: float) -> None:
        self.decay = decay
        self._student = student
        state = student.state_dict(keep_vars=True)
        self._live = {name: state[name] for name in student.trained_names()}
        self.tensors = {name: tensor.detach().clone() for name, tensor in self._live.items()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take the weights after a step (counted from 1) in; the first steps weigh more, as there is little to keep."""
        weight = 1 - min(self.decay, step / (step + 9))
        for name, average in self.tensors.items():
            live = self._live[name].detach()
            if average.is_floating_point():
                average.lerp_(live, weight)
            else:
                average.copy_(live)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Let the student have the averages for the block."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    @torch.no_grad()
    def _swap(self) -> None:
        _forget_gathered(self._student)
        for name, average in self.tensors.items():
            live = self._live[name].detach()
            kept = live.clone()
            live.copy_(average)
            average.copy_(kept)


def _forget_gathered(module: nn.Module) -> None:
    """Let go of what FSDP has gathered: it keeps the outermost weights, and would use these, not changed shards."""
    from torch.distributed.fsdp import FSDPModule

    for part in module.modules():
        if isinstance(part, FSDPModule):
            part.reshard()
