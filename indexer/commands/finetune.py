"""The commands `icons lab finetune` and `icons lab captions`."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.commands.options import Function, fetch_models, library_option, options, refuse, show, source_options
from indexer.finetune.options import SPELLED, FinetuneOptions, TrainingView, known_settings, parse_settings
from indexer.languages.words import counted, say
from indexer.library.folder import Library
from indexer.reports.terminal import HEAD, TIMINGS, Bars, lines, open_console, table_of

if TYPE_CHECKING:
    from indexer.finetune.folder import Outcome

File = click.Path(dir_okay=False, path_type=Path)
SHOWN = ("captions", "text_tower", "picture_tower", "batch", "passes", "rate")
"""Settings that have an option of their own."""
GATHERING = {"admit", "names_per_set", "variants_per_name", "tags_per_icon", "own_captions"}
"""Settings that a corpus was made with, and that can't be made again."""


def setting_options(*names: str) -> Callable[[Function], Function]:
    """Add `--set` and an option for some settings; the command gets all that was typed as `settings`."""

    def decorated(function: Function) -> Function:
        @wraps(function)
        def with_settings(*, chosen: tuple[str, ...], **others: Any) -> Any:
            typed = {name: others.pop(name) for name in names}
            if "help" in chosen:
                return _print_settings()
            texts = [f"{name}={value}" for name, value in typed.items() if value is not None]
            return function(settings=parse_settings([*texts, *chosen]), **others)

        own = [_option_of(name) for name in names]
        more = "Another setting, as accumulate=4; --set help lists all. Repeatable."
        every = options(*own, click.option("--set", "chosen", multiple=True, metavar="NAME=VALUE", help=more))
        return every(with_settings)  # type: ignore[no-any-return]

    return decorated


def _option_of(name: str) -> Callable[[Function], Function]:
    setting = known_settings()[name]
    return click.option(
        f"--{name.replace('_', '-')}",
        name,
        metavar="FILE" if name == "captions" else "VALUE",
        show_default=setting.default_text or False,
        help=setting.text.replace(" [", "  [", 1),
    )


def _print_settings() -> None:
    """Print every setting with its default, what it means, and what it may be."""
    subject = ""
    for name, setting in known_settings().items():
        if setting.subject != subject:
            subject = setting.subject
            click.echo(subject)
        click.echo(f"  {f'{name}={setting.default_text}':<32} {setting.text}")


