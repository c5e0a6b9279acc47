"""Commands that build a library. Each parses, calls one library function, prints; heavy imports stand inside."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from indexer.errors import IconsError

if TYPE_CHECKING:
    from indexer.library import Library
    from indexer.pipeline import IndexOptions
    from indexer.scan import ScanTally

Function = TypeVar("Function", bound=Callable[..., Any])
PRECISIONS = click.Choice(["auto", "fp32", "bf16", "fp16"])


class LibraryFolder(click.ParamType[Any]):
    """A library's folder on the command line."""

    name = "DIR"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "Library":
        """Open nothing yet: just name the folder."""
        from indexer.library import Library

        return value if isinstance(value, Library) else Library(Path(value))


def _default_library() -> str:
    from platformdirs import user_data_path

    return str(user_data_path("icons"))


def library_option(function: Function) -> Function:
    """Add `--library`; ICONS_LIBRARY and the user's data folder come after it."""
    return click.option(
        "--library",
        type=LibraryFolder(),
        envvar="ICONS_LIBRARY",
        default=_default_library,
        show_default="your data folder",
        help="Folder of the library; ICONS_LIBRARY sets it too.",
    )(function)


def json_option(function: Function) -> Function:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(function)


def _source_options(function: Function) -> Function:
    function = click.option(
        "--exclude",
        multiple=True,
        metavar="PATTERN",
        is_eager=True,
        help="Leave files out, as in .gitignore; '@gitignore' applies the .gitignore files found. Repeatable.",
    )(function)
    return click.argument("sources", nargs=-1, type=click.Path(path_type=Path), callback=_take_sources)(function)


def _take_sources(ctx: click.Context, _: click.Parameter, sources: tuple[Path, ...]) -> tuple[Path, ...]:
    """Refuse patterns that would hold for nothing. `--exclude` is eager, so it is known here."""
    if ctx.params.get("exclude") and not sources:
        raise click.UsageError("--exclude needs the SOURCES it holds for; `icons sources` lists the remembered ones")
    return sources


