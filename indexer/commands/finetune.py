"""The commands `icons finetune` and `icons captions`."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from indexer.commands.options import fetch_models, library_option, source_options
from indexer.finetune.options import SUBJECTS, FinetuneOptions
from indexer.languages.words import say

if TYPE_CHECKING:
    from indexer.finetune.session import Outcome
    from indexer.library.folder import Library

Function = TypeVar("Function", bound=Callable[..., Any])
File = click.Path(dir_okay=False, path_type=Path)
Share = click.FloatRange(0, 1)
Positive = click.FloatRange(0, min_open=True)
Weight = click.FloatRange(0)
Count = click.IntRange(1)
_TOWER = click.Choice(["full", "lora", "locked"])

# (field of options, type, help): names and defaults come from `options`, nowhere else.
_OPTIONS: dict[str, list[tuple[str, Any, str]]] = {
    "learning": [
        (
            "admit",
            click.Choice(["all", "permissive", "shippable"]),
            "all icons; permissive: no NC, no GPL family, none unlicensed; shippable: no reserved or logo set either.",
        ),
        ("names_per_set", Count, "Base names of a set at most; all if not given."),
        ("variants_per_name", Count, "Styles and sizes of a name at most; all if not given."),
        ("tags_per_icon", Count, "Tags at most, those that most sets agree on first."),
        ("own_captions", File, "CSV or JSONL of `icons captions --out`: its captions replace the mined ones."),
        ("held_out", click.IntRange(2), "Hold out one base name in so many; 5, 10 or 50 by their number if not given."),
    ],
    "towers": [
        ("picture_tower", _TOWER, "What of it is trained: everything, low-rank additions, nothing."),
        ("text_tower", _TOWER, "Locked, every caption is encoded once, which is several times faster."),
        ("picture_rate", Weight, "Factor on the rate."),
        ("text_rate", Weight, "Factor on the rate."),
        ("text_map", bool, "With a locked text tower: train a linear map behind it, merged at save."),
        ("map_rate", Weight, "Factor on the rate of the map and of the logits' scale."),
        ("lora_rank", Count, "Numbers a row of a low-rank addition."),
        ("lora_scale", Positive, "Factor on low-rank additions."),
        (
            "stored",
            click.Choice(["fp8", "fp16", "fp32"]),
            "How weights are written; fp8: tokens, the rest in fp16.",
        ),
    ],
    "loss": [
        ("batch", click.IntRange(2), "Icons a step, over all devices and micro-batches."),
        ("kind", click.Choice(["softmax", "sigmoid"]), "Which contrastive loss."),
        ("related", click.Choice(["soft", "masked"]), "Pairs that fit without being drawn: right too, or left out."),
        ("sampling", click.Choice(["grouped", "plain"]), "Grouped: icons of one name go to different batches."),
        ("twin_similarity", Positive, "From this cosine of coarse edges on, pictures are twins; above 1: never."),
        ("caption_pair_weight", Weight, "Of a second caption of each icon, contrasted with the first."),
        ("keep_words_weight", Weight, "Of keeping the parent's similarities over a list of words."),
        ("keep_words", File, "That list, a text a line; the captions if not given."),
        ("keep_words_batch", click.IntRange(2), "Words of that list a step."),
        ("local", bool, "Each device compares its own pictures with all captions, not all with all: same gradient."),
    ],
    "schedule": [
        ("passes", Positive, "Times that every icon is seen."),
        ("steps", Count, "Instead of passes."),
        ("rate", Positive, "Highest learning rate."),
        ("scale_rate", click.Choice(["none", "linear", "sqrt"]), "Multiply the rate by batch / 512, or its root."),
        ("warm_up", Share, "Share of the steps in which the rate rises."),
        ("final_rate", Share, "Share of the rate that the cosine ends at."),
        ("weight_decay", Weight, "Of matrices; norms, biases and positions have none."),
        ("clip", Positive, "Largest norm of the gradient."),
        ("ema", click.FloatRange(0, 1, max_open=True), "Decay of a moving average of the weights; 0: none."),
        ("seed", click.IntRange(0), "Of everything random."),
        ("validate_steps", Count, "Steps between two validations; ten a run if not given."),
        ("patience", click.IntRange(0), "Validations without a better figure after which it ends; 0: never."),
    ],
    "distribution": [
        ("precision", click.Choice(["auto", "fp32", "bf16", "fp16"]), "Of the forward pass; weights stay fp32."),
        ("backend", click.Choice(["auto", "nccl", "gloo"]), "How devices find each other; auto is nccl on GPUs."),
        ("strategy", click.Choice(["ddp", "fsdp"]), "A whole model a device, or a part."),
        ("accumulate", Count, "Micro-batches a step; the loss stays that of the whole batch."),
        ("bucket_cap_mb", Positive, "Of DDP."),
        ("gradient_as_bucket_view", bool, "Of DDP."),
        ("static_graph", bool, "Of DDP."),
        (
            "find_unused_parameters",
            bool,
            "Of DDP: for models that leave weights out of a step, such as a head that is not asked.",
        ),
        (
            "sync_batch_norm",
            bool,
            "Batch norms (ResNet, say) look at the pictures of all GPUs: for small batches on many, such as 8 x 16.",
        ),
        ("compile", bool, "torch.compile for both towers."),
        ("grad_checkpointing", bool, "Compute activations again in the backward pass: slower, less memory."),
    ],
    "watching": [
        ("watch_devices", bool, "Show every 5 s what each device does: pictures/s, memory, utilisation, power."),
        ("tensorboard", bool, "Write TensorBoard events into OUT.work/tensorboard (pip install 'icons[train]')."),
        ("profile_steps", click.IntRange(0), "Profile so many steps: traces and shares in OUT.work/profile."),
        ("checkpoint_seconds", Weight, "Seconds between two checkpoints."),
        ("stall_limit", click.FloatRange(1), "Give up where a device gets nothing done for so many seconds."),
        ("log_steps", Count, "Steps between two lines of OUT.work/log.jsonl."),
    ],
    "augmentation": [
        ("inverted", Share, "Share of light icons on a dark ground."),
        ("tinted", Share, "Share in dark ink on a light ground, both coloured."),
        ("two_colours", Share, "Share in two free colours."),
        ("backed", Share, "Share on a colour gradient."),
        ("photographed", Share, "Share on something like a photograph."),
        ("grained", Share, "Share with grain."),
        ("smallest_scale", Positive, "Of the icon in its picture."),
        ("largest_scale", Positive, "Of the icon in its picture."),
        ("shift", Share, "Largest, of the picture's side."),
        ("neighbours", Share, "Share with other icons in sight."),
        ("resampled", Share, "Share scaled down and up, nearest to bicubic."),
        ("blurred", Share, "Share blurred."),
        ("largest_blur", Weight, "Standard deviation, of the picture's side."),
        ("compressed", Share, "Share compressed as JPEG."),
        ("lowest_quality", click.IntRange(1, 100), "Of JPEG."),
        ("highest_quality", click.IntRange(1, 100), "Of JPEG."),
    ],
}
_SPELLED = {"kind": "--loss", "own_captions": "--captions", "local": "--local-loss", "stored": "--stored"}


class SubjectCommand(click.Command):
    """Shows options under the subject that they belong to."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section a subject, what is asked for most often first."""
        subject_of = {name: subject for subject, listed in _OPTIONS.items() for name, _, _ in listed}
        sections: dict[str, list[tuple[str, str]]] = {"options": [], **{subject: [] for subject in _OPTIONS}}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                sections[subject_of.get(parameter.name or "", "options")].append(record)
        for title, records in sections.items():
            with formatter.section(title.capitalize()):
                formatter.write_dl(records)


