"""How does one configuration not disturb the next? Each runs in a process of its own, kept between its repeats.

The processes are forked from a server that has imported torch and computed nothing, so each starts at once and clean.
The naive script gets a fresh interpreter instead, which is set up as nobody has thought of it.
"""

import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.forkserver import ensure_running
from pathlib import Path
from typing import Any

from indexer.bench.trials.material import make_library, read_jobs, write_files
from indexer.bench.trials.trial import Measured, Part, Trial, merged, share_file
from indexer.embedding.options import EmbedOptions
from indexer.errors import BenchError
from indexer.process import end_at_once, prepare_for_batches
from indexer.ranks.devices import Devices, first_devices
from indexer.ranks.distributed import Rank
from indexer.ranks.launch import Ranks
from indexer.ranks.progress import RankProgress

LIMIT_SECONDS = 1800.0
"""Of one run: a trial that hangs is ended and named."""
_GOODBYE_SECONDS = 2.0


class Apart:
    """One trial in its process; a context manager."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        context: Any = get_context("spawn") if trial.knobs.path == "naive" else _server()
        self._connection, there = context.Pipe()
        self._process = context.Process(target=_live, args=(there, trial), daemon=False)
        self._process.start()
        self.process_id: int | None = self._process.pid
        there.close()

    def __enter__(self) -> "Apart":
        return self

    def __exit__(self, *error: object) -> None:
        """End the process, whatever it is at; its ranks and render workers end with it.

        One that is at nothing ends by itself, and leaves nothing behind.
        """
        self._connection.close()
        self._process.join(_GOODBYE_SECONDS)
        if self._process.is_alive():
            self._process.terminate()
        self._process.join()

    def warm_up(self) -> None:
        """Run the trial once uncounted; ranks are new processes at every run: nothing stays warm."""
        if self.trial.knobs.strategy != "ranks" or self.trial.knobs.devices == 1:
            self.measure()

    def measure(self) -> Measured:
        """Run the trial once.

        Raises:
            BenchError: it can't be run so; the message says what the process died of.
        """
        try:
            self._connection.send("run")
            if not self._connection.poll(LIMIT_SECONDS):
                raise BenchError(f"took longer than {LIMIT_SECONDS:.0f} s")
            answer = self._connection.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            code = self._process.exitcode or 0
            how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
            hint = ", perhaps for want of memory" if code == -signal.SIGKILL else ""
            raise BenchError(f"its process {how}{hint}") from None
        if isinstance(answer, str):
            raise BenchError(answer)
        assert isinstance(answer, Measured)
        return answer


def _live(connection: "Connection[Any, Any]", trial: Trial) -> None:
    """Run a trial whenever the other end asks for it, until that end closes."""
    _leave_interrupts_to_parent()  # which then ends this
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, trial.cores)
    prepared: Callable[[], Measured] | None = None
    while True:
        try:
            connection.recv()
        except EOFError:
            return
        try:
            prepared = prepared or _prepare(trial)
            connection.send(prepared())
        except Exception as error:  # the edge of this process: whatever it is becomes the row's reason
            reason = next(iter(str(error).strip().splitlines()), "")
            connection.send(reason if isinstance(error, BenchError) else f"{type(error).__name__}: {reason}")


def _prepare(trial: Trial) -> Callable[[], Measured]:
    """Load what comes before the clock."""
    import torch

    if trial.knobs.path != "naive":
        prepare_for_batches()
    torch.set_num_threads(len(trial.cores))
    if trial.knobs.loader == "files":
        write_files(trial.material, n_images=trial.n_images, workers=len(trial.cores))
    from indexer.bench.trials.loop import Loop

    device = torch.device("cuda", 0) if trial.kind == "cuda" else torch.device("cpu")
    if trial.knobs.path == "index":
        if trial.kind == "cuda" and trial.knobs.batch is not None and trial.knobs.devices == 1:
            # `icons index` would halve a batch that its GPU has no room for; as a row of its own it would be a lie.
            Loop(in_part(trial, "all"), rank=Rank(), device=device)
            torch.cuda.empty_cache()
        return partial(_run_index, trial)
    if trial.knobs.strategy == "ranks" and trial.knobs.devices > 1:
        return partial(_run_ranks, trial)
    return Loop(trial, rank=Rank(), device=device).run


def _run_index(trial: Trial) -> Measured:
    """Embed a plan as `icons index` does, in a library made for it."""
    from indexer.embedding.launch import run_ranks

    knobs, material = trial.knobs, trial.material
    reported: list[RankProgress] = []

    def watch(ranks: Sequence[RankProgress]) -> None:
        reported[:] = ranks

    with tempfile.TemporaryDirectory(dir=material.folder) as root:
        jobs = read_jobs(material, trial.n_images)
        how = (trial.kind, knobs.precision, knobs.batch, knobs.workers, knobs.backend)
        options = EmbedOptions(*how, is_timed=True)  # type: ignore[arg-type]
        library = make_library(Path(root), material, jobs, options=options)
        run_ranks(library, material.fingerprint, devices=_devices(trial), watch=watch, give_up=end_at_once)
    return merged(
        [
            (rank.began_at, Measured(rank.images, rank.seconds, rank.waited_seconds, memory_bytes=rank.memory_bytes))
            for rank in reported
        ]
    )


def _run_ranks(trial: Trial) -> Measured:
    """Run the loop in ranks under torchrun, for the knobs that `icons index` has not."""
    with tempfile.TemporaryDirectory(dir=trial.material.folder) as folder:
        file = Path(folder, "trial.json")
        file.write_text(trial.to_json(), "utf-8")
        with Ranks("indexer.bench.trials.loop", str(file), devices=_devices(trial), folder=file.parent) as ranks:
            if cause := ranks.follow():
                sys.stderr.write(ranks.log.read_text("utf-8", errors="replace")[-2000:])
                raise BenchError(f"{cause}; its last words stand above")
        shares = [json.loads(share_file(file, rank).read_text("utf-8")) for rank in range(trial.knobs.devices)]
    return merged([(began, Measured(**share)) for began, share in shares])


def _devices(trial: Trial) -> Devices:
    return first_devices(trial.kind, trial.knobs.devices)


def in_part(trial: Trial, part: Part) -> Trial:
    """The same trial on the loop, for one part of it."""
    return replace(trial, knobs=replace(trial.knobs, path="loop"), part=part)


def call_apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function once in a process of its own, so that nothing of torch stays in this one."""
    with ProcessPoolExecutor(1, mp_context=_server(), initializer=_leave_interrupts_to_parent) as pool:
        return pool.submit(function, *arguments).result()


def _server() -> Any:
    """Start the server if it is not there, settled for batches; the naive script is to inherit nothing of that."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["indexer.bench.trials.loop"])
    as_found = os.environ.copy()
    prepare_for_batches()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which the server keeps: Ctrl-C is for this process
    ensure_running()
    signal.signal(signal.SIGINT, before)
    for name in os.environ.keys() - as_found.keys():
        del os.environ[name]
    return context


def _leave_interrupts_to_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
