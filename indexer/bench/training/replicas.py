"""How does one process train on several devices? By nn.DataParallel, or on CPUs by hand, with replicas in threads.

nn.DataParallel takes GPUs only. By hand, as it does: weights copied to every replica for each batch, the batch cut into
parts, all parts computed at once, the features gathered; then each replica's backward pass in its thread, and the
gradients of all summed. The profiler counts copying and summing as communication.
"""

import copy
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.profiler import record_function

from indexer.finetune.model.student import Student

_SCALARS = ("scale", "bias")
Given = tuple[Tensor | None, ...]
Answers = dict[str, Tensor]


def data_parallel(student: Student, *, device: torch.device, n_devices: int, n_cores: int) -> nn.Module:
    """Wrap a student, so that each batch is shared by so many devices of its kind."""
    if device.type == "cuda":
        return Gathered(nn.DataParallel(_Spread(student), device_ids=list(range(n_devices))))
    return Gathered(Threads(student, n=n_devices, n_cores=n_cores))


class _Spread(nn.Module):
    """A student whose scalars are vectors of one, which can be gathered as its features are."""

    def __init__(self, student: nn.Module) -> None:
        super().__init__()
        self.student = student

    def forward(self, *given: Tensor | None) -> Answers:
        """Features of a part."""
        answers: Answers = self.student(*given)
        return {name: value.reshape(1) if name in _SCALARS else value for name, value in answers.items()}


class Gathered(nn.Module):
    """Features of a whole batch from a module that shares it out; scale and bias, the same on all devices, once."""

    def __init__(self, shared: nn.Module) -> None:
        super().__init__()
        self.shared = shared

    def forward(self, *given: Tensor | None) -> Answers:
        """Features of a batch."""
        answers: Answers = self.shared(*given)
        return {name: value.mean() if name in _SCALARS else value for name, value in answers.items()}


class Threads(nn.Module):
    """Replicas of a student, each in a thread with its share of the cores."""

    def __init__(self, student: Student, *, n: int, n_cores: int) -> None:
        super().__init__()
        self.student = student
        self.replicas = [_Spread(copy.deepcopy(student)) for _ in range(n)]  # a list: their weights are no others
        share = max(1, n_cores // n)
        self.pool = ThreadPoolExecutor(n, initializer=torch.set_num_threads, initargs=(share,))

    def forward(self, *given: Tensor | None) -> Answers:
        """Features of a batch, put together from those of its parts."""
        trained = [parameter for parameter in self.student.parameters() if parameter.requires_grad]
        told: list[str] = []
        tensors = _InThreads.apply(self, given, told, *trained)
        return dict(zip(told, tensors, strict=True))

    def copy_weights(self) -> None:
        """Give every replica the student's weights and statistics."""
        with torch.no_grad(), record_function("icons: communication"):
            for replica in self.replicas:
                replica.student.load_state_dict(self.student.state_dict())
                replica.zero_grad(set_to_none=True)

    def compute(self, given: Sequence[Tensor | None]) -> list[Answers]:
        """Features of each part, with their graphs."""
        n = len(self.replicas)
        cut: list[Any] = [[None] * n if tensor is None else tensor.tensor_split(n) for tensor in given]
        answers = list(self.pool.map(_with_graph, self.replicas, zip(*cut, strict=True)))
        statistics = dict(self.replicas[0].student.named_buffers())
        for name, buffer in self.student.named_buffers():  # those of the first replica stay, as in nn.DataParallel
            buffer.copy_(statistics[name])
        return answers

    def summed(self) -> list[Tensor]:
        """Gradients of all replicas together, in the order of the student's trained parameters."""
        with record_function("icons: communication"):
            by_replica = [
                [_gradient(parameter) for parameter in replica.student.parameters() if parameter.requires_grad]
                for replica in self.replicas
            ]
            return [torch.stack(gradients).sum(0) for gradients in zip(*by_replica, strict=True)]


class _InThreads(torch.autograd.Function):
    """Features as a function of the student's weights, whose gradient the replicas find in their threads."""

    @staticmethod
    def forward(ctx: Any, threads: Threads, given: Given, told: list[str], *weights: Tensor) -> tuple[Tensor, ...]:
        threads.copy_weights()
        answers = threads.compute(given)
        told += answers[0]
        ctx.threads, ctx.answers = threads, answers
        return tuple(torch.cat([answer[name].detach() for answer in answers]) for name in told)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        threads: Threads = ctx.threads
        parts: list[list[Tensor]] = [[] for _ in ctx.answers]
        for gradient, name in zip(gradients, ctx.answers[0], strict=True):
            sizes = [len(answer[name]) for answer in ctx.answers]
            for place, part in enumerate(torch.split(gradient, sizes)):
                parts[place].append(part)
        list(threads.pool.map(_carry_back, ctx.answers, parts))
        return None, None, None, *threads.summed()


def _with_graph(replica: nn.Module, given: Sequence[Tensor | None]) -> Answers:
    with torch.enable_grad():
        answers: Answers = replica(*given)
    return answers


def _carry_back(answers: Answers, gradients: list[Tensor]) -> None:
    pairs = [
        (answer, gradient) for answer, gradient in zip(answers.values(), gradients, strict=True) if answer.requires_grad
    ]
    torch.autograd.backward([answer for answer, _ in pairs], [gradient for _, gradient in pairs])


def _gradient(parameter: Tensor) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
