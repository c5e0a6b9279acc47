"""Where workers find the blocks of a plan, which each does, and where shards go: a library's folder, or a store.

Both kinds say which run is under way by its id: a worker of another one writes nothing more.

A claim is an object that is renewed while its worker lives. Machines' clocks differ, so each worker goes by its own: a
claim that it has seen unchanged for the length of a lease has run out. Who loses a claim goes on with the block: the
shards of a block that is done twice count once. Blocks whose shard exists are done.
"""

import json
import random
import re
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from math import inf
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple, Self

from indexer.embedding.planning import EmbedOptions
from indexer.embedding.progress import EmbeddingProgress, Run
from indexer.encoders.checkpoint import CONFIG_NAME, LOCAL, Checkpoint, ModelChoice, find_checkpoint
from indexer.errors import EmbedError, ModelError, ShardError, StoreError
from indexer.library.durable import write_file
from indexer.library.folder import Library
from indexer.library.foreign import below, from_json, from_plain
from indexer.library.plans import OUTLINES, PLAN, Block, BlockHeader, Plan, block_from, group_name
from indexer.library.shards import Kind, block_of, read_finished, read_shard, shard_name
from indexer.library.stores import FolderStore, RetryingStore, Store

PARTS = ("claims/", "blocks/", "shards/", "workers/")
"""All else of a run than its `OUTLINES`; without claims nobody begins anything."""
_SHARD = re.compile(r"([0-9]{4,9}/)?[A-Za-z0-9_+-]+\.safetensors")


class PlanStore:
    """Where a worker finds the plan of a run with its blocks, and leaves shards."""

    is_shared = True
    """Whether its pictures may be out of reach of this machine, and in reach of others."""
    anew = "`icons index --only plan --work` plans it anew"

    def __init__(self, plan: Plan, *, store: Store, part: Store, shards: Store, report_seconds: float = inf) -> None:
        """`store` says which run is under way, `part` holds one. Raises ValueError where its options are not known."""
        self.plan, self.store, self.part, self._shards = plan, store, part, shards
        self.options = from_plain(EmbedOptions, plan.options)
        self.run = Run(plan.run, part, self.options.lease_seconds, report_seconds)

    def choose(self) -> ModelChoice:
        """Choose the encoder as the plan does."""
        return ModelChoice.from_json(self.plan.model)

    @cached_property
    def headers(self) -> list[BlockHeader]:
        """All blocks of the run, in order. Raises EmbedError where some are lost: without them it would seem done."""
        stored, headers = self.part.get(OUTLINES), list[BlockHeader]()
        with suppress(ValueError):
            headers = [from_json(BlockHeader, line) for line in (stored.content.splitlines() if stored else ())]
        if len(headers) != self.plan.n_blocks:
            raise EmbedError(f'"{self.part.url}" has lost what its blocks are; {self.anew}')
        return headers

    @cached_property
    def group_of(self) -> dict[str, str]:
        """By block the group that it lies in."""
        return {header.name: group_name(place) for place, header in enumerate(self.headers)}

    def missing(self) -> Iterator[BlockHeader]:
        """Name the blocks that have no shard, in the order of the plan."""
        found = {Path(name).name for name in self.shards()}
        return (header for header in self.headers if shard_name(header.name) not in found)

    def read(self, header: BlockHeader) -> Block:
        """Read a block. Raises EmbedError where it has gone, with its run."""
        stored = self.part.get(f"blocks/{self.group_of[header.name]}/{header.name}.json")
        try:
            return block_from(header, b"" if stored is None else stored.content)
        except ValueError as error:
            raise EmbedError(f'"{self.part.url}" has lost block "{header.name}"; {self.anew}') from error

    def finished_items(self, block: str) -> set[int] | None:
        """Ids that parts of the shard hold, of workers that have ended early; None where the shard is there.

        Parts that are damaged go: what they were to hold is embedded again.
        """
        found = [name for name in self.shards(self.shard_at(block, block)) if block_of(Path(name).name) == block]
        if self.shard_at(block, shard_name(block)) in found:
            return None
        items: set[int] = set()
        with tempfile.TemporaryDirectory(prefix="icons-parts-") as folder:
            for name in found:
                with suppress(ShardError):
                    if (path := self.fetch(name, Path(folder))) is not None:
                        items |= items_in([path])
        return items

    def shards(self, start: str = "") -> list[str]:
        """Name shards and their parts, as `fetch` takes them."""
        return [name for name in self._shards.list(start) if _SHARD.fullmatch(name)]

    def fetch(self, shard: str, folder: Path) -> Path | None:
        """Bring a shard or a part into a folder of this machine, held against its receipt; None: it has gone.

        Raises:
            ShardError: it was damaged, and is removed: its block is to be done again.
        """
        stored = self._shards.get(shard)
        if stored is None:
            return None
        path = below(folder, Path(shard).name)
        path.write_bytes(stored.content)
        try:
            read_shard(path, fingerprint=self.plan.fingerprint)
        except ShardError:
            self.delete(shard)
            raise
        return path

    def delete(self, shard: str) -> None:
        """Remove a shard, so that its block is done again."""
        self._shards.delete(shard)

    def write(self, block: str, name: str, content: bytes) -> None:
        """Write a shard of a block, or a part of one."""
        self._shards.put(self.shard_at(block, name), content)

    def shard_at(self, block: str, name: str) -> str:
        """Name a shard, or a part, of a block as `fetch` takes it."""
        return f"{self.group_of[block]}/{name}"

    def is_over(self) -> bool:
        """Whether another run has begun, or this one's shards were all collected."""
        found = read_plan(self.store)
        return found is None or found[0].run != self.run.id


