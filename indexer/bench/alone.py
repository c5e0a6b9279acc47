"""What is measured on, what the parts of an embedding take by themselves, and how right they are.

    python -m indexer.bench.alone limit '{"choice": ..., "kind": "cpu"}' ROWS.jsonl

Each question is answered in a process of its own. The product's own devices and renderers, with nothing else at work:
what embedding could reach. The roofline (Williams, Waterman and Patterson, CACM 52, 2009): a pass takes at least its
operations over the ceiling of matrix products; MFU is the share of that ceiling that is reached. Beside them stands the
script that everyone writes first, to hold `icons index` against: PNG files through Pillow and a DataLoader.
"""

import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
import torch.distributed as dist
from open_clip.transform import PreprocessCfg, image_transform_v2
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler
from torch.utils.flop_counter import FlopCounterMode

from indexer.arrays import Floats, Pixels
from indexer.bench.processes import describe
from indexer.bench.runs import SAMPLES, gather
from indexer.embedding.cuda_device import page_locked
from indexer.embedding.device import Batch, spec_of
from indexer.embedding.planning import EmbedOptions
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint, open_clip_folder
from indexer.encoders.devices import use_device
from indexer.encoders.graphs import MANY, find_device
from indexer.encoders.torch_encoder import HALVES, Encoder, load_model, products_in
from indexer.finetune.folder import write_random_model
from indexer.library.bundled import bundled
from indexer.process import prepare_for_batches
from indexer.ranks import Rank, cpu_seconds, family, peak_memory, process_group, run_as_rank
from indexer.rendering.pool import CHUNK, RenderPool, Settings, Slots, shared_memory
from indexer.rendering.render import render

Rows = Iterator[dict[str, Any]]
_REDUCED_MB = (1, 16, 64)
_TIMES = 8
_SIDES = {"cpu": 2048, "cuda": 8192}
_IN_A_ROW = 8
"""Batches of a measured pass: several are under way."""
_LONGEST_SECONDS = 20.0
"""Of so many batches; once they take longer, larger ones are left out: they would take minutes."""
_AT_ONCE = 32
"""Pictures of a batch that is compared."""


def _opened(choice: str, options: EmbedOptions, pixels: Pixels) -> Any:
    """The product's device for many pictures, a context manager; `pixels` are what it will get."""
    spec = spec_of(find_device("cuda:0" if options.device == "cuda" else "cpu"), options)
    return spec.load(find_checkpoint(ModelChoice.from_json(choice)), pixels, MANY)


def _ways(device: Any, size: int) -> Iterator[str]:
    """Have a device take so many pictures at once: pass by pass, then, on a GPU, by captured graphs."""
    is_gpu = device.name != "cpu"
    if is_gpu:
        device.clear()
    device.batch_size = size
    yield "pass by pass"
    if is_gpu:
        device.prepare(n_images=MANY, largest=size)
        yield "captured graphs"


def encode_all(device: Any, batches: Iterable[Pixels]) -> Floats:
    """Take batches (n, size, size, 3) through a device, as many under way as it has room for; all vectors, (n, dim)."""
    under_way: deque[Callable[[], Any]] = deque()
    found = []
    for part in batches:
        if len(under_way) == device.n_under_way:
            found.append(under_way.popleft()())
        under_way.append(device.begin(Batch((), part, part)))
    return cast(Floats, np.concatenate([*found, *(collect() for collect in under_way)]).astype(np.float32))


def limit(*, choice: str, kind: str, batches: Sequence[int], precision: str = "auto", seconds: float = 0.5) -> Rows:
    """Yield images/s of a device whose pictures are drawn already, by batch size, and its share of the ceiling."""
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
            share = {"MFU": n / taken * flops / ceiling, "GFLOP": flops / 1e9, "of TFLOP/s": ceiling / 1e12}
            yield {
                **{"images/s": n / taken, "name": f"batch {device.batch_size}, {name}", "remark": device.remark},
                **({"ms of a core": 1e3 * computed / n} if kind == "cpu" else {}),
                **(share if flops else {}),
                "precision": device.encoder.precision,
            }
            if taken > _LONGEST_SECONDS:
                return


