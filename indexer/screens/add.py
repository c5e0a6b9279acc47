"""The stages of `icons usage add`: find files -> look at what is new, a thread a core -> publish.

Reads screenshots and the generation of icons that answers; writes the folder `usage/` of the library, under its lock.
A screenshot is decoded in a worker process; its boxes, vectors and crops are made here.
"""

import json
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from indexer.arrays import Floats, Pixels
from indexer.encoders.query_encoder import QueryEncoder, open_query_encoder
from indexer.errors import LibraryError, RenderError, ShardError, SourceError
from indexer.library.durable import remove_folder, write_file
from indexer.library.folder import Library, require
from indexer.library.foreign import folders_in
from indexer.library.shards import Failed, digest_of
from indexer.merging.manifest import answering_manifest
from indexer.process import cores
from indexer.rendering.draw_pool import DrawPool
from indexer.rendering.render import as_png
from indexer.reports.terminal import Progress
from indexer.screens.files import (
    MAX_BYTES,
    FileFacts,
    Place,
    Shots,
    UsageFolder,
    find_files,
    is_below,
    read_known,
    read_shots,
    write_known,
)
from indexer.screens.located import Locator, crops, detector_version, open_locator
from indexer.screens.looks import (
    Look,
    LookKey,
    Sameness,
    UsageCounts,
    UsageManifest,
    answering_usage,
    drop_damaged,
    drop_unused,
    read_known_screens,
    write_looks,
)
from indexer.screens.usage_merge import UsageContent, measure_sameness, merge_usage
from indexer.sources.folders import Exclusion, reason_of
from indexer.sources.records import content_digest, from_text, read_regular, refuse_undecoded

MOST_OF_SHARD = 64
"""Screens of one shard."""
MOST_SECONDS = 20.0
"""Whose work is lost at most if the process is killed."""

_SECONDS = 30.0
"""For a file of 64 million pixels on a busy machine."""
_ROUND = 0.25
"""Of its longer side, a crop shows around an icon."""
_LARGEST_CROP = 96
"""Pixels; larger ones are made smaller."""


@dataclass(frozen=True, slots=True)
class Sight:
    """By what icons are found and seen."""

    key: LookKey
    locator: Locator
    encoder: QueryEncoder


def open_sight(library: Library) -> Sight:
    """Open the encoder of the generation that answers, and the detector.

    Raises:
        LibraryError: nothing is indexed yet.
    """
    manifest = answering_manifest(library)
    if manifest is None:
        raise LibraryError(f'"{library.root}" holds no icons that can be searched; `icons index` comes first')
    encoder = open_query_encoder(library.encoder(manifest.fingerprint))
    return Sight(
        LookKey(manifest.fingerprint, detector_version(), manifest.dim), open_locator(manifest.fingerprint), encoder
    )


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
        files, n_read, away = find_files(shots.places, read_known(folder), progress=progress)
        write_known(folder, files)
        n_looked = 0
        while True:
            n_looked += _look(folder, sight, shots, files, options, progress)
            try:
                manifest = _publish(folder, sight, shots, files, progress)
                break
            except ShardError:
                drop_damaged(folder, sight.key)  # their screenshots are looked at again
        _clear(folder, sight.key, files, with_crops=shots.keeps_crops)
        answering = manifest or answering_usage(folder)
        assert answering is not None
    return AddSummary(
        counts=answering.counts,
        read=n_read,
        looked=n_looked,
        generation=manifest.number if manifest else None,
        away=away,
        seconds=round(time.monotonic() - started, 3),
    )


def remove(library: Library, paths: Sequence[Path]) -> UsageManifest:
    """Forget places, or leave files and folders of them out; what was seen there goes from the disk.

    Raises:
        SourceError: one is not among the screenshots.
    """
    folder = UsageFolder(library)
    with require(library).writing():
        shots, known = read_shots(folder), read_known(folder)
        for location in (str(path.expanduser().absolute()) for path in paths):
            shots = _without(shots, location, known)
            known = [facts for facts in known if not is_below(facts.path, location)]
        _write_shots(folder, shots)
        write_known(folder, known)
        manifest = answering_usage(folder)
        if manifest is None:
            raise LibraryError("it is left out from now on; nothing answers yet, `icons usage add` publishes the rest")
        content = _content(folder, manifest.key, known, manifest.same, has_crops=manifest.has_crops)
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
        content = _content(folder, sight.key, read_known(folder), sameness, has_crops=shots.keeps_crops)
        if not any(facts.digest for facts in content.files):
            raise LibraryError("what was seen on screenshots is lost; `icons usage add` looks at them again")
        return merge_usage(folder, sight.key, content, keep_before=True)


