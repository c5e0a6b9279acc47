"""What do simulated devices get done? One run through scan, plan, ranks, renderers, shards and merge.

The library is a temporary one, and the encoder of its vectors does not exist: nothing could ever answer with it.
"""

import json
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from indexer.bench.host import watched_host
from indexer.bench.simulation.device import SimulatedEncoder, Simulation
from indexer.catalog.database import open_catalog
from indexer.catalog.scan import remember, scan
from indexer.embedding.launch import Program, run_ranks
from indexer.embedding.options import EmbedOptions
from indexer.embedding.planning import plan_missing
from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import BenchError
from indexer.library.changed import noted_changes
from indexer.library.folder import Library
from indexer.library.plans import Plan
from indexer.library.shards import read_coverage
from indexer.process import end_at_once
from indexer.publishing.merge import merge
from indexer.ranks.devices import Devices
from indexer.ranks.progress import RankProgress


@dataclass(frozen=True, slots=True)
class DeviceRun:
    """What one device did, from its first picture to the end of the last device."""

    name: str
    images: int
    """Those that failed among them."""
    seconds: float
    busy_seconds: float

    @property
    def busy(self) -> float:
        """Share of its time in which it computed."""
        return self.busy_seconds / self.seconds


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """One run. `seconds` last from the first picture of the first device to the last of the last one."""

    images: int
    failed: int
    seconds: float
    host_busy: float
    """Share of this machine's cores that were busy in that time, with whatever."""
    devices: tuple[DeviceRun, ...]
    stages: dict[str, float] = field(default_factory=dict)
    """Seconds of the stages around it; ranks start within "ranks"."""

    @property
    def images_per_second(self) -> float:
        """Over all devices; those that failed were read and drawn, too."""
        return (self.images + self.failed) / self.seconds

    @property
    def busy(self) -> float:
        """Share of all devices' time in which they computed, each from its own first picture."""
        return sum(one.busy_seconds for one in self.devices) / sum(one.seconds for one in self.devices)


def simulate(source: Path, simulation: Simulation, *, workers: int | None = None) -> SimulatedRun:
    """Index a source with simulated devices, one a rank, from nothing, and merge what they make.

    Raises:
        IconsError: the source is not there, or a rank ended early.
    """
    stages: dict[str, float] = {}
    reported: list[RankProgress] = []
    with tempfile.TemporaryDirectory(prefix="icons-simulated-") as folder, watched_host() as busy:
        library = Library(Path(folder))
        engine = open_catalog(library.catalog)
        try:
            with _timed(stages, "scan"):
                with engine.begin() as connection:
                    remember(connection, source, exclude=())
                with noted_changes(library.root) as changed:
                    scan(engine, report=lambda _: None, changed=changed, unread=())
            with _timed(stages, "plan"):
                choice = ModelChoice.bundled()
                fingerprint = simulation.spec(0).find(choice).fingerprint
                options = EmbedOptions(device="cpu", workers=workers, is_timed=True)
                outline = Plan(fingerprint, choice.to_json(), 0, 0, 0, uuid.uuid4().hex[:12], asdict(options))
                if not plan_missing(library, engine, outline, retry_failed=False).n_images:
                    raise BenchError(f'"{source}" holds no pictures; give another SOURCE, or more --images')
            with _timed(stages, "ranks"):
                _run(library, fingerprint, simulation, reported)
            with _timed(stages, "merge"):
                embedded = read_coverage(library.vectors(fingerprint)).images
                encoder = SimulatedEncoder(simulation.image_size)
                merge(library, engine, fingerprint=fingerprint, embedded=embedded, encoder=encoder)
        finally:
            engine.dispose()
    return _summary(reported, stages, busy)


def _run(library: Library, fingerprint: str, simulation: Simulation, reported: list[RankProgress]) -> None:
    def watch(ranks: Sequence[RankProgress]) -> None:
        reported[:] = ranks

    run_ranks(
        library,
        fingerprint,
        devices=Devices("cpu", len(simulation.rates)),
        watch=watch,
        give_up=end_at_once,
        program=Program(
            "indexer.bench.simulation.rank",
            ("--simulation", json.dumps(asdict(simulation))),
            lambda rank: simulation.spec(rank.index),
        ),
    )


def _summary(
    ranks: Sequence[RankProgress], stages: dict[str, float], busy: Callable[[float, float], float]
) -> SimulatedRun:
    began, ended = min(rank.began_at for rank in ranks), max(rank.began_at + rank.seconds for rank in ranks)
    return SimulatedRun(
        images=sum(rank.images for rank in ranks),
        failed=sum(rank.failed for rank in ranks),
        seconds=ended - began,
        host_busy=busy(began, ended),
        devices=tuple(
            DeviceRun(rank.device, rank.images + rank.failed, ended - rank.began_at, rank.busy_seconds or 0.0)
            for rank in ranks
        ),
        stages=stages,
    )


@contextmanager
def _timed(stages: dict[str, float], name: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    stages[name] = round(time.perf_counter() - started, 3)
