"""What do GPUs do end to end? Pictures drawn, encoded and written as `icons index` does it, by one rank or by several.

The library is a temporary one that holds a plan and nothing else.
"""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from indexer.arrays import Pixels
from indexer.bench.gpu.setting import Setting
from indexer.bench.host import watched_host
from indexer.bench.simulation.pictures import Pictures
from indexer.bench.trials.material import Material, distinct_jobs, make_library
from indexer.embedding.device import Device, DeviceSpec
from indexer.embedding.embed import spec_of
from indexer.embedding.launch import Program, run_ranks
from indexer.embedding.options import EmbedOptions
from indexer.encoders.checkpoint import Checkpoint, ModelChoice, find_checkpoint
from indexer.library.folder import Library
from indexer.library.shards import read_coverage, read_vectors
from indexer.process import end_at_once
from indexer.ranks.devices import Devices, first_devices
from indexer.ranks.progress import RankProgress
from indexer.rendering.slots import Job

_FEWER = 4
"""A fixed batch size gets so many times fewer pictures than the one that is found: all of them would take too long."""


class OpenedSpec:
    """A device's spec that keeps the device it has opened, to be asked what it has chosen."""

    def __init__(self, spec: DeviceSpec) -> None:
        self._spec = spec
        self.opened: Device | None = None

    @property
    def n_under_way(self) -> int:
        """As the device has it."""
        return self._spec.n_under_way

    @property
    def batch_size(self) -> int | None:
        """As the device has it."""
        return self._spec.batch_size

    @property
    def is_fed(self) -> bool:
        """As the device has it."""
        return self._spec.is_fed

    def find(self, choice: ModelChoice) -> Checkpoint:
        """Find the encoder that is chosen."""
        return self._spec.find(choice)

    def open(self, checkpoint: Checkpoint, memory: Pixels | None, *, n_images: int) -> Device:
        """Load it, and keep the device."""
        self.opened = self._spec.open(checkpoint, memory, n_images=n_images)
        return self.opened


@dataclass(frozen=True, slots=True)
class _Pictures:
    """Pictures to be embedded, and the encoder."""

    material: Material
    jobs: Sequence[Job]

    def first(self, n: int) -> "_Pictures":
        """So many of them."""
        return replace(self, jobs=self.jobs[:n])


