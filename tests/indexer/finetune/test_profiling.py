"""Shares of a step: what the host waits for counts, and nothing counts twice, on a GPU as on a CPU."""

from types import SimpleNamespace
from typing import Any

from torch.autograd import DeviceType

from indexer.finetune.watch import shares_of


def _event(name: str, start: float, end: float, *, on_gpu: bool = False, is_mark: bool = False) -> Any:
    return SimpleNamespace(
        name=name,
        time_range=SimpleNamespace(start=1e6 * start, end=1e6 * end),
        device_type=DeviceType.CUDA if on_gpu else DeviceType.CPU,
        is_user_annotation=is_mark,
        cpu_parent=None,
    )


HOST = [
    _event("icons: wait", 0, 1, is_mark=True),
    _event("icons: step", 1, 10, is_mark=True),
    _event("icons: data", 1, 2, is_mark=True),
    _event("icons: compute", 2, 10, is_mark=True),
    _event("c10d::allreduce_", 3, 3.1),
]


def test_a_gpu_communicates_while_its_kernels_run_not_while_they_are_launched() -> None:
    events = [
        *HOST,
        _event("nccl:all_reduce", 3, 3.1, is_mark=True),
        _event("icons: compute", 2.5, 9, on_gpu=True, is_mark=True),
        _event("nccl:all_reduce", 5, 8, on_gpu=True, is_mark=True),
        _event("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage)", 5, 7, on_gpu=True),
        _event("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage)", 6, 8, on_gpu=True),
        _event("ampere_sgemm", 3, 5, on_gpu=True),
        _event("ampere_sgemm", 4, 6, on_gpu=True),
    ]
    shares = shares_of(events)
    assert shares["seconds"] == 10
    assert shares["compute share"] == 0.8, "marks of the host alone: on the device they come again"
    assert shares["communication share"] == 0.3, "the union of what runs side by side, launches left out"
    assert shares["kernels share"] == 0.3
    assert shares["data share"] == 0.2


def test_without_kernels_the_host_tells_of_communication_and_counts_it_once() -> None:
    events = [*HOST, _event("gloo:all_reduce", 3, 6), _event("gloo:all_reduce", 5, 7)]
    shares = shares_of(events)
    assert shares["communication share"] == 0.4
    assert "kernels share" not in shares
