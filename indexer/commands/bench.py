"""The commands `icons bench ...`: parse, call one function, print. Heavy imports stand inside.

Other rooms add theirs to the group: `bench.add_command(search)`.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from indexer.commands.options import json_option, model_choice, model_options
from indexer.process import cores

if TYPE_CHECKING:
    from indexer.bench.embedding import BenchOptions, EmbedBenchOptions
    from indexer.bench.report.findings import Findings

_Findings = TypeVar("_Findings", bound="Findings")
_Options = TypeVar("_Options", bound="BenchOptions")
Folder = click.Path(file_okay=False, path_type=Path)
Source = click.Path(exists=True, path_type=Path)
_SECTIONS = ("machine", "limit", "sweeps", "strategies", "scaling", "parity")


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
@click.option("--out", type=Folder, help="Folder for the report; a new one in icons-bench/ if not given.")
@click.option("--devices", default="auto", show_default=True, help="auto, cpu, cpu:2, a number of GPUs, or 0,2.")
@click.option("--images", "n_images", type=click.IntRange(1), help="Pictures a run; 1,024 on CPUs, 20,000 on GPUs.")
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="Counted runs of each.")
@click.option("--set", "settings", multiple=True, metavar="KNOB=VALUE", help="Change the base. Repeatable.")
@click.option("--sweep", "sweeps", multiple=True, metavar="KNOB=V1,V2", help="Vary a knob. Repeatable.")
@click.option("--grid", "is_grid", is_flag=True, help="All combinations of the sweeps, not one at a time.")
@click.option("--thorough", "is_thorough", is_flag=True, help="Vary every knob that this machine has; takes long.")
@click.option(
    "--only",
    "sections",
    multiple=True,
    type=click.Choice(_SECTIONS),
    default=_SECTIONS,
    help="Measure this alone. Repeatable.",
)
@click.option(
    "--compare", type=click.Path(path_type=Path), metavar="FILE", help="A saved report.json to hold it against."
)
@click.option("--simulate", metavar="NxRATE", help="Instead: N simulated devices of RATE pictures a second.")
@model_options
@json_option
def embed(compare: Path | None, simulate: str | None, as_json: bool, **options: Any) -> None:
    """Measure how pictures become vectors: knobs, strategies, devices, the machine and its limit.

    With --simulate, devices take their time without computing, and all stages run around them: what a machine like this
    could feed. Of the other options it takes --images, --repeats, --out, and --set size=PIXELS.

    SOURCE is anything that `icons index` takes; without it, the bundled samples. Ctrl-C keeps what was measured. Exit
    code 0: all was measured, 1: cut off, or rows are missing, 2: error.

    \b
    Examples:
      icons bench embed
      icons bench embed ~/design/icons --devices cpu:2 --repeats 5 --images 4000
      icons bench embed --only sweeps --sweep batch=32,64,128 --sweep workers=1,2 --grid
      icons bench embed --simulate 4x3000
      icons bench embed --compare icons-bench/before/report.json
    """
    from indexer.bench.embedding import EmbedBenchOptions, bench_embed
    from indexer.bench.report.findings import EmbedFindings
    from indexer.bench.report.page import write_report
    from indexer.bench.report.summary import print_summary
    from indexer.bench.trials.knobs import Knobs
    from indexer.reports.bars import Bars

    before = EmbedFindings.read(compare) if compare else None
    chosen = _options(EmbedBenchOptions, Knobs, **options)
    if simulate is not None:
        _simulate(simulate, chosen, as_json=as_json)
        return
    with Bars(estimate=False) as view:
        findings = bench_embed(chosen, view)
    write_report(findings, chosen.out, before=before)
    _conclude(findings, chosen.out, as_json=as_json, show=print_summary)


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
    from indexer.bench.feeding import SET_UPS, measure_feeding
    from indexer.bench.goals import measure_goals
    from indexer.bench.trials.knobs import Knobs
    from indexer.reports.bars import Bars

    chosen = _options(EmbedBenchOptions, Knobs, **options)
    with Bars(estimate=False) as view:
        if simulated:
            found = measure_feeding(SET_UPS, repeats=chosen.repeats, bars=view)
        else:
            found = measure_goals(chosen, view)
    if as_json:
        click.echo(json.dumps([{**asdict(goal), "is_met": goal.is_met} for goal in found]))
    for goal in () if as_json else found:
        least, most = (bound if bound is None else f"{bound:.2f}" for bound in (goal.least, goal.most))
        wanted = f"at least {least}" if least else f"at most {most}" if most else "no goal is set"
        verdict = {True: "met", False: "MISSED", None: "-"}[goal.is_met]
        ratios = f" [{', '.join(f'{ratio:.2f}' for ratio in goal.ratios)}]" if goal.ratios else ""
        click.echo(f"{verdict:<7} {goal.name}: {goal.reached:.2f} ({wanted}); {goal.note}{ratios}")
    if any(goal.is_met is False for goal in found):
        raise click.exceptions.Exit(1)


@bench.command()
@click.argument("source", required=False, type=Source)
@click.option("--out", type=Folder, help="Folder for the report; a new one in icons-bench/ if not given.")
@click.option("--devices", default="auto", show_default=True, help="auto, cpu, cpu:2, a number of GPUs, or 0,2.")
@click.option("--steps", type=click.IntRange(1), help="Counted steps a run; 8 on CPUs, 50 on GPUs.")
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="Counted runs of each.")
@click.option("--set", "settings", multiple=True, metavar="KNOB=VALUE", help="Change the base. Repeatable.")
@click.option("--sweep", "sweeps", multiple=True, metavar="KNOB=V1,V2", help="Vary this alone. Repeatable.")
@click.option("--thorough", "is_thorough", is_flag=True, help="More values of each knob; takes long.")
@click.option(
    "--compare", type=click.Path(path_type=Path), metavar="FILE", help="A saved report.json to hold it against."
)
@model_options
@json_option
def train(compare: Path | None, as_json: bool, **options: Any) -> None:
    """Measure how a model learns: nn.DataParallel, DDP with and without distributed sampling, FSDP, and their options.

    Trains a few steps of what `icons finetune` trains, on the icons of SOURCE or on the bundled samples, and keeps no
    model. Ctrl-C keeps what was measured. Exit code 0: all was measured, 1: cut off, or rows are missing, 2: error.

    \b
    Examples:
      icons bench train
      icons bench train --set batch=256 --sweep precision=fp32,bf16 --repeats 5
      icons bench train --sweep bucket_cap_mb=1,5,25,100 --compare icons-bench/before/report.json
      icons bench train --sweep nccl_max_channels=1,4,16 --sweep nccl_algo=Ring,Tree
      icons bench train --set accumulate=4 --sweep accumulation=plain,plain-no-sync
    """
    from indexer.bench.training.findings import TrainFindings
    from indexer.bench.training.knobs import TrainKnobs
    from indexer.bench.training.measure import TrainBenchOptions, bench_train
    from indexer.bench.training.report import print_training, write_training
    from indexer.reports.bars import Bars

    before = TrainFindings.read(compare) if compare else None
    chosen = _options(TrainBenchOptions, TrainKnobs, **options)
    with Bars(estimate=False) as view:
        findings = bench_train(chosen, view)
    write_training(findings, chosen.out, before=before)
    _conclude(findings, chosen.out, as_json=as_json, show=print_training)


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
@click.option("--workers", type=click.IntRange(1), default=cores, show_default="this machine's cores")
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
    parity, limit, embed, two ranks, training and nccl; with a model behind, as in "embed ViT-L-14", for that alone.
    docs/gpu.md says what each figure means. Exit code 0: all goals are met, 1: some are missed, or parts have failed
    or are missing, 2: error.

    \b
    Examples:
      icons bench gpu --out gpu
      icons bench gpu --out gpu --minutes 8
      icons bench gpu --out gpu --only machine --only "parity ViT-L-14"
    """
    from indexer.bench.gpu.report import is_all_well, show, to_json, write
    from indexer.bench.gpu.run import bench_gpu, find_gpus, mask_of
    from indexer.bench.gpu.setting import Setting, tiny
    from indexer.reports.bars import Bars

    there, folder = find_gpus(devices), (out or _new_folder()).absolute()
    mask_of(there)
    setting = Setting(folder, n_devices=there.n) if there.device == "cuda" else tiny(folder)
    with Bars(estimate=False) as view:
        found = bench_gpu(setting, view, only=only, minutes=minutes)
    write(found)
    if as_json:
        click.echo(json.dumps(to_json(found)))
    else:
        show(found)
    click.echo(f"wrote {folder / 'report.html'} and report.json", err=True)
    if not is_all_well(found):
        raise click.exceptions.Exit(1)


