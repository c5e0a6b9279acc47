"""How does a library have its plan done by workers elsewhere? The plan is put into a store, shards are collected."""

import json
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from indexer.embedding.shared.encoder_files import put_encoder
from indexer.embedding.shared.stored_work import PLAN, StoredWork, current_plan, group_name, spell_outlines
from indexer.embedding.shared.watching import Watching
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.errors import EmbedError, ShardError
from indexer.library.durable import ASIDE, make_folder, sync, write_file
from indexer.library.folder import Library
from indexer.library.plans import Outline, Plan, outline_of, read_blocks
from indexer.library.shards import read_shard, shard_name, shard_paths
from indexer.ranks.progress import RankProgress
from indexer.stores.opening import open_store
from indexer.stores.store import Below, Store

_SHARED = "shared.json"
"""Beside the plan in a library: the runs that it has put into a store, the last one or two."""
_PENDING = "pending.json"
"""Names the run that is being put."""
_AT_ONCE = 8
"""Requests under way: each waits for the network, not for a core."""
_LOOK_SECONDS = 5.0
Watch = Callable[[Plan, Sequence[RankProgress]], None]
Item = TypeVar("Item")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Collected:
    """How far a shared plan is."""

    fingerprint: str | None = None
    """Of its encoder; None where there is no plan any more."""
    blocks: int = 0
    """Whose shard the library holds by now."""
    of: int = 0
    damaged: int = 0
    """Shards that did not match their receipt; their blocks are free again."""


def put_plan(work: str, library: Library, plan: Plan) -> str:
    """Put a library's plan into a store, encoder included; return the line that a worker is started with.

    Workers see it once all of it is there. An earlier run of the library goes.
    """
    store, choice = open_store(work), ModelChoice.from_json(plan.model)
    own, shared = _find_own(store, library), library.work(plan.fingerprint) / _SHARED
    put_encoder(store, choice, find_checkpoint(choice))
    _clear_pending(store)
    store.put(_PENDING, plan.run.encode())
    run, outlines = Below(store, f"{plan.run}/"), list[Outline]()

    def spell() -> Iterator[tuple[str, bytes]]:
        for place, block in enumerate(read_blocks(library.work(plan.fingerprint) / "plan.jsonl")):
            outlines.append(outline_of(block))
            yield f"blocks/{group_name(place)}/{block.name}.json", json.dumps(block.items).encode()

    if plan.n_blocks:
        _each(spell(), lambda item: run.put(*item))
    run.put("outlines.jsonl", spell_outlines(outlines))
    before = [] if own is None else [own.plan.run]
    write_file(shared, json.dumps([*before, plan.run]).encode())  # both: a kill may come between these two
    store.put(PLAN, json.dumps(asdict(plan)).encode())
    store.delete(_PENDING)
    for other in before:
        _clear(store, other)
    return shlex.join(["icons", "embed", "--worker", work])


def collect(work: str, library: Library) -> Collected:
    """Bring the shards that are there into the library, each held against its receipt; those it has are left alone.

    A shard that is damaged is removed from the store, so that its block is done again. When no block is missing, the
    run is removed: its workers end.

    Raises:
        EmbedError: the plan there is another library's.
    """
    own = _find_own(open_store(work), library)
    return Collected() if own is None else _collect(own, library)


def catch_up(work: str, library: Library, *, fingerprint: str, watch: Watch) -> None:
    """Collect shards until every block has one; of another encoder only those that are there.

    Raises:
        EmbedError: the plan there is another library's.
    """
    own = _find_own(open_store(work), library)
    if own is None:
        return
    watching = Watching(own)
    while (found := _collect(own, library)).blocks < found.of and own.plan.fingerprint == fingerprint:
        watch(own.plan, watching.look())
        time.sleep(_LOOK_SECONDS)


def _find_own(store: Store, library: Library) -> StoredWork | None:
    """Find the run of a library in a store; None where the store is free.

    Raises:
        EmbedError: the store holds the run of another library.
    """
    plan = current_plan(store)
    if plan is None:
        return None
    shared = library.work(plan.fingerprint) / _SHARED
    if not shared.is_file() or plan.run not in json.loads(shared.read_bytes()):
        raise EmbedError(
            f'"{store.url}" holds run "{plan.run}" of another library than "{library.root}"; give another --work, or '
            "collect it there first"
        )
    return StoredWork(store, plan)


def _collect(place: StoredWork, library: Library) -> Collected:
    folder = library.vectors(place.plan.fingerprint)
    make_folder(folder)
    held = _names(folder)
    lacking = [shard for shard in place.shards() if Path(shard).name not in held]
    with TemporaryDirectory(prefix=f"{ASIDE}fetched-", dir=folder) as aside:
        n_good = sum(_each(lacking, lambda shard: _take(place, shard, Path(aside), folder)))
    sync(folder)
    held = _names(folder)
    n_held = sum(shard_name(outline.name) in held for outline in place.outlines)
    if n_held == len(place.outlines):
        place.store.delete(PLAN)
        _clear(place.store, place.plan.run)
    return Collected(place.plan.fingerprint, n_held, len(place.outlines), len(lacking) - n_good)


def _names(folder: Path) -> set[str]:
    return {path.name for path in shard_paths(folder)}


def _take(place: StoredWork, shard: str, aside: Path, folder: Path) -> bool:
    path = place.fetch(shard, aside)
    try:
        read_shard(path, fingerprint=place.plan.fingerprint)
    except ShardError:
        place.drop_shard(shard)
        return False
    sync(path)
    path.replace(folder / path.name)
    return True


def _clear_pending(store: Store) -> None:
    """Remove what there is of a run that was never put whole."""
    pending, plan = store.get(_PENDING), current_plan(store)
    if pending is not None and (plan is None or pending.content.decode() != plan.run):
        _clear(store, pending.content.decode())


def _clear(store: Store, run: str) -> None:
    """Remove all of a run; its claims first, so that nobody begins anything."""
    for part in ("claims/", ""):
        store.delete(*store.list(f"{run}/{part}"))


def _each(items: Iterable[Item], do: Callable[[Item], Answer]) -> list[Answer]:
    """Do something with every item, several at once; few are held ready, as items may be large."""
    rest, answers = iter(items), list[Answer]()
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="store") as threads:
        while some := list(islice(rest, 8 * _AT_ONCE)):
            answers += threads.map(do, some)
    return answers
