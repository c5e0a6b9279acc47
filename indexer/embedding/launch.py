"""Embeds a plan on this machine and waits for its ranks: here for one, under torchrun for more."""

from collections.abc import Callable, Sequence

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


def plan_command(library: Library, fingerprint: str, *, devices: Devices) -> str:
    """Spell the line that embeds the same plan on each of several machines over a shared folder."""
    return cluster_command(*_program(library, fingerprint), devices=devices)


def run_ranks(
    library: Library,
    fingerprint: str,
    *,
    devices: Devices,
    watch: Watch,
    give_up: Callable[[str], None],
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

    with Ranks(*_program(library, fingerprint), devices=devices, folder=run) as ranks:
        if cause := ranks.follow(look):
            raise EmbedError(f"{cause} ({RERUN})")


def _program(library: Library, fingerprint: str) -> list[str]:
    """Spell the module that each of several ranks runs."""
    return ["indexer.embedding.embed", "--library", str(library.root), "--fingerprint", fingerprint]
