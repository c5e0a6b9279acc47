"""The commands `icons finetune` and `icons captions`: parse, call one function, print. Heavy imports stand inside."""

import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.commands.finetune_options import Count, File, SubjectCommand, finetune_options, learning_options
from indexer.commands.options import fetch_models, library_option, source_options
from indexer.finetune.options import SUBJECTS, FinetuneOptions
from indexer.naming.printable import say

if TYPE_CHECKING:
    from indexer.finetune.session import Outcome
    from indexer.library.folder import Library

GATHERING = ("admit", "names_per_set", "variants_per_name", "tags_per_icon", "own_captions")
"""Choices that a corpus was made with, and that can't be made again."""


@click.command(cls=SubjectCommand)
@source_options
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="The folder to make.")
@click.option(
    "--model",
    default="bundled",
    show_default=True,
    metavar="NAME",
    callback=fetch_models,
    help="As for `icons index`.",
)
@click.option("--pretrained", type=File, help="Checkpoint for an open_clip name.")
@click.option("--new-model", type=File, help="Begin with random weights, by this open_clip config (JSON).")
@click.option("--corpus", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Icons rendered before.")
@click.option("--devices", default="auto", show_default=True, help="As for `icons index`.")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(0), help="Rendering processes.")
@click.option("--resume", is_flag=True, help="Go on from the last checkpoint, with the same options.")
@click.option("--replace", is_flag=True, help="Begin anew where OUT is a model, or a run that was not finished.")
@click.option("--allow-regression", is_flag=True, help="Write OUT even where a task fell below the parent's interval.")
@click.option("--show-augmentations", type=File, metavar="FILE.png", help="Draw the augmentations, train nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@library_option
@finetune_options
def finetune(
    out: Path | None, devices: str, show_augmentations: Path | None, as_json: bool, library: "Library", **chosen: Any
) -> None:
    """Fine-tune a model on your icons, and write it to the folder --out.

    Without SOURCES it learns from the library's own. Exit code 0: written, 1: refused, as a task fell, 2: error.

    \b
    Example:
      icons finetune ~/design/icons --out ~/models/mine
      icons index --model local-dir:$HOME/models/mine
    """
    from indexer.process import prepare_for_batches

    prepare_for_batches()
    from indexer.commands.console import TrainingDeviceView
    from indexer.finetune.run.watch import TrainingView
    from indexer.finetune.session import finetune as run

    if out is None and show_augmentations is None:
        raise click.UsageError("Missing option '--out'.")
    names = {field.name for kind in SUBJECTS.values() for field in fields(kind)}
    options = {name: chosen.pop(name) for name in names & chosen.keys()}
    for name in ("own_captions", "keep_words"):
        options[name] = options[name] and str(options[name])
    request = _request(out or Path(), library, FinetuneOptions.of(options), **chosen)
    with TrainingDeviceView() if options["watch_devices"] else TrainingView() as view:
        if show_augmentations is not None:
            from indexer.finetune.preview import show

            show(request, show_augmentations, view)
            return
        outcome = run(request, devices=devices, viewer=view)
    if as_json:
        click.echo(json.dumps({"out": str(out), **asdict(outcome)}))
    else:
        _print_outcome(outcome, request.out)
    if not outcome.is_written:
        raise click.exceptions.Exit(1)


@click.command()
@source_options
@click.option("--out", type=File, help="Write all of them to this file, .csv or .jsonl.")
@click.option("-n", "n", default=20, show_default=True, type=Count, help="Icons to show.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of the phrases and of the sample.")
@library_option
@learning_options
def captions(
    sources: tuple[Path, ...],
    exclude: tuple[str, ...],
    out: Path | None,
    n: int,
    seed: int,
    library: "Library",
    **learning: Any,
) -> None:
    """Show what a fine-tuning would call each icon, or write it to a file to correct and give back.

    Which icons, how many tags of each, and which names are held out: with the options of `icons finetune`.

    \b
    Example:
      icons captions ~/design/icons --out captions.csv
      icons finetune ~/design/icons --captions captions.csv --out ~/models/mine
    """
    from indexer.finetune.corpus.selection import caption_rows, gather_icons, write_captions
    from indexer.finetune.options import Learning

    own = learning.pop("own_captions")
    chosen = Learning(own_captions=str(own) if own else None, **learning)
    gathered, _ = gather_icons(sources, exclude=exclude, library=library, learning=chosen, seed=seed)
    rows = caption_rows(gathered, seed=seed, held_out=chosen.held_out)
    if out is not None:
        say(f"{write_captions(rows, out):,} icons written to {out}", err=True)
    else:
        _print_captions(list(rows), n=n, seed=seed)
    for file, reason in gathered.skipped:
        say(f"skipped {file}: {reason}", err=True)


def _request(out: Path, library: "Library", options: FinetuneOptions, **chosen: Any) -> Any:
    from indexer.encoders.checkpoint import ModelChoice
    from indexer.finetune.prepare import Request

    pretrained = chosen.pop("pretrained")
    if chosen["resume"] and chosen["replace"]:
        raise click.UsageError("--resume goes on with a run, --replace begins anew; give one of them")
    if chosen["corpus"] is not None and chosen["sources"]:
        raise click.UsageError("give SOURCES or --corpus, not both")
    if chosen["corpus"] is not None and (given := _given(GATHERING)):
        raise click.UsageError(f"--corpus was made with its own {', '.join(given)}; give SOURCES to choose anew")
    choice = ModelChoice.typed(chosen.pop("model"), pretrained)
    return Request(out, library=library, choice=choice, options=options, **chosen)


def _given(names: Sequence[str]) -> list[str]:
    """Options among `names` that stand on the command line, as they are spelled there."""
    context = click.get_current_context()
    parameters = (parameter for parameter in context.command.params if parameter.name in names)
    is_given = click.core.ParameterSource.COMMANDLINE
    return [it.opts[0] for it in parameters if context.get_parameter_source(str(it.name)) is is_given]


def _print_outcome(outcome: "Outcome", out: Path) -> None:
    for task, found in outcome.figures.items():
        cells = []
        for name, (value, low, high) in found.items():
            before = f" from {outcome.parent[task][name][0]:.3f}" if outcome.parent and task in outcome.parent else ""
            cells.append(f"{name} {value:.3f} ({low:.3f}-{high:.3f}){before}")
        click.echo(f"{task}: {', '.join(cells)}")
    click.echo(f"best at step {outcome.best_step:,} of {outcome.steps:,}; {outcome.seconds:.0f} s")
    if outcome.cut:
        from indexer.finetune.corpus.lesson import cut_warning

        click.echo(cut_warning(outcome.cut), err=True)
    for fall in outcome.fallen:
        click.echo(f"below the parent's interval: {fall}", err=True)
    if outcome.is_written:
        say(f'wrote {out}; `icons index --model "local-dir:{out}"` uses it')
    else:
        click.echo("not written; --resume --allow-regression writes it all the same", err=True)


def _print_captions(rows: list[dict[str, Any]], *, n: int, seed: int) -> None:
    import random

    from rich.table import Table

    from indexer.reports.tables import open_console, plain

    console = open_console()
    table = Table(box=None, pad_edge=False, header_style="dim")
    for title in ("name", "set", "held out", "captions"):
        table.add_column(title, overflow="fold")
    for row in random.Random(seed).sample(rows, min(n, len(rows))):
        cells = (row["name"], row["set"], "yes" if row["held_out"] else "", "; ".join(row["captions"]))
        table.add_row(*map(plain, cells))
    console.print(table)
    click.echo(f"{len(rows):,} icons; --out FILE.csv writes all of them", err=True)
