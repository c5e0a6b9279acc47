"""`icons bench embed` and `train`: one thing is varied at a time, a report is written. Heavy imports stand inside."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from indexer.commands.bench_options import Folder, Source, read_options
from indexer.commands.options import json_option, model_options
from indexer.naming.printable import say

if TYPE_CHECKING:
    from indexer.bench.embedding import EmbedBenchOptions
    from indexer.bench.report.findings import Findings

_Findings = TypeVar("_Findings", bound="Findings")
_SECTIONS = ("machine", "limit", "sweeps", "strategies", "scaling", "parity")


@click.command()
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
    chosen = read_options(EmbedBenchOptions, Knobs, **options)
    if simulate is not None:
        _simulate(simulate, chosen, as_json=as_json)
        return
    with Bars(estimate=False) as view:
        findings = bench_embed(chosen, view)
    write_report(findings, chosen.out, before=before)
    _conclude(findings, chosen.out, as_json=as_json, show=print_summary)


@click.command()
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
    chosen = read_options(TrainBenchOptions, TrainKnobs, **options)
    with Bars(estimate=False) as view:
        findings = bench_train(chosen, view)
    write_training(findings, chosen.out, before=before)
    _conclude(findings, chosen.out, as_json=as_json, show=print_training)


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
    say(f"wrote {chosen.out / 'report.html'} and report.json", err=True)
    if findings.is_cut_off:
        raise click.exceptions.Exit(1)


def _conclude(findings: _Findings, out: Path, *, as_json: bool, show: Callable[[_Findings], None]) -> None:
    """Give out what was measured; exit code 1 where it is not whole."""
    if as_json:
        click.echo(json.dumps(findings.to_json()))
    else:
        show(findings)
    say(f"wrote {out / 'report.html'}, report.json, runs.jsonl and charts", err=True)
    if findings.is_cut_off or any(row.error for row in findings.rows):
        raise click.exceptions.Exit(1)
