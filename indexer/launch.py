"""Starts the ranks of an embedding on this machine and waits for them: here for one, under torchrun for more."""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from indexer.distributed import Rank
from indexer.embed import RERUN, EmbedOptions, embed
from indexer.errors import DeviceError, EmbedError
from indexer.heartbeat import Watchdog
from indexer.library.folder import Library
from indexer.library.shards import read_plan
from indexer.process import named_as_starter
from indexer.progress import RankProgress, Reported, read_progress

Watch = Callable[[Sequence[RankProgress]], None]
POLL_SECONDS = 0.5
OWN_SECONDS = 10.0
"""A rank that hangs has so long to say so itself; one that is stopped, or has lost its machine, can't."""
GRACE_SECONDS = 5.0
START_SECONDS = 120.0
"""A rank that has not said anything yet imports torch, perhaps from a slow drive."""
_ROOT_CAUSE = re.compile(r"Root Cause.*?rank\s*:\s*(\d+).*?exitcode\s*:\s*(-?\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Devices:
    """Where the ranks of this machine run: `n` processes, each on a GPU or on its share of the cores."""

    device: str
    n: int
    visible: str | None = None
    """CUDA_VISIBLE_DEVICES for the ranks, where not all GPUs take part."""


def parse_devices(text: str) -> Devices:
    """Read `--devices`: auto, cpu, cpu:2 (two processes), 4 (the first four GPUs), 0,2 (these GPUs).

    Raises:
        DeviceError: it is none of these, or the GPUs are not there.
    """
    if match := re.fullmatch(r"cpu(?::([1-9][0-9]{0,2}))?", text):
        return Devices("cpu", int(match[1] or 1))
    import torch

    n_there = torch.cuda.device_count()
    if text == "auto":
        return Devices("cuda", n_there) if n_there else Devices("cpu", 1)
    if re.fullmatch(r"[1-9][0-9]{0,3}", text):
        wanted = list(range(int(text)))
    elif re.fullmatch(r"[0-9]{1,4}(,[0-9]{1,4})*,?", text) and "," in text:
        wanted = [int(number) for number in text.rstrip(",").split(",")]
    else:
        raise DeviceError(f'--devices "{text}" is not one of auto, cpu, cpu:2, a number of GPUs, or a list such as 0,2')
    if len(set(wanted)) != len(wanted):
        raise DeviceError(f'--devices "{text}" names a GPU twice')
    if max(wanted) >= n_there:
        raise DeviceError(
            f'--devices "{text}" asks for GPU {max(wanted)}, this machine has {n_there}; try --devices cpu'
        )
    return Devices("cuda", len(wanted), ",".join(map(str, wanted)))


def torchrun_command(library: Library, fingerprint: str, *, devices: Devices, options: EmbedOptions) -> list[str]:
    """Spell the command that starts this machine's ranks; several machines run it with --nnodes and --rdzv-endpoint."""
    command = ["torchrun", "--standalone", "--nproc-per-node", str(devices.n), "-m", "indexer.embed"]
    command += ["--library", str(library.root), "--fingerprint", fingerprint, "--device", devices.device]
    command += ["--precision", options.precision, "--backend", options.backend]
    command += ["--stall-limit", f"{options.stall_limit:g}"]
    if options.batch_size is not None:
        command += ["--batch-size", str(options.batch_size)]
    if options.workers is not None:
        command += ["--workers", str(options.workers)]
    return command


def cluster_command(library: Library, fingerprint: str, *, devices: Devices, options: EmbedOptions) -> str:
    """Spell the line that embeds the same plan on several machines over a shared folder."""
    command = torchrun_command(library, fingerprint, devices=devices, options=options)
    rendezvous = "--nnodes N --rdzv-backend c10d --rdzv-endpoint HOST:29400"
    return shlex.join(command).replace("--standalone", rendezvous)


def run_ranks(
    library: Library,
    fingerprint: str,
    *,
    devices: Devices,
    options: EmbedOptions,
    watch: Watch,
    give_up: Callable[[str], None],
) -> None:
    """Embed a plan on this machine, telling `watch` how far every rank is.

    A single rank runs in this process: where it hangs, `give_up` is told, from another thread, and has to end it.

    Raises:
        EmbedError: a rank ended early, or got nothing done; finished blocks stay, the next run does the rest.
    """
    plan = library.work(fingerprint) / "plan.jsonl"
    if devices.n == 1:
        device = f"cuda:{(devices.visible or '0').split(',')[0]}" if devices.device == "cuda" else "cpu"
        embed(
            library,
            plan,
            rank=Rank(),
            options=replace(options, device=device),
            report=lambda progress: watch([progress]),
            give_up=lambda reason: give_up(f"{reason} ({RERUN})"),
        )
        return
    run = library.run(fingerprint, read_plan(plan).run)
    log = run / "torchrun.log"
    command = torchrun_command(library, fingerprint, devices=devices, options=options)
    started, starting = Watchdog(options.stall_limit + OWN_SECONDS), Watchdog(options.stall_limit + START_SECONDS)

    def look() -> None:
        progress = read_progress(run, RankProgress)
        if progress:
            watch(progress)
        silent = set(range(devices.n)) - {rank.rank for rank in progress}
        absent = [RankProgress(rank, devices.n, at="starting") for rank in sorted(silent)]
        if found := started.look(progress) or starting.look(absent):
            raise EmbedError(f"rank {found[0]}: {found[1]} ({RERUN})")

    code = follow_torchrun(command, devices=devices, log=log, look=look)
    if code:
        raise EmbedError(cause_of_end(log, read_progress(run, RankProgress), rerun=RERUN))


def follow_torchrun(command: Sequence[str], *, devices: Devices, log: Path, look: Callable[[], None]) -> int:
    """Run a `torchrun ...` command, calling `look` twice a second; return its exit code. It ends with this process."""
    process = start_torchrun(command, devices=devices, log=log)
    try:
        while process.returncode is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(POLL_SECONDS)
            look()
    finally:
        end_torchrun(process)
    return process.returncode


def end_torchrun(process: "subprocess.Popen[bytes]") -> None:
    """Ask torchrun to end, and end it where it takes long, because it or a rank is stopped: its ranks end with it."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
        process.kill()
        process.wait()


def start_torchrun(command: Sequence[str], *, devices: Devices, log: Path) -> "subprocess.Popen[bytes]":
    """Start a `torchrun ...` command, which ends with this process, whatever ends that."""
    # Safe path: a file "numpy.py" in the folder where the user happens to stand is not to be imported.
    environment = {**os.environ, **named_as_starter(), "PYTHONSAFEPATH": "1"}
    if devices.visible is not None:
        environment["CUDA_VISIBLE_DEVICES"] = devices.visible
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "indexer.torchrun", *command[1:]],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
        )


def cause_of_end(log: Path, ranks: Sequence[Reported], *, rerun: str) -> str:
    """Say which rank ended a stage, and how; `rerun` is what is kept and how to go on."""
    told = next((progress for progress in ranks if progress.error), None)
    if told is not None:
        return f"rank {told.rank}: {told.error} ({rerun})"
    match = _ROOT_CAUSE.search(log.read_text("utf-8", errors="replace"))
    if match is None:
        return f'torchrun ended early, see "{log}"; {rerun}'
    code = int(match[2])
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    return f'rank {match[1]} {how}, see "{log}"; {rerun}'
