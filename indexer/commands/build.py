"""Commands that build a library. Each parses, calls one library function, prints; heavy imports stand inside."""

import json
import signal
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.commands.options import (
    WorkPlace,
    embed_options,
    json_option,
    library_option,
    model_choice,
    model_options,
    names_language_option,
    source_options,
    work_options,
)
from indexer.languages.words import say

if TYPE_CHECKING:
    from indexer.catalog.scan import ScanTally
    from indexer.commands.console import ProgressView
    from indexer.library.folder import Library
    from indexer.run import IndexOptions, IndexSummary


@click.command()
@source_options
@names_language_option
@embed_options
@work_options
@click.option("--publish", "address", metavar="ADDRESS", help="Then send it to a server, as `icons publish` does.")
@library_option
@json_option
@click.pass_context
def index(
    ctx: click.Context, /, library: "Library", as_json: bool, watch_devices: bool, address: str | None, **options: Any
) -> None:
    """Build or update the library: scan, embed, merge, publish.

    SOURCES are folders of pictures, Iconify JSON, npm icon packages, or CSV and JSONL manifests. They are remembered:
    without any, all known ones are looked at again, and only what is new is done. A new library starts with the
    bundled sample icons.

    A source that can't be read, or has lost all its icons, or more than half of 1,000 or more, stays as it was: a
    mount may be away. The rest is done. Then it is named with the command that accepts the loss; the exit code is 2.

    \b
    Example:
      icons index ~/design/icons node_modules/@mdi/svg
      icons index ~/design/symbole --names-language de
      icons index --watch-devices
      icons index --work s3://bucket/work      # machines that run `icons embed --worker s3://bucket/work` embed
    """
    from indexer import pipeline
    from indexer.commands.console import ProgressView

    with ProgressView(watch_devices=watch_devices) as view:
        summary = pipeline.index(library, _options(**options), view)
    if as_json:
        click.echo(json.dumps(asdict(summary)))
    else:
        _say_summary(library, summary)
    if address is not None:  # the command stands in `search`, which nothing here imports
        publish = ctx.find_root().command.get_command(ctx, "publish")  # type: ignore[attr-defined]
        ctx.invoke(publish, library=library, address=address, sends_pictures=None, as_json=as_json)
    _report_kept(summary.scan)


def _say_summary(library: "Library", summary: "IndexSummary") -> None:
    counts, scan = summary.counts, summary.scan
    unread = f", {scan.broken:,} of them unread" if scan.broken else ""
    shares = f"{counts.embedded:,} pictures, {counts.duplicate:,} duplicates, {counts.failed:,} failed{unread}"
    click.echo(f"{counts.found:,} icons: {shares}")
    click.echo(_changes(scan))
    _say_what_was_read(scan)
    state = "nothing had changed" if summary.generation is None else f"generation {summary.generation} answers"
    say(f"{state}; {summary.seconds:.1f} s; {library.root}")
    if counts.failed:
        click.echo("`icons failures` lists what failed and why", err=True)


@click.command()
@source_options
@names_language_option
@library_option
@json_option
def scan(library: "Library", as_json: bool, **options: Any) -> None:
    """Bring the catalog up to date with its sources; embed nothing.

    \b
    Example:
      icons scan ~/design/icons --exclude 'drafts/'
    """
    from indexer import pipeline
    from indexer.commands.console import ProgressView
    from indexer.run import IndexOptions

    with ProgressView() as view:
        tally = pipeline.scan(library, IndexOptions(**options), view)
    if as_json:
        click.echo(json.dumps(asdict(tally)))
    else:
        _say_tally(tally)
    _report_kept(tally)


def _say_tally(tally: "ScanTally") -> None:
    click.echo(f"{tally.files:,} files: {_changes(tally)}")
    _say_what_was_read(tally)
    if tally.broken:
        click.echo(f"{tally.broken:,} entries can't be read; `icons failures` lists them", err=True)