class LibraryPlanStore(PlanStore):
    """The run of a library's own ranks: plan and shards lie in the library."""

    is_shared = False
    anew = "`icons index` plans it anew"

    def __init__(self, library: Library, fingerprint: str) -> None:
        store = FolderStore(library.work(fingerprint))
        if (found := read_plan(store)) is None:
            raise EmbedError(f'"{store.url}" holds no plan; `icons index` writes one')
        self.root, self.folder = library.root, library.run(fingerprint, found[0].run)
        part, shards = FolderStore(self.folder, lasts=False), FolderStore(library.vectors(fingerprint))
        super().__init__(found[0], store=store, part=part, shards=shards, report_seconds=1.0)

    def shard_at(self, block: str, name: str) -> str:
        """All lie in one folder, as merges read them."""
        del block
        return name


class ObjectPlanStore(PlanStore):
    """The run that is under way in a store."""

    store: RetryingStore

    def __init__(self, store: RetryingStore, plan: Plan) -> None:
        part = store.part(f"{plan.run}/")
        super().__init__(plan, store=store, part=part, shards=part.part("shards/"))

    def choose(self) -> ModelChoice:
        """Say how the encoder is chosen on this machine, once its files are here."""
        from platformdirs import user_cache_path

        cache = user_cache_path("icons") / "encoders"
        return fetch_encoder(self.store, super().choose(), fingerprint=self.plan.fingerprint, folder=cache)

    def is_whole(self) -> bool:
        """Whether all is there that workers need, blocks that are done included."""
        return OUTLINES in self.part.list(OUTLINES) and len(self.part.list("blocks/")) == self.plan.n_blocks


def items_in(shards: Iterable[Path]) -> set[int]:
    """Ids that shards, or parts of them, hold vectors or failures of. Raises ShardError where one is damaged."""
    return {item for one in map(read_finished, shards) for item in (*one.ids.tolist(), *one.failures)}


def read_plan(store: Store) -> tuple[Plan, str] | None:
    """The plan of the run that is under way, and its version. Raises EmbedError where this program can't read it."""
    if (stored := store.get(PLAN)) is None:
        return None
    try:
        plan = from_json(Plan, stored.content)
        from_plain(EmbedOptions, plan.options)
    except ValueError as error:
        raise EmbedError(
            f'"{store.url}/{PLAN}" is of another version of icons, or damaged ({error}); install one everywhere, '
            "or remove it and run `icons index` again"
        ) from error
    return plan, stored.version


def find_work(store: RetryingStore) -> ObjectPlanStore | None:
    """The run that is under way in a store. Raises EmbedError where this program can't read its plan."""
    found = read_plan(store)
    return ObjectPlanStore(store, found[0]) if found else None


def open_work(store: RetryingStore) -> ObjectPlanStore:
    """The run that is under way in a store. Raises EmbedError where there is none."""
    found = find_work(store)
    if found is None:
        raise EmbedError(f'"{store.url}" holds no plan; `icons index --only plan --work {store.url}` puts one there')
    return found