def finetune_options(function: Function) -> Function:
    """Add an option for every field of `FinetuneOptions`, with its default."""
    for subject in reversed(_OPTIONS):
        function = _subject_options(subject, function)
    return function


def learning_options(function: Function) -> Function:
    """Add those that say what is learnt from."""
    return _subject_options("learning", function)


def _subject_options(subject: str, function: Function) -> Function:
    listed = _OPTIONS[subject]
    defaults = {field.name: field.default for field in fields(SUBJECTS[subject])}
    assert {name for name, _, _ in listed} == defaults.keys(), subject
    for name, kind, text in reversed(listed):
        function = _option(name, kind, text, defaults[name])(function)
    return function


def _option(name: str, kind: Any, text: str, default: Any) -> Callable[[Function], Function]:
    spelled = _SPELLED.get(name, "--" + name.replace("_", "-"))
    if kind is bool:
        declared = f"{spelled}/--no-{spelled[2:]}" if default else spelled
        return click.option(declared, name, is_flag=True, default=default, show_default=default, help=text)
    return click.option(spelled, name, type=kind, default=default, show_default=default is not None, help=text)


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
    from indexer.finetune.session import finetune as run
    from indexer.finetune.watch import TrainingView

    if out is None and show_augmentations is None:
        raise click.UsageError("Missing option '--out'.")
    names = {field.name for kind in SUBJECTS.values() for field in fields(kind)}
    options = {name: chosen.pop(name) for name in names & chosen.keys()}
    for name in ("own_captions", "keep_words"):
        options[name] = options[name] and str(options[name])
    request = _request(out or Path(), library, FinetuneOptions.of(options), **chosen)
    with TrainingView(watch_devices=options["watch_devices"]) as view:
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
    from indexer.finetune.options import Learning
    from indexer.finetune.selection import caption_rows, gather_icons, write_captions

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
        from indexer.finetune.lesson import cut_warning

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

    from indexer.reports.terminal import open_console, plain

    console = open_console()
    table = Table(box=None, pad_edge=False, header_style="dim")
    for title in ("name", "set", "held out", "captions"):
        table.add_column(title, overflow="fold")
    for row in random.Random(seed).sample(rows, min(n, len(rows))):
        cells = (row["name"], row["set"], "yes" if row["held_out"] else "", "; ".join(row["captions"]))
        table.add_row(*map(plain, cells))
    console.print(table)
    click.echo(f"{len(rows):,} icons; --out FILE.csv writes all of them", err=True)