class SettingsCommand(click.Command):
    """Says how a setting is typed that has no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse, and explain an option that is a setting."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name.removeprefix("--").replace("-", "_")
            for setting, value in ((name, "VALUE"), (name.removeprefix("no_"), "false")):
                if setting in known_settings():
                    how = f"{error.option_name} is a setting; give --set {setting}={value}"
                    raise click.UsageError(how, ctx) from error
            raise


@click.command(cls=SettingsCommand)
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
@click.option("--timings", is_flag=True, help="Then show what the time was spent on, by rank.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@library_option
@setting_options(*SHOWN)
def finetune(
    settings: dict[str, Any],
    out: Path | None,
    devices: str,
    show_augmentations: Path | None,
    as_json: bool,
    library: Library,
    **chosen: Any,
) -> None:
    """Fine-tune a model on your icons, and write it to the folder --out.

    Without SOURCES it learns from the library's own. Exit code 0: written, 1: refused, as a task fell, 2: error.

    \b
    Example:
      icons lab finetune ~/design/icons --out ~/models/mine
      icons index --model local-dir:$HOME/models/mine
    """
    import psutil

    from indexer.process import prepare_for_batches

    TIMINGS.begin_anew("Starting", at=psutil.Process().create_time())
    prepare_for_batches()
    from indexer.encoders.checkpoint import ModelChoice

    own = ", ".join(SPELLED.get(name, name) for name in sorted(GATHERING & settings.keys()))
    begins_twice = chosen["resume"] and chosen["replace"]
    refuse(
        (out is None and show_augmentations is None, "Missing option '--out'."),
        (chosen["corpus"] and own, f"--corpus was made with its own {own}; give SOURCES to choose anew"),
        (begins_twice, "--resume goes on with a run, --replace begins anew; give one of them"),
        (chosen["corpus"] and chosen["sources"], "give SOURCES or --corpus, not both"),
    )
    choice = ModelChoice.typed(chosen.pop("model"), chosen.pop("pretrained"))
    shows_timings = chosen.pop("timings")
    how = FinetuneOptions.of(settings)
    with TrainingView(watch_devices=how.watching.watch_devices) as view:
        view.stage("Loading torch and open_clip")
        from indexer.finetune import session

        request = session.Request(out or Path(), library=library, choice=choice, options=how, **chosen)
        if show_augmentations is not None:
            session.show_augmentations(request, show_augmentations, view)
            return
        outcome = session.finetune(request, devices=devices, viewer=view)
    spans = TIMINGS.rows()
    answer = {"out": str(out), **asdict(outcome), "timings": spans}
    show(answer, _figures(outcome, request.out), as_json=as_json)
    if shows_timings and not as_json:
        open_console().print(table_of(HEAD, lines(spans), n_left=2))
    if not as_json:
        for remark in _remarks(outcome):
            click.echo(remark, err=True)
    raise click.exceptions.Exit(0 if outcome.is_written else 1)


@click.command(cls=SettingsCommand)
@source_options
@click.option("--out", type=File, help="Write all of them to this file, .csv or .jsonl.")
@click.option("-n", "n", default=20, show_default=True, type=click.IntRange(1), help="Icons to show.")
@library_option
@setting_options("captions")
def captions(
    settings: dict[str, Any],
    sources: tuple[Path, ...],
    exclude: tuple[str, ...],
    out: Path | None,
    n: int,
    library: Library,
) -> None:
    """Show what a fine-tuning would call each icon, or write it to a file to correct and give back.

    Which icons, how many tags of each, and which names are held out: with the settings of `icons lab finetune`.

    \b
    Example:
      icons lab captions ~/design/icons --out captions.csv
      icons lab finetune ~/design/icons \\
        --captions captions.csv --out ~/models/mine
    """
    from indexer.finetune.captions import caption_rows, gather_icons, write_captions

    options = FinetuneOptions.of(settings)
    learning, seed = options.learning, options.schedule.seed
    with Bars():
        gathered, _ = gather_icons(sources, exclude=exclude, library=library, learning=learning, seed=seed)
    rows = caption_rows(gathered, seed=seed, held_out=learning.held_out)
    if out is not None:
        say(f"{counted(write_captions(rows, out), 'icon')} written to {out}", err=True)
    else:
        import random

        every = list(rows)
        some = random.Random(seed).sample(every, min(n, len(every)))
        cells = (
            (row["name"], row["set"], "yes" if row["held_out"] else "", "; ".join(row["captions"])) for row in some
        )
        open_console().print(table_of(("name", "set", "held out", "captions"), cells, folded=range(4)))
        click.echo(f"{counted(len(every), 'icon')}; --out FILE.csv writes all of them", err=True)
    for file, reason in gathered.skipped:
        say(f"skipped {file}: {reason}", err=True)


def _figures(outcome: "Outcome", out: Path) -> Iterator[str]:
    for task, found in outcome.figures.items():
        cells = []
        for name, (value, low, high) in found.items():
            before = f" from {outcome.parent[task][name][0]:.3f}" if outcome.parent and task in outcome.parent else ""
            cells.append(f"{name} {value:.3f} ({low:.3f}-{high:.3f}){before}")
        yield f"{task}: {', '.join(cells)}"
    yield f"best at step {outcome.best_step:,} of {outcome.steps:,}; {outcome.seconds:.0f} s"
    if outcome.is_written:
        yield f'wrote {out}; `icons index --model "local-dir:{out}"` uses it'


def _remarks(outcome: "Outcome") -> Iterator[str]:
    from indexer.finetune.lesson import cut_warning

    if outcome.cut:
        yield cut_warning(outcome.cut)
    for fall in outcome.fallen:
        yield f"below the parent's interval: {fall}"
    if not outcome.is_written:
        yield "not written; --resume --allow-regression writes it all the same"
