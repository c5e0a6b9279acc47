"""A run of `icons lab finetune`: prepare, run the ranks here or under torchrun, read what came."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch

from indexer.embedding.distributed import Rank
from indexer.embedding.progress import Overseer, clear_progress, read_progress
from indexer.embedding.torchrun import Ranks
from indexer.encoders.devices import Devices, parse_devices
from indexer.encoders.export import write_graphs
from indexer.errors import ModelError, TrainError
from indexer.finetune.options import Places
from indexer.finetune.prepare import Request, prepare, rerun, working
from indexer.finetune.rank import JOINT_FACTOR, run_rank
from indexer.finetune.train import Result, best_figures
from indexer.finetune.watch import TrainingProgress, TrainingView
from indexer.library.foreign import from_json
from indexer.process import end_at_once


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run. `fallen` are tasks below the parent's interval, in words."""

    is_written: bool
    fallen: list[str]
    best_step: int
    steps: int
    seconds: float
    figures: dict[str, Any]
    parent: dict[str, Any] | None
    cut: list[str]
    """Captions that may have been cut."""


def finetune(request: Request, *, devices: str, viewer: TrainingView) -> Outcome:
    """Fine-tune a model and write it to `request.out`, unless a task fell below the parent's interval.

    Raises:
        IconsError: with what is wrong and what to do; the last good checkpoint stays.
    """
    where = parse_devices(devices)
    with working(request) as places:
        prepare(request, places, where, viewer)
        viewer.stage("Training")
        clear_progress(places.work)
        _train(places, where, request, viewer)
        result = from_json(Result, places.result.read_bytes())
        if result.written:
            viewer.stage("Writing its graphs")
            with suppress(ModelError):  # it has none: `icons index` exports its towers instead
                write_graphs(places.out)
    standing = result.standing
    return Outcome(
        is_written=result.written,
        fallen=result.fallen,
        best_step=standing.best_step,
        steps=standing.step,
        seconds=standing.seconds,
        figures=best_figures(standing),
        parent=standing.parent,
        cut=result.cut,
    )


def _train(places: Places, devices: Devices, request: Request, viewer: TrainingView) -> None:
    if devices.n == 1:
        run_rank(
            places,
            rank=Rank(),
            device=torch.device(devices.own()),
            resume=request.resume,
            report=lambda progress: viewer.trained([progress]),
            give_up=lambda reason: end_at_once(f"{reason}; {rerun(places)}"),
        )
        return
    arguments = ["--out", str(places.out), "--device", devices.device, *(["--resume"] if request.resume else [])]

    overseer = Overseer(devices.n, JOINT_FACTOR * request.options.watching.stall_limit)

    def look() -> None:
        if progress := read_progress(places.work, TrainingProgress):
            viewer.trained(progress)
        if found := overseer.look(progress):
            raise TrainError(f"{found}; {rerun(places)}")

    with Ranks("indexer.finetune.rank", *arguments, devices=devices, folder=places.work) as ranks:
        if cause := ranks.follow(look):
            raise TrainError(f"{cause}; {rerun(places)}")
