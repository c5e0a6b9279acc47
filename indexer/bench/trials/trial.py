"""What is one measurement, and what does it say? Plain data that travels to processes and into files. No torch here."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from indexer.bench.trials.knobs import Knobs
from indexer.bench.trials.material import Material
from indexer.library.foreign import from_json

Part = Literal["all", "stages", "render", "forward"]
STAGES = ("read", "render", "copy in", "forward", "copy out", "write")


@dataclass(frozen=True, slots=True)
class Trial:
    """One configuration, on some pictures, on so many cores of this machine or on its first GPUs."""

    knobs: Knobs
    material: Material
    kind: str
    """Of the devices: cpu or cuda."""
    cores: tuple[int, ...]
    n_images: int
    part: Part = "all"
    """stages: one after the other, the device awaited after each; render, forward: that alone."""

    def to_json(self) -> str:
        """Spell it for another process."""
        return json.dumps(asdict(self), default=str)

    @classmethod
    def from_json(cls, text: str) -> "Trial":
        """Read it there."""
        return from_json(cls, text)


@dataclass(frozen=True, slots=True)
class Measured:
    """What one run of a trial said. `seconds` begin with the model loaded and end with the last vector written."""

    images: int
    seconds: float
    waited_seconds: float | None = None
    """Of `seconds`, those in which the device waited for pixels."""
    cpu_seconds: float | None = None
    """Of all cores together; told of parts alone."""
    memory_bytes: int = 0
    """Largest: of the GPUs, or of the processes."""
    stages: Mapping[str, float] = field(default_factory=dict)
    """Seconds of a device in each stage, the mean over devices."""

    @property
    def images_per_second(self) -> float:
        """Over all devices."""
        return self.images / self.seconds

    def to_json(self) -> dict[str, Any]:
        """Spell it for a file, to a tenth of a millisecond."""
        facts = asdict(self)
        facts["stages"] = {name: round(seconds, 4) for name, seconds in self.stages.items()}
        return {name: round(value, 4) if isinstance(value, float) else value for name, value in facts.items()}


def merged(shares: list[tuple[float, Measured]]) -> Measured:
    """Put together what ranks did, each told with the time at which it began: the whole lasts from first to last."""
    began = min(at for at, _ in shares)
    ended = max(at + share.seconds for at, share in shares)
    waits = [share.waited_seconds for _, share in shares if share.waited_seconds is not None]
    names = list(dict.fromkeys(name for _, share in shares for name in share.stages))
    return Measured(
        images=sum(share.images for _, share in shares),
        seconds=ended - began,
        waited_seconds=sum(waits) / len(waits) if waits else None,
        memory_bytes=sum(share.memory_bytes for _, share in shares),
        stages={name: sum(share.stages.get(name, 0.0) for _, share in shares) / len(shares) for name in names},
    )


def share_file(trial_file: Path, rank: int) -> Path:
    """Where a rank writes what it measured."""
    return trial_file.parent / f"rank-{rank}.json"
