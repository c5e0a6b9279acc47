"""What does one process of a trial do? Prepares a loop once, then runs it over its pictures as often as it is told.

    torchrun --nproc-per-node 2 -m indexer.bench.trials.loop TRIAL.json

The loop has the knobs that `icons index` has not. Under torchrun each rank takes its share of the pictures and writes
`rank-N.json` beside the trial.
"""

import json
import resource
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor

from indexer.bench.trials.feeds import (
    StageClock,
    from_files,
    from_memory,
    opened_here,
    rendered,
    rendered_here,
    synchronise,
)
from indexer.bench.trials.knobs import AUTO
from indexer.bench.trials.material import png_files, read_jobs
from indexer.bench.trials.strategies import Compute, load_tower, make_compute, without_torch
from indexer.bench.trials.trial import Measured, Trial, share_file
from indexer.embedding.device import ON_CPU, default_workers
from indexer.encoders.torch_encoder import products_in
from indexer.errors import BenchError
from indexer.library.durable import write_file
from indexer.library.shards import Shard, write_shard
from indexer.process import cores_of_rank, prepare_for_batches
from indexer.ranks.devices import use_device
from indexer.ranks.distributed import Rank, process_group, run_as_rank
from indexer.ranks.gauges import Gauge, peak_memory
from indexer.rendering.pool import RenderPool

GPU_BATCH = 256
"""Of the loop on a GPU, where none is given; `icons index` finds its own by doubling."""


