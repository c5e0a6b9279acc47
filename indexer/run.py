"""What a run of `icons index` is asked, what it has done, and who watches it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from indexer.catalog.scan import ScanTally
from indexer.embedding.planning import EmbedOptions
from indexer.embedding.progress import EmbeddingProgress
from indexer.encoders.checkpoint import ModelChoice
from indexer.languages.letters import AUTO
from indexer.library.plans import Plan
from indexer.library.traits import Accounting

Stage = Callable[[str], None]
"""Takes the title of a step that begins."""


class Watcher(Protocol):
    """Whoever shows a person how far the work is."""

    def stage(self, title: str) -> None:
        """A new step has begun."""

    def scanned(self, tally: ScanTally) -> None:
        """The scan has come this far."""

    def embedded(self, plan: Plan, ranks: Sequence[EmbeddingProgress]) -> None:
        """The ranks have come this far."""

    def give_up(self, reason: str) -> None:
        """The embedding hangs in this process and can't be stopped: say so and end the process."""


@dataclass(frozen=True, slots=True)
class EmbedTally:
    """What an embedding had to do and how long it took."""

    fingerprint: str
    images: int
    names: int
    seconds: float


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """What a whole run did; `generation` is None where nothing had changed."""

    scan: ScanTally
    embed: EmbedTally
    counts: Accounting
    generation: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """What a run is asked to do beyond the remembered sources."""

    sources: Sequence[Path] = ()
    exclude: Sequence[str] = ()
    names_language: str = AUTO
    """Of the sources: an ISO 639 code."""
    choice: ModelChoice | None = None
    """None: the one in use, or the bundled one."""
    devices: str = "auto"
    embed: EmbedOptions = field(default_factory=EmbedOptions)
    retry_failed: bool = False
    work: str | None = None
    """Folder or URL where workers of other machines find the plan; None: it is done here."""
    ray: str | None = None
    """Address of a Ray cluster that such workers are started on."""