def _embed_options(function: Function) -> Function:
    options = [
        click.option("--model", metavar="NAME", help="bundled, an open_clip name, hf-hub:ORG/NAME, or local-dir:PATH."),
        click.option("--pretrained", type=click.Path(path_type=Path), help="Checkpoint for an open_clip name."),
        click.option(
            "--devices", default="auto", show_default=True, help="auto, cpu, cpu:2, a number of GPUs, or 0,2."
        ),
        click.option("--precision", type=PRECISIONS, default="auto", show_default=True, help="Of the forward pass."),
        click.option("--batch-size", type=click.IntRange(1), help="Pictures at once; found by doubling if not given."),
        click.option("--workers", type=click.IntRange(0), help="Rendering processes a device; its cores if not given."),
        click.option(
            "--backend",
            type=click.Choice(["auto", "nccl", "gloo"]),
            default="auto",
            show_default=True,
            help="How ranks find each other.",
        ),
        click.option("--retry-failed", is_flag=True, help="Try the pictures again that failed before."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


@click.command()
@_source_options
@_embed_options
@library_option
@json_option
def index(library: "Library", as_json: bool, **options: Any) -> None:
    """Build or update the library: scan, embed, merge, publish.

    SOURCES are folders of pictures, Iconify JSON, npm icon packages, or CSV and JSONL manifests. They are remembered:
    without any, all known ones are looked at again, and only what is new is done. An empty library starts with the
    bundled sample icons.

    \b
    Example:
      icons index ~/design/icons node_modules/@mdi/svg
    """
    from indexer import pipeline
    from indexer.console import ProgressView

    with ProgressView() as view:
        summary = pipeline.index(library, _options(**options), view)
    if as_json:
        click.echo(json.dumps(pipeline.summary_json(summary)))
        return
    counts, scan = summary.counts, summary.scan
    shares = f"{counts.embedded:,} pictures, {counts.duplicate:,} duplicates, {counts.failed:,} failed"
    click.echo(f"{counts.found:,} icons: {shares}")
    click.echo(_changes(scan))
    state = "nothing had changed" if summary.generation is None else f"generation {summary.generation} answers"
    click.echo(f"{state}; {summary.seconds:.1f} s; {library.root}")
    if counts.failed:
        click.echo("`icons failures` lists what failed and why", err=True)


@click.command()
@_source_options
@library_option
@json_option
def scan(library: "Library", as_json: bool, **options: Any) -> None:
    """Bring the catalog up to date with its sources; embed nothing.

    \b
    Example:
      icons scan ~/design/icons --exclude 'drafts/'
    """
    from dataclasses import asdict

    from indexer import pipeline
    from indexer.console import ProgressView
    from indexer.pipeline import IndexOptions

    with ProgressView() as view:
        tally = pipeline.scan(library, IndexOptions(**options), view)
    if as_json:
        click.echo(json.dumps(asdict(tally)))
        return
    click.echo(f"{tally.files:,} files: {_changes(tally)}")
    if tally.broken:
        click.echo(f"{tally.broken:,} entries can't be read; `icons failures` lists them", err=True)


@click.command()
@_embed_options
@click.option("--plan-only", is_flag=True, help="Write the plan and print the torchrun line for several machines.")
@library_option
@json_option
def embed(library: "Library", plan_only: bool, as_json: bool, **options: Any) -> None:
    """Embed what the catalog holds and the encoder lacks; publish nothing.

    \b
    Example:
      icons embed --devices cpu:2
      icons embed --plan-only      # prints the line to run on each of several machines
    """
    from dataclasses import asdict

    from indexer import pipeline
    from indexer.console import ProgressView

    with ProgressView() as view:
        if plan_only:
            click.echo(pipeline.plan_only(library, _options(**options), view))
            return
        tally = pipeline.embed(library, _options(**options), view)
    if as_json:
        click.echo(json.dumps(asdict(tally)))
    else:
        click.echo(f"{tally.images:,} pictures and {tally.names:,} names embedded in {tally.seconds:.1f} s")


@click.command()
@library_option
@json_option
def merge(library: "Library", as_json: bool) -> None:
    """Build a new generation from what is embedded, and let it answer.

    \b
    Example:
      icons merge
    """
    from indexer import pipeline
    from indexer.console import ProgressView

    with ProgressView() as view:
        generation = pipeline.merge(library, view)
    number = generation and generation.number
    if as_json:
        click.echo(json.dumps({"generation": number}))
    else:
        click.echo(f"generation {number} answers" if number else "the current generation holds everything already")


@click.command()
@library_option
@json_option
def status(library: "Library", as_json: bool) -> None:
    """Show what the library holds: icons by state, sources, encoder, generation, size on disk.

    \b
    Example:
      icons status
    """
    from indexer.status import read_status, status_lines

    facts = read_status(library)
    click.echo(json.dumps(facts) if as_json else "\n".join(status_lines(facts)))


@click.command()
@library_option
@json_option
def failures(library: "Library", as_json: bool) -> None:
    """List every file or picture that could not be indexed, with the reason.

    \b
    Example:
      icons failures --json | jq -r .reason | sort | uniq -c
    """
    from indexer.status import read_failures

    for failure in read_failures(library):
        click.echo(json.dumps(failure) if as_json else f"{failure['file']}\t{failure['reason']}")


@click.command()
@library_option
@json_option
def sources(library: "Library", as_json: bool) -> None:
    """List the remembered sources.

    \b
    Example:
      icons sources
    """
    from indexer.status import read_sources

    for source in read_sources(library):
        line = f"{source['icons']:>9,} icons  {source['sets']:>4,} sets  {source['kind']:<10} {source['location']}"
        click.echo(json.dumps(source) if as_json else line)


@click.command()
@click.argument("location", type=click.Path(path_type=Path))
@library_option
def forget(library: "Library", location: Path) -> None:
    """Drop a source and its icons from the library; its files are not touched.

    \b
    Example:
      icons forget ~/design/old-icons && icons index
    """
    from indexer import pipeline

    n_dropped = pipeline.forget(library, location)
    click.echo(f"{n_dropped} source{'s' if n_dropped > 1 else ''} dropped; `icons index` publishes the library without")


@click.command()
@library_option
def rollback(library: "Library") -> None:
    """Let the generation before the current one answer again.

    \b
    Example:
      icons rollback
    """
    from indexer.library import require

    with require(library).writing():
        generation = library.rollback()
    click.echo(f"generation {generation.number} answers")


@click.group()
def db() -> None:
    """Look after the catalog's schema."""


@db.command()
@library_option
def upgrade(library: "Library") -> None:
    """Bring the catalog to this program's schema.

    \b
    Example:
      icons db upgrade
    """
    from indexer.database import upgrade_catalog
    from indexer.library import require

    with require(library).writing():
        before, after = upgrade_catalog(library.catalog)
    click.echo(f"schema {before} is current" if before == after else f"schema {before} -> {after}")


def _changes(tally: "ScanTally") -> str:
    return f"{tally.added:,} icons added, {tally.changed:,} changed, {tally.moved:,} moved, {tally.gone:,} gone"


def _options(**options: Any) -> "IndexOptions":
    from indexer.checkpoint import ModelChoice
    from indexer.embed import EmbedOptions
    from indexer.pipeline import IndexOptions

    model, pretrained = options.pop("model"), options.pop("pretrained")
    if pretrained is not None and model is None:
        raise click.UsageError("--pretrained needs --model NAME, an open_clip model such as ViT-B-32")
    choice = model and ModelChoice(model, str(pretrained) if pretrained else None)
    how = EmbedOptions(
        **{name: options.pop(name) for name in ("precision", "batch_size", "workers", "backend")},
    )
    return IndexOptions(choice=choice, embed=how, **options)


COMMANDS = (index, scan, embed, merge, status, failures, sources, forget, rollback, db)


class _Refusal(click.ClickException):
    exit_code = 2


class IconsGroup(click.Group):
    """Prints our own errors as one line and exits with 2; anything else is a defect and shows its trace."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except IconsError as error:
            raise _Refusal(str(error)) from error
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader has seen enough
            raise click.exceptions.Exit(0) from None