def embed_whole(setting: Setting, model: str) -> Iterator[dict[str, Any]]:
    """Embed pictures on one device, in this process; how fast, and who waited for whom.

    All of them with the batch size that is found, then a part of them with each that is fixed.
    """
    with _pictures(setting, model, n=setting.n_embedded(model)) as pictures:
        yield {"batch size": "found", **_embedded(setting, pictures, batch_size=None)}
        few = pictures.first(len(pictures.jobs) // _FEWER)
        for size in setting.batch_sizes:
            yield {"batch size": "fixed", **_embedded(setting, few, batch_size=size)}


def _embedded(setting: Setting, pictures: _Pictures, *, batch_size: int | None) -> dict[str, Any]:
    options = EmbedOptions("cpu", batch_size=batch_size, workers=setting.workers, is_timed=True)
    spec = OpenedSpec(spec_of(torch.device(setting.device), options))
    _, ranks, cores_busy = _run(pictures, options, Program(spec_of=lambda _: spec), n=1)
    [rank], device = ranks, spec.opened
    assert device is not None
    return {
        "batch": device.batch_size,
        "images": rank.images,
        "failed": rank.failed,
        "seconds": rank.seconds,
        "images/s": rank.images_per_second,
        "device busy": _busy_share(ranks),
        "device waits": rank.waited_share,
        "cores busy": cores_busy,
        "precision": device.encoder.precision,
        "graphs": _graphs(device),
        "not locked": getattr(device, "not_locked", None),
    }


def two_ranks_on_one(setting: Setting, model: str) -> Iterator[dict[str, Any]]:
    """Embed the same pictures by one rank and by two on the same device; the cosines between their shards."""
    with _pictures(setting, model, n=setting.n_embedded(model)) as pictures:
        options = EmbedOptions("cpu", workers=setting.workers, is_timed=True)
        given = json.dumps({"device": setting.device, "options": asdict(options)})
        program = Program("indexer.bench.gpu.rank", ("--given", given))
        alone = Program(spec_of=lambda _: spec_of(torch.device(setting.device), options))
        expected = None
        for n, how in ((1, alone), (2, program)):
            library, ranks, cores_busy = _run(pictures, options, how, n=n)
            vectors = _vectors(library, pictures.material.fingerprint)
            cosines = None if expected is None else _cosines(vectors, expected)
            expected = vectors if expected is None else expected
            yield {
                "ranks": n,
                "images": sum(rank.images for rank in ranks),
                "images/s": _rate(ranks),
                "cores busy": cores_busy,
                "least cosine to one rank": None if cosines is None else float(cosines.min()),
            }


def embed_on_all(setting: Setting, model: str) -> Iterator[dict[str, Any]]:
    """Embed by 1, 2, 4 and all ranks, each on a device of its own, which gets as many pictures as one alone."""
    each, first = setting.n_embedded_each(model), None
    with _pictures(setting, model, n=each * setting.n_devices) as pictures:
        options = EmbedOptions(setting.kind, workers=setting.workers, is_timed=True)
        for n in setting.device_counts:
            devices = first_devices(setting.kind, n)
            _, ranks, cores_busy = _run(pictures.first(n * each), options, Program(), n=n, devices=devices)
            rate = _rate(ranks)
            first = first or rate
            yield {
                "devices": n,
                "images": sum(rank.images for rank in ranks),
                "images/s": rate,
                "efficiency": rate / (n * first),
                "cores busy": cores_busy,
                "device busy": _busy_share(ranks),
                "device waits": sum(rank.waited_share for rank in ranks) / n,
            }


@contextmanager
def _pictures(setting: Setting, model: str, *, n: int) -> Iterator[_Pictures]:
    choice = setting.choice(model)
    checkpoint = find_checkpoint(choice)
    with tempfile.TemporaryDirectory(prefix="icons-bench-") as folder:
        found = distinct_jobs(Pictures(n).write(Path(folder, "pictures")))
        jobs = [job._replace(id=number) for number, job in enumerate(found)]
        material = Material(Path(folder), choice, checkpoint.fingerprint, checkpoint.image_size, len(jobs))
        yield _Pictures(material, jobs)


def _run(
    pictures: _Pictures, options: EmbedOptions, program: Program, *, n: int, devices: Devices | None = None
) -> tuple[Library, list[RankProgress], float]:
    """Embed by `n` ranks: the library, what each has done, and the share of the host's cores that was busy.

    `devices` are those of the ranks, where the program does not give them any.
    """
    reported: list[RankProgress] = []

    def watch(ranks: Sequence[RankProgress]) -> None:
        reported[:] = [replace(rank) for rank in ranks]

    root = Path(tempfile.mkdtemp(dir=pictures.material.folder))
    library = make_library(root, pictures.material, pictures.jobs, options=options)
    with watched_host() as busy:
        fingerprint = pictures.material.fingerprint
        there = devices or Devices("cpu", n)
        run_ranks(library, fingerprint, devices=there, watch=watch, give_up=end_at_once, program=program)
    return library, reported, busy(*_span(reported))


def _span(ranks: Sequence[RankProgress]) -> tuple[float, float]:
    """When the first of them began with its pictures, and when the last one ended."""
    return min(rank.began_at for rank in ranks), max(rank.began_at + rank.seconds for rank in ranks)


def _rate(ranks: Sequence[RankProgress]) -> float:
    """Images/s of all of them."""
    began, ended = _span(ranks)
    return sum(rank.done for rank in ranks) / (ended - began)


def _busy_share(ranks: Sequence[RankProgress]) -> float | None:
    """Share of its time in which a device encoded pictures, the mean over those that can tell."""
    shares = [rank.busy_seconds / rank.seconds for rank in ranks if rank.busy_seconds is not None]
    return sum(shares) / len(shares) if shares else None


def _graphs(device: Device) -> str:
    if not hasattr(device, "not_captured"):
        return "none on a CPU"
    return "captured" if device.not_captured is None else f"not captured: {device.not_captured}"


def _vectors(library: Library, fingerprint: str) -> Any:
    folder = library.vectors(fingerprint)
    wanted = np.sort(read_coverage(folder).images)
    vectors, _ = read_vectors(folder, "images", wanted, fingerprint=fingerprint)
    return vectors.astype(np.float32)


def _cosines(ours: Any, theirs: Any) -> Any:
    lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
    return (ours * theirs).sum(axis=1) / lengths
