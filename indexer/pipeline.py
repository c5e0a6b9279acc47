"""The stages of `icons index`, each runnable alone: scan -> embed -> merge. Readable in a minute."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NoReturn, Protocol

from sqlalchemy import Engine

from indexer.catalog import contents
from indexer.catalog.database import count_on, open_catalog, used_ids
from indexer.catalog.scan import ScanTally, remember
from indexer.catalog.scan import forget as forget_source
from indexer.catalog.scan import move as move_source
from indexer.catalog.scan import scan as scan_sources
from indexer.embedding.plan_store import LibraryPlanStore
from indexer.embedding.planning import EmbedOptions, choice_in_use, prepare
from indexer.embedding.progress import EmbeddingProgress
from indexer.embedding.sharing import Collected, OwnRuns
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.devices import Devices, Machine, choose_sooner, operations, parse_devices
from indexer.encoders.library_encoder import carrying, export_missing, open_encoder
from indexer.errors import DeviceError, LibraryError, SourceError
from indexer.languages.letters import AUTO
from indexer.library.bundled import bundled
from indexer.library.folder import Generation, Library, noted_changes, require
from indexer.library.plans import Plan
from indexer.library.shards import Accounting, Coverage, read_coverage, unread_images
from indexer.library.stores import open_store
from indexer.merging.manifest import WEIGHTS, answering_manifest
from indexer.process import give_back_memory
from indexer.reports.terminal import TIMINGS

Stage = Callable[[str], None]
"""Takes the title of a step that begins."""


class Watcher(Protocol):
    """Whoever shows a person how far the work is."""

    def stage(self, title: str) -> None:
        """A new step has begun."""

    def scanned(self, tally: ScanTally) -> None:
        """The scan has come this far."""

    def embedded(self, plan: Plan, ranks: Sequence[EmbeddingProgress]) -> None:
        """The ranks have come this far."""

    def give_up(self, reason: str) -> None:
        """The embedding hangs in this process and can't be stopped: say so and end the process."""


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
    names_language: str = AUTO
    """Of the sources: an ISO 639 code."""
    choice: ModelChoice | None = None
    """None: the one in use, or the bundled one."""
    devices: str = "auto"
    embed: EmbedOptions = field(default_factory=EmbedOptions)
    retry_failed: bool = False
    work: str | None = None
    """Folder or URL where workers of other machines find the plan; None: it is done here."""
    ray: str | None = None
    """Address of a Ray cluster that such workers are started on."""


def index(library: Library, options: IndexOptions, watcher: Watcher) -> IndexSummary:
    """Scan, embed, merge and publish; what is done already is not done again.

    Raises:
        IconsError: with the value that is wrong and what to do; the old generation keeps answering.
    """
    started = time.monotonic()
    began_at = datetime.now(UTC).isoformat(timespec="seconds")
    with _writing(library) as engine:
        scanned = _scan(library, engine, options, watcher)
        if options.choice is not None:  # before the work, so that the next run finishes it if this one is killed
            _switch(engine, options.choice)
        embedded = _embed(library, engine, options, watcher)
        counts, generation = _publish(library, engine, embedded.fingerprint, watcher.stage)
        if counts.missing:
            raise LibraryError(f"{counts.missing} icons have neither a vector nor a reason; run `icons index` again")
        export_missing(library, choice_in_use(engine), stage=watcher.stage)
        summary = IndexSummary(
            scanned, embedded, counts, generation.number if generation else None, time.monotonic() - started
        )
        with engine.begin() as connection:
            last, answers = contents.last_run(connection), library.current()
            if answers is not None and (last is None or last.generation != answers):  # also where a kill came between
                contents.store_run(
                    connection,
                    counts,
                    generation=answers,
                    started_at=began_at,
                    seconds=round(summary.seconds),
                    fingerprint=embedded.fingerprint,
                    timings=json.dumps(TIMINGS.rows()),
                )
    return summary


@contextmanager
def _writing(library: Library) -> Iterator[Engine]:
    """Hold the library's lock and its catalog."""
    with library.writing():
        engine = open_catalog(library.catalog)
        try:
            with engine.begin() as connection:
                driver = connection.connection.driver_connection  # SQLite's own, within the same transaction
                assert driver is not None
                count_on(driver, used_ids(library))
                contents.ensure_library_id(connection)
            yield engine
        finally:
            engine.dispose()


def scan(library: Library, options: IndexOptions, watcher: Watcher) -> ScanTally:
    """Bring the catalog up to date with its sources; nothing is embedded."""
    with _writing(library) as engine:
        return _scan(library, engine, options, watcher)


def embed(library: Library, options: IndexOptions, watcher: Watcher) -> EmbedTally:
    """Embed what the catalog holds and the encoder lacks; nothing is published."""
    with _writing(library) as engine:
        embedded = _embed(library, engine, options, watcher)
        _record_failures(library, engine, embedded.fingerprint)
        return embedded


