"""Embeds a plan on this machine and waits for its ranks: here for one, under torchrun for more."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from indexer.embedding.device import DeviceSpec
from indexer.embedding.embed import RERUN, Post, embed
from indexer.embedding.options import EmbedOptions
from indexer.errors import EmbedError
from indexer.library.folder import Library
from indexer.library.plans import read_plan
from indexer.ranks.devices import Devices
from indexer.ranks.distributed import Rank
from indexer.ranks.heartbeat import Watchdog
from indexer.ranks.launch import Ranks, cluster_command
from indexer.ranks.progress import RankProgress, read_progress

Watch = Callable[[Sequence[RankProgress]], None]
SpecOf = Callable[[Rank], DeviceSpec | None]
OWN_SECONDS = 10.0
"""A rank that hangs has so long to say so itself; one that is stopped, or has lost its machine, can't."""
START_SECONDS = 120.0
"""A rank that has not said anything yet imports torch, perhaps from a slow drive."""


@dataclass(frozen=True, slots=True)
class Program:
    """What every rank runs: a module that takes `--library` and `--fingerprint`, and the devices that it gives them."""

    module: str = "indexer.embedding.embed"
    arguments: tuple[str, ...] = ()
    spec_of: SpecOf = lambda _: None

    def command(self, library: Library, fingerprint: str) -> list[str]:
        """Spell the module with all that it is told."""
        return [self.module, "--library", str(library.root), "--fingerprint", fingerprint, *self.arguments]


def plan_command(library: Library, fingerprint: str, *, devices: Devices) -> str:
    """Spell the line that embeds the same plan on each of several machines over a shared folder."""
    return cluster_command(*Program().command(library, fingerprint), devices=devices)


def run_ranks(
    library: Library,
    fingerprint: str,
    *,
    devices: Devices,
    watch: Watch,
    give_up: Callable[[str], None],
    program: Program = Program(),
) -> None:
    """Embed a plan on this machine, telling `watch` how far every rank is.

    A single rank runs in this process: where it hangs, `give_up` is told, from another thread, and has to end it.

    Raises:
        EmbedError: a rank ended early, or got nothing done; finished blocks stay, the next run does the rest.
    """
    plan = read_plan(library.work(fingerprint) / "plan.jsonl")
    if devices.n == 1:
        embed(
            library,
            fingerprint,
            Post(
                Rank(),
                devices.own,
                report=lambda progress: watch([progress]),
                give_up=lambda reason: give_up(f"{reason} ({RERUN})"),
                spec=program.spec_of(Rank()),
            ),
        )
        return
    run, limit = library.run(fingerprint, plan.run), EmbedOptions(**plan.options).stall_limit
    started, starting = Watchdog(limit + OWN_SECONDS), Watchdog(limit + START_SECONDS)

    def look() -> None:
        progress = read_progress(run, RankProgress)
        if progress:
            watch(progress)
        silent = set(range(devices.n)) - {rank.rank for rank in progress}
        absent = [RankProgress(rank, devices.n, at="starting") for rank in sorted(silent)]
        if found := started.look(progress) or starting.look(absent):
            raise EmbedError(f"rank {found[0]}: {found[1]} ({RERUN})")

    with Ranks(*program.command(library, fingerprint), devices=devices, folder=run) as ranks:
        if cause := ranks.follow(look):
            raise EmbedError(f"{cause} ({RERUN})")
