"""A library has its plan done by workers elsewhere: put into a store, noted, collected, removed."""

import json
import re
import shlex
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, TypeVar

from indexer.embedding.plan_store import PARTS, ObjectPlanStore, Show, find_work, items_in, put_encoder, read_plan
from indexer.embedding.progress import STORE_SECONDS, EmbeddingProgress, Watch
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.errors import EmbedError, ShardError
from indexer.languages.words import printable
from indexer.library.durable import ASIDE, make_folder, sync, write_file
from indexer.library.folder import Library
from indexer.library.foreign import Location, from_json
from indexer.library.plans import OUTLINES, PLAN, Plan
from indexer.library.shards import partial_shards_by_block, shard_name, shard_paths
from indexer.library.stores import FolderStore, RetryingStore, url_of

_NOTES = "shared.json"
_Run = Annotated[str, re.compile("[0-9a-f]{12}")]
"""As `planning.prepare` names them."""
_LATE_SECONDS = 600.0
"""After the removal of a run: for so long a worker of it may still say how far it is."""


@dataclass(frozen=True, slots=True)
class _Note:
    store: Location
    """URL or path, spelled in one way."""
    library: Location
    """Where the library lay: a copy of it has not put anything."""
    removed_at: float | None = None
    """When it was removed, or begun, if nobody has seen it yet; None while it is there to be done."""
    is_missed: bool = False
    """Whether it was not there, though nothing had removed it."""


_AT_ONCE = 8
"""Requests under way: each waits for the network, not for a core."""
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
    """Shards that did not match their receipt, or lacked some of their block; their blocks are free again."""