def _roofline(encoder: Any) -> tuple[int, float]:
    """Operations of a picture, and those a second of a large matrix product."""
    if not hasattr(encoder, "image_tower"):  # the graphs of ONNX Runtime
        return 0, 1.0
    counter, fused = FlopCounterMode(display=False), torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)  # the counter does not see into the fused layer of transformers
    with torch.inference_mode(), counter:
        encoder.image_tower(torch.zeros((1, *[encoder.image_size] * 2, 3), dtype=torch.uint8, device=encoder.device))
    torch.backends.mha.set_fastpath_enabled(fused)
    kind = HALVES.get(encoder.precision, torch.float32)
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
    """Yield how a precision's vectors differ from those of fp32 on the CPU, with graphs and without: cosines.

    Of so many bundled samples, drawn evenly from all; of all where `n` is None.
    """
    checkpoint = find_checkpoint(ModelChoice.from_json(choice))
    batches = samples(n, size=checkpoint.image_size)
    encoder = Encoder(checkpoint, device=torch.device("cpu"), precision="fp32")
    exact = _unit(np.concatenate([encoder.encode_images(batch) for batch in batches]))
    for precision in precisions:
        options = EmbedOptions(kind, cast(Any, precision), batch_size=_AT_ONCE)
        with _opened(choice, options, batches[0]) as device:
            for name in _ways(device, _AT_ONCE):
                cosines = (_unit(encode_all(device, batches)) * exact).sum(axis=1)
                figures = {"least cosine": float(cosines.min()), "mean cosine": float(cosines.mean())}
                yield {"name": f"{device.encoder.precision}, {name}", **figures, "remark": device.remark}


def samples(n: int | None, *, size: int) -> list[Pixels]:
    """Draw so many of the bundled samples, evenly from all, in batches."""
    paths = sorted(bundled(SAMPLES).rglob("*.svg"))
    chosen = [paths[place] for place in np.linspace(0, len(paths) - 1, n or len(paths)).astype(int)]
    drawn: Pixels = np.stack([render(path.read_bytes(), size=size).pixels for path in chosen])
    return np.split(drawn, range(_AT_ONCE, len(drawn), _AT_ONCE))


def _unit(vectors: Any) -> Floats:
    return nn.functional.normalize(torch.from_numpy(vectors).float()).numpy()


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


def weights(*, folder: str, model: str) -> Rows:
    """Make weights of an open_clip model from a seed: what a forward pass takes depends on none."""
    made = write_random_model(open_clip_folder() / "model_configs" / f"{model}.json", Path(folder), seed=0)
    yield {"name": model, "GB": find_checkpoint(made).weights.stat().st_size / 1e9}


def machine(*, kind: str) -> Rows:
    """Yield what this machine is, with its GPUs, their software, and how they are linked."""
    yield describe() | (_gpus() if kind == "cuda" else {})


def _gpus() -> dict[str, Any]:
    them = range(torch.cuda.device_count())
    found, backends = [torch.cuda.get_device_properties(n) for n in them], cast(Any, torch)
    nccl = backends.cuda.nccl.version() if dist.is_nccl_available() else None
    return {
        "gpus": [{"name": gpu.name, "memory_gb": round(gpu.total_memory / 1e9, 1)} for gpu in found],
        "cuda": torch.version.cuda,
        "cudnn": backends.backends.cudnn.version(),
        "nccl": ".".join(map(str, nccl)) if nccl else None,
        "peers": [[a == b or torch.cuda.can_device_access_peer(a, b) for b in them] for a in them],
    }


def links() -> Rows:
    """Yield GB/s from the host to the first GPU: from ordinary memory, torch's pinned memory, and the renderers'."""
    device = torch.device("cuda", 0)
    use_device(device)
    source = torch.empty(256 << 20, dtype=torch.uint8)
    both = {"ordinary memory": source, "pinned memory": source.pin_memory()}
    yield from ({"name": name, **_copied(here, device)} for name, here in both.items())
    settings = Settings(size=224, chunk=32, n_slots=64, seconds_per_item=10.0, memory_bytes=0)  # 308 MB, as of a rank
    with shared_memory(settings) as file:
        pixels = Slots.map(settings, file.fileno()).pixels
        pixels[:] = 255  # its pages are there, as after a first round of drawing
        started = time.perf_counter()
        with page_locked(pixels, device) as refusal:
            locked, here = time.perf_counter() - started, torch.from_numpy(pixels)
            facts = {"locked": "yes" if here.is_pinned() else "no", "seconds to lock": locked, "remark": refusal}
            yield {"name": "the renderers' memory", **_copied(here, device), **facts}


def _copied(here: Any, device: Any) -> dict[str, Any]:
    there = torch.empty_like(here, device=device)
    there.copy_(here, non_blocking=True)
    torch.cuda.synchronize(device)
    started = time.perf_counter()
    for _ in range(_TIMES):
        there.copy_(here, non_blocking=True)
    enqueued = time.perf_counter() - started
    torch.cuda.synchronize(device)
    seconds = time.perf_counter() - started
    return {"GB/s": _TIMES * here.nbytes / seconds / 1e9, "copies wait": "yes" if enqueued > seconds / 2 else "no"}


