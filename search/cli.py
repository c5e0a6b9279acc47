"""The root command `icons`: the commands that build, and `search`."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.bench.cli import bench
from indexer.cli import COMMANDS
from indexer.options import IconsGroup, json_option, library_option, warnings_as_lines
from search.bench.cli import bench_search

if TYPE_CHECKING:
    from indexer.library import Library
    from search.engine import Hit, SearchEngine
    from search.evaluate import Subject
    from search.evaluation import Evaluation


@click.group(cls=IconsGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="icons")
def main() -> None:
    """Find icons by what they mean or how they look, in any library, on your own machine.

    \b
      icons index                    build a library from the bundled sample icons
      icons index ~/design/icons     ... or from your own, which are remembered
      icons search "arrow"           ask it
    """


@main.command()
@click.argument("words", nargs=-1, required=True)
@click.option("-k", "k", type=click.IntRange(1, 10_000), default=10, show_default=True, help="How many hits.")
@click.option("--set", "sets", multiple=True, metavar="KEY", help="Only icons of this set. Repeatable.")
@click.option("--open", "open_sheet", is_flag=True, help="Show the hits as pictures in the browser.")
@library_option
@json_option
def search(
    library: "Library", words: Sequence[str], k: int, sets: Sequence[str], open_sheet: bool, as_json: bool
) -> None:
    """Find icons by words. Exit code 0: found, 1: nothing found, 2: error.

    \b
    Examples:
      icons search arrow
      icons search "go back" -k 5 --set mdi
      icons search settings --json | jq -r .path
    """
    from search.engine import SearchEngine

    query = " ".join(words)
    with warnings_as_lines():
        engine = SearchEngine.open(library.root)
        hits = engine.search(query, k=k, sets=sets)
    if as_json:
        for hit in hits:
            click.echo(json.dumps(asdict(hit)))
    elif hits:
        _print_table(hits)
    if open_sheet:
        click.launch(_write_sheet(engine, query, hits))
    if not hits:
        click.echo(f'nothing found for "{query}"', err=True)
        raise click.exceptions.Exit(1)


@main.command()
@click.option(
    "--queries",
    "queries",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="JSONL file of queries with their right answers. Repeatable. Over the bundled samples: the Lucide benchmark.",
)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME",
    help="An encoder to compare: as for `icons index`, or a fingerprint. Repeatable; the one in use if not given.",
)
@click.option(
    "--picture-weight", type=click.FloatRange(0, 1), help="Of the fused ranker; the library's own if not given."
)
@click.option(
    "--names",
    "n_names",
    type=click.IntRange(0),
    default=500,
    show_default=True,
    help="Names of the library to ask for, as they are and as people mistype them; 0 for none.",
)
@click.option(
    "--screenshots",
    "n_screenshots",
    type=click.IntRange(0),
    default=500,
    show_default=True,
    help="Icons to look for by screenshots of them; 0 for none.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of screenshots and intervals.")
@click.option("--report", type=click.Path(path_type=Path, dir_okay=False, writable=True), help="Write an HTML page.")
@library_option
@json_option
def evaluate(library: "Library", report: Path | None, as_json: bool, **options: Any) -> None:
    """Measure how well icons are found: by what they mean, by how they look, and from screenshots.

    Ranks all icons by keywords, by the vectors of names, of pictures, and of both, and as the engine does, and tells
    how high the right ones stand, with 95 % intervals. docs/evaluation.md says how to write queries for a library of
    your own.

    \b
    Examples:
      icons evaluate --report report.html
      icons evaluate --queries mine.jsonl --model bundled --model local-dir:other
      icons evaluate --screenshots 0 --json | jq '.rows[] | {task, ranker, figures}'
    """
    from indexer.page import check_page
    from search.evaluate import EvaluateOptions, Subject
    from search.evaluate import evaluate as evaluate_subject
    from search.evaluation import evaluation_json
    from search.progress import ProgressLine
    from search.summary import print_summary

    if report:
        check_page(report)
    with warnings_as_lines(), ProgressLine() as progress:
        subject = Subject(library)
        evaluation = evaluate_subject(subject, EvaluateOptions(**options), progress)
    if as_json:
        click.echo(json.dumps(evaluation_json(evaluation)))
    else:
        print_summary(evaluation)
    if report:
        _write_report(evaluation, subject, report)


def _print_table(hits: "Sequence[Hit]") -> None:
    from rich.table import Table

    from indexer.tables import open_console

    table = Table(box=None, pad_edge=False, header_style="dim")
    for title, justify in (("#", "right"), ("score", "right"), ("name", "left"), ("set", "left"), ("style", "left")):
        table.add_column(title, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("variants", justify="right", no_wrap=True)
    table.add_column("path", overflow="fold", style="dim")
    for number, hit in enumerate(hits, 1):
        where = hit.path if not hit.member else f"{hit.path}#{hit.member}"
        variants = str(hit.variants) if hit.variants > 1 else ""
        table.add_row(str(number), f"{hit.score:.3f}", hit.name, hit.set, hit.style or "", variants, where)
    open_console().print(table)


def _write_sheet(engine: "SearchEngine", query: str, hits: "Sequence[Hit]") -> str:
    import tempfile

    from search.sheet import sheet_html

    page = sheet_html(query, ((hit, engine.picture(hit.id)) for hit in hits))
    path = Path(tempfile.mkdtemp(prefix="icons-")) / "hits.html"
    path.write_text(page, "utf-8")
    click.echo(f"wrote {path}", err=True)
    return path.as_uri()


def _write_report(evaluation: "Evaluation", subject: "Subject", path: Path) -> None:
    from indexer.page import write_page
    from search.report import report_html

    write_page(path, report_html(evaluation, subject.originals.content_of))
    click.echo(f"wrote {path}", err=True)


bench.add_command(bench_search)
for command in COMMANDS:
    main.add_command(command)
