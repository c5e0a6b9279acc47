"""The commands `icons bench ...`: parse, call one function, print. Heavy imports stand inside.

Other rooms add theirs to the group: `bench.add_command(search)`.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from indexer.commands.bench_options import Folder, Source, new_folder, read_options
from indexer.commands.bench_sweeps import embed, train
from indexer.commands.options import json_option, model_options
from indexer.naming.printable import say
from indexer.process import cores

if TYPE_CHECKING:
    from indexer.bench.embedding import EmbedBenchOptions
    from indexer.bench.goals import Goal


@click.group()
def bench() -> None:
    """Measure this machine: how fast icons are embedded and found, how fast a model learns, and what decides it.

    Nothing here changes your library: embedding and training work on the bundled samples or a folder that you name, in
    temporary folders, and searches only read. docs/performance.md and docs/search-speed.md say what each figure means.

    \b
    Examples:
      icons bench embed
      icons bench train
      icons bench search
    """


@bench.command()
@click.argument("source", required=False, type=Source)
@click.option("--out", type=Folder, help="Folder for runs.jsonl; a new one in icons-bench/ if not given.")
@click.option("--devices", default="auto", show_default=True, help="auto, cpu, cpu:2, a number of GPUs, or 0,2.")
@click.option("--images", "n_images", type=click.IntRange(1), help="Pictures a run; 2,048 if not given.")
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True, help="Counted runs of each.")
@click.option("--simulated", is_flag=True, help="Instead: are simulated devices, faster and slower ones, kept busy?")
@model_options
@json_option
def goals(simulated: bool, as_json: bool, **options: Any) -> None:
    """Tell whether embedding is as fast as it should be: against the naive script, and against this machine's limit.

    Exit code 0: all goals are met, 1: some are not, 2: error.

    \b
    Examples:
      icons bench goals
      icons bench goals node_modules/@mdi/svg --images 7000
      icons bench goals --simulated --repeats 3
      icons bench goals --model ViT-B-32 --pretrained weights.safetensors --images 512
    """
    from indexer.bench.embedding import EmbedBenchOptions
    from indexer.bench.trials.knobs import Knobs

    if simulated:
        _refuse_beside_simulated("source", "out", "devices", "n_images", "model", "pretrained")
    chosen = read_options(EmbedBenchOptions, Knobs, **options)
    found: list[Goal] = []
    for some in _measured_simulated(chosen.repeats) if simulated else _measured(chosen):
        found += some
        for goal in () if as_json else some:
            click.echo(_spelled(goal))
    if as_json:
        click.echo(json.dumps([{**asdict(goal), "is_met": goal.is_met} for goal in found]))
    if any(goal.is_met is False for goal in found):
        raise click.exceptions.Exit(1)


def _measured(chosen: "EmbedBenchOptions") -> Iterator[list["Goal"]]:
    from indexer.bench.goals import measure_goals
    from indexer.reports.bars import Bars

    with Bars(estimate=False) as view:
        found = measure_goals(chosen, view)
    yield found


def _measured_simulated(repeats: int) -> Iterator[list["Goal"]]:
    """Yield the goals of each set-up once they are measured: all of them take most of an hour."""
    from indexer.bench.feeding import SET_UPS, measure_feeding
    from indexer.reports.bars import Bars

    for set_up in SET_UPS:
        with Bars(estimate=False) as view:
            found = measure_feeding(set_up, repeats=repeats, bars=view)
        yield found


def _spelled(goal: "Goal") -> str:
    least, most = (bound if bound is None else f"{bound:.2f}" for bound in (goal.least, goal.most))
    wanted = f"at least {least}" if least else f"at most {most}" if most else "no goal is set"
    verdict = {True: "met", False: "MISSED", None: "-"}[goal.is_met]
    ratios = f" [{', '.join(f'{ratio:.2f}' for ratio in goal.ratios)}]" if goal.ratios else ""
    return f"{verdict:<7} {goal.name}: {goal.reached:.2f} ({wanted}); {goal.note}{ratios}"


def _refuse_beside_simulated(*names: str) -> None:
    """Refuse what was given in vain: simulated devices have pictures of their own."""
    context = click.get_current_context()
    for parameter in context.command.params:
        if parameter.name in names and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"{parameter.get_error_hint(context)} has no meaning with --simulated; leave one of them out"
            )


@bench.command()
@click.argument("sources", nargs=-1, required=True, type=Source)
@click.option("--devices", default="auto", show_default=True, help="As for `icons index`.")
@click.option("--repeats", type=click.IntRange(1), default=1, show_default=True, help="Runs of each source, in turn.")
@model_options
@json_option
def index(
    sources: tuple[Path, ...], devices: str, repeats: int, as_json: bool, model: str | None, pretrained: Path | None
) -> None:
    """Index each of SOURCES from nothing, in a temporary library: seconds and peak memory, stage by stage.

    \b
    Example:
      icons bench index node_modules/@mdi/svg node_modules/@iconify/json
    """
    from indexer.bench.whole import measure_whole

    options = ["--devices", devices]
    for name, value in (("--model", model), ("--pretrained", pretrained)):
        options += [name, str(value)] if value else []
    for _ in range(repeats):
        for source in sources:
            measured = measure_whole(source, options=options)
            if as_json:
                click.echo(json.dumps({**asdict(measured), "images_per_second": round(measured.images_per_second, 1)}))
                continue
            click.echo(
                f"{source}: {measured.found:,} icons, {measured.embedded:,} pictures in {measured.seconds:.1f} s "
                f"({measured.images_per_second:,.0f} a second), peak memory {measured.peak_bytes / 1e9:.2f} GB"
            )
            for stage, seconds in measured.seconds_by_stage.items():
                peak = measured.peak_bytes_by_stage.get(stage, 0)
                click.echo(f"  {stage}: {seconds:.1f} s, {peak / 1e9:.2f} GB")


@bench.command()
@click.argument("source", required=False, type=Source)
@click.option("--images", "n_images", type=click.IntRange(1), default=4000, show_default=True, help="Pictures a run.")
@click.option("--repeats", type=click.IntRange(1), default=9, show_default=True, help="Counted runs of each.")
@click.option(
    "--workers", type=click.IntRange(1), default=cores, show_default="this machine's cores", help="Render processes."
)
@click.option("--size", type=click.IntRange(8), help="Of the pictures; the bundled model's if not given.")
@json_option
def isolation(source: Path | None, as_json: bool, **chosen: Any) -> None:
    """Measure what it costs to draw in processes of their own, with checks, instead of plainly.

    SOURCE is a folder of clean SVG files. Exit code 0: the cost is within its bounds, 1: it is not, 2: error.

    \b
    Example:
      icons bench isolation node_modules/@mdi/svg --images 2000
    """
    from indexer.bench.isolation import measure_source

    cost = measure_source(source, **chosen)
    if as_json:
        click.echo(json.dumps(asdict(cost)))
    else:
        click.echo(
            f"{cost.n_images:,} pictures, {chosen['workers']} processes: {cost.plain_microseconds:.0f} us a picture "
            f"drawn plainly; isolation and checks take {cost.cpu_share:+.1%} (by the clock {cost.wall_share:+.1%}), "
            f"with a forward pass of {cost.forward_microseconds:.0f} us {cost.share_of_indexing:+.1%}, and "
            f"{cost.bytes_a_worker / 1e6:+.1f} MB a worker"
        )
    if not cost.is_within_bounds:
        raise click.exceptions.Exit(1)


@bench.command()
@click.option("--out", type=Folder, help="Folder for the report; a new one in icons-bench/ if not given.")
@click.option("--devices", default="auto", show_default=True, help="auto, a number of GPUs, 0,2, or cpu: all in small.")
@click.option("--only", multiple=True, metavar="PART", help="Measure this part alone. Repeatable.")
@click.option("--minutes", type=click.FloatRange(0.1), help="Begin no part that would take longer than what is left.")
@json_option
def gpu(out: Path | None, devices: str, only: tuple[str, ...], minutes: float | None, as_json: bool) -> None:
    """Check and measure all that only a GPU shows, part by part: parity, limits, embedding, two ranks, training, NCCL.

    Called again with the same --out it goes on with the parts that are missing or have failed. Parts are machine,
    parity, limit, embed, two ranks, devices, knobs, training and nccl; with a model or a group behind, as in
    "embed ViT-L-14" or "training precision", for that alone. docs/gpu.md says what each figure means. Exit code 0: all
    goals are met, 1: some are missed, or parts have failed or are missing, 2: error.

    \b
    Examples:
      icons bench gpu --out gpu
      icons bench gpu --out gpu --minutes 8
      icons bench gpu --out gpu --only machine --only "parity ViT-L-14"
    """
    from indexer.bench.gpu.report import is_all_well, show, to_json, write
    from indexer.bench.gpu.run import bench_gpu, find_gpus, show_gpus
    from indexer.bench.gpu.setting import Setting, tiny
    from indexer.reports.bars import Bars

    there, folder = find_gpus(devices), (out or new_folder()).absolute()
    show_gpus(there)
    setting = Setting(folder, n_devices=there.n) if there.device == "cuda" else tiny(folder)
    with Bars(estimate=False) as view:
        found = bench_gpu(setting, view, only=only, minutes=minutes)
    write(found)
    if as_json:
        click.echo(json.dumps(to_json(found)))
    else:
        show(found)
    say(f"wrote {folder / 'report.html'} and report.json", err=True)
    if not is_all_well(found):
        raise click.exceptions.Exit(1)


bench.add_command(embed)
bench.add_command(train)