def _content(
    folder: UsageFolder, key: LookKey, files: Sequence[FileFacts], same: Sameness, *, has_crops: bool
) -> UsageContent:
    """What the shards say something of: what was found and never looked at is for the next run."""
    seen, failures = read_known_screens(folder, key, with_crops=has_crops)
    settled = {None} | {digest.hex() for digest in seen | failures.keys()}
    return UsageContent([facts for facts in files if facts.digest in settled], failures, has_crops, same)


def _without(shots: Shots, location: str, known: Sequence[FileFacts]) -> Shots:
    """Forget the places below a location; places above it leave it out, so that the next look does, too."""
    places, is_known = list[Place](), any(is_below(facts.path, location) for facts in known)
    is_among = False
    for place in shots.places:
        if is_below(place.location, location):
            is_among = True
            continue
        if is_below(location, place.location):
            is_among |= is_known
            inside = re.sub(r"[\\*?\[\]!# ]", r"\\\g<0>", location.removeprefix(place.location.rstrip("/")))
            place = replace(place, exclude=(*place.exclude, inside))  # noqa: PLW2901
        places.append(place)
    if not is_among:
        raise SourceError(f'"{location}" is not among the screenshots; `icons usage status` lists what is')
    return replace(shots, places=tuple(places))


def _remember(folder: UsageFolder, options: AddOptions) -> Shots:
    """Remember more places; one that is added again has the new patterns."""
    Exclusion.of(options.exclude)  # whether they are patterns
    shots = read_shots(folder)
    places = {place.location: place for place in shots.places}
    for shot in options.shots:
        path = shot.expanduser().absolute()
        refuse_undecoded(path)
        if not path.exists():
            raise SourceError(f'"{shot}" does not exist; give a folder of screenshots, or screenshots')
        places.pop(str(path), None)
        places[str(path)] = Place(str(path), tuple(options.exclude))
    if not places:
        raise SourceError("no screenshots are known yet; `icons usage add FOLDER` takes them in")
    shots = Shots(tuple(places.values()), shots.keeps_crops if options.keeps_crops is None else options.keeps_crops)
    _write_shots(folder, shots)
    return shots


def _write_shots(folder: UsageFolder, shots: Shots) -> None:
    write_file(folder.settings, json.dumps(asdict(shots), indent=2).encode())


def _look(
    folder: UsageFolder,
    sight: Sight,
    shots: Shots,
    files: Sequence[FileFacts],
    options: AddOptions,
    progress: Progress,
) -> int:
    """Look at the screens that no shard settles; tell how many these were."""
    seen, failed = read_known_screens(folder, sight.key, with_crops=shots.keeps_crops)
    seen |= {digest for digest, why in failed.items() if why.is_final and not options.retry_failed}
    done = {digest.hex() for digest in seen}
    left = {facts.digest: facts for facts in files if facts.digest and facts.digest not in done}
    if not left:
        return 0
    threads = min(options.workers or cores(), len(left))
    looked: dict[str, Look | Failed] = {}
    since = time.monotonic()
    with DrawPool(workers=threads, seconds=_SECONDS) as pool, ThreadPoolExecutor(threads) as executor:
        see = partial(look, pool=pool, sight=sight, keeps_crops=shots.keeps_crops)
        seeing = {executor.submit(see, facts): digest for digest, facts in left.items()}
        try:
            for n_done, future in enumerate(as_completed(seeing), start=1):
                looked[seeing.pop(future)] = future.result()
                progress("Looking for icons on screenshots", n_done, len(left))
                if len(looked) >= MOST_OF_SHARD or time.monotonic() - since >= MOST_SECONDS:
                    _keep(folder, sight.key, looked, has_crops=shots.keeps_crops)
                    since = time.monotonic()
        finally:  # also after an error, or Ctrl-C
            executor.shutdown(cancel_futures=True)
            _keep(folder, sight.key, looked, has_crops=shots.keeps_crops)
    return len(left)


