"""Embeds a plan on this machine and waits for its ranks: here for one, under torchrun for more."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace

from indexer.embedding.embed import RERUN, EmbedOptions, embed
from indexer.errors import EmbedError
from indexer.library.folder import Library
from indexer.library.shards import read_plan
from indexer.ranks.devices import Devices
from indexer.ranks.distributed import Rank
from indexer.ranks.heartbeat import Watchdog
from indexer.ranks.launch import cause_of_end, follow_torchrun
from indexer.ranks.progress import RankProgress, read_progress

Watch = Callable[[Sequence[RankProgress]], None]
OWN_SECONDS = 10.0
"""A rank that hangs has so long to say so itself; one that is stopped, or has lost its machine, can't."""
START_SECONDS = 120.0
"""A rank that has not said anything yet imports torch, perhaps from a slow drive."""


def torchrun_command(library: Library, fingerprint: str, *, devices: Devices, options: EmbedOptions) -> list[str]:
    """Spell the command that starts this machine's ranks; several machines run it with --nnodes and --rdzv-endpoint."""
    command = ["torchrun", "--standalone", "--nproc-per-node", str(devices.n), "-m", "indexer.embedding.embed"]
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
