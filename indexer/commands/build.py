"""The commands that build: `icons index`, `icons worker`, and those of `icons usage` that look at screenshots."""

import signal
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from indexer.commands.options import (
    devices_option,
    embed_options,
    json_option,
    library_option,
    list_option,
    model_choice,
    names_language_option,
    refuse,
    refuse_nothing,
    say_failures,
    show,
    source_options,
    watch_option,
    work_options,
)
from indexer.languages.words import counted, say
from indexer.library.folder import Library

_EMBED_OPTIONS = ("precision", "batch_size", "workers", "stall_limit", "lease_seconds")


@click.command()
@source_options
@click.option("--only", type=click.Choice(["scan", "plan", "embed", "collect", "merge"]), help="One stage alone.")
@names_language_option
@embed_options
@work_options
@click.option("--timings", "shows_timings", is_flag=True, help="Then show what the time was spent on, by rank.")
@library_option
@json_option
def index(library: Library, *, only: str | None, as_json: bool, watch_devices: bool, **options: Any) -> None:
    """Build or update the library: scan, embed, merge, publish.

    SOURCES are folders of pictures, Iconify JSON, npm icon packages, or CSV and JSONL manifests. They are remembered:
    without any, all known ones are looked at again, and only what is new is done. A new library starts with the
    bundled sample icons. A catalog of an older schema is brought to this program's.

    A source that can't be read, or has lost all its icons, or more than half of 1,000 or more, stays as it was: a
    mount may be away. The rest is done. Then it is named with the command that accepts the loss; the exit code is 2. A
    SOURCE that is given for the first time and is not there ends the run before it begins.

    --only scan brings the catalog up to date. --only embed embeds what it holds; with --model beside the vectors of the
    encoder in use, which stays in use. --only merge builds a new generation of what is embedded; with --model, its
    encoder is the one in use from then on. --only plan writes the plan and prints the line that starts a worker on each
    of several machines, --only collect fetches what these have embedded by now; --work says where.

    \b
    Examples:
      icons index ~/design/icons node_modules/@mdi/svg
      icons index ~/design/symbole --names-language de
      icons index --only embed --model local-dir:mine
      icons index --only merge --model local-dir:mine
      icons index --work s3://bucket/work      # workers embed
      icons index --work s3://bucket/work --ray auto
      icons index --only plan --work s3://bucket/work
      icons index --only collect --work s3://bucket/work
    """
    import psutil

    from indexer.reports.terminal import HEAD, TIMINGS, Bars, lines

    TIMINGS.begin_anew("Starting", at=psutil.Process().create_time())
    with Bars():  # these take long on a busy machine
        from indexer.commands.stages import STAGES, ProgressView
        from indexer.embedding.planning import EmbedOptions
        from indexer.pipeline import IndexOptions

    work = options["work"]
    refuse(
        (only not in (None, "scan") and options["sources"], f"--only {only} looks at no SOURCES; --only scan does"),
        (only == "collect" and not work, "--only collect needs --work: the folder or URL that workers share"),
        (options["ray"] and not work, "--ray needs --work: a folder or URL that all nodes reach"),
    )
    choice, shows_timings = model_choice(options.pop("model"), options.pop("pretrained")), options.pop("shows_timings")
    how = EmbedOptions(**{name: options.pop(name) for name in _EMBED_OPTIONS})
    with ProgressView(watch_devices=watch_devices) as view:
        outcome = STAGES[only](library, IndexOptions(choice=choice, embed=how, **options), view)
    spans = TIMINGS.rows()
    show({**outcome.plain, "timings": spans}, outcome.lines, as_json=as_json)
    if shows_timings and not as_json:
        from indexer.reports.terminal import open_console, table_of

        open_console().print(table_of(HEAD, lines(spans), n_left=2))
    if outcome.advice and not as_json:
        click.echo(outcome.advice, err=True)
    for error in outcome.errors:
        say(f"Error: {error}", err=True)
    raise click.exceptions.Exit(2 if outcome.errors else 0)


