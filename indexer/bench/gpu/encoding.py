"""How right and how fast is a GPU alone? Vectors against those of the CPU, and passes whose pixels are there already.

Nothing is drawn meanwhile: what is measured here is what embedding could reach.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from indexer.arrays import Floats, Pixels
from indexer.bench.gpu.setting import Setting
from indexer.bench.limit import measure_tower
from indexer.bench.trials.knobs import Knobs
from indexer.bench.trials.material import Material
from indexer.bench.trials.trial import Trial
from indexer.embedding.batches import Batch
from indexer.embedding.device import Device
from indexer.embedding.embed import spec_of
from indexer.embedding.options import EmbedOptions
from indexer.encoders.checkpoint import find_checkpoint
from indexer.encoders.torch_encoder import Encoder, Precision, resolve_precision
from indexer.library.bundled import bundled
from indexer.process import cores
from indexer.rendering.render import render

_HALVES: tuple[Precision, ...] = ("bf16", "fp16")
_AT_ONCE = 32
"""Pictures of a batch that is compared: several are under way."""
_WARM_UPS = 3
_LEAST_PASSES = 5
_LONGEST_PASS = 4.0
"""Seconds; once a pass takes longer, larger batches are left out: they would take minutes."""
Way = Callable[[Callable[[], Any]], Callable[[], Any]]
"""Turns a pass into something that does the same, perhaps faster."""


def compare_with_cpu(setting: Setting, model: str) -> Iterator[dict[str, Any]]:
    """Yield the cosines of a model's vectors to those of fp32 on the CPU, by precision, with graphs and without."""
    checkpoint = find_checkpoint(setting.choice(model))
    pixels = _pictures(setting.n_compared, size=checkpoint.image_size)
    exact = Encoder(checkpoint, device=torch.device("cpu"), precision="fp32")
    expected = _unit(np.concatenate([exact.encode_images(part) for part in _parts(pixels, _AT_ONCE)]))
    del exact
    for precision in _precisions(setting):
        options = EmbedOptions(precision=precision, batch_size=_AT_ONCE, is_timed=True)
        device_spec = spec_of(torch.device(setting.device), options)
        with device_spec.open(checkpoint, pixels, n_images=len(pixels)) as device:
            yield _compared("pass by pass", device, pixels, expected)
            if setting.kind == "cuda":
                device.settle(n_images=len(pixels), largest=_AT_ONCE)
                reason = getattr(device, "not_captured", None)
                way = "captured graphs" if reason is None else f"not captured: {reason}"
                yield _compared(way, device, pixels, expected)


def _precisions(setting: Setting) -> tuple[Precision, ...]:
    """On GPUs the one that `auto` means, and both halves, each once."""
    if setting.kind != "cuda":
        return ("auto",)
    return tuple(dict.fromkeys([resolve_precision("auto", torch.device(setting.device)), *_HALVES]))


def measure_limit(setting: Setting, model: str) -> Iterator[dict[str, Any]]:
    """Yield images/s of passes alone by batch size, with the operations they take and their share of the ceiling."""
    choice = setting.choice(model)
    checkpoint = find_checkpoint(choice)
    material = Material(Path(), choice, checkpoint.fingerprint, checkpoint.image_size, 0)
    trial = Trial(Knobs(batch=max(setting.batch_sizes)), material, setting.kind, tuple(range(cores())), 0)
    tower = measure_tower(trial)
    encoder = Encoder(checkpoint, device=torch.device(setting.device))
    ways, too_long = _ways(encoder.device), ""
    for size in sorted(setting.batch_sizes):
        rates = _rates(encoder, size, ways, seconds=setting.seconds) if not too_long else [(too_long, None)]
        for way, rate in rates:
            if rate is not None and size / rate > _LONGEST_PASS:
                too_long = f"left out: a pass of {size} takes {size / rate:.1f} s"
            yield {
                "batch": size,
                "way": way,
                "precision": encoder.precision,
                "images/s": rate,
                "GFLOP a picture": tower["flops_per_image"] / 1e9,
                "ceiling, TFLOP/s": tower["flops_per_second"] / 1e12,
                "MFU": rate * tower["flops_per_image"] / tower["flops_per_second"] if isinstance(rate, float) else None,
            }


