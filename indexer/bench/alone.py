"""What the parts of an embedding take by themselves, and how right they are; each question in a process of its own.

    python -m indexer.bench.alone limit '{"choice": ..., "kind": "cpu"}' ROWS.jsonl

The product's own devices and renderers, with nothing else at work: what embedding could reach. The roofline (Williams,
Waterman and Patterson, CACM 52, 2009): a pass takes at least its operations over the ceiling of matrix products; MFU is
the share of that ceiling that is reached.
"""

import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from indexer.arrays import Floats, Pixels
from indexer.bench import machine
from indexer.bench.pictures import SAMPLES, gather
from indexer.embedding.distributed import Rank, run_as_rank
from indexer.embedding.planning import EmbedOptions
from indexer.embedding.progress import cpu_seconds, family
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.devices import HOST
from indexer.library.bundled import bundled
from indexer.library.named import read_text
from indexer.process import prepare_for_batches
from indexer.rendering.pool import CHUNK, RenderPool

Rows = machine.Rows
_SIDES = {"cpu": 2048, "cuda": 8192}
_IN_A_ROW = 8
"""Batches of a measured pass: several are under way."""
_LONGEST_SECONDS = 20.0
"""Of so many batches; once they take longer, larger ones are left out: they would take minutes."""
_AT_ONCE = 32
"""Pictures of a batch that is compared."""
_MOST_QUERIES = 1000


def _opened(choice: str, options: EmbedOptions, pixels: Pixels) -> Any:
    """The product's device for many pictures, a context manager; `pixels` are what it will get."""
    import torch

    from indexer.embedding.device import spec_of
    from indexer.encoders.graphs import MANY

    spec = spec_of(torch.device("cuda", 0) if options.device == "cuda" else HOST, options)
    return spec.load(find_checkpoint(ModelChoice.from_json(choice)), pixels, MANY)


def _ways(device: Any, size: int) -> Iterator[str]:
    """Have a device take so many pictures at once: pass by pass, then, on a GPU, by captured graphs."""
    is_gpu = device.name != "cpu"
    if is_gpu:
        device.clear()
    device.batch_size = size
    yield "pass by pass"
    if is_gpu:
        device.prepare(n_images=size, largest=size)
        yield "captured graphs"


def encode_all(device: Any, batches: Iterable[Pixels]) -> Floats:
    """Take batches (n, size, size, 3) through a device, as many under way as it has room for; all vectors, (n, dim)."""
    from indexer.embedding.device import Batch

    under_way: deque[Callable[[], Any]] = deque()
    found = []
    for part in batches:
        if len(under_way) == device.n_under_way:
            found.append(under_way.popleft()())
        under_way.append(device.begin(Batch((), part, part)))
    vectors: Floats = np.concatenate([*found, *(collect() for collect in under_way)]).astype(np.float32)
    return vectors


def limit(*, choice: str, kind: str, batches: Sequence[int], precision: str = "auto", seconds: float = 0.5) -> Rows:
    """Yield images/s of a device whose pictures are drawn already, by batch size, and its share of the ceiling."""
    from indexer.encoders.torch_encoder import products_in

    side, options = find_checkpoint(ModelChoice.from_json(choice)).image_size, EmbedOptions(kind, cast(Any, precision))
    pixels = np.random.default_rng(0).integers(0, 256, (max(batches), side, side, 3), np.uint8)
    with products_in(precision), _opened(choice, replace(options, batch_size=len(pixels)), pixels) as device:
        flops, ceiling = _roofline(device.encoder)
        for size, name in ((n_pictures, way) for n_pictures in sorted(batches) for way in _ways(device, n_pictures)):
            encode_all(device, [pixels[:size]] * 2)  # libraries are loaded, kernels are chosen
            began, computed, n = time.perf_counter(), time.process_time(), 0
            while not n or time.perf_counter() - began < seconds:
                n += len(encode_all(device, [pixels[:size]] * _IN_A_ROW))
            taken, computed = time.perf_counter() - began, time.process_time() - computed
            row = {"images/s": n / taken, "name": f"batch {device.batch_size}, {name}", **_remark(device)}
            row |= {"ms of a core": 1e3 * computed / n} if kind == "cpu" else {}
            share = {"MFU": n / taken * flops / ceiling, "GFLOP": flops / 1e9, "of TFLOP/s": ceiling / 1e12}
            yield {**row, **(share if flops else {}), "precision": device.encoder.precision}
            if taken > _LONGEST_SECONDS:
                return


def _remark(device: Any) -> dict[str, str]:
    return {"remark": device.remark} if device.remark else {}


