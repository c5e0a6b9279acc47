"""Pictures to measure with: those of a source or the bundled samples, never those of the user's library.

Every run of embedding gets a library of its own in a temporary folder, which holds nothing but a plan.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from indexer.embedding.planning import EmbedOptions, image_item
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.errors import BenchError
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.library.plans import Plan, cut_blocks, write_plan
from indexer.rendering.pool import RenderPool
from indexer.rendering.slots import Job
from indexer.sources.source import open_sources

FILE_SIDE = 224
"""Of the PNG files, in pixels, whatever the model takes: icons are exported larger than the bundled model sees them."""
SAMPLES = "samples/lucide-static"


@dataclass(frozen=True, slots=True)
class Pictures:
    """Pictures to embed, the encoder to do it with, and a folder for what is made of them."""

    folder: Path
    choice: ModelChoice
    jobs: Sequence[Job]
    n_distinct: int
    """Where more pictures were asked for than there are, some are taken again."""

    def first(self, n: int) -> "Pictures":
        """So many of them."""
        return replace(self, jobs=self.jobs[:n])


def gather(folder: Path, source: Path | None, *, choice: ModelChoice, n: int) -> Pictures:
    """Choose pictures, evenly from the whole source, or from the bundled samples.

    Raises:
        BenchError, SourceError: the source holds no pictures, or is not there.
    """
    jobs = distinct_jobs(source or bundled(SAMPLES))
    places = np.linspace(0, len(jobs) - 1, n) if n <= len(jobs) else np.arange(n) % len(jobs)
    chosen = [jobs[place]._replace(id=number) for number, place in enumerate(places.astype(int))]
    return Pictures(folder, choice, chosen, min(n, len(jobs)))


def write_set(file: Path, icons: Iterable[tuple[str, str]], *, prefix: str, **facts: Any) -> None:
    """Write an Iconify set as its packages are laid out, an icon (name, body) a line; `facts` stand behind them."""
    lines = (f'\t\t{json.dumps(name)}: {{\n\t\t\t"body": {json.dumps(body)}\n\t\t}}' for name, body in icons)
    whole = {**facts, "width": 24, "height": 24}
    behind = ",\n".join(f"\t{json.dumps(name)}: {json.dumps(value)}" for name, value in whole.items())
    joined = ",\n".join(lines)
    text = f'{{\n\t"prefix": {json.dumps(prefix)},\n\t"icons": {{\n{joined}\n\t}},\n{behind}\n}}\n'
    file.write_text(text, encoding="utf-8")


def distinct_jobs(source: Path) -> list[Job]:
    """List the pictures of a source, each once, without a number of their own.

    Raises:
        BenchError, SourceError: it holds none, or is not there.
    """
    found: dict[bytes, Job] = {}
    for opened in open_sources(source):
        for scanned in opened.scan({}):
            for record in scanned.records or ():
                job = Job(0, opened.address_of(scanned, record))
                found.setdefault(record.digest, job)
    if not found:
        raise BenchError(f'no pictures in "{source}"; give a folder of icons, or none for the bundled samples')
    return list(found.values())


def make_library(root: Path, pictures: Pictures, options: EmbedOptions) -> tuple[Library, Plan]:
    """Make a library that holds nothing but a plan of these pictures, and let ranks begin with it."""
    library, fingerprint = Library(root), find_checkpoint(pictures.choice).fingerprint
    items = [image_item(*job) for job in pictures.jobs]
    blocks = list(cut_blocks("images", items, n=len(items), attempt=""))
    plan = Plan(fingerprint, pictures.choice.to_json(), len(items), 0, len(blocks), options=asdict(options))
    write_plan(library.work(fingerprint), plan, blocks)
    library.begin_run(fingerprint, plan.run)
    return library, plan


def png_files(pictures: Pictures, *, workers: int) -> Path:
    """Draw the pictures as PNG files, as a preparing script would have done; once. Returns their folder."""
    from PIL import Image

    folder = pictures.folder / "files"
    folder.mkdir(exist_ok=True)
    missing = [job for job in pictures.jobs if not (folder / f"{job.id:07d}.png").exists()]
    if missing:
        with RenderPool(size=FILE_SIDE, workers=workers) as pool:
            for chunk in pool.render([missing]):
                for number, pixels in zip(chunk.ids.tolist(), chunk.pixels, strict=True):
                    Image.fromarray(pixels).save(folder / f"{number:07d}.png")
    return folder