class Loop:
    """A trial with its model loaded, ready to be run; `rank` says which share of the pictures is its own."""

    def __init__(self, trial: Trial, *, rank: Rank, device: torch.device) -> None:
        self.trial, self.rank, self.device = trial, rank, device
        knobs = trial.knobs
        use_device(device)  # page-locked memory is of the current one
        each = knobs.batch or (ON_CPU if device.type == "cpu" else GPU_BATCH)
        self.batch = each if knobs.strategy == "ranks" else each * knobs.devices
        n_images = trial.n_images // rank.world
        self.workers = (
            default_workers(n_images, is_fed=device.type == "cuda") if knobs.workers is None else knobs.workers
        )
        self.size = knobs.size or trial.material.image_size
        self.jobs = read_jobs(trial.material, trial.n_images)[rank.index :: rank.world]
        self.files = png_files(trial.material, trial.n_images) if knobs.loader == "files" else []
        # The script that everyone writes leaves products as torch has them.
        self.products = AUTO if knobs.path == "naive" else knobs.precision
        self.transform: Any = None
        self.compute = without_torch(trial) or self._with_torch()
        with products_in(self.products):
            self._fit()
        self.drawn = self._draw_once() if knobs.loader == "memory" else None

    def _with_torch(self) -> Compute:
        tower, self.transform, precision = load_tower(self.trial, self.device)
        return make_compute(self.trial, tower, precision, self.device, batch=self.batch)

    def _fit(self) -> None:
        """Encode one batch, which is not counted: a batch or a size that does not fit is found here, by its value."""
        count = min(self.batch, len(self.jobs))
        blank = torch.full((count, self.size, self.size, 3), 255, dtype=torch.uint8)
        if self.trial.knobs.loader == "files":
            blank = torch.zeros((count, 3, self.size, self.size))
        try:
            self.compute.copy_out(self.compute.forward(self.compute.copy_in(blank)))
        except torch.OutOfMemoryError:
            raise BenchError(f'batch "{self.batch}" does not fit into device {self.device}') from None
        except RuntimeError as error:
            if self.size == self.trial.material.image_size:
                raise
            reason = str(error).strip().splitlines()[0]
            raise BenchError(f'size "{self.size}" is none that this tower takes ({reason})') from error

    def _draw_once(self) -> Tensor:
        """One batch of pixels, before any clock runs."""
        jobs = self.jobs[: self.batch]
        drawn = next(rendered_here(jobs, size=self.size, batch=self.batch, clock=StageClock()), None)
        if drawn is None:
            raise BenchError(f'none of the first "{len(jobs)}" pictures can be drawn; give another SOURCE')
        return drawn.pin_memory() if self.trial.knobs.pinned else drawn

    def run(self) -> Measured:
        """Embed all pictures of this rank once."""
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self.device)
        parts = {"all": self._all, "stages": self._stages, "render": self._render, "forward": self._forward}
        with products_in(self.products):
            return parts[self.trial.part]()

    def _all(self) -> Measured:
        """As a loop runs: a batch after the other, or with newer ones on their way, where copies overlap."""
        clock, under_way = StageClock(), deque[Any]()
        vectors: list[NDArray[np.float16]] = []
        started = time.perf_counter()
        feed = self._feed()
        while True:
            with clock.stage("wait"):
                batch = next(feed, None)
            if batch is None:
                break
            with clock.stage("copy in"):
                there = self.compute.copy_in(batch)
            with clock.stage("forward"):
                under_way.append(self.compute.forward(there))
            with clock.stage("copy out"):
                if len(under_way) > self.compute.n_under_way:
                    vectors.append(self.compute.copy_out(under_way.popleft()))
            if self.trial.knobs.barrier:
                with clock.stage("barrier"):
                    dist.barrier()
        vectors += [self.compute.copy_out(found) for found in under_way]
        self._write(vectors, clock)
        synchronise(self.device)
        return self._measured(vectors, time.perf_counter() - started, clock)

    def _stages(self) -> Measured:
        """Nothing overlaps: each stage by itself."""
        clock = StageClock(self.device)
        vectors: list[NDArray[np.float16]] = []
        started = time.perf_counter()
        if self.trial.knobs.loader == "files":
            share = self.files[self.rank.index :: self.rank.world]
            feed = opened_here(share, transform=self.transform, batch=self.batch, clock=clock)
        else:
            feed = rendered_here(self.jobs, size=self.size, batch=self.batch, clock=clock)
        for batch in feed:
            with clock.stage("copy in"):
                there = self.compute.copy_in(batch)
            with clock.stage("forward"):
                found = self.compute.forward(there)
            with clock.stage("copy out"):
                vectors.append(self.compute.copy_out(found))
        self._write(vectors, clock)
        return self._measured(vectors, time.perf_counter() - started, clock)

    def _render(self) -> Measured:
        """Draw the pictures and look at none; what the workers take to start is taken off their processor time."""
        started_workers = _children_seconds()
        with RenderPool(size=self.size, workers=max(1, self.workers), chunk=self.batch) as pool:
            for _ in pool.render([self.jobs[:1]]):
                pass
        before = _children_seconds()
        with RenderPool(size=self.size, workers=max(1, self.workers), chunk=self.batch) as pool:
            for _ in pool.render([self.jobs[:1]]):
                pass
            started = time.perf_counter()
            for _ in pool.render([self.jobs]):
                pass
            seconds = time.perf_counter() - started
        took = _children_seconds() - before - (before - started_workers)
        return Measured(len(self.jobs), seconds, cpu_seconds=max(0.0, took))

    def _forward(self) -> Measured:
        """Encode pixels that lie on the device."""
        feed = rendered_here(self.jobs, size=self.size, batch=self.batch, clock=StageClock())
        batches = [self.compute.copy_in(batch.clone()) for batch in feed]
        synchronise(self.device)
        began_cpu, started = time.process_time(), time.perf_counter()
        for batch in batches:
            self.compute.forward(batch)
        synchronise(self.device)
        seconds = time.perf_counter() - started
        cpu = time.process_time() - began_cpu if self.device.type == "cpu" else None
        return Measured(sum(map(len, batches)), seconds, cpu_seconds=cpu, memory_bytes=peak_memory(self.device))

    def _feed(self) -> Iterator[Tensor]:
        knobs = self.trial.knobs
        if self.drawn is not None:
            return from_memory(self.drawn, n_images=len(self.jobs))
        if knobs.loader == "files":
            return from_files(
                self.files, knobs, transform=self.transform, batch=self.batch, workers=self.workers, rank=self.rank
            )
        held = self.compute.n_under_way + 1
        n_slots = held + 2 + 2 * self.workers
        pool = RenderPool(size=self.size, workers=self.workers, chunk=self.batch, n_slots=n_slots)
        pool.held = held
        return rendered(pool, self.jobs, knobs, device=self.device)

    def _write(self, vectors: list[NDArray[np.float16]], clock: StageClock) -> None:
        if self.trial.knobs.path == "naive" or not vectors:  # the script keeps nothing
            return
        with clock.stage("write"), tempfile.TemporaryDirectory(dir=self.trial.material.folder) as folder:
            together = np.concatenate(vectors)
            shard = Shard("images", np.arange(len(together)), together, {})
            write_shard(Path(folder) / "shard.safetensors", shard, fingerprint="bench", facts={})

    def _measured(self, vectors: list[NDArray[np.float16]], seconds: float, clock: StageClock) -> Measured:
        waited = clock.seconds.pop("wait", None)
        # Without a wait for the device after each, a GPU's stages are the host's times and say nothing.
        is_timed = self.device.type == "cpu" or self.trial.part == "stages"
        memory = Gauge(self.device, 1).read().memory_bytes
        if self.device.type == "cuda":
            # NVML's figure holds what nccl takes for a barrier, torch's the peak; either may be the larger one.
            memory = max(memory, torch.cuda.max_memory_allocated(self.device))
        n_images = sum(len(part) for part in vectors)
        return Measured(n_images, seconds, waited, memory_bytes=memory, stages=clock.seconds if is_timed else {})


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@click.command()
@click.argument("trial_file", type=click.Path(path_type=Path, exists=True))
def main(trial_file: Path) -> None:
    """Run this rank's share of a trial; all ranks begin together."""
    trial = Trial.from_json(trial_file.read_text("utf-8"))
    if trial.knobs.path != "naive":
        prepare_for_batches()
        torch.set_num_threads(cores_of_rank())
    backend = "gloo" if trial.knobs.backend == AUTO else trial.knobs.backend

    def work(rank: Rank) -> None:
        device = torch.device(rank.device(trial.kind))
        with process_group(rank, backend=backend, device=device):
            loop = Loop(trial, rank=rank, device=device)
            dist.barrier()
            began = time.time()
            content = json.dumps([began, loop.run().to_json()])
            write_file(share_file(trial_file, rank.index), content.encode())

    run_as_rank(work)


if __name__ == "__main__":
    main()