class OwnRuns:
    """Runs of a library in a store. One process at a time, which holds the library's lock."""

    def __init__(self, library: Library, store: RetryingStore) -> None:
        self.library, self.store, self._path = library, store, library.root / "work" / _NOTES
        self._place = url_of(store.url) or str(Path(store.url).resolve())
        self._root = str(library.root.resolve())

    @property
    def worker_line(self) -> str:
        """The line that a worker of a plan is started with, on any machine."""
        return shlex.join(["icons", "worker", self.store.url])

    def find(self) -> ObjectPlanStore | None:
        """Find the run that is under way; None where the store is free. What is left of earlier ones is removed.

        Raises:
            EmbedError: the store holds the run of another library, or not the one that it should hold.
        """
        found, noted = find_work(self.store), self._noted()
        run = found.run.id if found else ""
        for other, note in noted.items() if found is None else ():
            if note.store == self._place and note.removed_at is None and not note.is_missed:
                self._note(other, replace(note, is_missed=True))  # said once: perhaps it is another place
                raise EmbedError(
                    f'"{self.store.url}" does not hold run "{other}", which this library has put there; look whether '
                    "it is the same place, mounted and all; the same command goes on without that run"
                )
        here, whose = self.library.root, ""
        if run in noted and noted[run].library != self._root:
            original = Library(Path(noted[run].library))
            is_copy = run in OwnRuns(original, self.store)._noted()
            whose = f'"{original.root}", of which "{here}" is a copy' if is_copy else ""
        if not whose:
            self._remove_all_but(run)
            whose = f'another library than "{here}"' if found is not None and run not in noted else ""
        if whose:
            raise EmbedError(
                f'"{self.store.url}" holds run "{run}" of {whose}; give another --work, or collect it there first'
            )
        return found

    def put(self, plan: Plan) -> None:
        """Put the library's plan there, encoder included; an earlier run goes. Workers see it once all of it is there.

        Raises:
            EmbedError: the store holds the run of another library, or gets it meanwhile.
        """
        choice = ModelChoice.from_json(plan.model)
        self.find()
        put_encoder(self.store, choice, find_checkpoint(choice))
        note = _Note(self._place, self._root, removed_at=time.time())
        self._note(plan.run, note)
        own, part = FolderStore(self.library.run(plan.fingerprint, plan.run)), self.store.part(f"{plan.run}/")

        def copy(name: str) -> None:
            if (stored := own.get(name)) is not None:
                part.put(name, stored.content)

        _each([*own.list("blocks/"), OUTLINES], copy)
        found, content, version = read_plan(self.store), json.dumps(asdict(plan)).encode(), None
        if found is None:
            version = self.store.create(PLAN, content)
        elif found[0].run in self._noted():
            version = self.store.replace(PLAN, content, version=found[1])
        if version is None:
            self._remove(plan.run)
            raise EmbedError(f'another library has put its plan into "{self.store.url}" just now; give another --work')
        self._note(plan.run, replace(note, removed_at=None))
        if found is not None:  # perhaps by another spelling of the place
            self._remove(found[0].run)
        self._remove_all_but(plan.run)

    def collect(self) -> Collected:
        """Bring the shards that are there into the library, each held against its receipt; it keeps what it has.

        A shard that is damaged is removed from the store, so that its block is done again. When no block is missing,
        the run is removed: its workers end.

        Raises:
            EmbedError: the plan there is another library's, or some of it is lost.
        """
        place = self.find()
        return Collected() if place is None else self._collect(place)

    def catch_up(
        self, fingerprint: str, *, begin: Callable[[], None], warn: Callable[[str], None], show: Show
    ) -> Plan | None:
        """Collect until every block has its shard; of another encoder what is there. Returns what was done.

        `begin` is called if there is anything to wait for, and again where a block is free that was done. `warn` takes
        that, and what has ended workers, each reason once.

        Raises:
            EmbedError: the plan there is another library's, or some of it is lost, or all while this waits.
        """
        if (place := self.find()) is None:
            return None
        watch, reasons, is_begun = Watch(place.run, EmbeddingProgress), set[str](), False
        while (found := self._collect(place)).blocks < found.of and place.plan.fingerprint == fingerprint:
            if place.is_over() or not place.is_whole():
                self.end(place.run.id)
                raise EmbedError(
                    f'"{self.store.url}" does not hold all of run "{place.run.id}" any more; '
                    "the same command plans the rest"
                )
            if found.damaged:
                warn(f"{found.damaged:,} shards were damaged; their blocks are free again")
            if found.damaged or not is_begun:
                begin()
            is_begun = True
            time.sleep(STORE_SECONDS)
            workers = watch.look()  # just before the run may be done, and what workers say of it gone
            for worker in workers:
                if worker.ended and worker.ended not in reasons:
                    warn(printable(f"{worker.name} has ended: {worker.ended}"))
                reasons.add(worker.ended)
            show(place.plan, workers)
        return place.plan if found.blocks == found.of else None

    def _collect(self, place: ObjectPlanStore) -> Collected:
        folder = self.library.vectors(place.plan.fingerprint)
        make_folder(folder)
        n_damaged = _bring(place, folder)
        try:
            blocks = place.headers
        except EmbedError:
            self.end(place.run.id)  # else nobody could plan anew
            raise
        held = {path.name for path in shard_paths(folder)}
        n_missing = sum(shard_name(block.name) not in held for block in blocks)
        parts = partial_shards_by_block(folder)
        for block in [] if n_missing else blocks:  # those whose files lack some of their items are done again
            path = folder / shard_name(block.name)
            if len(items_in([path, *parts.get(block.name, ())])) < block.n_items:
                path.unlink()
                place.delete(place.shard_at(block.name, path.name))
                n_damaged += 1
                n_missing += 1
        if not n_missing:
            self.end(place.run.id)
        return Collected(place.plan.fingerprint, len(blocks) - n_missing, len(blocks), n_damaged)

    def end(self, run: str) -> None:
        """Remove a run of which everything is collected, or which nobody can do: its workers end."""
        if (found := read_plan(self.store)) is not None and found[0].run == run:
            self.store.delete(PLAN)
        self._remove(run)

    def _noted(self) -> dict[str, _Note]:
        try:
            return from_json(dict[_Run, _Note], self._path.read_bytes()) if self._path.is_file() else {}
        except ValueError as error:
            raise EmbedError(f'"{self._path}" is damaged ({error}); remove it, and give another --work') from error

    def _note(self, run: str, note: _Note | None) -> None:
        """Note a run, or forget it."""
        runs = {other: asdict(kept) for other, kept in {**self._noted(), run: note}.items() if kept is not None}
        write_file(self._path, json.dumps(runs).encode())

    def _remove_all_but(self, current: str) -> None:
        """Remove what is left of other runs, and forget those of which nothing can come any more."""
        noted = self._noted()
        others = {run: note for run, note in noted.items() if note.store == self._place and run != current}
        for run, note in others.items():
            is_late = note.removed_at is not None and time.time() - note.removed_at > _LATE_SECONDS
            if is_late and not self.store.list(f"{run}/"):
                self._note(run, None)
            elif note.removed_at is not None or current in noted:  # else it is missed
                self._remove(run)

    def _remove(self, run: str) -> None:
        """Remove all of a run."""
        note = self._noted().get(run)
        if note is not None and note.removed_at is None:
            self._note(run, replace(note, removed_at=time.time()))
        self.store.delete(f"{run}/{OUTLINES}")
        for part in PARTS:  # and nothing else, whatever else may be called so
            self.store.clear(f"{run}/{part}")


def _each(names: Iterable[str], do: Callable[[str], Answer]) -> list[Answer]:
    """Do something with every name, several at once."""
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="store") as threads:
        return list(threads.map(do, names))


def _bring(place: ObjectPlanStore, folder: Path) -> int:
    """Bring what a folder lacks; tell how many files were damaged."""

    def take(shard: str) -> bool:
        """Tell whether a shard was damaged."""
        try:
            path = place.fetch(shard, Path(aside))
        except ShardError:
            return True
        if path is not None:
            sync(path)
            path.replace(folder / path.name)
        return False

    held = {path.name for path in shard_paths(folder)}
    with TemporaryDirectory(prefix=f"{ASIDE}fetched-", dir=folder) as aside:
        n_damaged = sum(_each((shard for shard in place.shards() if Path(shard).name not in held), take))
    sync(folder)
    return n_damaged
