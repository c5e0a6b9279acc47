"""How do shards come out of a store into the library that wants them? Each is held against its receipt on the way."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from indexer.embedding.shared.own_runs import OwnRuns
from indexer.embedding.shared.sharing import each
from indexer.embedding.shared.stored_work import StoredWork
from indexer.embedding.shared.watching import Watching
from indexer.embedding.workplace import settled_by
from indexer.errors import EmbedError, ShardError
from indexer.library.durable import ASIDE, make_folder, sync
from indexer.library.folder import Library
from indexer.library.plans import Plan
from indexer.library.shards import pieces_by_block, read_shard, shard_name, shard_path, shard_paths
from indexer.naming.printable import printable
from indexer.ranks.progress import RankProgress
from indexer.stores.opening import open_store

_LOOK_SECONDS = 5.0
Watch = Callable[[Plan, Sequence[RankProgress]], None]


@dataclass(frozen=True, slots=True)
class Collected:
    """How far a shared plan is."""

    fingerprint: str | None = None
    """Of its encoder; None where there is no plan any more."""
    blocks: int = 0
    """Whose shard the library holds by now."""
    of: int = 0
    damaged: int = 0
    """Shards that did not match their receipt, or lacked some of their block; their blocks are free again."""


def collect(work: str, library: Library) -> Collected:
    """Bring the shards that are there into the library, each held against its receipt; those it has are left alone.

    A shard that is damaged is removed from the store, so that its block is done again. When no block is missing, the
    run is removed: its workers end.

    Raises:
        EmbedError: the plan there is another library's, or some of it is lost.
    """
    runs = OwnRuns(library, open_store(work))
    own = runs.find()
    return Collected() if own is None else _collect(own, runs)


def catch_up(
    work: str,
    library: Library,
    *,
    fingerprint: str,
    begin: Callable[[], None],
    warn: Callable[[str], None],
    watch: Watch,
) -> Plan | None:
    """Collect shards until every block has one; of another encoder only those that are there. Returns what was done.

    `begin` is called if there is anything to wait for, and again where a block is free that was done. `warn` is told of
    that, and of what has ended workers, each reason once.

    Raises:
        EmbedError: the plan there is another library's, or some of it is lost, or all while this waits.
    """
    runs = OwnRuns(library, open_store(work))
    own = runs.find()
    if own is None:
        return None
    watching, known, reasons, is_begun = Watching(own), set[str](), set[str](), False
    while (found := _collect(own, runs)).blocks < found.of and own.plan.fingerprint == fingerprint:
        if own.is_over() or not own.is_whole():
            runs.end(own.plan.run)
            raise EmbedError(
                f'"{own.store.url}" does not hold all of run "{own.plan.run}" any more; the same command plans the rest'
            )
        if found.damaged:
            warn(f"{found.damaged:,} shards were damaged; their blocks are free again")
        if found.damaged or not is_begun:
            begin()
            is_begun = True
        for worker, reason in own.ends(known).items():
            if reason not in reasons:
                warn(printable(f"{worker} has ended: {reason}"))
            known.add(worker)
            reasons.add(reason)
        watch(own.plan, watching.look())
        time.sleep(_LOOK_SECONDS)
    return own.plan if found.blocks == found.of else None


def _collect(place: StoredWork, runs: OwnRuns) -> Collected:
    fingerprint = place.plan.fingerprint
    folder = runs.library.vectors(fingerprint)
    make_folder(folder)
    n_found, n_damaged = _bring(place, folder)
    try:
        blocks = place.outlines
    except EmbedError:
        runs.end(place.plan.run)  # else nobody could plan anew
        raise
    held = _names(folder)
    n_missing = sum(shard_name(block.name) not in held for block in blocks)
    if not n_missing:
        while n_found:  # a listing has pages: a piece may have come before one that was read already
            n_found, n_more = _bring(place, folder)
            n_damaged += n_more
        n_missing = _free_incomplete(place, folder)
        n_damaged += n_missing
    if not n_missing:
        runs.end(place.plan.run)
    return Collected(fingerprint, len(blocks) - n_missing, len(blocks), n_damaged)


def _bring(place: StoredWork, folder: Path) -> tuple[int, int]:
    """Bring what a folder lacks; tell how many files were there, and how many of them were damaged."""
    held = _names(folder)
    lacking = [shard for shard in place.shards() if Path(shard).name not in held]
    with TemporaryDirectory(prefix=f"{ASIDE}fetched-", dir=folder) as aside:
        taken = each(lacking, lambda shard: _take(place, shard, Path(aside), folder))
    sync(folder)
    return len(taken) - taken.count(None), taken.count(False)


def _take(place: StoredWork, shard: str, aside: Path, folder: Path) -> bool | None:
    """Tell whether a shard was good; None: it has gone."""
    path = place.fetch(shard, aside)
    if path is None:
        return None
    try:
        read_shard(path, fingerprint=place.plan.fingerprint)
    except ShardError:
        place.drop_shard(shard)
        return False
    sync(path)
    path.replace(folder / path.name)
    return True


def _free_incomplete(place: StoredWork, folder: Path) -> int:
    """Have blocks done again whose files do not settle all their items; tell how many."""
    pieces, n = pieces_by_block(folder), 0
    for block in place.outlines:
        path = shard_path(folder, block.name)
        if len(settled_by([path, *pieces.get(block.name, ())])) < block.n_items:
            path.unlink()
            place.free(block.name)
            n += 1
    return n


def _names(folder: Path) -> set[str]:
    return {path.name for path in shard_paths(folder)}
