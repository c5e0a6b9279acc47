"""How fast could it be? Operations and bytes of the tower, the device's measured ceilings, and what bounds a row.

The roofline (Williams, Waterman and Patterson, CACM 52, 2009): a pass takes at least its operations over the ceiling of
matrix products, and at least its bytes over that of memory. MFU is the share of the former ceiling that is reached.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from indexer.bench.trials.sweep import Row
from indexer.bench.trials.trial import Trial

_SIDES = {"cpu": 2048, "cuda": 8192}
_COPIED_BYTES = {"cpu": 256 << 20, "cuda": 4 << 30}
_FREE_SHARE = 4
"""Such a part of a GPU's free memory is copied at most: it is taken twice, and libraries take some, too."""
_SECONDS = 0.5
_WAITING = 0.3
"""Share of waiting for pictures from which on they bound a GPU."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What bounds an embedding here; ceilings are those of one GPU, or of all cores."""

    precision: str
    flops_per_image: int
    bytes_per_image: int
    """Activations of every layer written and read once, and the weights' part in a batch: a lower bound."""
    flops_per_second: float
    bytes_per_second: float
    render_seconds: float
    """Processor time of one picture's rendering alone."""
    forward_seconds: float
    """Processor time of one picture's forward pass alone; on a GPU its duration."""
    n_cores: int
    kind: str

    @property
    def images_per_second(self) -> float:
        """On CPUs: all cores busy with rendering and forward passes alone. On a GPU: the forward pass alone."""
        if self.kind == "cuda":
            return 1 / self.forward_seconds
        return self.n_cores / (self.render_seconds + self.forward_seconds)

    @property
    def forward_is_bound_by(self) -> str:
        """Which ceiling the forward pass is nearer to."""
        compute = self.flops_per_image / self.flops_per_second
        memory = self.bytes_per_image / self.bytes_per_second
        return "compute" if compute >= memory else "memory"

    def mfu(self, row: Row) -> float:
        """Share of the ceiling of matrix products that a row reaches."""
        return self.share(row) * self.images_per_second * self.flops_per_image / self.flops_per_second

    def share(self, row: Row) -> float:
        """Share of `images_per_second` that a row reaches."""
        part = row.knobs.devices if self.kind == "cuda" else row.n_cores / self.n_cores
        return row.rate.value / (self.images_per_second * part)

    def bound_of(self, row: Row) -> str:
        """Say what bounds a row."""
        if self.kind == "cuda":
            waits = (row.waited_share or 0.0) > _WAITING
        else:
            waits = self.render_seconds > self.forward_seconds
        return "rendering" if waits else f"forward ({self.forward_is_bound_by})"


def measure_tower(trial: Trial) -> dict[str, Any]:
    """Operations and bytes of one picture, and the ceilings of the device at the trial's precision."""
    import torch

    from indexer.encoders.torch_encoder import products_in

    torch.set_num_threads(len(trial.cores))
    with products_in(trial.knobs.precision):
        return _tower_and_ceilings(trial)


def _tower_and_ceilings(trial: Trial) -> dict[str, Any]:
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from indexer.bench.trials.strategies import load_tower

    device = torch.device(trial.kind)
    tower, _, precision = load_tower(trial, device)
    size = trial.knobs.size or trial.material.image_size
    batch = trial.knobs.batch or 64
    pixels = torch.zeros((1, size, size, 3), dtype=torch.uint8, device=device)
    counter = FlopCounterMode(display=False)
    fused = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)  # the counter does not see into the fused layer
    try:
        with torch.no_grad(), counter:
            tower(pixels)
    finally:
        torch.backends.mha.set_fastpath_enabled(fused)
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp64": torch.float64}.get(precision, torch.float32)
    return {
        "precision": precision,
        "flops_per_image": counter.get_total_flops(),
        "bytes_per_image": _bytes_per_image(tower, pixels, itemsize=kind.itemsize, batch=batch),
        "flops_per_second": _matmul_ceiling(device, kind),
        "bytes_per_second": _memory_ceiling(device),
    }


def _bytes_per_image(tower: Any, pixels: Any, *, itemsize: int, batch: int) -> int:
    import torch

    numbers = 0

    def count(_: Any, inputs: Any, output: Any) -> None:
        nonlocal numbers
        numbers += sum(tensor.numel() for tensor in (*inputs, output) if isinstance(tensor, torch.Tensor))

    leaves = [module for module in tower.modules() if not list(module.children())]
    hooks = [leaf.register_forward_hook(count) for leaf in leaves]
    with torch.no_grad():
        tower(pixels)
    for hook in hooks:
        hook.remove()
    model = next(module for module in tower.modules() if hasattr(module, "visual"))
    weights = sum(parameter.numel() for parameter in model.visual.parameters())
    return int(itemsize * (numbers + weights / batch))


def _matmul_ceiling(device: Any, kind: Any) -> float:
    """Operations a second of a large matrix product, the best of several."""
    import torch

    side = _SIDES[device.type] // (4 if kind == torch.float64 else 1)
    a, b = (torch.randn(side, side, device=device).to(kind) for _ in range(2))
    return 2 * side**3 / _best_seconds(lambda: torch.mm(a, b), device)


def _memory_ceiling(device: Any) -> float:
    """Bytes a second of a large copy, read and written, the best of several."""
    import torch

    source = torch.ones(_copied_bytes(device) // 4, device=device)
    there = torch.empty_like(source)
    return 2 * source.nbytes / _best_seconds(lambda: there.copy_(source), device)


def _copied_bytes(device: Any) -> int:
    """So much, or what a small or busy GPU has room for."""
    import torch

    most = _COPIED_BYTES[device.type]
    return most if device.type == "cpu" else min(most, torch.cuda.mem_get_info(device)[0] // _FREE_SHARE)


def _best_seconds(function: Callable[[], Any], device: Any) -> float:
    from indexer.bench.trials.feeds import synchronise

    function()  # pages are touched, libraries loaded
    best, began, n_runs = float("inf"), time.perf_counter(), 0
    while n_runs < 5 or time.perf_counter() - began < _SECONDS:
        n_runs += 1
        started = time.perf_counter()
        function()
        synchronise(device)
        best = min(best, time.perf_counter() - started)
    return best


def seconds_per_image(row: Row) -> float:
    """Processor time where it is told, else the duration; the median of the runs."""
    taken = [run.seconds if run.cpu_seconds is None else run.cpu_seconds for run in row.runs]
    return median([seconds / run.images for seconds, run in zip(taken, row.runs, strict=True)])