def merge(library: Library, choice: ModelChoice | None, stage: Stage) -> Generation | None:
    """Publish what is embedded with an encoder, which is in use from then on; None for the one in use.

    Returns None where the current generation says the same already.
    """
    with _writing(library) as engine:
        chosen = choice or choice_in_use(engine)
        with carrying(library, chosen, stage=stage):
            pass
        _, generation = _publish(library, engine, find_checkpoint(chosen).fingerprint, stage)
        if choice is not None:
            _switch(engine, choice)
        export_missing(library, chosen, stage=stage)
        return generation


def plan_only(library: Library, options: IndexOptions, watcher: Watcher) -> str:
    """Write the plan without embedding; return the line that embeds it on each of several machines.

    With `options.work` the plan is put there, after what earlier workers have left was collected.
    """
    from indexer.embedding.embed import plan_command

    with _writing(library) as engine:
        if options.work is not None:
            runs = OwnRuns(library, open_store(options.work))
            runs.collect()
        plan = _prepare(library, engine, options)
        if options.work is not None:
            watcher.stage(f"Putting the plan into {options.work}")
            runs.put(plan)
            _start_on_ray(options)
            return runs.worker_line
    return plan_command(LibraryPlanStore(library, plan.fingerprint), _devices_of(plan, options))


def collect(library: Library, work: str) -> Collected:
    """Bring into the library what workers elsewhere have embedded by now; nothing is published.

    Raises:
        EmbedError: the plan there is another library's.
    """
    with _writing(require(library)) as engine:
        collected = OwnRuns(library, open_store(work)).collect()
        if collected.fingerprint is not None:
            _record_failures(library, engine, collected.fingerprint)
    return collected


def restore_encoder(library: Library, stage: Stage) -> bool:
    """Export the query encoder in use if it is missing; tell whether it was."""
    with _writing(require(library)) as engine:
        return export_missing(library, choice_in_use(engine), stage=stage)


def forget(library: Library, location: Path) -> int:
    """Drop a remembered source, or a part of one, with its icons; return how many icons that were.

    Raises:
        SourceError: it was never named, and nothing is known below it.
    """
    with _writing(require(library)) as engine, engine.begin() as connection:
        return forget_source(connection, location)


def move(library: Library, old: Path, new: Path) -> int:
    """Tell where a remembered source lies now; return how many icons it has.

    Raises:
        SourceError: the old place was never named, the new one was, or holds nothing that can be indexed.
    """
    with _writing(require(library)) as engine, engine.begin() as connection:
        return move_source(connection, old, new)


def _switch(engine: Engine, choice: ModelChoice) -> None:
    """Take an encoder that is there into use."""
    find_checkpoint(choice)
    with engine.begin() as connection:
        contents.store_setting(connection, "model", choice.to_json())


def _scan(library: Library, engine: Engine, options: IndexOptions, watcher: Watcher) -> ScanTally:
    watcher.stage("Looking at sources")
    with engine.begin() as connection:
        for location in options.sources:
            remember(connection, location, exclude=options.exclude, names_language=options.names_language)
        if not contents.count_by_source(connection):
            if contents.has_had_sources(connection):
                _refuse_forgotten(library)
            watcher.stage("No source given yet: building from the bundled sample icons")
            remember(connection, bundled("samples/lucide-static"), exclude=())
    with noted_changes(library.root) as changed:
        tally = scan_sources(
            engine, report=watcher.scanned, changed=changed, unread=unread_images(library.root / "vectors")
        )
    with engine.connect() as connection:
        if not any(row["icons"] for row in contents.count_by_source(connection)):  # there is nothing to publish
            for refused in (*tally.kept, *tally.empty):
                raise SourceError(str(refused))
    return tally


def _refuse_forgotten(library: Library) -> NoReturn:
    """Refuse to fill a library whose sources were all forgotten with what nobody asked for."""
    samples, answers = bundled("samples/lucide-static"), library.current()
    until = f"; generation {answers} answers until then" if answers is not None else ""
    raise SourceError(
        f'"{library.root}" has no source any more: all were forgotten or held no icons. `icons index SOURCE` adds one, '
        f'`icons index "{samples}"` the sample icons{until}'
    )


