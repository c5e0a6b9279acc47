"""Where the time of a step goes: a profiler trace of some steps, and shares of compute, data, exchange."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch.autograd import DeviceType  # type: ignore[attr-defined]
from torch.profiler import ProfilerActivity, profile, schedule

from indexer.embedding.distributed import Rank
from indexer.library.durable import write_file

WARM_UP_STEPS = 2
_COMMUNICATION = ("gloo:", "nccl:", "c10d::")
"""As the host names it."""


@contextmanager
def profiled(folder: Path, *, n_steps: int, rank: Rank) -> Iterator[Callable[[], None]]:
    """Watch `n_steps` steps after two that warm up; yield what is to be called when a step has ended.

    Writes `rank-N.trace.json` (for chrome://tracing or Perfetto) and `rank-N.json`, the shares, into a folder; with no
    steps it does nothing.
    """

    def save(profiler: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        profiler.export_chrome_trace(str(folder / f"rank-{rank.index}.trace.json"))
        content = json.dumps(shares_of(profiler.events()), indent=1) + "\n"
        write_file(folder / f"rank-{rank.index}.json", content.encode())

    if not n_steps:
        yield lambda: None
        return
    activities = [ProfilerActivity.CPU]
    if torch.cuda.is_available():
        activities.append(ProfilerActivity.CUDA)
    steps = schedule(wait=WARM_UP_STEPS - 1, warmup=1, active=n_steps, repeat=1)
    with profile(activities=activities, schedule=steps, on_trace_ready=save, acc_events=True) as profiler:
        yield profiler.step


def shares_of(events: Any) -> dict[str, float]:
    """Seconds of the profiled steps and the shares of data, compute and communication in them.

    Data and compute are what the host was at; where it waits for a GPU, it computes. Communication is told by a GPU's
    own kernels where it has any, else by the host, and counts once what goes on at a time. It overlaps with computing,
    so shares may add up to more than one. "kernels" is when a GPU did anything else; all of "compute" beyond is idle.
    """
    marked: Counter[str] = Counter()
    ranges: dict[str, list[tuple[float, float]]] = {"told": [], "exchanged": [], "kernels": []}
    for event in events:
        if event.device_type != DeviceType.CPU:  # there marks come again, around the kernels that they have launched
            if not event.is_user_annotation:
                ranges["exchanged" if "nccl" in event.name.lower() else "kernels"].append(_range(event))
        elif event.name.startswith("icons: "):
            marked[event.name.removeprefix("icons: ")] += event.time_range.end - event.time_range.start
        elif event.name.startswith(_COMMUNICATION):
            ranges["told"].append(_range(event))
    microseconds = {
        "data": marked["data"] + marked["wait"],
        "compute": marked["compute"],
        "communication": _covered(ranges["exchanged"] or ranges["told"]),
        **({"kernels": _covered(ranges["kernels"])} if ranges["kernels"] else {}),
    }
    whole = marked["step"] + marked["wait"]
    shares = {f"{name} share": round(value / whole, 4) for name, value in microseconds.items()} if whole else {}
    seconds = {name: round(value / 1e6, 4) for name, value in {"seconds": whole, **microseconds}.items()}
    return {**seconds, **shares}


def _range(event: Any) -> tuple[float, float]:
    return event.time_range.start, event.time_range.end


def _covered(ranges: list[tuple[float, float]]) -> float:
    """How long at least one of some ranges lasts."""
    covered, until = 0.0, float("-inf")
    for start, end in sorted(ranges):
        covered += max(0.0, end - max(start, until))
        until = max(until, end)
    return covered
