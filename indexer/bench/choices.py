"""What is compared with what? The usual values of each knob on this machine, strategies, numbers of devices, grids."""

from dataclasses import replace
from typing import Any, Literal

from indexer.bench.trials.knobs import NAIVE, Knobs, Strategy, Sweeps, fits_index, grid, on_one_path, one_at_a_time
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
    """One device and all of them in every way, all of these in the plain loop, each with every loader.

    Behind them, on paths of their own, `icons index` itself where it can run the base, and the naive script.
    """
    kinds: list[tuple[Strategy, int]] = [("ranks", 1)]
    if n_devices > 1:
        ways: tuple[Strategy, ...] = ("ranks", "data-parallel", "threads") if kind == "cuda" else ("ranks", "threads")
        kinds += [(way, n_devices) for way in ways]
    plain = replace(base, path="loop", copy="batch", barrier=False)
    found = [
        fed(replace(plain, strategy=strategy, devices=n), loader)
        for strategy, n in kinds
        for loader in ("icons", "files", "memory")
    ]
    counts = (1, n_devices) if n_devices > 1 else (1,)
    if fits_index(product := fed(replace(base, strategy="ranks"), "icons")):
        found += [replace(product, path="index", devices=n) for n in counts]
    return [*found, *(replace(NAIVE, devices=n) for n in counts)]


def scaled(base: Knobs, n_devices: int) -> list[Knobs]:
    """A base on 1 to N devices, as `icons index` puts them to work where it can run all of them."""
    counts = [n for n in range(1, n_devices + 1) if n in (1, 2, 3, 4, 6, 8) or n == n_devices]
    every = [replace(base, strategy="ranks", devices=n, barrier=base.barrier and n > 1) for n in counts]
    return on_one_path(every)


def fed(knobs: Knobs, loader: Literal["icons", "files", "memory"]) -> Knobs:
    """The same through another loader, without those knobs that it has not."""
    prefetch = knobs.prefetch if loader == "files" else None
    workers = None if loader == "memory" else knobs.workers
    path = "loop" if loader == "memory" else knobs.path
    return replace(knobs, loader=loader, prefetch=prefetch, workers=workers, path=path)