@click.command()
@click.argument("work", callback=refuse_nothing)
@devices_option
@watch_option
def worker(work: str, devices: str, watch_devices: bool) -> None:
    """Embed blocks of the plan in a folder or at a URL, beside other workers; no library is needed.

    It ends when nothing is left to be done. Any number of workers come and go; docs/machines.md shows how.

    \b
    Example:
      icons worker s3://bucket/work --devices 4
    """
    from indexer.commands.stages import ProgressView
    from indexer.embedding.embed import work_here
    from indexer.embedding.worker import Ended
    from indexer.encoders.devices import parse_devices

    with ProgressView(watch_devices=watch_devices) as view:
        try:
            chosen = parse_devices(devices)
            if chosen.why:
                view.note(f"{'On the CPU' if chosen.device == 'cpu' else 'Not on all GPUs'}: {chosen.why}")
            work_here(work, chosen, show=view.embedded, give_up=view.give_up)
        except Ended as ended:
            click.echo(str(ended), err=True)
            raise SystemExit(128 + signal.SIGTERM) from None
    click.echo("nothing of the plan is left to be done")


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
def add(library: Library, *, shots: tuple[Path, ...], as_json: bool, **asked: Any) -> None:
    """Look at screenshots: find their icons, and index these.

    SHOTS are folders or files. They are remembered: without any, all known ones are looked at again, and only what is
    new or has changed is read. Kill it at any moment: the index before answers, and the next run goes on from there.

    \b
    Examples:
      icons usage add ~/screenshots
      icons usage add ~/screenshots --no-crops \\
        --exclude 'drafts/'
      icons usage add
    """
    from indexer.reports.terminal import ProgressLine

    refuse(
        (asked["exclude"] and not shots, "--exclude needs the SHOTS that it holds for; `icons usage status` lists them")
    )
    try:
        with ProgressLine() as line:
            from indexer.screens import add as adding

            summary = adding.add(library, adding.AddOptions(shots=shots, **asked), line)
    except KeyboardInterrupt:
        click.echo("what was finished is kept, and the same command goes on from there", err=True)
        raise
    for place in summary.away:
        say(f'Warning: "{place}" is not there now; what was known of it is kept', err=True)
    counts = summary.counts
    shares = f"{counts.indexed:,} indexed, {counted(counts.duplicate, 'duplicate')}, {counts.failed:,} failed"
    state = "nothing had changed" if summary.generation is None else f"generation {summary.generation} answers"
    lines = [
        f"{counted(counts.found, 'screenshot')}: {shares}",
        f"{counted(counts.icons, 'icon')} on them, {counted(counts.drawings, 'different drawing')}",
        f"{state}; {summary.looked:,} looked at; {summary.seconds:.1f} s",
    ]
    show(asdict(summary), lines, as_json=as_json)
    if counts.failed and not as_json:
        click.echo("`icons usage failures` lists what failed and why", err=True)


@click.command()
@library_option
@json_option
def status(library: Library, as_json: bool) -> None:
    """Show what is known of screenshots: by state, where they lie, icons, size on disk.

    \b
    Example:
      icons usage status
    """
    from indexer.screens.looks import usage_status, usage_status_lines

    facts = usage_status(library)
    show(facts, usage_status_lines(facts), as_json=as_json)


@click.command()
@library_option
@list_option
def failures(library: Library, as_json: str | None) -> None:
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
def remove(library: Library, paths: Sequence[Path], as_json: bool) -> None:
    """Take screenshots out of the index, their crops with them; the files are not touched.

    PATH is a folder that `icons usage add` knows, or a folder or file in one, which is left out from now on.

    \b
    Examples:
      icons usage remove ~/screenshots/2019
      icons usage remove ~/screenshots/secret.png
    """
    from indexer.screens.add import remove as remove_shots

    manifest = remove_shots(library, paths)
    lines = [f"{counted(manifest.counts.found, 'screenshot')} left; generation {manifest.number} answers"]
    show({"counts": asdict(manifest.counts), "generation": manifest.number}, lines, as_json=as_json)
