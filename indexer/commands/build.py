"""The commands `icons index` and `icons worker`."""

import json
import signal
from typing import TYPE_CHECKING, Any

import click

from indexer.commands.options import (
    WorkPlace,
    devices_option,
    embed_options,
    json_option,
    library_option,
    model_choice,
    names_language_option,
    source_options,
    watch_option,
    work_options,
)
from indexer.languages.words import say

if TYPE_CHECKING:
    from indexer.library.folder import Library
    from indexer.pipeline import IndexOptions


@click.command()
@source_options
@click.option("--only", type=click.Choice(["scan", "plan", "embed", "collect", "merge"]), help="One stage alone.")
@names_language_option
@embed_options
@work_options
@click.option("--publish", "address", metavar="ADDRESS", help="Then send it to a server, as `icons lab publish` does.")
@library_option
@json_option
@click.pass_context
def index(
    ctx: click.Context,
    /,
    library: "Library",
    only: str | None,
    as_json: bool,
    watch_devices: bool,
    address: str | None,
    **options: Any,
) -> None:
    """Build or update the library: scan, embed, merge, publish.

    SOURCES are folders of pictures, Iconify JSON, npm icon packages, or CSV and JSONL manifests. They are remembered:
    without any, all known ones are looked at again, and only what is new is done. A new library starts with the
    bundled sample icons. A catalog of an older schema is brought to this program's.

    A source that can't be read, or has lost all its icons, or more than half of 1,000 or more, stays as it was: a
    mount may be away. The rest is done. Then it is named with the command that accepts the loss; the exit code is 2.

    --only scan brings the catalog up to date. --only embed embeds what it holds; with --model beside the vectors of the
    encoder in use, which stays in use. --only merge builds a new generation of what is embedded; with --model, its
    encoder is the one in use from then on. --only plan writes the plan and prints the line that starts a worker on each
    of several machines, --only collect fetches what these have embedded by now; --work says where.

    \b
    Examples:
      icons index ~/design/icons node_modules/@mdi/svg
      icons index ~/design/symbole --names-language de
      icons index --only embed --model local-dir:mine && icons index --only merge --model local-dir:mine
      icons index --work s3://bucket/work        # machines that run `icons worker s3://bucket/work` embed
      icons index --work s3://bucket/work --ray auto        # workers as actors of a Ray cluster
      icons index --only plan --work s3://bucket/work
      icons index --only collect --work s3://bucket/work && icons index --only merge
    """
    from indexer.commands.console import ProgressView
    from indexer.commands.stages import STAGES

    _refuse_unused(only, address=address, **options)
    with ProgressView(watch_devices=watch_devices) as view:
        outcome = STAGES[only](library, _options(**options), view)
    for line in [json.dumps(outcome.plain)] if as_json else outcome.lines:
        say(line)
    if outcome.advice and not as_json:
        click.echo(outcome.advice, err=True)
    if address is not None:  # the command stands in `search`, which nothing here imports
        lab = ctx.find_root().command.get_command(ctx, "lab")  # type: ignore[attr-defined]
        publish = lab.get_command(ctx, "publish")
        ctx.invoke(publish, library=library, address=address, sends_pictures=None, as_json=as_json)
    for kept in outcome.kept:
        say(f"Error: {kept}", err=True)
    if outcome.kept:
        raise SystemExit(2)


def _refuse_unused(only: str | None, **options: Any) -> None:
    if only not in (None, "scan") and options["sources"]:
        raise click.UsageError(f"--only {only} looks at no SOURCES; --only scan does")
    if only is not None and options["address"]:
        raise click.UsageError(f"--only {only} publishes nothing; `icons lab publish {options['address']}` does")
    if only == "collect" and not options["work"]:
        raise click.UsageError("--only collect needs --work: the folder or URL that workers share")
    if options["ray"] and not options["work"]:
        raise click.UsageError("--ray needs --work: a folder or URL that all nodes reach")


_EMBED_OPTIONS = ("precision", "batch_size", "workers", "backend", "stall_limit", "lease_seconds")


def _options(**options: Any) -> "IndexOptions":
    from indexer.embedding.planning import EmbedOptions
    from indexer.pipeline import IndexOptions

    choice = model_choice(options.pop("model"), options.pop("pretrained"))
    how = EmbedOptions(**{name: options.pop(name) for name in _EMBED_OPTIONS})
    return IndexOptions(choice=choice, embed=how, **options)


@click.command()
@click.argument("work", type=WorkPlace())
@devices_option
@watch_option
def worker(work: str, devices: str, watch_devices: bool) -> None:
    """Embed blocks of the plan in a folder or at a URL, beside other workers; no library is needed.

    It ends when nothing is left to be done. Any number of workers come and go; docs/machines.md shows how.

    \b
    Example:
      icons worker s3://bucket/work --devices 4
    """
    from indexer.commands.console import ProgressView
    from indexer.embedding.crew import work_here
    from indexer.embedding.shard_writer import Ended
    from indexer.encoders.devices import parse_devices

    with ProgressView(watch_devices=watch_devices) as view:
        try:
            work_here(work, parse_devices(devices), watch=view.embedded, give_up=view.give_up)
        except Ended as ended:
            click.echo(str(ended), err=True)
            raise SystemExit(128 + signal.SIGTERM) from None
    click.echo("nothing of the plan is left to be done")
