"""The stages of `icons index`, each runnable alone: scan -> embed -> merge. Readable in a minute."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine

from indexer import catalog
from indexer.bundled import bundled
from indexer.checkpoint import Checkpoint, ModelChoice, find_checkpoint
from indexer.database import open_catalog
from indexer.embed import EmbedOptions
from indexer.errors import LibraryError, RenderError
from indexer.library import Generation, Library, require
from indexer.manifest import Accounting, Manifest
from indexer.process import prepare_for_batches
from indexer.progress import RankProgress
from indexer.render_worker import is_passing
from indexer.scan import ScanTally, remember
from indexer.scan import forget as forget_source
from indexer.scan import scan as scan_sources
from indexer.shards import Plan, cut_blocks, read_coverage, write_plan

N_PARITY_INPUTS = 32
"""Real words and pictures on which an exported encoder is held against torch."""


class Watcher(Protocol):
    """Whoever shows a person how far the work is."""

    def stage(self, title: str) -> None:
        """A new step has begun."""

    def scanned(self, tally: ScanTally) -> None:
        """The scan has come this far."""

    def embedded(self, plan: Plan, ranks: Sequence[RankProgress]) -> None:
        """The ranks have come this far."""


@dataclass(frozen=True, slots=True)
class EmbedTally:
    """What an embedding had to do and how long it took."""

    fingerprint: str
    images: int
    names: int
    seconds: float


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """What a whole run did; `generation` is None where nothing had changed."""

    scan: ScanTally
    embed: EmbedTally
    counts: Accounting
    generation: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """What a run is asked to do beyond the remembered sources."""

    sources: Sequence[Path] = ()
    exclude: Sequence[str] = ()
    choice: ModelChoice | None = None
    """None: the one in use, or the bundled one."""
    devices: str = "auto"
    embed: EmbedOptions = field(default_factory=EmbedOptions)
    retry_failed: bool = False


def index(library: Library, options: IndexOptions, watcher: Watcher) -> IndexSummary:
    """Scan, embed, merge and publish; what is done already is not done again.

    Raises:
        IconsError: with the value that is wrong and what to do; the old generation keeps answering.
    """
    started = time.monotonic()
    began_at = datetime.now(UTC).isoformat(timespec="seconds")
    with library.writing():
        engine = open_catalog(library.catalog)
        scanned = _scan(engine, options, watcher)
        if options.choice is not None:  # before the work, so that the next run finishes it if this one is killed
            _switch(engine, options.choice)
        embedded = _embed(library, engine, options, watcher)
        generation = _merge(library, engine, embedded.fingerprint, watcher)
        counts = _counts(library, engine, embedded.fingerprint)
        if counts.missing:
            raise LibraryError(f"{counts.missing} icons have neither a vector nor a reason; run `icons index` again")
        number = None if generation is None else generation.number
        summary = IndexSummary(scanned, embedded, counts, number, time.monotonic() - started)
        if number is not None:
            with engine.begin() as connection:
                catalog.store_run(
                    connection,
                    counts,
                    generation=number,
                    started_at=began_at,
                    seconds=round(summary.seconds),
                    fingerprint=embedded.fingerprint,
                )
        engine.dispose()
    return summary


def scan(library: Library, options: IndexOptions, watcher: Watcher) -> ScanTally:
    """Bring the catalog up to date with its sources; nothing is embedded."""
    with library.writing():
        return _scan(open_catalog(library.catalog), options, watcher)


def embed(library: Library, options: IndexOptions, watcher: Watcher) -> EmbedTally:
    """Embed what the catalog holds and the encoder lacks; nothing is published."""
    with library.writing():
        return _embed(library, open_catalog(library.catalog), options, watcher)


def merge(library: Library, choice: ModelChoice | None, watcher: Watcher) -> Generation | None:
    """Publish what is embedded with an encoder, which is in use from then on; None for the one in use.

    Returns None where the current generation says the same already.
    """
    with library.writing():
        engine = open_catalog(library.catalog)
        fingerprint = find_checkpoint(choice or choice_in_use(engine)).fingerprint
        generation = _merge(library, engine, fingerprint, watcher)
        if choice is not None:
            _switch(engine, choice)
        return generation


def plan_only(library: Library, options: IndexOptions, watcher: Watcher) -> str:
    """Write the plan without embedding; return the line that embeds it on each of several machines."""
    from indexer.launch import cluster_command, parse_devices

    with library.writing():
        engine = open_catalog(library.catalog)
        plan = _prepare(library, engine, options, watcher)
    devices = parse_devices(options.devices)
    return cluster_command(library, plan.fingerprint, devices=devices, options=options.embed)


def forget(library: Library, location: Path) -> int:
    """Drop a remembered source with its icons; return how many sources that were.

    Raises:
        SourceError: it was never given.
    """
    with require(library).writing(), open_catalog(library.catalog).begin() as connection:
        return forget_source(connection, location)


def choice_in_use(engine: Engine) -> ModelChoice:
    """The encoder that this library is embedded with, the bundled one at first."""
    with engine.connect() as connection:
        stored = catalog.setting(connection, "model")
    return ModelChoice.from_json(stored) if stored else ModelChoice.bundled()


def _switch(engine: Engine, choice: ModelChoice) -> None:
    """Take an encoder that is there into use."""
    find_checkpoint(choice)
    with engine.begin() as connection:
        catalog.store_setting(connection, "model", choice.to_json())


def _scan(engine: Engine, options: IndexOptions, watcher: Watcher) -> ScanTally:
    watcher.stage("Looking at sources")
    with engine.begin() as connection:
        for location in options.sources:
            remember(connection, location, exclude=options.exclude)
        if not catalog.count_by_source(connection):
            watcher.stage("No source given yet: building from the bundled sample icons")
            remember(connection, bundled("samples/lucide-static"), exclude=())
    return scan_sources(engine, report=watcher.scanned)


def _embed(library: Library, engine: Engine, options: IndexOptions, watcher: Watcher) -> EmbedTally:
    started = time.monotonic()
    plan = _prepare(library, engine, options, watcher)
    if plan.n_blocks:
        from indexer.launch import parse_devices, run_ranks

        watcher.stage("Embedding")
        run_ranks(
            library,
            plan.fingerprint,
            devices=parse_devices(options.devices),
            options=options.embed,
            watch=lambda ranks: watcher.embedded(plan, ranks),
        )
    _store_failures(library, engine, plan.fingerprint)
    return EmbedTally(plan.fingerprint, plan.n_images, plan.n_names, time.monotonic() - started)


def _prepare(library: Library, engine: Engine, options: IndexOptions, watcher: Watcher) -> Plan:
    """Find the encoder, put its query side into the library, and write the plan of what it has not embedded yet."""
    prepare_for_batches()
    choice = options.choice or choice_in_use(engine)
    checkpoint = find_checkpoint(choice)
    plan = _plan(library, engine, choice, checkpoint.fingerprint, retry_failed=options.retry_failed)
    if not (library.encoder(checkpoint.fingerprint) / "encoder.json").is_file():
        watcher.stage("Preparing the query encoder")
        _export(library, engine, choice, checkpoint)
    return plan


def _store_failures(library: Library, engine: Engine, fingerprint: str) -> None:
    """Copy from the shards into the catalog what failed, and drop what has succeeded since."""
    found = read_coverage(library.vectors(fingerprint)).failures
    with engine.begin() as connection:
        if found != catalog.reasons(connection, fingerprint):
            catalog.replace_failures(connection, fingerprint, found)
            catalog.bump_revision(connection)


def _plan(library: Library, engine: Engine, choice: ModelChoice, fingerprint: str, *, retry_failed: bool) -> Plan:
    """Write the plan of everything that icons show or bear and this encoder has neither a vector nor a failure for."""
    covered = read_coverage(library.vectors(fingerprint))
    final = [image for image, reason in covered.failures.items() if not (retry_failed or is_passing(reason))]
    attempt = datetime.now(UTC).isoformat() if len(final) < len(covered.failures) else ""
    with engine.begin() as connection:
        settled = np.union1d(covered.images, np.array(final, dtype=np.int64))
        images = np.setdiff1d(catalog.image_ids(connection), settled)
        names = np.setdiff1d(catalog.name_ids(connection), covered.names)
        image_items = [
            (row.id, row.kind, row.location, row.path, row.member, row.digest.hex())
            for row in catalog.locate_images(connection, images)
        ]
        name_items = list(catalog.words_of(connection, names))
    blocks = [
        *cut_blocks("names", name_items, attempt=""),
        *cut_blocks("images", image_items, attempt=attempt),
    ]
    plan = Plan(fingerprint, choice.to_json(), len(image_items), len(name_items), len(blocks))
    if blocks:
        write_plan(library.work(fingerprint), plan, blocks)
    return plan


def _export(library: Library, engine: Engine, choice: ModelChoice, checkpoint: Checkpoint) -> None:
    """Put a query encoder that needs no torch into the library, checked on its own words and pictures."""
    import torch

    from indexer.encoder import Encoder
    from indexer.export import export

    encoder = Encoder(checkpoint, device=torch.device("cpu"), precision="fp32")
    with engine.begin() as connection:
        ids = catalog.name_ids(connection)[:N_PARITY_INPUTS]
        texts = [words for _, words in catalog.words_of(connection, ids)] or ["icon"]
    pixels = _sample_pixels(encoder.image_size)
    export(encoder, library.encoder(checkpoint.fingerprint), choice=choice, texts=texts, pixels=pixels)


def _sample_pixels(size: int) -> NDArray[np.uint8]:
    """Draw some bundled icons: pictures that are known to be harmless in this process."""
    from indexer.render import render

    paths = sorted(bundled("samples").rglob("*.svg"))[:N_PARITY_INPUTS]
    if not paths:
        raise RenderError("the bundled sample icons are missing; install `icons` again")
    return np.stack([render(path.read_bytes(), size=size).pixels for path in paths])


def _merge(library: Library, engine: Engine, fingerprint: str, watcher: Watcher) -> Generation | None:
    from indexer.merge import merge as merge_shards

    if _is_published(library, engine, fingerprint):
        return None
    watcher.stage("Merging")
    covered = read_coverage(library.vectors(fingerprint))
    return merge_shards(library, engine, fingerprint=fingerprint, embedded=covered.images)


def _is_published(library: Library, engine: Engine, fingerprint: str) -> bool:
    """Whether the current generation says already what a new one would say."""
    current = library.current()
    if current is None:
        return False
    try:
        manifest = Manifest.read(library.generation(current))
    except LibraryError:
        return False
    with engine.connect() as connection:
        revision = catalog.revision(connection)
    same = (manifest.fingerprint, manifest.revision) == (fingerprint, revision)
    return same and manifest.counts == _counts(library, engine, fingerprint)


def _counts(library: Library, engine: Engine, fingerprint: str) -> Accounting:
    with engine.connect() as connection:
        embedded = read_coverage(library.vectors(fingerprint)).images
        return catalog.account(connection, fingerprint=fingerprint, embedded=embedded)


def summary_json(summary: IndexSummary) -> dict[str, object]:
    """Spell a summary for programs."""
    return asdict(summary)
