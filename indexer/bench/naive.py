"""How much faster is the embedding stage than the script everyone writes first? Both on the same icons, in one run.

    python -m indexer.bench.naive node_modules/@mdi/svg --images 4000 --repeats 5

The naive script is one process in fp32 over PNG files that were rendered beforehand: Pillow opens each, the stock
torchvision transform turns it into floats, no loader workers. Ours starts from the SVG sources. Runs alternate; what
counts is the ratio of medians, since a shared machine's absolute times drift. Both clocks start with the model loaded,
and each has a process of its own, set up as it would be outside of this benchmark.
"""

import json
import statistics
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from indexer.checkpoint import ModelChoice, find_checkpoint
from indexer.embed import default_workers
from indexer.process import prepare_for_batches
from indexer.render_pool import Job, RenderPool

if TYPE_CHECKING:
    from indexer.encoder import Encoder

_NAIVE: list[tuple[Any, Any]] = []
"""The naive script's model and transform, in its own process."""


@click.command(context_settings={"show_default": True})
@click.argument("source", type=click.Path(path_type=Path, exists=True))
@click.option("--images", "n_images", default=4000, help="How many pictures to embed.")
@click.option("--png-size", default=224, help="Pixels of the naive script's PNG files.")
@click.option("--repeats", default=5, help="Runs of each, alternating.")
@click.option("--model", default="bundled", help="As `icons index` takes it.")
def main(source: Path, n_images: int, png_size: int, repeats: int, model: str) -> None:
    """Compare the naive script with the embedding stage, in images/s."""
    checkpoint = find_checkpoint(ModelChoice(model))
    jobs = _jobs(source, n_images)
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as script,
    ):
        pictures = _render_files(jobs, Path(folder), size=png_size)
        script.submit(_load_naive, checkpoint.open_clip_name, checkpoint.pretrained).result()
        prepare_for_batches()
        import torch

        from indexer.encoder import Encoder

        encoder = Encoder(checkpoint, device=torch.device("cpu"))

        def naive() -> float:
            return len(pictures) / script.submit(_run_naive, pictures).result()

        def ours() -> float:
            return len(jobs) / _run_ours(encoder, jobs)

        naive(), ours()  # warm-up: allocators, file cache
        runs = [(naive(), ours()) for _ in range(repeats)]
    slow, fast = (statistics.median(rates) for rates in zip(*runs, strict=True))
    ratios = [ours / naive for naive, ours in runs]
    facts = {
        "images": len(jobs),
        "png_size": png_size,
        "threads": torch.get_num_threads(),
        "precision": encoder.precision,
        "naive_images_per_second": round(slow, 1),
        "icons_images_per_second": round(fast, 1),
        "ratio_of_medians": round(fast / slow, 2),
        "ratios": [round(ratio, 2) for ratio in ratios],
    }
    click.echo(json.dumps(facts, indent=2))


def _jobs(source: Path, n_images: int) -> list[Job]:
    """Take distinct pictures, evenly from the whole source."""
    from indexer.sources import open_sources

    found: dict[bytes, Job] = {}
    for opened in open_sources(source):
        for scanned in opened.scan({}):
            for record in scanned.records or ():
                job = Job(0, opened.kind, str(opened.location), scanned.path, record.member, record.digest)
                found.setdefault(record.digest, job)
    jobs = list(found.values())
    chosen = np.linspace(0, len(jobs) - 1, min(n_images, len(jobs))).astype(int)
    return [jobs[position]._replace(id=number) for number, position in enumerate(chosen)]


def _render_files(jobs: list[Job], folder: Path, *, size: int) -> list[Path]:
    """Write every picture as a PNG, as a preparing script would have done."""
    from PIL import Image

    paths = []
    with RenderPool(size=size, workers=2) as pool:
        for chunk in pool.render([jobs]):
            for number, pixels in zip(chunk.ids.tolist(), chunk.pixels, strict=True):
                paths.append(folder / f"{number}.png")
                Image.fromarray(pixels).save(paths[-1])
    return paths


def _load_naive(name: str, pretrained: str | None) -> None:
    import open_clip

    model, _, preprocess = open_clip.create_model_and_transforms(name, pretrained=pretrained)
    _NAIVE.append((model.eval(), preprocess))


def _run_naive(paths: list[Path]) -> float:
    """Embed PNG files; return the seconds."""
    import torch
    from PIL import Image
    from torch.utils.data import DataLoader, Dataset

    model, preprocess = _NAIVE[0]

    class Pictures(Dataset[Any]):
        def __len__(self) -> int:
            return len(paths)

        def __getitem__(self, position: int) -> Any:
            return preprocess(Image.open(paths[position]).convert("RGB"))

    started = time.perf_counter()
    with torch.no_grad():
        for batch in DataLoader(Pictures(), batch_size=64):
            torch.nn.functional.normalize(model.encode_image(batch), dim=-1)
    return time.perf_counter() - started


def _run_ours(encoder: "Encoder", jobs: list[Job]) -> float:
    """Embed the same pictures as the embedding stage does; return the seconds."""
    from indexer.batch_size import encode_within_memory, find_batch_size

    batch_size = find_batch_size(encoder, n_images=len(jobs))
    started = time.perf_counter()
    with RenderPool(size=encoder.image_size, workers=default_workers(len(jobs)), chunk=batch_size) as pool:
        for chunk in pool.render([jobs]):
            encode_within_memory(encoder, chunk.pixels)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