def _roofline(encoder: Any) -> tuple[int, float]:
    """Operations of a picture, and those a second of a large matrix product."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    if not hasattr(encoder, "image_tower"):  # the graphs of ONNX Runtime
        return 0, 1.0
    counter, fused = FlopCounterMode(display=False), torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)  # the counter does not see into the fused layer of transformers
    with torch.inference_mode(), counter:
        encoder.image_tower(torch.zeros((1, *[encoder.image_size] * 2, 3), dtype=torch.uint8, device=encoder.device))
    torch.backends.mha.set_fastpath_enabled(fused)
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(encoder.precision, torch.float32)
    side, times, ceiling = _SIDES[encoder.device.type], 4, 0.0
    a, b = (torch.randn(side, side, device=encoder.device).to(kind) for _ in range(2))
    for _ in range(3):  # at first libraries are loaded
        began = time.perf_counter()
        for _ in range(times):
            product = torch.mm(a, b)
        product[0, 0].item()  # the device is awaited
        ceiling = max(ceiling, times * 2 * side**3 / (time.perf_counter() - began))
    return counter.get_total_flops(), ceiling


def parity(*, choice: str, kind: str, precisions: Sequence[str], n: int | None = None) -> Rows:
    """Yield how a precision's vectors differ from those of fp32 on the CPU, with graphs and without: least cosine.

    Of all samples (`n` is None) also what that costs: how many of the benchmark's queries see their first right answer
    move, and R@10; pictures alone are embedded in the precision, words in fp32, as in a library.
    """
    import torch

    from indexer.encoders.torch_encoder import Encoder

    checkpoint = find_checkpoint(ModelChoice.from_json(choice))
    batches, places = samples(n, size=checkpoint.image_size)
    encoder = Encoder(checkpoint, device=torch.device("cpu"), precision="fp32")
    exact = _unit(np.concatenate([encoder.encode_images(batch) for batch in batches]))
    judge = _judge(encoder, exact, places) if n is None else lambda _: {}
    for precision in precisions:
        options = EmbedOptions(kind, cast(Any, precision), batch_size=_AT_ONCE)
        with _opened(choice, options, batches[0]) as device:
            for name in _ways(device, _AT_ONCE):
                vectors = _unit(encode_all(device, batches))
                cosines = (vectors * exact).sum(axis=1)
                figures = {"least cosine": float(cosines.min()), "mean cosine": float(cosines.mean()), **judge(vectors)}
                yield {"name": f"{device.encoder.precision}, {name}", **figures, **_remark(device)}


def samples(n: int | None, *, size: int) -> tuple[list[Pixels], dict[str, int]]:
    """Draw so many of the bundled samples, evenly from all, in batches; and the place of each name among them."""
    from indexer.rendering.render import render

    paths = sorted(bundled(SAMPLES).rglob("*.svg"))
    chosen = [paths[place] for place in np.linspace(0, len(paths) - 1, n or len(paths)).astype(int)]
    drawn: Pixels = np.stack([render(path.read_bytes(), size=size).pixels for path in chosen])
    batches = [drawn[start : start + _AT_ONCE] for start in range(0, len(drawn), _AT_ONCE)]
    return batches, {path.stem: place for place, path in enumerate(chosen)}


def _judge(encoder: Any, exact: Floats, places: dict[str, int]) -> Callable[[Floats], dict[str, Any]]:
    """Hold vectors against the benchmark's queries, as exact ones are."""
    from indexer.reports.measures import figures, first_ranks

    lines = read_text(bundled("eval") / "lucide-1.62.0.jsonl.xz").splitlines()
    asked = [json.loads(line) for line in lines[:: max(1, len(lines) // _MOST_QUERIES)]]
    right = [[places[name] for name in line["relevant"] if name in places] for line in asked]
    words = _unit(encoder.encode_texts([line["query"] for line, of in zip(asked, right, strict=True) if of]))
    right = [of for of in right if of]
    before = first_ranks(words, exact, right)

    def judge(vectors: Floats) -> dict[str, Any]:
        ranks = first_ranks(words, vectors, right)
        moved = np.abs(ranks - before)[ranks != before]
        by = float(np.median(moved)) if len(moved) else 0.0
        return {"queries moved": len(moved) / len(right), "by ranks": by, "R@10": figures(ranks)["R@10"].value}

    return judge


def _unit(vectors: Any) -> Floats:
    exact = vectors.astype(np.float32)
    unit: Floats = exact / np.linalg.norm(exact, axis=1, keepdims=True)
    return unit


def drawing(*, source: str | None, n: int, size: int, workers: int) -> Rows:
    """Yield what a picture takes to be drawn by the product's renderers."""
    jobs = gather(Path(), Path(source) if source else None, choice=ModelChoice.bundled(), n=n + CHUNK).jobs
    with RenderPool(size=size, workers=workers) as pool:
        next(chunks := pool.render([jobs]))  # not counted: by now all of them have started
        before, started, drawn = cpu_seconds(family(os.getpid())), time.perf_counter(), 0
        for chunk in chunks:
            drawn += len(chunk.ids) + len(chunk.failures)
        seconds, cpu = time.perf_counter() - started, cpu_seconds(family(os.getpid())) - before
    if drawn:
        yield {"images/s": drawn / seconds, "name": f"{workers} renderers", "ms of a core": 1e3 * cpu / drawn}


def weights(*, file: str, model: str) -> Rows:
    """Make weights of an open_clip model from a seed, as fp16: what a forward pass takes depends on none."""
    import open_clip
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(0)
    state = open_clip.create_model(model).state_dict()
    halves = {name: (it.half() if it.is_floating_point() else it).contiguous() for name, it in state.items()}
    aside = Path(file).with_suffix(".aside")
    aside.parent.mkdir(parents=True, exist_ok=True)
    save_file(halves, aside)
    aside.replace(file)
    yield {"name": model, "GB": Path(file).stat().st_size / 1e9}


QUESTIONS: dict[str, Callable[..., Rows]] = {
    "machine": machine.describe,
    "links": machine.links,
    "all-reduce": machine.all_reduce,
    **{question.__name__: question for question in (limit, parity, drawing, weights)},
}


def main() -> None:
    """Answer a question, and write a line of JSON for each row as it comes: QUESTION PARAMETERS ROWS.jsonl."""
    question, parameters, rows = sys.argv[1:]
    prepare_for_batches()

    def work(rank: Rank) -> None:
        for row in QUESTIONS[question](**json.loads(parameters)):
            if rank.index == 0:
                with Path(rows).open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")

    run_as_rank(work)


if __name__ == "__main__":
    main()
