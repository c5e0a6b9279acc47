"""Where does the time of a step go? A profiler trace of some steps, and shares of compute, data, communication."""

import json
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import torch
from torch.profiler import ProfilerActivity, profile

from indexer.library.durable import write_file
from indexer.ranks.distributed import Rank

WARM_UP_STEPS = 2
_COMMUNICATION = ("gloo:", "nccl:", "c10d::", "ncclDevKernel")


class Profile:
    """Watches `n_steps` steps after two that warm up; with none it does nothing. A context manager.

    Writes `rank-N.trace.json` (for chrome://tracing or Perfetto) and `rank-N.json`, the shares, into a folder.
    """

    def __init__(self, folder: Path, *, n_steps: int, rank: Rank) -> None:
        self._folder, self._n_steps, self._rank = folder, n_steps, rank
        self._done = 0
        self._profiler: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._finish()

    def step(self) -> None:
        """Say that a step has ended."""
        self._done += 1
        if not self._n_steps:
            return
        if self._done == WARM_UP_STEPS:
            activities = [ProfilerActivity.CPU]
            if torch.cuda.is_available():
                activities.append(ProfilerActivity.CUDA)
            self._profiler = profile(activities=activities, acc_events=True)
            self._profiler.__enter__()
        elif self._done == WARM_UP_STEPS + self._n_steps:
            self._finish()

    def _finish(self) -> None:
        if self._profiler is None:
            return
        profiler, self._profiler = self._profiler, None
        profiler.__exit__(None, None, None)
        self._folder.mkdir(parents=True, exist_ok=True)
        profiler.export_chrome_trace(str(self._folder / f"rank-{self._rank.index}.trace.json"))
        content = json.dumps(shares_of(profiler.events()), indent=1) + "\n"
        write_file(self._folder / f"rank-{self._rank.index}.json", content.encode())


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