def _keep(folder: UsageFolder, key: LookKey, looked: dict[str, Look | Failed], *, has_crops: bool) -> None:
    """Write a shard of what was looked at, by digest, and forget it."""
    looks = [one for one in looked.values() if isinstance(one, Look)]
    failures = {bytes.fromhex(digest): one for digest, one in looked.items() if isinstance(one, Failed)}
    if looked:
        write_looks(folder.looks_of(key), key, looks, failures, has_crops=has_crops)
    looked.clear()


def look(facts: FileFacts, pool: DrawPool, sight: Sight, *, keeps_crops: bool) -> Look | Failed:
    """Look at a file, or say why that can't be done. Many threads may do so at once."""
    try:
        content = read_regular(Path(from_text(facts.path)), limit=MAX_BYTES)
    except (OSError, SourceError) as error:
        return Failed(reason_of(error), is_final=False)
    digest = content_digest(content)
    if digest.hex() != facts.digest:
        return Failed("changed while it was indexed", is_final=False)
    try:
        shot = pool.screenshot(content, size=sight.encoder.image_size)
    except RenderError as error:
        return Failed(str(error), is_final=True)
    pixels, found = shot.pixels, sight.locator.locate(shot.pixels, sight.encoder)
    corners = found.boxes.corners
    return Look(
        digest=digest,
        facts=(pixels.shape[1], pixels.shape[0], found.n_found),
        corners=corners,
        scores=found.boxes.scores,
        drawings=np.array(
            [digest_of(crop) for crop in crops(pixels, corners, size=sight.encoder.image_size)], np.int64
        ),
        vectors=found.vectors.reshape(len(corners), sight.key.dim),
        crops=[_png_of(pixels, box) for box in corners] if keeps_crops else None,
    )


def _png_of(pixels: Pixels, box: Floats) -> bytes:
    """A box with a little of what is around it, as a PNG."""
    height, width = pixels.shape[:2]
    around = max(2.0, _ROUND * float(max(box[2] - box[0], box[3] - box[1])))
    left, top = np.maximum(np.floor(box[:2] - around), 0).astype(int)
    right, bottom = np.minimum(np.ceil(box[2:] + around), [width, height]).astype(int)
    picture = Image.fromarray(pixels[top:bottom, left:right])
    picture.thumbnail((_LARGEST_CROP, _LARGEST_CROP))
    return as_png(np.asarray(picture))


def _publish(
    folder: UsageFolder, sight: Sight, shots: Shots, files: Sequence[FileFacts], progress: Progress
) -> UsageManifest | None:
    """Build a generation unless the current one says already what it would say."""
    before = answering_usage(folder)
    content = _content(
        folder, sight.key, files, _sameness(folder, sight, before, progress), has_crops=shots.keeps_crops
    )
    if before is not None and before.revision == content.revision(sight.key):
        return None
    progress("Publishing", 0, 1)
    keeps_before = shots.keeps_crops or before is None or not before.has_crops
    return merge_usage(folder, sight.key, content, keep_before=keeps_before)


def _sameness(folder: UsageFolder, sight: Sight, before: UsageManifest | None, progress: Progress) -> Sameness:
    """What was measured before, if the pictures of the library are as many as then."""
    library = folder.library
    icons, number = answering_manifest(library), library.current()
    assert icons is not None
    assert number is not None
    now = (sight.key.fingerprint, icons.pictures.n)
    if before is not None and (before.fingerprint, before.same.n_pictures) == now:
        return before.same
    progress("Measuring how alike icons and crops are", 0, 1)
    return measure_sameness(library.generation(number), sight.encoder)


def _clear(folder: UsageFolder, key: LookKey, files: Sequence[FileFacts], *, with_crops: bool) -> None:
    """Delete what is of no use any more: what others saw, looks at files that are gone, crops."""
    drop_unused(folder, key, {bytes.fromhex(facts.digest) for facts in files if facts.digest}, with_crops=with_crops)
    for looks in folders_in(folder.looks):
        if looks.name != str(key):
            remove_folder(looks)
