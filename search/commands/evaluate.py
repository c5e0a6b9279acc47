"""The command `icons lab evaluate`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from indexer.commands.options import fetch_models, json_option, library_option, warnings_as_lines
from indexer.languages.words import say
from indexer.library.folder import Library

_WITH_SCREENS = frozenset(("seed", "library", "as_json", "screens_from"))
"""Options that `--screens-from` goes with."""


@click.command()
@click.option(
    "--queries",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="JSONL file of queries with their right answers. Repeatable. Over the bundled samples: the Lucide benchmark.",
)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME",
    callback=fetch_models,
    help="An encoder to compare: as for `icons index`, or a fingerprint. Repeatable; else the one in use.",
)
@click.option("--picture-weight", type=click.FloatRange(0, 1), help="Of the fused ranker; else the library's own.")
@click.option("--tag-weight", type=click.FloatRange(0, 1), help="Of tags in the fused ranker; else the library's own.")
@click.option(
    "--tags",
    "n_tags",
    type=click.IntRange(0),
    default=500,
    show_default=True,
    help="Tags of the library to ask for, in both regimes; 0 for none.",
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
@click.option(
    "--scores",
    "n_scored",
    type=click.IntRange(0),
    default=500,
    show_default=True,
    help="Queries to tell by how often a least score errs; 0 for none.",
)
@click.option(
    "--screens-from",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Measure instead how well icons are found and named in this folder of prepared screens.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of screenshots and intervals.")
@click.option("--report", type=click.Path(path_type=Path, dir_okay=False, writable=True), help="Write an HTML page.")
@library_option
@json_option
def evaluate(
    library: Library,
    screens_from: Path | None,
    report: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Measure how well icons are found: by what they mean, by how they look, and from screenshots.

    Ranks all icons by the vectors of names, of pictures, and of all, asks the engine as people do, and tells how high
    the right ones stand, with 95 % intervals. What the library's tags add is seen in two regimes: none of them known,
    all known. docs/evaluation.md says how to write queries for a library of your own.

    \b
    Examples:
      icons lab evaluate --report report.html
      icons lab evaluate --queries mine.jsonl --model bundled --model local-dir:other
      icons lab evaluate --screenshots 0 --json | jq '.rows[] | {task, ranker, figures}'
      icons lab evaluate --screens-from FOLDER
    """
    from indexer.reports.figures import check_page, write_page
    from indexer.reports.terminal import ProgressLine
    from search.evaluation.evaluate import EvaluateOptions, Subject
    from search.evaluation.evaluate import evaluate as evaluate_subject
    from search.evaluation.findings import evaluation_json, print_summary, report_html

    if screens_from:
        _evaluate_screens(library, screens_from, options["seed"], as_json=as_json)
        return
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
        write_page(report, report_html(evaluation, subject.corpus.content_of))
        say(f"wrote {report}", err=True)


def _evaluate_screens(library: Library, folder: Path, seed: int, *, as_json: bool) -> None:
    """Measure boxes and names alone.

    Raises:
        click.UsageError: an option was typed that says nothing to that.
    """
    from indexer.reports.figures import RESAMPLES
    from indexer.reports.terminal import ProgressLine
    from search.evaluation.evaluate import Subject
    from search.evaluation.screens import evaluate_screens, print_screens

    ctx = click.get_current_context()
    others = [
        parameter.opts[0]
        for parameter in ctx.command.params
        if parameter.name not in _WITH_SCREENS
        and ctx.get_parameter_source(parameter.name or "") is not ParameterSource.DEFAULT
    ]
    if others:
        raise click.UsageError(
            f"--screens-from measures boxes and names in screens alone; leave out {', '.join(others)}"
        )
    with warnings_as_lines(), ProgressLine() as progress:
        evaluation = evaluate_screens(Subject(library), folder, progress, seed=seed)
    if as_json:
        click.echo(json.dumps({**asdict(evaluation), "resamples": RESAMPLES}))
    else:
        print_screens(evaluation)
