"""The command `icons lab evaluate`."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from indexer.commands.options import fetch_models, json_option, library_option, warnings_as_lines
from indexer.languages.words import say

if TYPE_CHECKING:
    from indexer.library.folder import Library
    from search.evaluation.evaluate import Subject
    from search.evaluation.findings import Evaluation

_WITH_ALL = frozenset(("seed", "report", "library", "as_json"))
_WITH_LANGUAGES = _WITH_ALL | {"queries", "in_languages"}
"""Options that `--languages` goes with."""
_WITH_SCREENS = frozenset(("seed", "library", "as_json", "screens_from"))


def _files(name: str, what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """An option that takes files of queries, each given by itself."""
    kind = click.Path(path_type=Path, exists=True, dir_okay=False)
    return click.option(f"--{name}", name, multiple=True, type=kind, help=f"JSONL file of {what}")


@click.command()
@_files("queries", "queries with their right answers. Repeatable. Over the bundled samples: the Lucide benchmark.")
@_files("described", "described drawings: what must and must not be among the first five hits. Repeatable.")
@_files(
    "judged",
    "icons judged by looking at them. Repeatable. Over the bundled samples without --queries: the bundled one.",
)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME",
    callback=fetch_models,
    help="An encoder to compare: as for `icons index`, or a fingerprint. Repeatable; the one in use if not given.",
)
@click.option(
    "--picture-weight", type=click.FloatRange(0, 1), help="Of the fused ranker; the library's own if not given."
)
@click.option(
    "--tag-weight", type=click.FloatRange(0, 1), help="Of tags in the fused ranker; the library's own if not given."
)
@click.option(
    "--tags",
    "n_tags",
    type=click.IntRange(0),
    default=500,
    show_default=True,
    help="Tags of the library to ask for, in every regime; 0 for none.",
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
    "--languages",
    "in_languages",
    is_flag=True,
    help="Ask in other languages instead: the bundled questions, or those of --queries whose lines say them so.",
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
    library: "Library",
    in_languages: bool,
    screens_from: Path | None,
    report: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Measure how well icons are found: by what they mean, by how they look, and from screenshots.

    Ranks all icons by keywords, by the vectors of names, pictures and tags, and of all, and as the engine does, and
    tells how high the right ones stand, with 95 % intervals. What the library's tags add is seen in three regimes: none
    of them known, half of them hidden and asked for, all known. docs/evaluation.md says how to write queries for a
    library of your own.

    \b
    Examples:
      icons lab evaluate --report report.html
      icons lab evaluate --queries mine.jsonl --model bundled --model local-dir:other
      icons lab evaluate --described data/eval/described-open.jsonl --names 0 --tags 0 --screenshots 0
      icons lab evaluate --screenshots 0 --json | jq '.rows[] | {task, ranker, figures}'
      icons lab evaluate --languages --report languages.html
      icons lab evaluate --screens-from FOLDER
    """
    if screens_from:
        _refuse_beside("--screens-from measures boxes and names in screens alone", _WITH_SCREENS)
        _evaluate_screens(library, screens_from, options["seed"], as_json=as_json)
        return
    if in_languages:
        _refuse_beside("--languages asks the library's engine in other languages alone", _WITH_LANGUAGES)
        _evaluate_languages(library, options["queries"], options["seed"], report, as_json=as_json)
        return
    from indexer.reports.page import check_page
    from indexer.reports.terminal import ProgressLine
    from search.evaluation.evaluate import EvaluateOptions, Subject
    from search.evaluation.evaluate import evaluate as evaluate_subject
    from search.evaluation.findings import evaluation_json
    from search.evaluation.summary import print_summary

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


def _refuse_beside(why: str, fitting: frozenset[str]) -> None:
    """Refuse options that were given and are none of the fitting ones.

    Raises:
        click.UsageError: one was given.
    """
    ctx = click.get_current_context()
    given = [
        parameter.opts[0]
        for parameter in ctx.command.params
        if parameter.name not in fitting
        and ctx.get_parameter_source(parameter.name or "") is not ParameterSource.DEFAULT
    ]
    if given:
        raise click.UsageError(f"{why}; leave out {', '.join(given)}")


def _evaluate_languages(
    library: "Library", queries: Sequence[Path], seed: int, report: Path | None, *, as_json: bool
) -> None:
    from indexer.reports.page import check_page, write_page
    from indexer.reports.terminal import ProgressLine
    from search.evaluation.evaluate import Subject
    from search.evaluation.other_languages import LanguageOptions, evaluate_languages, language_json
    from search.evaluation.other_languages_page import print_languages

    if report:
        check_page(report)
    with warnings_as_lines(), ProgressLine() as progress:
        evaluation = evaluate_languages(Subject(library), LanguageOptions(queries, seed), progress)
    if as_json:
        click.echo(json.dumps(language_json(evaluation)))
    else:
        print_languages(evaluation)
    if report:
        from search.evaluation.other_languages_page import languages_html

        write_page(report, languages_html(evaluation))
        say(f"wrote {report}", err=True)


def _evaluate_screens(library: "Library", folder: Path, seed: int, *, as_json: bool) -> None:
    from indexer.reports.terminal import ProgressLine
    from search.evaluation.evaluate import Subject
    from search.evaluation.screens import evaluate_screens, print_screens, screens_json

    with warnings_as_lines(), ProgressLine() as progress:
        evaluation = evaluate_screens(Subject(library), folder, progress, seed=seed)
    if as_json:
        click.echo(json.dumps(screens_json(evaluation)))
    else:
        print_screens(evaluation)


def _write_report(evaluation: "Evaluation", subject: "Subject", path: Path) -> None:
    from indexer.reports.page import write_page
    from search.evaluation.report import report_html

    write_page(path, report_html(evaluation, subject.originals.content_of))
    say(f"wrote {path}", err=True)
