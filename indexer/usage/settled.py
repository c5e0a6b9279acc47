"""Which screenshots need no further look, and which shards hold what nobody wants any more?"""

from collections.abc import Set
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from safetensors import SafetensorError, safe_open

from indexer.errors import ShardError
from indexer.library.foreign import from_json
from indexer.library.shards import Failed
from indexer.usage.folder import UsageFolder
from indexer.usage.looks import LookKey, look_paths, read_looks, select, write_looks


@dataclass(slots=True)
class Settled:
    """What the shards of one key settle, by digest."""

    seen: set[bytes] = field(default_factory=set)
    failures: dict[bytes, Failed] = field(default_factory=dict)
    """Of those that were never seen."""


def read_settled(folder: UsageFolder, key: LookKey, *, with_crops: bool) -> Settled:
    """Read what the shards settle, without vectors; where crops are wanted, a look without them settles nothing.

    A shard that can't be read is deleted: its screenshots are looked at again.
    """
    settled = Settled()
    for path in look_paths(folder.looks_of(key)):
        try:
            has_crops, seen, failures = _outline(path)
        except (SafetensorError, OSError, ValueError, KeyError, TypeError):
            path.unlink()
            continue
        settled.seen |= seen if has_crops or not with_crops else set()
        settled.failures |= failures
    settled.failures = {digest: why for digest, why in settled.failures.items() if digest not in settled.seen}
    return settled


def _outline(path: Path) -> tuple[bool, set[bytes], dict[bytes, Failed]]:
    with safe_open(path, framework="numpy") as file:
        receipt = file.metadata()
        seen = {row.tobytes() for row in file.get_tensor("digests")}
        failed = [row.tobytes() for row in file.get_tensor("failed")]
    reasons = map(Failed, from_json(list[str], receipt["reasons"]), from_json(list[bool], receipt["final"]))
    return from_json(bool, receipt["crops"]), seen, dict(zip(failed, reasons, strict=True))


def damaged(folder: UsageFolder, key: LookKey) -> list[Path]:
    """Shards of a key that do not match their receipts."""
    found = []
    for path in look_paths(folder.looks_of(key)):
        try:
            read_looks(path, key=key)
        except ShardError:
            found.append(path)
    return found


def holds_more(folder: UsageFolder, key: LookKey, wanted: Set[bytes], *, with_crops: bool) -> list[Path]:
    """Shards that hold screens or crops which are not wanted any more."""
    more = []
    for path in look_paths(folder.looks_of(key)):
        has_crops, seen, failures = _outline(path)
        if (has_crops and not with_crops) or (seen | failures.keys()) - wanted:
            more.append(path)
    return more


def drop(folder: UsageFolder, key: LookKey, paths: list[Path], wanted: Set[bytes], *, with_crops: bool) -> None:
    """Write shards anew without what is not wanted any more; the new ones stand before the old ones go."""
    for path in paths:
        kept = select(read_looks(path, key=key), frozenset(wanted), with_crops=with_crops)
        new = None
        if len(kept.digests) or kept.failures:
            new = write_looks(folder.looks_of(key), kept, key=key)
        if new != path:
            with suppress(FileNotFoundError):
                path.unlink()
