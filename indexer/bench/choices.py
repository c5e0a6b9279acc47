"""What is compared with what? The usual values of each knob on this machine, the strategies, the grids."""

from dataclasses import replace
from typing import Any

from indexer.bench.trials.knobs import NAIVE, Knobs, Strategy, Sweeps, fits_index, grid, one_at_a_time
from indexer.errors import BenchError
from indexer.process import cores

BATCHES = (32, 64, 128, 256, 512, 768, 1024, 1080, 1280, 1400)
"""Of the original posts; those that the pictures allow are tried."""


def swept(base: Knobs, sweeps: Sweeps, *, is_grid: bool) -> list[tuple[str, list[Knobs]]]:
    """Configurations by the group that they are compared in: a knob each, or one grid."""
    if not is_grid:
        return list(one_at_a_time(base, sweeps))
    if not sweeps:
        raise BenchError("--grid needs at least one --sweep KNOB=VALUE,VALUE")
    return [("grid", grid(base, sweeps))]


def usual_sweeps(kind: str, *, n_devices: int, n_images: int, is_thorough: bool) -> Sweeps:
    """What is varied where nothing else was asked for: what decides most, or `is_thorough` everything that can be."""
    is_gpu, many = kind == "cuda", n_devices > 1
    batches: list[Any] = [size for size in BATCHES if size <= n_images]
    workers: list[Any] = sorted({0, 1, 2, 4, 8} & set(range(cores() + 1)) | {cores()})
    precisions: list[Any] = ["fp32", "tf32", "bf16", "fp16"] if is_gpu else ["fp32", "bf16"]
    if not is_thorough:
        short = batches if is_gpu else [size for size in batches if size in (32, 64, 256, 512)]
        few = workers if is_gpu else sorted({1, cores()})
        return [("batch", [None, *short]), ("workers", [None, *few]), ("precision", precisions)]
    found: list[tuple[str, list[Any]]] = [
        ("batch", [None, *batches]),
        ("workers", [None, *workers]),
        ("precision", ["fp64", *precisions]),
        ("prefetch", [1, 2, 4, 8]),
        ("shuffle", [False, True]),
        ("compile", [False, True]),
        ("channels_last", [True, False]),
        ("copy", ["batch", "item", *(["stream", "stream-high"] if is_gpu else [])]),
    ]
    if is_gpu:
        found += [("pinned", [False, True]), ("cudnn_benchmark", [False, True])]
    if many:
        found += [("barrier", [False, True])]
    if is_gpu and many:
        found += [("backend", ["nccl", "gloo"])]
    return found


def strategies(base: Knobs, n_devices: int, *, kind: str) -> list[Knobs]:
    """One device and all of them in every way, each with both loaders, and the naive script."""
    kinds: list[tuple[Strategy, int]] = [("ranks", 1)]
    if n_devices > 1:
        ways: tuple[Strategy, ...] = ("ranks", "data-parallel", "threads") if kind == "cuda" else ("ranks", "threads")
        kinds += [(way, n_devices) for way in ways]
    found = []
    for strategy, n in kinds:
        for loader in ("icons", "files"):
            knobs = replace(
                base,
                strategy=strategy,
                devices=n,
                loader=loader,
                prefetch=base.prefetch if loader == "files" else None,
                barrier=base.barrier and strategy == "ranks" and n > 1,
            )
            found.append(replace(knobs, path="index" if fits_index(knobs) else "loop"))
    found.append(NAIVE)
    return [*found, replace(NAIVE, devices=n_devices)] if n_devices > 1 else found