def _simulate(text: str, chosen: "EmbedBenchOptions", *, as_json: bool) -> None:
    """Measure with simulated devices; exit code 1 where that was cut off."""
    from indexer.bench.simulation.device import Simulation
    from indexer.bench.simulation.measure import SimulationOptions, bench_simulated
    from indexer.bench.simulation.report import print_simulated, write_simulated
    from indexer.encoders.checkpoint import find_checkpoint
    from indexer.reports.bars import Bars

    size = chosen.settings.get("size") or find_checkpoint(chosen.choice).image_size
    simulation = Simulation.parse(text, image_size=size)
    with Bars(estimate=False) as view:
        options = SimulationOptions(simulation, chosen.source, chosen.n_images, chosen.repeats)
        findings = bench_simulated(options, view)
    write_simulated(findings, chosen.out)
    if as_json:
        click.echo(json.dumps(findings.to_json()))
    else:
        print_simulated(findings)
    click.echo(f"wrote {chosen.out / 'report.html'} and report.json", err=True)
    if findings.is_cut_off:
        raise click.exceptions.Exit(1)


def _conclude(findings: _Findings, out: Path, *, as_json: bool, show: Callable[[_Findings], None]) -> None:
    """Give out what was measured; exit code 1 where it is not whole."""
    if as_json:
        click.echo(json.dumps(findings.to_json()))
    else:
        show(findings)
    click.echo(f"wrote {out / 'report.html'}, report.json, runs.jsonl and charts", err=True)
    if findings.is_cut_off or any(row.error for row in findings.rows):
        raise click.exceptions.Exit(1)


def _options(
    of: type[_Options], knobs: type[Any], settings: Sequence[str] = (), sweeps: Sequence[str] = (), **options: Any
) -> _Options:
    """Read what is to be measured; a report that has no folder gets a new one."""
    from indexer.bench.trials.knobs import parse_setting, parse_sweep
    from indexer.encoders.checkpoint import ModelChoice

    choice = model_choice(options.pop("model"), options.pop("pretrained")) or ModelChoice.bundled()
    return of(
        options.pop("out") or _new_folder(),
        choice=choice,
        settings=dict(parse_setting(text, of=knobs) for text in settings),
        sweeps=[parse_sweep(text, of=knobs) for text in sweeps],
        **options,
    )


def _new_folder() -> Path:
    return Path("icons-bench") / datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
