"""What do isolation and checks cost? Clean icons drawn as `icons index` draws them, and by as many plain processes.

The plain processes read and draw the same files: no limits of time and memory, no look at what a file is or where it
lies, none for dangerous SVG, no digest, and nobody gets the pixels. Runs alternate. The goals: at most a tenth of the
processor time that a picture takes to be drawn and embedded, and 20 MB a worker.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from indexer.bench.trials.material import gather, read_jobs
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.errors import BenchError
from indexer.process import prepare_for_batches
from indexer.ranks.gauges import cpu_seconds, family, proportional_bytes
from indexer.rendering.pool import Job, RenderPool
from indexer.rendering.worker import Worker
from indexer.sources.paths import from_text

MOST_COST, MOST_BYTES = 0.10, 20_000_000


@dataclass(frozen=True, slots=True)
class Run:
    """One drawing of all pictures."""

    wall_seconds: float
    cpu_seconds: float
    """Of all processes that draw, and of this one."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What isolation takes beyond plain drawing; medians over the pairs of runs."""

    n_images: int
    plain_microseconds: float
    """Processor time of one picture in a plain process."""
    cpu_share: float
    """Further processor time of a picture, as a share of that."""
    forward_microseconds: float
    """Processor time of one picture's forward pass, on a CPU."""
    wall_share: float
    bytes_a_worker: int
    """Memory of a worker beyond a plain process, the shared pixels included."""

    @property
    def share_of_indexing(self) -> float:
        """Further processor time as a share of drawing and embedding together."""
        return self.cpu_share * self.plain_microseconds / (self.plain_microseconds + self.forward_microseconds)

    @property
    def is_within_bounds(self) -> bool:
        """Whether both goals are met."""
        return self.share_of_indexing <= MOST_COST and self.bytes_a_worker <= MOST_BYTES


Draw = Callable[[], None]


def measure_source(source: Path | None, *, n_images: int, size: int | None, workers: int, repeats: int) -> Cost:
    """Measure with pictures of a folder, or of the bundled samples; at the bundled model's size if none is given.

    Raises:
        BenchError: a picture is not a file of its own, or can't be drawn.
    """
    with TemporaryDirectory(prefix="icons-bench-") as folder:
        material = gather(Path(folder), source, choice=ModelChoice.bundled(), n_images=n_images)
        jobs = read_jobs(material, n_images)
    return measure(jobs, size=size or material.image_size, workers=workers, repeats=repeats)


def measure(jobs: Sequence[Job], *, size: int, workers: int, repeats: int) -> Cost:
    """Draw the same pictures both ways in turn.

    Raises:
        BenchError: a picture is not a file of its own, or can't be drawn.
    """
    if any(job.member for job in jobs):
        raise BenchError(f'"{jobs[0].location}" holds icons inside files; give a folder of SVG files')
    with _plain(jobs, size=size, n=workers) as plain, _isolated(jobs, size=size, n=workers) as isolated:
        for draw, _ in (isolated, plain):  # the former tells which icon is not clean
            draw()
        pairs = [(_timed(*plain), _timed(*isolated)) for _ in range(repeats)]
        taken = [median(proportional_bytes([process]) for process in processes) for _, processes in (plain, isolated)]
    return Cost(
        len(jobs),
        plain_microseconds=1e6 * median(one.cpu_seconds for one, _ in pairs) / len(jobs),
        forward_microseconds=_forward_microseconds(),
        cpu_share=median(other.cpu_seconds / one.cpu_seconds for one, other in pairs) - 1,
        wall_share=median(other.wall_seconds / one.wall_seconds for one, other in pairs) - 1,
        bytes_a_worker=int(taken[1] - taken[0]),
    )


def _timed(draw: Draw, processes: Sequence[psutil.Process]) -> Run:
    everyone = [psutil.Process(), *processes]
    cpu, wall = cpu_seconds(everyone), time.perf_counter()
    draw()
    return Run(time.perf_counter() - wall, cpu_seconds(everyone) - cpu)


def _forward_microseconds() -> float:
    import numpy as np

    prepare_for_batches()
    import torch

    from indexer.encoders.torch_encoder import Encoder

    torch.set_num_threads(1)
    encoder = Encoder(find_checkpoint(ModelChoice.bundled()), device=torch.device("cpu"), precision="fp32")
    pixels = np.random.default_rng(0).integers(0, 256, (64, encoder.image_size, encoder.image_size, 3), np.uint8)
    taken = []
    for _ in range(9):
        started = time.process_time()
        encoder.encode_images(pixels)
        taken.append(time.process_time() - started)
    return 1e6 * median(taken) / len(pixels)


@contextmanager
def _isolated(jobs: Sequence[Job], *, size: int, n: int) -> Iterator[tuple[Draw, list[psutil.Process]]]:
    before = family(os.getpid())
    with RenderPool(size=size, workers=n) as pool:

        def draw() -> None:
            for chunk in pool.render([jobs]):
                for failure in chunk.failures:
                    raise BenchError(f'"{jobs[failure.id].path}": {failure.reason}; give a folder of clean icons')

        yield draw, [process for process in family(os.getpid()) if process not in before]


@contextmanager
def _plain(jobs: Sequence[Job], *, size: int, n: int) -> Iterator[tuple[Draw, list[psutil.Process]]]:
    program = "from indexer.bench.isolation import draw_plainly; draw_plainly()"
    files = [str(Path(job.location, from_text(job.path))) for job in jobs]
    started = [Worker.start(program, str(size)) for _ in range(n)]

    def draw() -> None:
        for number, worker in enumerate(started):
            worker.connection.send(files[number::n])
        for worker in started:
            worker.connection.recv()

    try:
        yield draw, [psutil.Process(worker.process.pid) for worker in started]
    finally:
        for worker in started:
            worker.end()


def draw_plainly() -> None:
    """Be a plain process, started by `Worker.start`: draw files until the other end closes."""
    from indexer.rendering import render

    setattr(render, "svg_document", lambda content: content)  # noqa: B010 - to look for danger is what is measured
    connection: Connection[Any, Any] = Connection(int(sys.argv[-1]))
    while True:
        try:
            files = connection.recv()
        except EOFError:
            return
        for file in files:
            render.render(Path(file).read_bytes(), size=int(sys.argv[1]))
        connection.send(None)
