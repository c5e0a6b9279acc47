"""The commands `icons lab bench ...`: parse, call one function, print. Heavy imports stand inside."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.commands.options import (
    json_option,
    library_option,
    model_choice,
    model_options,
    options,
    warnings_as_lines,
)
from indexer.commands.program import LazyGroup
from indexer.library.folder import Library
from indexer.merging.manifest import KINDS
from indexer.reports.terminal import Bars, ProgressLine

if TYPE_CHECKING:
    from indexer.bench.report import Report, Row

_Folder = click.Path(file_okay=False, path_type=Path)
_Source = click.Path(exists=True, path_type=Path)
_PARTS = ("cold", "warm", "filters", "pictures", "clients", "page", "indexes")
_out = click.option("--out", type=_Folder, help="Folder for the report; a new one in icons-bench/ by default.")


@click.group(cls=LazyGroup)
def bench() -> None:
    """Measure this machine: how fast icons are embedded and found, how fast a model learns, and what decides it.

    Nothing here changes your library: embedding and training work on the bundled samples or a folder that you name, in
    temporary folders, and searches only read. docs/performance.md says what each figure means.

    \b
    Examples:
      icons lab bench embed
      icons lab bench train
      icons lab bench search
    """


_knob_options = options(
    model_options,
    json_option,
    click.argument("source", required=False, type=_Source),
    _out,
    click.option("--devices", default="auto", show_default=True, help="auto, cpu, cpu:2, a number of GPUs, or 0,2."),
    click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="Counted runs of each."),
    click.option("--set", "settings", multiple=True, metavar="KNOB=VALUE", help="Change the base. Repeatable."),
    click.option("--sweep", "sweeps", multiple=True, metavar="KNOB=V1,V2", help="Vary a knob. Repeatable."),
    click.option("--grid", "is_grid", is_flag=True, help="All combinations of the sweeps, not one at a time."),
    click.option("--thorough", "is_thorough", is_flag=True, help="More knobs and more values; takes long."),
    click.option("--only", multiple=True, metavar="GROUP", help="Measure this group alone. Repeatable."),
)
"""Adds what both say of what is compared."""


@bench.command()
@click.option("--images", "n", type=click.IntRange(1), help="Pictures a run; 8,192 on CPUs, 40,000 on GPUs.")
@_knob_options
def embed(as_json: bool, **options: Any) -> None:
    """Measure how pictures become vectors: knobs, strategies, 1 to N devices, the machine and its limit.

    SOURCE is anything that `icons index` takes; without it, the bundled samples. Groups are limit, drawing, every knob,
    strategy, devices, devices alone, all-reduce, parity; on GPUs links. Ctrl-C keeps what was measured. Exit code 0:
    all was measured, 1: cut off, or rows are missing, 2: error.

    \b
    Examples:
      icons lab bench embed
      icons lab bench embed ~/design/icons --devices cpu:2 \\
        --repeats 5 --images 20000
      icons lab bench embed --sweep batch=32,64,128 \\
        --sweep workers=1,2 --grid --only grid
      icons lab bench embed --set program=plain \\
        --sweep batch=32,512 --only batch
    """
    _compare(trains=False, as_json=as_json, **options)


@bench.command()
@click.option("--steps", "n", type=click.IntRange(1), help="Counted steps a run; 8 on CPUs, 50 on GPUs.")
@_knob_options
def train(as_json: bool, **options: Any) -> None:
    """Measure how a model learns: 1 to N devices, DDP, FSDP, batch, precision, options of DDP, of NCCL, of a step.

    Trains a few steps as `icons lab finetune` does, on the icons of SOURCE or on the bundled samples, and keeps no
    model. Ctrl-C keeps what was measured. Exit code 0: all was measured, 1: cut off, or rows are missing, 2: error.

    \b
    Examples:
      icons lab bench train
      icons lab bench train --set batch=256 \\
        --sweep precision=fp32,bf16 --repeats 5
      icons lab bench train --sweep bucket_cap_mb=1,5,25,100
      icons lab bench train --sweep nccl_max_channels=1,4,16 \\
        --sweep nccl_algo=Ring,Tree
      icons lab bench train --set batch=128 \\
        --sweep accumulate=1,2,4
    """
    _compare(trains=True, as_json=as_json, **options)


def _compare(*, trains: bool, as_json: bool, **options: Any) -> None:
    with Bars():  # these take long on a busy machine
        from indexer.bench.compare import Options, bench_embed, bench_train
        from indexer.bench.knobs import EMBED, TRAIN, parse_setting, parse_sweep
        from indexer.encoders.checkpoint import ModelChoice

    table, measure = (TRAIN, bench_train) if trains else (EMBED, bench_embed)
    choice = model_choice(options.pop("model"), options.pop("pretrained")) or ModelChoice.bundled()
    settings = dict(parse_setting(table, text) for text in options.pop("settings"))
    sweeps = [parse_sweep(table, text) for text in options.pop("sweeps")]
    out = options.pop("out") or _new_folder()
    with Bars(estimate=False) as view:
        report = measure(Options(out, choice=choice, settings=settings, sweeps=sweeps, **options), view)
    _conclude(report, out, as_json=as_json)


def _new_folder() -> Path:
    return Path("icons-bench") / datetime.now(UTC).strftime("%Y%m%d-%H%M%S")


def _conclude(report: "Report", out: Path | None, *, as_json: bool, has_charts: bool = True) -> None:
    """Give out what was measured; exit code 1 where it is not whole."""
    from indexer.bench.report import show, write

    if as_json:
        click.echo(json.dumps(report.to_json()))
    else:
        show(report)
    if out is not None:
        with Bars():
            write(report, out, has_charts=has_charts)
        click.echo(f"wrote {out / 'report.html'} and report.json", err=True)
    raise click.exceptions.Exit(0 if report.is_whole and not report.failed else 1)


@bench.command()
@_out
@click.option("--devices", default="auto", show_default=True, help="auto, a number of GPUs, 0,2, or cpu: all in small.")
@click.option("--only", multiple=True, metavar="PART", help="Measure parts whose names begin so. Repeatable.")
@click.option("--minutes", type=click.FloatRange(0.1), help="Begin no part that would take longer than what is left.")
@json_option
def gpu(out: Path | None, devices: str, only: tuple[str, ...], minutes: float | None, as_json: bool) -> None:
    """Check and measure all that only a GPU shows, the most important first: parity, embedding, limits, training, NCCL.

    Parts take some 25 seconds at most; rows are printed as they come, and DIR is written after each part. The same
    command goes on with the parts that are missing or have failed. docs/gpu.md says what each figure means. Exit code
    0: all goals are met, 1: some are missed, or parts have failed or are missing, 2: error.

    \b
    Examples:
      icons lab bench gpu --out gpu
      icons lab bench gpu --out gpu --minutes 8
      icons lab bench gpu --out gpu --only links \\
        --only "parity ViT-L-14"
    """
    from indexer.bench.gpu import Parts, Setting, bench_gpu, chosen, find_gpus, goals, tiny
    from indexer.bench.report import write

    there, folder = find_gpus(devices), (out or _new_folder()).absolute()
    setting = Setting(folder, n_devices=there.n) if there.device == "cuda" else tiny(folder)

    def show(row: "Row") -> None:
        if not as_json:
            figures = ", ".join(f"{name} {row.text(name)}" for name in row.runs[0]) if row.runs else ""
            click.echo(f"{row.group}: {row.name}: {row.error or figures}")

    with Bars(estimate=False) as view:
        every = Parts(setting, view).all()
        report = bench_gpu(chosen(every, only), folder, kind=setting.kind, bars=view, minutes=minutes, show=show)
    held = list(goals(report))
    report.facts = [f"{'met' if is_met else 'MISSED'}: {text}" for text, is_met in held]
    write(report, folder, has_charts=False)
    click.echo(json.dumps(report.to_json()) if as_json else "\n".join(report.facts))
    missing = len({part.name for part in every} - {row.setting["part"] for row in report.rows})
    click.echo(f"parts missing: {missing}; wrote {folder / 'report.html'} and report.json", err=True)
    is_done = not missing and not report.failed and all(is_met for _, is_met in held)
    raise click.exceptions.Exit(0 if is_done else 1)


@bench.command()
@click.option("--only", "parts", multiple=True, type=click.Choice(_PARTS), default=_PARTS, help="Measure this part.")
@click.option(
    "--queries",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="JSONL file of queries, as for `icons lab evaluate`. Repeatable; names of the library's icons by default.",
)
@click.option("--kind", "kinds", multiple=True, type=click.Choice(list(KINDS)), help="Build this kind of index.")
@click.option(
    "--vectors",
    type=click.IntRange(100),
    metavar="N",
    help="Build indexes of 20 thousand, 380 thousand, 1 and 10 million vectors, up to N of them; 380000 by default.",
)
@click.option("--runs", "n_cold", type=click.IntRange(1), default=10, show_default=True, help="Of each cold start.")
@click.option("--clients", type=click.IntRange(1, 256), default=16, show_default=True, help="Who use the page at once.")
@click.option("--seconds", type=click.FloatRange(1, 3600), default=60, show_default=True, help="How long they do.")
@click.option("-k", "k", type=click.IntRange(1, 1000), default=10, show_default=True, help="Hits of a query.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of queries and made vectors.")
@_out
@library_option
@json_option
def search(library: Library, out: Path | None, as_json: bool, **options: Any) -> None:
    """Measure how fast icons are found here: cold, warm, filtered, with many asking, and by kind of index.

    Starts `icons search` and `icons serve` on a free port of this machine, and only reads the library. Indexes are
    built one after the other in a temporary folder (TMPDIR). docs/performance.md says how to read the figures. Exit
    code 1: cut off, or a request was not answered as it should be.

    \b
    Examples:
      icons lab bench search --out speed
      icons lab bench search --only warm --only clients \\
        --queries mine.jsonl
      icons lab bench search --only page --clients 4 \\
        --seconds 20
      icons lab bench search --only indexes \\
        --vectors 10000000 --kind rabitq --kind hnsw --json
    """
    with warnings_as_lines(), ProgressLine() as progress:
        from indexer.bench.indexes import IndexOptions
        from indexer.bench.search import SearchOptions, bench_search

        kinds = options.pop("kinds") or tuple(KINDS)
        options["indexes"] = IndexOptions(kinds, options.pop("vectors"), options["seed"])
        report = bench_search(library, SearchOptions(**options), progress)
    _conclude(report, out, as_json=as_json)


@bench.command()
@click.option(
    "--icons",
    "sizes",
    type=click.IntRange(1_000),
    multiple=True,
    default=(250_000, 1_000_000),
    show_default=True,
    metavar="N",
    help="Of a drawn library. Repeatable: one for each.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False, writable=True),
    default=Path("icons-scale"),
    show_default=True,
    help="Folder for the figures, and for what is built: some 3.5 GB a million icons.",
)
@click.option("--keep", is_flag=True, help="Leave what was built there.")
@library_option
@json_option
def scale(library: Library, sizes: Sequence[int], out: Path, as_json: bool, **options: Any) -> None:
    """Measure how time, memory and disk grow with the number of icons, from the scan to the page.

    Draws sets as those of the library, with vectors of its clusters, and builds a library of each size. Only reads the
    real one. Ended early, the same command goes on where it stopped. docs/scale.md says how to read the figures.

    \b
    Examples:
      icons lab bench scale --icons 20000 --icons 100000
      icons lab bench scale --icons 1000000 --icons 4000000 \\
        --icons 10000000 --out /data/scale
    """
    with warnings_as_lines(), ProgressLine() as progress:
        from indexer.bench.scale import bench_scale

        report = bench_scale(library, out, sizes, progress=progress, **options)
    _conclude(report, out, as_json=as_json, has_charts=False)
