"""The commands of `icons usage` that write, or show what was written: screenshots in, out, and how they stand."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.commands.options import json_option, library_option, say_failures
from indexer.languages.words import say

if TYPE_CHECKING:
    from indexer.library.folder import Library
    from indexer.screens.add import AddOptions, AddSummary


@click.command()
@click.argument("shots", nargs=-1, type=click.Path(path_type=Path), metavar="[SHOTS]...")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave files out, as in .gitignore. Repeatable.")
@click.option(
    "--crops/--no-crops", "keeps_crops", default=None, help="Keep a crop of each icon, or vectors and boxes alone."
)
@click.option("--retry-failed", is_flag=True, help="Try the files again that failed before.")
@click.option("--workers", type=click.IntRange(1), help="Screenshots at a time; by default one a core.")
@library_option
@json_option
def add(  # noqa: PLR0913 - one option each
    library: "Library",
    *,
    shots: tuple[Path, ...],
    exclude: tuple[str, ...],
    keeps_crops: bool | None,
    retry_failed: bool,
    workers: int | None,
    as_json: bool,
) -> None:
    """Look at screenshots: find their icons, and index these.

    SHOTS are folders or files. They are remembered: without any, all known ones are looked at again, and only what is
    new or has changed is read. Kill it at any moment: the index before answers, and the next run goes on from there.

    \b
    Examples:
      icons usage add ~/screenshots
      icons usage add ~/screenshots --no-crops --exclude 'drafts/'
      icons usage add
    """
    from indexer.screens.add import AddOptions

    if exclude and not shots:
        raise click.UsageError("--exclude needs the SHOTS that it holds for; `icons usage status` lists the known ones")
    options = AddOptions(
        shots=shots, exclude=exclude, keeps_crops=keeps_crops, retry_failed=retry_failed, workers=workers
    )
    summary = _look(library, options)
    for place in summary.away:
        say(f'Warning: "{place}" is not there now; what was known of it is kept', err=True)
    if as_json:
        click.echo(json.dumps(asdict(summary)))
    else:
        _print(summary)


def _look(library: "Library", options: "AddOptions") -> "AddSummary":
    from indexer.reports.terminal import ProgressLine
    from indexer.screens.add import add as add_shots

    try:
        with ProgressLine() as line:
            return add_shots(library, options, line)
    except KeyboardInterrupt:
        click.echo("stopped; what was finished is kept, and the same command goes on from there", err=True)
        raise


def _print(summary: "AddSummary") -> None:
    counts = summary.counts
    shares = f"{counts.indexed:,} indexed, {counts.duplicate:,} duplicates, {counts.failed:,} failed"
    click.echo(f"{counts.found:,} screenshots: {shares}")
    click.echo(f"{counts.icons:,} icons on them, {counts.drawings:,} different drawings")
    state = "nothing had changed" if summary.generation is None else f"generation {summary.generation} answers"
    say(f"{state}; {summary.looked:,} looked at; {summary.seconds:.1f} s")
    if counts.failed:
        click.echo("`icons usage failures` lists what failed and why", err=True)


@click.command()
@library_option
@json_option
def status(library: "Library", as_json: bool) -> None:
    """Show what is known of screenshots: by state, where they lie, icons, size on disk.

    \b
    Example:
      icons usage status
    """
    from indexer.screens.looks import usage_status, usage_status_lines

    facts = usage_status(library)
    for line in [json.dumps(facts)] if as_json else usage_status_lines(facts):
        say(line)


@click.command()
@library_option
@json_option
def failures(library: "Library", as_json: bool) -> None:
    """List every screenshot that could not be used, with the reason.

    \b
    Example:
      icons usage failures
    """
    from indexer.screens.looks import usage_failures

    say_failures(usage_failures(library), as_json=as_json)


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@library_option
@json_option
def remove(library: "Library", paths: Sequence[Path], as_json: bool) -> None:
    """Take screenshots out of the index, their crops with them; the files are not touched.

    PATH is a folder that `icons usage add` knows, or a folder or file in one, which is left out from now on.

    \b
    Examples:
      icons usage remove ~/screenshots/2019
      icons usage remove ~/screenshots/secret.png
    """
    from indexer.screens.add import remove as remove_shots

    manifest = remove_shots(library, paths)
    if as_json:
        click.echo(json.dumps({"counts": asdict(manifest.counts), "generation": manifest.number}))
    else:
        click.echo(f"{manifest.counts.found:,} screenshots are left; generation {manifest.number} answers")
