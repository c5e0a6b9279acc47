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
from indexer.ranks.heartbeat import Overseer
from indexer.ranks.launch import Ranks, cluster_command
from indexer.ranks.progress import RankProgress, read_progress

Watch = Callable[[Sequence[RankProgress]], None]
SpecOf = Callable[[Rank], DeviceSpec | None]


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
                devices.own(),
                report=lambda progress: watch([progress]),
                give_up=lambda reason: give_up(f"{reason} ({RERUN})"),
                spec=program.spec_of(Rank()),
            ),
        )
        return
    run = library.run(fingerprint, plan.run)
    overseer = Overseer(devices.n, EmbedOptions.of(plan).stall_limit)

    def look() -> None:
        progress = read_progress(run, RankProgress)
        if progress:
            watch(progress)
        if found := overseer.look(progress):
            raise EmbedError(f"{found} ({RERUN})")

    with Ranks(*program.command(library, fingerprint), devices=devices, folder=run) as ranks:
        if cause := ranks.follow(look):
            raise EmbedError(f"{cause} ({RERUN})")