Show = Callable[[Plan, Sequence[EmbeddingProgress]], None]
"""Takes a plan and how far its workers are."""


_WEIGHTS = "weights"


def put_encoder(store: RetryingStore, choice: ModelChoice, checkpoint: Checkpoint) -> None:
    """Put the files of an encoder into a store, unless they are there; the bundled one every machine has."""
    if choice.model == "bundled":
        return
    part = store.part(f"encoders/{checkpoint.fingerprint}/")
    files = {file.name: file for file in checkpoint.tokenizer}
    if checkpoint.pretrained is None:
        folder = checkpoint.weights.parent
        files |= {checkpoint.weights.name: checkpoint.weights, CONFIG_NAME: folder / CONFIG_NAME}
    else:  # a person may call the file as they like
        files[f"{_WEIGHTS}{'.safetensors' if checkpoint.weights.suffix == '.safetensors' else '.pt'}"] = (
            checkpoint.weights
        )
    there = part.list("")
    for name, file in files.items():
        if name not in there or there[name].size != file.stat().st_size:
            part.put(name, file.read_bytes())


def fetch_encoder(store: RetryingStore, choice: ModelChoice, *, fingerprint: str, folder: Path) -> ModelChoice:
    """Bring an encoder's files into a folder of this machine, those that are not there yet; say how it is chosen then.

    Raises:
        EmbedError: the store has lost some of it, or the folder can't be written.
    """
    part, here = store.part(f"encoders/{fingerprint}/"), below(folder, fingerprint)
    there = part.list("")
    if not there:
        return choice
    for name, listed in there.items():
        path = below(here, name)
        if path.is_file() and listed.size in (None, path.stat().st_size):
            continue
        if (file := part.get(name)) is not None:
            try:
                write_file(path, file.content)
            except OSError as error:
                raise EmbedError(
                    f'"{here}" can\'t be written ({error.strerror}); XDG_CACHE_HOME names another place'
                ) from error
    weights = next((name for name in there if name.startswith(_WEIGHTS)), _WEIGHTS)
    named = replace(choice, pretrained=str(here / weights)) if choice.pretrained else ModelChoice(f"{LOCAL}{here}")
    try:
        found: object = find_checkpoint(named).fingerprint
    except ModelError as error:
        found = error
    if found != fingerprint:
        raise EmbedError(f'"{part.url}" is damaged ({found}); `icons index --only plan --work` puts it there again')
    return named


_LOOKS = 4
"""To a lease: each renews the worker's own claims, and sees which of the others have changed."""
_SPREAD = 4
"""Blocks, for each that is claimed, one of which is taken where requests take their time."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 5.0


class Lease(NamedTuple):
    """A worker's claim on a block: what it says, and its version in the store."""

    claim: dict[str, Any]
    version: str