def all_reduce(*, kind: str, backend: str) -> Rows:
    """Yield GB/s between ranks by the size of what is added up; bus bandwidth, as nccl-tests reckons it."""
    rank = Rank.from_environment()
    device = torch.device(rank.device(kind))
    with process_group(rank, backend=backend, device=device):
        for megabytes in _REDUCED_MB:
            tensor, taken = torch.ones(megabytes << 18, device=device), list[float]()
            for times in (1, _TIMES):  # at first connections are made
                dist.barrier()
                started = time.perf_counter()
                for _ in range(times):
                    dist.all_reduce(tensor)
                if kind == "cuda":
                    torch.cuda.synchronize()
                taken.append((time.perf_counter() - started) / times)
            yield {
                "name": f"{backend}, {rank.world} ranks, {megabytes} MB",
                "GB/s": (2 * (rank.world - 1) / rank.world * tensor.nbytes) / taken[1] / 1e9,
            }


def plain(*, folder: str, choice: str, kind: str, **options: Any) -> Rows:
    """Turn all PNG files of a folder into vectors by the plain script; yield what that took, with the model loaded."""
    rank = Rank.from_environment()
    device = torch.device(rank.device(kind))
    with process_group(rank, backend="nccl" if kind == "cuda" else "gloo", device=device), torch.inference_mode():
        yield _embed_plainly(Path(folder), choice, rank, device, options)


def _load(transform: Any, files: list[Path]) -> Any:
    """Read some pictures, as a worker of the loader does."""
    return torch.stack([transform(Image.open(file).convert("RGB")) for file in files])


def _embed_plainly(
    folder: Path, choice: str, rank: Rank, device: torch.device, options: dict[str, Any]
) -> dict[str, Any]:
    precision, batch, is_pinned = options.get("precision"), options.get("batch", 64), options.get("pinned", False)
    torch.backends.cuda.matmul.allow_tf32 |= precision == "tf32"  # else as torch has it
    tower = load_model(find_checkpoint(ModelChoice.from_json(choice))).visual.eval().to(device)
    files: Any = sorted(folder.glob("*.png"))
    transform = image_transform_v2(PreprocessCfg(**tower.preprocess_cfg), is_train=False)
    if options.get("strategy") == "data-parallel":
        tower = nn.DataParallel(tower, device_ids=list(range(options["devices"])))
    many, is_shuffled = rank.world > 1, options.get("shuffle", False)
    sampler: Any = DistributedSampler(files, rank.world, rank.index, shuffle=is_shuffled) if many else None
    how = {"num_workers": options.get("workers", 0), "pin_memory": is_pinned, "shuffle": is_shuffled and not many}
    batches: Any = DataLoader(files, batch, sampler=sampler, collate_fn=partial(_load, transform), **how)

    def encode(pictures: Any) -> Any:
        with torch.autocast(device.type, HALVES[precision]) if precision in HALVES else nullcontext():
            vectors = tower(pictures.to(device, non_blocking=is_pinned))
        return nn.functional.normalize(vectors, dim=-1).half().cpu()

    first = next(iter(batches))
    encode(first)  # not counted: libraries are loaded, kernels chosen
    if options.get("loader") == "memory":
        batches = [first] * max(1, len(files) // (batch * rank.world))
    meet = dist.barrier if many else lambda: None
    meet()
    started, encoding, vectors = time.perf_counter(), 0.0, list[Any]()
    for pictures in batches:
        began = time.perf_counter()
        vectors.append(encode(pictures))
        encoding += time.perf_counter() - began
    meet()
    seconds, n = time.perf_counter() - started, sum(map(len, vectors)) * rank.world
    return {
        "images/s": n / seconds,
        "seconds": seconds,
        **{"waits": 1 - encoding / seconds, "memory, GB": peak_memory(device) * rank.world / 1e9},
    }


QUESTIONS: dict[str, Callable[..., Rows]] = {
    "all-reduce": all_reduce,
    **{question.__name__: question for question in (machine, links, limit, parity, drawing, weights, plain)},
}


def main() -> None:
    """Answer a question, and write a line of JSON for each row as it comes: QUESTION PARAMETERS ROWS.jsonl."""
    question, parameters, rows = sys.argv[1:]
    prepare_for_batches()

    def work(rank: Rank) -> None:
        for row in QUESTIONS[question](**json.loads(parameters)):
            if rank.index == 0:
                with Path(rows).open("a", encoding="utf-8") as file:
                    file.write(
                        json.dumps({name: value for name, value in row.items() if value not in ("", None)}) + "\n"
                    )

    run_as_rank(work)


if __name__ == "__main__":
    main()
