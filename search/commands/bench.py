"""The commands `icons bench search`, `serve` and `scale`, beside those of `indexer`."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.commands.bench import bench
from indexer.commands.options import json_option, library_option, warnings_as_lines
from indexer.naming.printable import say
from indexer.publishing.index_kinds import KINDS
from search.bench.options import PARTS, SearchBenchOptions

if TYPE_CHECKING:
    from indexer.library.folder import Library
    from search.bench.tables import Grid


@bench.command("search")
@click.option(
    "--only",
    "parts",
    multiple=True,
    type=click.Choice(PARTS),
    default=PARTS,
    help="Measure this part. Repeatable; all if not given.",
)
@click.option(
    "--queries",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="JSONL file of queries, as for `icons evaluate`. Repeatable; names of the library's icons if not given.",
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(list(KINDS)),
    default=list(KINDS),
    help="A kind of index to build. Repeatable; all if not given.",
)
@click.option(
    "--vectors",
    type=click.IntRange(100),
    metavar="N",
    help="Build indexes of 20 thousand, 380 thousand, 1 and 10 million vectors, up to N of them; 380000 if not given.",
)
@click.option(
    "--runs", "n_cold", type=click.IntRange(1), default=10, show_default=True, help="Of each process from cold."
)
@click.option("-k", "k", type=click.IntRange(1, 1000), default=10, show_default=True, help="Hits of a query.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of queries and made vectors.")
@click.option("--report", type=click.Path(path_type=Path, dir_okay=False, writable=True), help="Write an HTML page.")
@library_option
@json_option
def bench_search(library: "Library", report: Path | None, as_json: bool, **options: Any) -> None:
    """Measure how fast icons are found here: cold, warm, filtered, with many asking, and by kind of index.

    Only reads the library. Indexes are built one after the other in a temporary folder (TMPDIR), from the library's own
    vectors and others made from these. docs/search-speed.md says how to read the figures.

    \b
    Examples:
      icons bench search --report speed.html
      icons bench search --only warm --only clients --queries mine.jsonl
      icons bench search --only indexes --vectors 10000000 --kind rabitq --kind hnsw --json
    """
    from indexer.reports.bars import ProgressLine
    from indexer.reports.page import check_page, write_page
    from search.bench.run import bench_search as measure

    if report:
        check_page(report)
    with warnings_as_lines(), ProgressLine() as progress:
        found = measure(library, SearchBenchOptions(**options), progress)
    if as_json:
        click.echo(json.dumps(asdict(found)))
    else:
        from search.bench.tables import facts, grids, left_out

        _print([*facts(found), *left_out(found)], grids(found))
    if report:
        from search.bench.page import bench_page

        write_page(report, bench_page(found))
        say(f"wrote {report}", err=True)
    if found.stopped:
        click.echo("stopped: the rest was not measured", err=True)
        raise click.exceptions.Exit(1)


@bench.command("serve")
@click.option("--clients", type=click.IntRange(1, 256), default=16, show_default=True, help="Who ask at once.")
@click.option("--seconds", type=click.FloatRange(1, 3600), default=60, show_default=True, help="How long they do.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the queries.")
@library_option
@json_option
def bench_serve(library: "Library", as_json: bool, **options: Any) -> None:
    """Measure how a server holds up: clients that use the page for a minute, then 200 at once.

    Starts `icons serve` on a free port of this machine, and ends it. docs/serving.md says how to read the figures.
    Exit code 1: a request was not answered as it should be.

    \b
    Examples:
      icons bench serve
      icons bench serve --clients 4 --seconds 20 --json
    """
    from indexer.reports.bars import ProgressLine
    from search.bench.serving import ServeBenchOptions, facts, grids
    from search.bench.serving import bench_serve as measure

    with warnings_as_lines(), ProgressLine() as progress:
        found = measure(library, ServeBenchOptions(**options), progress)
    if as_json:
        click.echo(json.dumps(asdict(found)))
    else:
        _print(facts(found), grids(found))
    if found.errors or found.crowd.failed:
        raise click.exceptions.Exit(1)


@bench.command("scale")
@click.option(
    "--icons",
    "sizes",
    type=click.IntRange(1_000),
    multiple=True,
    default=(250_000, 1_000_000),
    show_default=True,
    metavar="N",
    help="Of a synthetic library. Repeatable: one for each.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False, writable=True),
    default=Path("icons-scale"),
    show_default=True,
    help="Folder for the figures, and for what is built: some 3.5 GB a million icons.",
)
@click.option("--keep", is_flag=True, help="Leave what was built there.")
@click.option(
    "--publish",
    "server",
    default="",
    metavar="ADDRESS",
    help="A Milvus (milvus://HOST:PORT) that each size is published to, too; it stays there as scale_N.",
)
@library_option
@json_option
def bench_scale(library: "Library", sizes: Sequence[int], out: Path, keep: bool, server: str, as_json: bool) -> None:
    """Measure how time, memory and disk grow with the number of icons, from the scan to the page.

    Draws sets as those of the library, with vectors of its clusters, and builds a library of each size. Only reads the
    real one. Ended early, the same command goes on where it stopped. docs/scale.md says how to read the figures.

    \b
    Examples:
      icons bench scale --icons 20000 --icons 100000
      icons bench scale --icons 1000000 --icons 4000000 --icons 10000000 --out /data/scale
      icons bench scale --icons 20000 --icons 100000 --publish milvus://localhost:19530
    """
    from indexer.reports.bars import ProgressLine
    from search.bench.scale.report import grids
    from search.bench.scale.run import measure_scale

    with warnings_as_lines(), ProgressLine() as progress:
        found = list(measure_scale(library, out, sizes, keep=keep, progress=progress, server=server))
    if as_json:
        click.echo(json.dumps([asdict(one) for one in found]))
    else:
        _print([f"figures lie in {out}"], grids(found))


def _print(lines: Sequence[str], grids: "Sequence[Grid]") -> None:
    from indexer.reports.tables import open_console, table_of

    console = open_console()
    for line in lines:
        console.print(line, highlight=False, markup=False)
    for grid in grids:
        console.print(f"\n{grid.title}", style="bold", highlight=False, markup=False)
        console.print(table_of(grid.head, grid.rows))
        for note in grid.notes:
            console.print(note, highlight=False, markup=False, style="dim")