class BlockQueue:
    """The blocks of a plan as one worker gets them; a context manager, which renews its leases and gives back the rest.

    `beside` is called now and then from the thread that renews.
    """

    def __init__(self, place: PlanStore, worker: str, *, beside: Callable[[], None] = lambda: None) -> None:
        self.place, self.worker, self._store = place, worker, place.run.store
        self.lease_seconds = place.run.lease_seconds
        self._steps = (self._look, self._renew, beside)
        self.leases: dict[str, Lease] = {}
        """By block that this worker has claimed and not done."""
        self._changes: dict[str, tuple[str, float]] = {}
        """By block the version of its claim, and since when that is there."""
        self._missing: dict[str, BlockHeader] = {}
        self._seen = set[str]()
        """Blocks that anybody has claimed since what is missing was listed: a listing takes a request for 1,000."""
        self._changing, self._looking, self._over = threading.Lock(), threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._keep, name="leases", daemon=True)
        self._pause = _FIRST_PAUSE

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        for block, lease in self.leases.items():
            there = self._store.get(_claim(block))
            if there is not None and there.version == lease.version:
                self._store.delete(_claim(block))

    def next(self, kind: Kind | None = None) -> Block | Literal["wait", "done"]:
        """Claim the first block that is free, or the first of a kind, and return what is left of its items.

        One whose lease has run out comes first, and takes no request but the claim. "wait": others hold what is
        missing, or this worker itself. "done": every block has its shard, or another run has begun.
        """
        if block := self._take_first(kind, tries_free=False):
            return block
        if self.place.is_over():
            return "done"
        self._look()
        if (block := self._take_first(kind)) is None:
            self._missing = {header.name: header for header in self.place.missing()}
            self._seen = set(self._changes)
            block = self._take_first(kind)
        return block or ("wait" if self._missing else "done")

    def _take_first(self, kind: Kind | None, *, tries_free: bool = True) -> Block | None:
        """Claim the first block that can be had, of those that had no shard when these were last listed.

        What others have claimed since, and hold no more, they have done or given back: the next listing tells which.
        """
        names = [name for name, header in self._missing.items() if kind in (None, header.kind)]
        claimed = [name for name in names if name in self._changes]
        free = [name for name in names if tries_free and name not in self._seen]
        if self.place.is_shared:  # of workers that all try the first one, all but one have lost a request's time
            near = free[: _SPREAD * len(self._changes) + 1]
            free[: len(near)] = random.sample(near, len(near))
        for name in filter(self._take, (*claimed, *free)):
            header = self._missing.pop(name)
            self._pause, finished = _FIRST_PAUSE, self.place.finished_items(name)
            if finished is not None:
                block = self.place.read(header)
                return replace(block, items=[item for item in block.items if item[0] not in finished])
            self.mark_done(name)  # by another, a moment ago
        return None

    def mark_done(self, block: str) -> None:
        """Give up the claim on a block whose shard has been written."""
        with self._changing:
            is_held = self.leases.pop(block, None) is not None
        if is_held:
            self._store.delete(_claim(block))

    def pause(self) -> None:
        """Let time pass until another look is worth it, at the latest when a lease runs out."""
        ends = (since + self.lease_seconds - time.monotonic() for _, since in self._changes.values())
        time.sleep(min([self._pause, self.lease_seconds / _LOOKS, *(end for end in ends if end > 0)]))
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)

    def _take(self, block: str) -> bool:
        """Claim a block that nobody holds, or whose claim has run out; tell whether it is this worker's now."""
        seen = self._changes.get(block)
        if block in self.leases or (seen is not None and time.monotonic() - seen[1] < self.lease_seconds):
            return False
        claim: dict[str, Any] = {
            "worker": self.worker,
            "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),  # for people, by this machine's clock
            "lease_seconds": self.lease_seconds,
            "token": secrets.token_hex(8),  # unlike that of any other claim
            "renewals": 0,
        }
        name, content = _claim(block), json.dumps(claim).encode()
        if seen is not None:
            version = self._store.replace(name, content, version=seen[0])
        elif (version := self._store.create(name, content)) is None:
            self._seen.add(block)
        if version is not None:
            with self._changing:
                self.leases[block] = Lease(claim, version)
        return version is not None

    def _look(self) -> None:
        """See which claims have changed since the last look: what is new counts from the moment at which this began.

        One look at a time: an older one that took long would have what is there seem new once more.
        """
        with self._looking:
            now, before = time.monotonic(), self._changes
            found = self._store.list("claims/")
            versions = {PurePosixPath(name).stem: listed.version for name, listed in found.items()}
            self._changes = {
                block: before[block] if block in before and before[block][0] == version else (version, now)
                for block, version in versions.items()
            }
            self._seen.update(versions)

    def _keep(self) -> None:
        """Look, renew and report until the worker has ended; what fails is tried again at the next turn.

        It looks at once: of what the dead have left who has just come counts the lease from its first look on. From one
        look to the next, what each turn takes included, an interval passes at most while the store answers within it.
        """
        interval = self.lease_seconds / _LOOKS
        looked, pause = -inf, min(interval, self.place.run.report_seconds)
        while not self._over.is_set():
            begun = time.monotonic()
            is_due = begun + pause > looked + interval  # the next turn would come too late
            looked = begun if is_due else looked
            for step in self._steps if is_due else self._steps[-1:]:
                with suppress(StoreError, OSError):
                    step()
            self._over.wait(begun + pause - time.monotonic())

    def _renew(self) -> None:
        for block, lease in list(self.leases.items()):
            claim = {**lease.claim, "renewals": lease.claim["renewals"] + 1}
            version = self._store.replace(_claim(block), json.dumps(claim).encode(), version=lease.version)
            with self._changing:
                if version is None:
                    self.leases.pop(block, None)
                elif block in self.leases:  # else it was given up meanwhile
                    self.leases[block] = Lease(claim, version)


def _claim(block: str) -> str:
    return f"claims/{block}.json"
