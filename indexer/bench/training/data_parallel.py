"""How does one process train on several GPUs? By nn.DataParallel, around what a step expects of a student."""

from torch import Tensor, nn

from indexer.finetune.model.student import Student

_SCALARS = ("scale", "bias")
Answers = dict[str, Tensor]


def data_parallel(student: Student, *, n_devices: int) -> nn.Module:
    """Wrap a student, so that each batch is shared by so many GPUs."""
    return Gathered(nn.DataParallel(_Spread(student), device_ids=list(range(n_devices))))


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
