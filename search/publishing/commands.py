"""The commands that know servers beside folders: `icons lab publish`, `rollback` and `doctor`."""

import json
from dataclasses import asdict

import click

from indexer.commands.library import examine_folder, finding_lines, say_report
from indexer.commands.options import json_option, library_option
from indexer.languages.words import say
from indexer.library.folder import Library, LibraryElsewhere, require


@click.command(no_args_is_help=True)
@click.argument("address")
@click.option(
    "--pictures/--no-pictures",
    "sends_pictures",
    default=None,
    help="Send what icons show, too.  [default: as what answers; at first pictures]",
)
@click.option(
    "--replicas",
    type=click.IntRange(1),
    help="How many query nodes of a cluster hold the library, each as a whole: with 2, one may fail. "
    "[default: as many as what answers; at first 1]",
)
@library_option
@json_option
def publish(library: Library, address: str, sends_pictures: bool | None, replicas: int | None, as_json: bool) -> None:
    """Send the library to a Milvus server, and let that answer: ADDRESS is milvus://HOST:PORT/NAME.

    Whoever knows the address searches with --library ADDRESS, and needs nothing else. What answered there before
    answers on until all is sent, indexed and checked. Killed on the way, the same command goes on. A token comes from
    ICONS_MILVUS_TOKEN, or from the file that ICONS_MILVUS_TOKEN_FILE names. docs/milvus.md tells the rest.

    \b
    Examples:
      icons lab publish milvus://localhost:19530/icons
      icons lab publish milvus+tls://vectors.example/icons \\
        --replicas 2
      icons search "arrow" \\
        --library milvus://localhost:19530/icons
    """
    from indexer.reports.terminal import ProgressLine

    with ProgressLine() as view:
        from search.publishing.publish import publish as send

        found = send(library, address, sends_pictures=sends_pictures, replicas=replicas, progress=view)
    if as_json:
        click.echo(json.dumps(asdict(found)))
        return
    say(
        f"{found.icons:,} icons, {found.pictures:,} pictures: {found.sent:,} rows sent, {found.deleted:,} deleted, "
        f"{found.kept:,} were there; recall@10 {found.recall_at_10}"
    )
    if found.unread:
        say(f"{found.unread:,} pictures can't be read and were not sent; `icons index` looks at them again", err=True)
    say(f"generation {found.generation} answers at {address}; {found.seconds} s")


@click.command()
@click.option("--forward", is_flag=True, help="Let the one after it answer: take a rollback back.")
@library_option
def rollback(library: Library, forward: bool) -> None:
    """Let the generation before the current one answer again, of a folder or of a server.

    What was indexed since stays in the catalog: the next `icons index` publishes it anew.

    \b
    Examples:
      icons rollback
      icons rollback --forward
      icons rollback --library milvus://localhost:19530/icons
    """
    if isinstance(library, LibraryElsewhere):
        from search.publishing.publish import go_back

        say(f"generation {go_back(library, forward=forward)} answers at {library.address}")
        return
    with require(library).writing():
        generation = library.rollback(forward=forward)
    is_back = not forward or generation.number != max(library.numbers())
    back = "; `icons rollback --forward` goes back to the newer one" if is_back else ""
    click.echo(f"generation {generation.number} answers{back}")


@click.command()
@click.argument("address", required=False)
@click.option("--repair", "mends", is_flag=True, help="Make again what can be derived, set aside what can't.")
@click.option(
    "--sample",
    type=click.IntRange(0),
    default=16,
    show_default=True,
    help="Pictures and names that are embedded again and compared, or rows of a server; 0 for none.",
)
@library_option
@json_option
def doctor(library: Library, address: str | None, mends: bool, sample: int, as_json: bool) -> None:
    """Examine the library: checksums, counts, indexes against catalog and vectors, leftovers, room on the disk.

    Nothing is changed without --repair, which deletes nothing but leftovers: damaged files go to the folder "damaged"
    of the library. With the ADDRESS of a server, what was published there is held against the library. Exit code 0:
    sound, 2: not.

    \b
    Example:
      icons doctor
      icons doctor --repair && icons index
      icons doctor milvus://localhost:19530/icons
    """
    if address is None:
        examine_folder(library, mends=mends, sample=sample, as_json=as_json)
        return
    from search.generation.backend import Ability
    from search.generation.milvus.published import MILVUS
    from search.publishing.rows import examine

    if mends:
        MILVUS.require(Ability.REPAIR)
    report = examine(library, address, sample=sample)
    n_faults = sum(finding.is_fault for finding in report.findings)
    verdict = (
        "what was published is sound" if not n_faults else f"faults: {n_faults}; `icons lab publish` sends it again"
    )
    facts = ", ".join(f"{name} {value}" for name, value in report.facts.items())
    say_report(report, [*finding_lines(report), f"library   {report.library}: {facts}", verdict], as_json=as_json)