def _embed(library: Library, engine: Engine, options: IndexOptions, watcher: Watcher) -> EmbedTally:
    started, before = time.monotonic(), None
    if options.work is not None:
        watcher.stage("Collecting what was embedded elsewhere")
        fingerprint = find_checkpoint(options.choice or choice_in_use(engine)).fingerprint
        runs = OwnRuns(library, open_store(options.work))
        before = _catch_up(runs, options, fingerprint, watcher)
    watcher.stage("Planning")
    plan = _prepare(library, engine, options)
    choice = ModelChoice.from_json(plan.model)
    with carrying(library, choice, stage=watcher.stage):
        if plan.n_blocks and options.work is not None:
            runs.put(plan)
            _catch_up(runs, options, plan.fingerprint, watcher)
        elif plan.n_blocks:
            _embed_here(library, plan, _sooner(plan, options, watcher.stage), options, watcher)
    n_images, n_names = (before.n_images, before.n_names) if before else (0, 0)
    return EmbedTally(plan.fingerprint, n_images + plan.n_images, n_names + plan.n_names, time.monotonic() - started)


def _catch_up(runs: OwnRuns, options: IndexOptions, fingerprint: str, watcher: Watcher) -> Plan | None:
    """Have workers elsewhere do what is under way with an encoder, and collect it; returns what that was."""

    def begin() -> None:
        watcher.stage(f"Embedding elsewhere, by {_start_on_ray(options) or runs.worker_line}")

    return runs.catch_up(fingerprint, begin=begin, warn=watcher.stage, show=watcher.embedded)


def _start_on_ray(options: IndexOptions) -> str | None:
    """Start workers on a Ray cluster, if one is named; say how many there are."""
    if options.ray is None or options.work is None:
        return None
    from indexer.embedding.ray_workers import start_on_ray

    return start_on_ray(options.ray, options.work)


def _embed_here(library: Library, plan: Plan, devices: Devices, options: IndexOptions, watcher: Watcher) -> None:
    """Embed on devices of this machine; where "auto" chose a GPU that turns out to be broken or full, on the CPU."""
    from indexer.embedding.embed import embed_here

    give_back_memory()
    watcher.stage("Embedding")
    try:
        place = LibraryPlanStore(library, plan.fingerprint)
        embed_here(place, devices, show=watcher.embedded, give_up=watcher.give_up)
    except DeviceError as error:
        if options.devices != "auto" or devices.device == "cpu":
            raise
        watcher.stage(f"On the CPU: {error}")
        _embed_here(library, plan, parse_devices("cpu"), options, watcher)


def _sooner(plan: Plan, options: IndexOptions, stage: Stage) -> Devices:
    """Choose where a plan is embedded; "auto" says why it takes what it takes, where there is a GPU."""
    devices = _devices_of(plan, options)
    if devices.why:
        stage(f"{'On the CPU' if devices.device == 'cpu' else 'Not on all GPUs'}: {devices.why}")
    if options.devices != "auto" or devices.device == "cpu":
        return devices
    of_each = operations(find_checkpoint(ModelChoice.from_json(plan.model)))
    devices, line = choose_sooner(
        devices, Machine.here(), n_images=plan.n_images, n_names=plan.n_names, of_each=of_each
    )
    stage(line)
    return devices


def _devices_of(plan: Plan, options: IndexOptions) -> Devices:
    """Where a plan is embedded: int8 is a processor's, so a library that began so goes on so, beside a GPU as well."""
    return parse_devices("cpu" if (plan.options["device"] == "cpu" and options.devices == "auto") else options.devices)


def _prepare(library: Library, engine: Engine, options: IndexOptions) -> Plan:
    kind = "auto" if options.devices == "auto" else "cpu" if options.devices.startswith("cpu") else "cuda"
    return prepare(
        library, engine, options.choice, options=replace(options.embed, device=kind), retry_failed=options.retry_failed
    )


def _record_failures(library: Library, engine: Engine, fingerprint: str) -> Coverage:
    """Read what the shards hold; copy what failed into the catalog, and drop what has succeeded since."""
    covered = read_coverage(library.vectors(fingerprint))
    reasons = {image: failed.reason for image, failed in covered.failures.items()}
    with engine.begin() as connection:
        if reasons != contents.reasons(connection, fingerprint):
            contents.replace_failures(connection, fingerprint, reasons)
            contents.bump_revision(connection)
    return covered


def _publish(library: Library, engine: Engine, fingerprint: str, stage: Stage) -> tuple[Accounting, Generation | None]:
    """Count what is embedded, and build a generation unless the current one says already what it would say."""
    from indexer.merging.merge import merge as merge_shards

    embedded = _record_failures(library, engine, fingerprint).images
    with engine.connect() as connection:
        counts = contents.account(connection, fingerprint=fingerprint, embedded=embedded)
        revision = contents.revision(connection)
    current = answering_manifest(library)
    if current is not None:
        published = (current.fingerprint, current.revision, current.weights, current.counts)
        if published == (fingerprint, revision, WEIGHTS, counts):
            return counts, None
    give_back_memory()  # what embedding has used
    merged = partial(merge_shards, library, engine, fingerprint=fingerprint, embedded=embedded, stage=stage)
    return counts, merged(open_encoder=partial(open_encoder, library, fingerprint))
