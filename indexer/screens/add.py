"""The stages of `icons usage add`: find files -> look at what is new, a thread a core -> publish.

Reads screenshots and the generation of icons that answers; writes the folder `usage/` of the library, under its lock.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from indexer.errors import LibraryError, ShardError, SourceError
from indexer.library.folder import Library, require
from indexer.library.shards import Failed
from indexer.merging.manifest import answering_manifest
from indexer.process import cores
from indexer.reports.terminal import Progress
from indexer.screens.files import (
    FileFacts,
    Shots,
    UsageFolder,
    find_files,
    is_below,
    read_known,
    read_shots,
    write_known,
    write_shots,
)
from indexer.screens.looking import Sight, look, open_pool, open_sight
from indexer.screens.looks import (
    KnownScreens,
    Look,
    LookKey,
    Sameness,
    UsageCounts,
    UsageManifest,
    answering_usage,
    damaged,
    drop_unused,
    read_known_screens,
    shard_of,
    write_looks,
)
from indexer.screens.sameness import measure_sameness
from indexer.screens.usage_merge import UsageContent, merge_usage

MOST_OF_SHARD = 64
"""Screens of one shard."""
MOST_SECONDS = 20.0
"""Whose work is lost at most if the process is killed."""
_AHEAD = 2
"""Files a thread that are submitted: the next one is there when it has done one."""

Seen = tuple[FileFacts, Look | Failed]


def _looks(see: Callable[[FileFacts], Look | Failed], files: Sequence[FileFacts], *, threads: int) -> Iterator[Seen]:
    """Yield what was seen as it comes, never more than a few files ahead of who takes it."""
    left = iter(files)
    under_way: dict[Future[Look | Failed], FileFacts] = {}
    with ThreadPoolExecutor(threads) as pool:
        try:
            while True:
                for facts in left:
                    under_way[pool.submit(see, facts)] = facts
                    if len(under_way) >= _AHEAD * threads:
                        break
                if not under_way:
                    return
                completed = wait(under_way, return_when=FIRST_COMPLETED).done
                for done in sorted(completed, key=lambda future: future.exception() is not None):  # errors last
                    yield under_way.pop(done), done.result()
        finally:
            pool.shutdown(cancel_futures=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddOptions:
    """What a run is asked to do beyond the remembered places."""

    shots: Sequence[Path] = ()
    exclude: Sequence[str] = ()
    keeps_crops: bool | None = None
    """None: as before."""
    retry_failed: bool = False
    workers: int | None = None
    """Screenshots that are looked at together; None: one a core."""


@dataclass(frozen=True, slots=True)
class AddSummary:
    """What a run did; `generation` is None where nothing had changed."""

    counts: UsageCounts
    read: int
    """Files that were new or had changed."""
    looked: int
    """Screens whose icons were looked for."""
    generation: int | None
    away: tuple[str, ...]
    """Places that are not there now; what was known of them is kept."""
    seconds: float


def add(library: Library, options: AddOptions, progress: Progress, *, sight: Sight | None = None) -> AddSummary:
    """Bring the index of screenshots up to date; the old generation answers until the new one is whole.

    `sight` is by what icons are found and seen; None: the detector that ships with `icons` and the library's encoder.

    Raises:
        IconsError: with the value that is wrong and what to do.
    """
    started = time.monotonic()
    folder = UsageFolder(library)
    with require(library).writing():
        sight = sight or open_sight(library)
        shots = _remember(folder, options)
        found = find_files(shots.places, read_known(folder), progress=progress)
        write_known(folder, found.files)
        n_looked, manifest = 0, None
        while True:
            n_looked += _look(folder, sight, shots, found.files, options, progress)
            try:
                manifest = _publish(folder, sight, shots, found.files, progress)
                break
            except ShardError:
                for path in damaged(folder, sight.key):  # their screenshots are looked at again
                    path.unlink()
        _clear(folder, sight.key, found.files, with_crops=shots.keeps_crops)
        answering = manifest or answering_usage(folder)
        assert answering is not None
    number = None if manifest is None else manifest.number
    return AddSummary(
        answering.counts, found.n_read, n_looked, number, found.away, round(time.monotonic() - started, 3)
    )


def remove(library: Library, paths: Sequence[Path]) -> UsageManifest:
    """Forget places, or leave files and folders of them out; what was seen there goes from the disk.

    Raises:
        SourceError: one is not among the screenshots.
    """
    folder = UsageFolder(library)
    with require(library).writing():
        shots, known = read_shots(folder), read_known(folder)
        for path in paths:
            shots = _without(shots, str(path.expanduser().absolute()), known)
            known = [facts for facts in known if not is_below(facts.path, str(path.expanduser().absolute()))]
        write_shots(folder, shots)
        write_known(folder, known)
        manifest = answering_usage(folder)
        if manifest is None:
            raise LibraryError("it is left out from now on; nothing answers yet, `icons usage add` publishes the rest")
        content = _still_seen(folder, manifest, known)
        removed = merge_usage(folder, manifest.key, content, keep_before=False)
        _clear(folder, manifest.key, known, with_crops=content.has_crops)
        return removed


def republish(library: Library) -> UsageManifest:
    """Build a generation from what the shards settle; no file is looked at, and what no shard knows is left out.

    Raises:
        LibraryError: the shards know nothing of the files that were found.
    """
    folder = UsageFolder(library)
    with require(library).writing():
        sight, shots = open_sight(library), read_shots(folder)
        sameness = _sameness(folder, sight, answering_usage(folder), lambda *_: None)
        known_screens = read_known_screens(folder, sight.key, with_crops=shots.keeps_crops)
        files = _known_to(known_screens, read_known(folder))
        if not any(facts.digest for facts in files):
            raise LibraryError("what was seen on screenshots is lost; `icons usage add` looks at them again")
        content = UsageContent(files, known_screens.failures, shots.keeps_crops, sameness)
        return merge_usage(folder, sight.key, content, keep_before=True)


def _without(shots: Shots, location: str, known: Sequence[FileFacts]) -> Shots:
    below = [place for place in shots.places if is_below(place.location, location)]
    above = [place for place in shots.places if is_below(location, place.location) and place not in below]
    if not below and not (above and any(is_below(facts.path, location) for facts in known)):
        raise SourceError(f'"{location}" is not among the screenshots; `icons usage status` lists what is')
    for place in below:
        shots = shots.without(place.location)
    for place in above:  # so that the next look leaves it out, too
        inside = location.removeprefix(place.location.rstrip("/"))
        left_out = replace(place, exclude=(*place.exclude, _as_pattern(inside)))
        shots = replace(shots, places=tuple(left_out if one == place else one for one in shots.places))
    return shots


def _as_pattern(path: str) -> str:
    """Spell a path as a pattern of .gitignore that fits it alone."""
    return "".join(f"\\{sign}" if sign in "\\*?[]!# " else sign for sign in path)


def _still_seen(folder: UsageFolder, manifest: UsageManifest, known: Sequence[FileFacts]) -> UsageContent:
    """What the shards say something of: what was found and never looked at is for the next run."""
    known_screens = read_known_screens(folder, manifest.key, with_crops=manifest.has_crops)
    return UsageContent(_known_to(known_screens, known), known_screens.failures, manifest.has_crops, manifest.same)


def _known_to(known_screens: KnownScreens, known: Sequence[FileFacts]) -> list[FileFacts]:
    seen = known_screens.seen | known_screens.failures.keys()
    return [facts for facts in known if facts.digest is None or bytes.fromhex(facts.digest) in seen]


def _remember(folder: UsageFolder, options: AddOptions) -> Shots:
    shots = read_shots(folder).with_places(options.shots, exclude=options.exclude)
    if not shots.places:
        raise SourceError("no screenshots are known yet; `icons usage add FOLDER` takes them in")
    if options.keeps_crops is not None:
        shots = replace(shots, keeps_crops=options.keeps_crops)
    write_shots(folder, shots)
    return shots


def _look(
    folder: UsageFolder,
    sight: Sight,
    shots: Shots,
    files: Sequence[FileFacts],
    options: AddOptions,
    progress: Progress,
) -> int:
    """Look at the screens that no shard settles; tell how many these were."""
    known_screens = read_known_screens(folder, sight.key, with_crops=shots.keeps_crops)
    done = known_screens.seen | {
        digest for digest, failed in known_screens.failures.items() if failed.is_final and not options.retry_failed
    }
    left: dict[str, FileFacts] = {}
    for facts in files:
        if facts.digest and bytes.fromhex(facts.digest) not in done:
            left.setdefault(facts.digest, facts)
    if not left:
        return 0
    threads = min(options.workers or cores(), len(left))
    seen: list[Seen] = []
    since = time.monotonic()

    def keep() -> None:
        nonlocal seen, since
        if seen:
            _keep(folder, sight.key, seen, has_crops=shots.keeps_crops)
        seen, since = [], time.monotonic()

    with open_pool(threads) as pool:
        see = partial(look, pool=pool, sight=sight, keeps_crops=shots.keeps_crops)
        try:
            for n_done, one in enumerate(_looks(see, list(left.values()), threads=threads), start=1):
                seen.append(one)
                progress("Looking for icons on screenshots", n_done, len(left))
                if len(seen) >= MOST_OF_SHARD or time.monotonic() - since >= MOST_SECONDS:
                    keep()
        finally:  # also after an error, or Ctrl-C
            keep()
    return len(left)


def _keep(folder: UsageFolder, key: LookKey, seen: Sequence[Seen], *, has_crops: bool) -> None:
    looks = [look for _, look in seen if isinstance(look, Look)]
    failures = {bytes.fromhex(facts.digest or ""): why for facts, why in seen if isinstance(why, Failed)}
    write_looks(folder.looks_of(key), shard_of(looks, failures, dim=key.dim, has_crops=has_crops), key=key)


def _publish(
    folder: UsageFolder, sight: Sight, shots: Shots, files: Sequence[FileFacts], progress: Progress
) -> UsageManifest | None:
    """Build a generation unless the current one says already what it would say."""
    before = answering_usage(folder)
    failures = read_known_screens(folder, sight.key, with_crops=shots.keeps_crops).failures
    content = UsageContent(files, failures, shots.keeps_crops, _sameness(folder, sight, before, progress))
    if before is not None and before.revision == content.revision(sight.key):
        return None
    progress("Publishing", 0, 1)
    had_crops = before is not None and before.has_crops
    return merge_usage(folder, sight.key, content, keep_before=shots.keeps_crops or not had_crops)


def _sameness(folder: UsageFolder, sight: Sight, before: UsageManifest | None, progress: Progress) -> Sameness:
    """What was measured before, if the pictures of the library are as many as then."""
    library = folder.library
    icons, number = answering_manifest(library), library.current()
    assert icons is not None
    assert number is not None
    measured = before and (before.fingerprint, before.same.n_pictures)
    if before is not None and measured == (sight.key.fingerprint, icons.pictures.n):
        return before.same
    progress("Measuring how alike icons and crops are", 0, 1)
    return measure_sameness(library.generation(number), sight.encoder)


def _clear(folder: UsageFolder, key: LookKey, files: Sequence[FileFacts], *, with_crops: bool) -> None:
    """Delete what is of no use any more: what others saw, looks at files that are gone, crops."""
    digests = {bytes.fromhex(facts.digest) for facts in files if facts.digest}
    drop_unused(folder, key, digests, with_crops=with_crops)
    folder.remove_looks_but(key)
