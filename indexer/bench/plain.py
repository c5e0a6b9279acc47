"""The script that everyone writes first, to hold `icons index` against: PNG files through Pillow and a DataLoader.

    python -m indexer.bench.plain FOLDER RESULT.json '{"batch": 64, "workers": 0, ...}'
    torchrun --nproc-per-node 2 -m indexer.bench.plain FOLDER RESULT.json '{"batch": 64, ...}'

It leaves matrix products as torch has them, and has its own clock, which begins with the model loaded.
"""

import json
import sys
import time
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from open_clip.transform import PreprocessCfg, image_transform_v2
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler

from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.torch_encoder import load_model
from indexer.ranks import Rank, peak_memory, process_group, run_as_rank

_HALVES = {"bf16": torch.bfloat16, "fp16": torch.float16}


def load(transform: Any, files: list[Path]) -> Any:
    """Read some pictures, as a worker of the loader does."""
    return torch.stack([transform(Image.open(file).convert("RGB")) for file in files])


@torch.inference_mode()
def embed(folder: Path, rank: Rank, device: torch.device, options: dict[str, Any]) -> dict[str, Any]:
    """Turn all files of a folder into vectors; what that took."""
    precision, batch, is_pinned = options.get("precision"), options.get("batch", 64), options.get("pinned", False)
    torch.backends.cuda.matmul.allow_tf32 |= precision == "tf32"
    tower = load_model(find_checkpoint(ModelChoice.from_json(options["choice"]))).visual.eval().to(device)
    files: Any = sorted(folder.glob("*.png"))
    transform = image_transform_v2(PreprocessCfg(**tower.preprocess_cfg), is_train=False)
    if options.get("strategy") == "data-parallel":
        tower = nn.DataParallel(tower, device_ids=list(range(options["devices"])))
    many, is_shuffled = rank.world > 1, options.get("shuffle", False)
    sampler: Any = DistributedSampler(files, rank.world, rank.index, shuffle=is_shuffled) if many else None
    how = {"num_workers": options.get("workers", 0), "pin_memory": is_pinned, "shuffle": is_shuffled and not many}
    batches: Any = DataLoader(files, batch, sampler=sampler, collate_fn=partial(load, transform), **how)

    def encode(pictures: Any) -> Any:
        with torch.autocast(device.type, _HALVES[precision]) if precision in _HALVES else nullcontext():
            vectors = tower(pictures.to(device, non_blocking=is_pinned))
        return nn.functional.normalize(vectors, dim=-1).half().cpu()

    first = next(iter(batches))
    encode(first)  # not counted: libraries are loaded, kernels chosen
    if options.get("loader") == "memory":
        batches = [first] * max(1, len(files) // (batch * rank.world))
    if many:
        dist.barrier()
    started, encoding, vectors = time.perf_counter(), 0.0, list[Any]()
    for pictures in batches:
        began = time.perf_counter()
        vectors.append(encode(pictures))
        encoding += time.perf_counter() - began
    if many:
        dist.barrier()
    seconds, n = time.perf_counter() - started, sum(map(len, vectors)) * rank.world
    return {
        "images/s": n / seconds,
        "seconds": seconds,
        **{"waits": 1 - encoding / seconds, "memory, GB": peak_memory(device) * rank.world / 1e9},
    }


def main() -> None:
    """Embed the files of a folder, and write what that took: FOLDER RESULT OPTIONS."""
    folder, result, options = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])

    def work(rank: Rank) -> None:
        device = torch.device(rank.device(options["device"]))
        backend = options.get("backend", "nccl" if device.type == "cuda" else "gloo")
        with process_group(rank, backend=backend, device=device):
            figures = embed(folder, rank, device, options)
        if rank.index == 0:
            result.write_text(json.dumps(figures), "utf-8")

    run_as_rank(work)


if __name__ == "__main__":
    main()
