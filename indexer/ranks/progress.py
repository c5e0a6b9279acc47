"""How far the ranks of a stage are: one small file a rank, which works over a shared folder too."""

import json
from contextlib import suppress
from dataclasses import Field, asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from indexer.library.durable import naming
from indexer.library.foreign import from_json


@dataclass(slots=True)
class RankProgress:
    """What one rank has done since it started; the rates follow from the seconds."""

    rank: int
    world: int
    images: int = 0
    names: int = 0
    failed: int = 0
    began_at: float = 0.0
    """When its pictures began, as `time.time` tells it: ranks start apart."""
    seconds: float = 0.0
    waited_seconds: float = 0.0
    """Of `seconds`, those in which nothing was ready for the device."""
    busy_seconds: float | None = None
    """Of `seconds`, those in which the device encoded pictures; None where nobody can tell."""
    batch_size: int = 0
    """Pictures that the device takes at once; 0 until that is known."""
    remark: str = ""
    """Why the device is slower than it could be, where it can say so."""
    device: str = ""
    memory_bytes: int = 0
    """Of the GPU, or of this rank and its render workers."""
    utilisation: float | None = None
    """Share of the GPU, or of this rank's cores, that was busy of late; None where nobody can tell."""
    power_watts: float | None = None
    at: str = ""
    """What it is doing now."""
    waits: bool = False
    """Whether that is to wait for other ranks, in which nothing could hang."""
    steps: int = 0
    """Grows with every sign of life."""
    finished: bool = False

    @property
    def done(self) -> int:
        """Pictures, failed ones included."""
        return self.images + self.failed

    @property
    def waited_share(self) -> float:
        """Share of its time in which the device waited for pixels."""
        return self.waited_seconds / self.seconds if self.seconds else 0.0

    @property
    def images_per_second(self) -> float:
        """Rate over the rank's whole run, failed pictures included."""
        return self.done / self.seconds if self.seconds else 0.0


class Reported(Protocol):
    """What any stage's ranks tell: a dataclass with the rank's number."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    rank: int


class Watched(Reported, Protocol):
    """What a watch over ranks looks at, as `RankProgress` has it."""

    at: str
    waits: bool
    steps: int
    finished: bool


Progress = TypeVar("Progress", bound=Reported)


def write_progress(folder: Path, progress: Reported) -> None:
    """Tell how far a rank is; whole or not at all, but not synced: it is worth nothing after a crash."""
    path = folder / f"rank-{progress.rank}.json"
    aside = path.with_suffix(".aside")
    with naming(path):
        aside.write_text(json.dumps(asdict(progress)), "utf-8")
    aside.replace(path)


def read_progress(folder: Path, kind: type[Progress]) -> list[Progress]:
    """How far every rank is that has said something yet, by rank; what this program can't read says nothing."""
    found = []
    for path in folder.glob("rank-*.json"):
        with suppress(OSError, ValueError):
            found.append(from_json(kind, path.read_bytes()))
    return sorted(found, key=lambda progress: progress.rank)


def clear_progress(folder: Path) -> None:
    """Forget what ranks of an earlier run said."""
    for path in folder.glob("rank-*.*"):
        path.unlink()
