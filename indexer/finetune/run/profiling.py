"""Where does the time of a step go? A profiler trace of some steps, and shares of compute, data, communication."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile, schedule

from indexer.library.durable import write_file
from indexer.ranks.distributed import Rank

WARM_UP_STEPS = 2
_COMMUNICATION = ("gloo:", "nccl:", "c10d::", "ncclDevKernel")


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

    Communication that overlaps with computing counts in both, so shares may add up to more than one.
    """
    marked: Counter[str] = Counter()
    for event in events:
        took = (event.time_range.end - event.time_range.start) / 1e6
        if event.name.startswith("icons: "):
            marked[event.name.removeprefix("icons: ")] += took
        elif event.name.startswith(_COMMUNICATION) and not _is_inside(event):
            marked["communication"] += took
    whole = marked["step"] + marked["wait"]
    seconds = {
        "data": marked["data"] + marked["wait"],
        "compute": marked["compute"],
        "communication": marked["communication"],
    }
    shares = {f"{name} share": round(value / whole, 4) for name, value in seconds.items()} if whole else {}
    return {"seconds": round(whole, 4), **{name: round(value, 4) for name, value in seconds.items()}, **shares}


def _is_inside(event: Any) -> bool:
    """Whether an event is part of another one of communication, which counts already."""
    parent = event.cpu_parent
    while parent is not None:
        if parent.name.startswith(_COMMUNICATION):
            return True
        parent = parent.cpu_parent
    return False