def _rates(encoder: Encoder, size: int, ways: dict[str, Way], *, seconds: float) -> Iterator[tuple[str, float | None]]:
    """Images/s of a batch size in every way; None where the device has no room, or the pass can't be captured.

    A way that fails to capture is taken out: torch can't be relied on to capture again after that.
    """
    side, device = encoder.image_size, encoder.device
    generator = torch.Generator(device).manual_seed(0)
    shape = (size, side, side, 3)
    for name, way in list(ways.items()):
        try:
            with torch.inference_mode():
                pixels = torch.randint(0, 256, shape, dtype=torch.uint8, device=device, generator=generator)
                taken = _seconds(way(partial(encoder.encode_on_device, pixels)), device, least=seconds)
        except RuntimeError as error:  # whatever in a model can't be captured; its memory, too
            if way is _captured:
                del ways[name]
            elif not isinstance(error, torch.OutOfMemoryError):
                raise
            reason = "no room" if isinstance(error, torch.OutOfMemoryError) else str(error).partition("\n")[0]
            yield f"{name}: {reason}", None
        else:
            yield name, size / taken


def _ways(device: torch.device) -> dict[str, Way]:
    """How passes can be run: as they come, and on a GPU as a captured graph, too."""
    ways: dict[str, Way] = {"pass by pass": lambda function: function}
    return ways | {"captured graph": _captured} if device.type == "cuda" else ways


def _captured(function: Callable[[], Any]) -> Callable[[], Any]:
    """Capture what a function does; its replay does the same."""
    stream: Any = cast(Any, torch.cuda.Stream)()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(_WARM_UPS):
            function()
    cast(Any, torch.cuda.synchronize)()
    graph: Any = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        function()
    replay: Callable[[], Any] = graph.replay
    return replay


def _seconds(function: Callable[[], Any], device: torch.device, *, least: float) -> float:
    """Seconds of one pass among many that are queued without waiting between them; of fewer where one is long."""
    _took(function, 1, device)  # libraries are loaded, kernels are chosen
    if (one := _took(function, 1, device)) > least:
        return one
    _took(function, _WARM_UPS, device)
    n, started = _LEAST_PASSES, time.perf_counter()
    while True:
        taken = _took(function, n, device)
        if taken >= least or time.perf_counter() - started > 10 * least:
            return taken / n
        n *= 2


def _took(function: Callable[[], Any], n: int, device: torch.device) -> float:
    """Seconds of `n` passes."""
    from indexer.bench.trials.feeds import synchronise

    began = time.perf_counter()
    for _ in range(n):
        function()
    synchronise(device)
    return time.perf_counter() - began


def _compared(way: str, device: Device, pixels: Pixels, expected: Floats) -> dict[str, Any]:
    cosines = (_unit(encode_all(device, pixels)) * expected).sum(axis=1)
    return {
        "way": way,
        "precision": device.encoder.precision,
        "pictures": len(pixels),
        "least cosine": float(cosines.min()),
        "mean cosine": float(cosines.mean()),
    }


def encode_all(device: Device, pixels: Pixels) -> Floats:
    """Take pictures (n, size, size, 3) through a device, as many batches under way as it has room for, (n, dim)."""
    under_way: deque[Callable[[], Any]] = deque()
    found = []
    for part in _parts(pixels, device.batch_size):
        if len(under_way) == device.n_under_way:
            found.append(under_way.popleft()())
        under_way.append(device.begin(Batch((), part, part)))
    vectors: Floats = np.concatenate([*found, *(collect() for collect in under_way)]).astype(np.float32)
    return vectors


def _parts(pixels: Pixels, size: int) -> Iterator[Pixels]:
    return (pixels[start : start + size] for start in range(0, len(pixels), size))


def _unit(vectors: Any) -> Floats:
    exact = vectors.astype(np.float32)
    unit: Floats = exact / np.linalg.norm(exact, axis=1, keepdims=True)
    return unit


def _pictures(n: int, *, size: int) -> Pixels:
    """Draw so many of the bundled samples, evenly from all."""
    paths = sorted(bundled("samples/lucide-static").rglob("*.svg"))
    chosen = np.linspace(0, len(paths) - 1, n).astype(int)
    pixels: Pixels = np.stack([render(paths[place].read_bytes(), size=size).pixels for place in chosen])
    return pixels
