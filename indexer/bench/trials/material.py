"""Which pictures are measured with? Those of the bundled samples or of a folder, never those of the user's library.

Every trial gets a library of its own in a temporary folder, which holds nothing but a plan.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from indexer.embedding.options import EmbedOptions
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.errors import BenchError
from indexer.library.bundled import bundled
from indexer.library.durable import write_file
from indexer.library.folder import Library
from indexer.library.plans import Plan, cut_blocks, write_plan
from indexer.rendering.pool import RenderPool
from indexer.rendering.slots import Job
from indexer.sources.source import open_sources

FILE_SIDE = 224
"""Of the PNG files, in pixels, whatever the model takes: icons are exported larger than the bundled model sees them."""


@dataclass(frozen=True, slots=True)
class Material:
    """Pictures to embed and the encoder to do it with; in a folder that all trials read."""

    folder: Path
    choice: ModelChoice
    fingerprint: str
    image_size: int
    n_distinct: int
    """Where more pictures were asked for than there are, some are taken again."""

    @property
    def jobs_file(self) -> Path:
        """All pictures, a JSON line each."""
        return self.folder / "jobs.jsonl"

    @property
    def files(self) -> Path:
        """Folder of the same pictures as PNG, named by their numbers, for loaders that read files."""
        return self.folder / "files"


def gather(folder: Path, source: Path | None, *, choice: ModelChoice, n_images: int) -> Material:
    """Choose pictures, evenly from the whole source, and note them in `folder`.

    Raises:
        BenchError, SourceError: the source holds no pictures, or is not there.
        ModelError: the encoder is not there.
    """
    checkpoint = find_checkpoint(choice)
    jobs = distinct_jobs(source or bundled("samples/lucide-static"))
    chosen = np.linspace(0, len(jobs) - 1, n_images) if n_images <= len(jobs) else np.arange(n_images) % len(jobs)
    numbered = [jobs[position]._replace(id=number) for number, position in enumerate(chosen.astype(int))]
    material = Material(folder, choice, checkpoint.fingerprint, checkpoint.image_size, min(n_images, len(jobs)))
    lines = [json.dumps([*job[:5], job.digest.hex()]) for job in numbered]
    write_file(material.jobs_file, "\n".join(lines).encode())
    return material


def read_jobs(material: Material, n_images: int) -> list[Job]:
    """Read the first pictures of some material."""
    with material.jobs_file.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line, _ in zip(file, range(n_images), strict=False)]
    return [
        Job(number, kind, location, path, member, bytes.fromhex(digest))
        for number, kind, location, path, member, digest in rows
    ]


def make_library(root: Path, material: Material, jobs: Sequence[Job], *, options: EmbedOptions) -> Library:
    """Make a library that holds nothing but a plan of these pictures."""
    library = Library(root)
    items = [(job.id, job.kind, job.location, job.path, job.member, job.digest.hex()) for job in jobs]
    blocks = list(cut_blocks("images", items, n=len(items), attempt=""))
    outline = Plan(material.fingerprint, material.choice.to_json(), len(items), 0, len(blocks))
    plan = replace(outline, options=asdict(options))
    write_plan(library.work(material.fingerprint), plan, blocks)
    library.begin_run(material.fingerprint, plan.run)
    return library


def write_files(material: Material, *, n_images: int, workers: int) -> None:
    """Draw the pictures as PNG files, as a preparing script would have done; once."""
    from PIL import Image

    jobs = [job for job in read_jobs(material, n_images) if not _png(material, job.id).exists()]
    material.files.mkdir(exist_ok=True)
    if not jobs:
        return
    with RenderPool(size=FILE_SIDE, workers=workers) as pool:
        for chunk in pool.render([jobs]):
            for number, pixels in zip(chunk.ids.tolist(), chunk.pixels, strict=True):
                Image.fromarray(pixels).save(_png(material, number))


def png_files(material: Material, n_images: int) -> list[Path]:
    """Paths of those PNG files that could be drawn."""
    return [path for path in (_png(material, number) for number in range(n_images)) if path.exists()]


def _png(material: Material, number: int) -> Path:
    return material.files / f"{number}.png"


def distinct_jobs(source: Path) -> list[Job]:
    """List the pictures of a source, each once, without a number of their own.

    Raises:
        BenchError, SourceError: it holds none, or is not there.
    """
    found: dict[bytes, Job] = {}
    for opened in open_sources(source):
        for scanned in opened.scan({}):
            for record in scanned.records or ():
                job = Job(0, opened.kind, str(opened.location), scanned.path, record.member, record.digest)
                found.setdefault(record.digest, job)
    if not found:
        raise BenchError(f'no pictures in "{source}"; give a folder of icons, or none for the bundled samples')
    return list(found.values())