@click.command()
@embed_options
@work_options
@click.option("--plan-only", is_flag=True, help="Write the plan and print the line to run on each of several machines.")
@click.option("--worker", type=WorkPlace(), help="Be a worker of the plan in this folder or at this URL, on --devices.")
@click.option("--collect", type=WorkPlace(), help="Fetch what workers have embedded by now, and embed nothing.")
@library_option
@json_option
def embed(library: "Library", as_json: bool, watch_devices: bool, **options: Any) -> None:
    """Embed what the catalog holds and the encoder lacks; publish nothing.

    With --model, vectors are made beside those of the encoder in use, which stays in use.

    \b
    Example:
      icons embed --devices cpu:2
      icons embed --model local-dir:mine && icons merge --model local-dir:mine
      icons embed --plan-only --work s3://bucket/work     # prints the line that starts a worker
      icons embed --work s3://bucket/work --ray auto      # workers as actors of a Ray cluster
      icons embed --worker s3://bucket/work               # on any number of machines, without the library
      icons embed --collect s3://bucket/work && icons merge
    """
    from indexer import pipeline
    from indexer.commands.console import ProgressView

    plan_only, worker, work = options.pop("plan_only"), options.pop("worker"), options.pop("collect")
    if sum(map(bool, (worker, work, plan_only or options["work"]))) > 1:
        raise click.UsageError("--worker, --collect and --work exclude each other")
    if work:
        _collect(library, work, as_json=as_json)
        return
    with ProgressView(watch_devices=watch_devices) as view:
        if worker:
            _work(worker, options["devices"], view)
            return
        if plan_only:
            click.echo(pipeline.plan_only(library, _options(**options), view))
            return
        tally = pipeline.embed(library, _options(**options), view)
    if as_json:
        click.echo(json.dumps(asdict(tally)))
    else:
        click.echo(f"{tally.images:,} pictures and {tally.names:,} names embedded in {tally.seconds:.1f} s")


def _work(worker: str, devices: str, view: "ProgressView") -> None:
    from indexer.embedding.crew import work_here
    from indexer.embedding.shard_writer import Ended
    from indexer.encoders.devices import parse_devices

    try:
        work_here(worker, parse_devices(devices), watch=view.embedded, give_up=view.give_up)
    except Ended as ended:
        click.echo(str(ended), err=True)
        raise SystemExit(128 + signal.SIGTERM) from None
    click.echo("nothing of the plan is left to be done")


def _collect(library: "Library", work: str, *, as_json: bool) -> None:
    from indexer import pipeline

    found = pipeline.collect(library, work)
    if as_json:
        click.echo(json.dumps(asdict(found)))
    elif found.fingerprint is None:
        say(f"{work} holds no plan any more: all of it is collected")
    else:
        damaged = f"; {found.damaged:,} were damaged and are free again" if found.damaged else ""
        click.echo(f"{found.blocks:,} of {found.of:,} blocks are here{damaged}")


@click.command()
@model_options
@library_option
@json_option
def merge(library: "Library", as_json: bool, model: str | None, pretrained: Path | None) -> None:
    """Build a new generation from what is embedded, and let it answer.

    With --model, its encoder is the one in use from then on.

    \b
    Example:
      icons merge
    """
    from indexer import pipeline
    from indexer.commands.console import ProgressView

    with ProgressView() as view:
        generation = pipeline.merge(library, model_choice(model, pretrained), view.stage)
    number = generation and generation.number
    if as_json:
        click.echo(json.dumps({"generation": number}))
    else:
        click.echo(f"generation {number} answers" if number else "the current generation holds everything already")


def _changes(tally: "ScanTally") -> str:
    return f"icons: {tally.added:,} added, {tally.changed:,} changed, {tally.moved:,} moved, {tally.gone:,} gone"


def _report_kept(tally: "ScanTally") -> None:
    """Name the sources that were left as they were; a run with such has done the rest, and ends as one that failed."""
    for kept in tally.kept:
        say(f"Error: {kept}", err=True)
    if tally.kept:
        raise SystemExit(2)


def _say_what_was_read(tally: "ScanTally") -> None:
    """Name the sets that were not read as English, so that nobody wonders how their icons are found."""
    from indexer.languages.dictionary import Dictionary

    called = Dictionary.bundled().languages
    for read in tally.read:
        names = ", ".join(f"{called.get(code, code)} ({n:,})" for code, n in read.names.items())
        tags = ", ".join(called.get(code, code) for code in read.tags)
        said = [f"names read as {names}"] * bool(names) + [f"tags read as {tags}"] * bool(tags)
        say(f"{read.set}: {'; '.join(said)}")


_EMBED_OPTIONS = ("precision", "batch_size", "workers", "backend", "stall_limit", "lease_seconds")


def _options(**options: Any) -> "IndexOptions":
    from indexer.embedding.planning import EmbedOptions
    from indexer.run import IndexOptions

    if options["ray"] and not options["work"]:
        raise click.UsageError("--ray needs --work: a folder or URL that all nodes reach")
    choice = model_choice(options.pop("model"), options.pop("pretrained"))
    how = EmbedOptions(**{name: options.pop(name) for name in _EMBED_OPTIONS})
    return IndexOptions(choice=choice, embed=how, **options)
