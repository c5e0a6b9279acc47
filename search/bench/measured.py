"""What did `icons bench search` find? Plain data, as `--json` prints it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from indexer.reports.measures import Figure


@dataclass(frozen=True, slots=True)
class Machine:
    """Where it was measured."""

    processor: str
    cores: int
    memory_bytes: int
    system: str
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Spread:
    """Quantiles of times, in ms."""

    p50: float
    p95: float
    p99: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> "Spread":
        """Take the quantiles of some times in seconds."""
        return cls(*(round(1000 * float(value), 4) for value in np.percentile(seconds, (50, 95, 99))))


@dataclass(frozen=True, slots=True)
class Cold:
    """Whole processes in seconds: `icons search`, and a bare import of torch and open_clip; medians with extremes."""

    n_runs: int
    search: Figure
    imports: Figure


@dataclass(frozen=True, slots=True)
class Warm:
    """Queries one after the other in one process."""

    n_queries: int
    """Asked and timed, several passes over the queries."""
    n_icons: int
    k: int
    spec: str
    """Of the index that was asked."""
    stages: Mapping[str, Spread]


@dataclass(frozen=True, slots=True)
class Filtered:
    """Queries one after the other under one filter, with facets."""

    filters: str
    n_icons: int
    """What the filter leaves."""
    n_queries: int
    latency: Spread


@dataclass(frozen=True, slots=True)
class Pictured:
    """Queries one after the other that ask with a picture of some kind."""

    told: str
    n_queries: int
    latency: Spread


@dataclass(frozen=True, slots=True)
class Load:
    """Several clients that ask one engine at the same time, each its next query as soon as it has its answer."""

    clients: int
    queries_per_second: Figure
    """Median of the rounds, with the least and the most."""
    latency: Spread


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One kind of index over so many vectors."""

    n_vectors: int
    n_real: int
    """How many of them the library holds; the others were made from these."""
    kind: str
    spec: str
    n_bytes: int
    build_seconds: float
    recall_at_10: float
    """Share of the first ten that exact fp32 search gives too."""
    query: Spread
    n_queries: int
    is_rule: bool
    """Whether `icons merge` builds this kind for so many vectors."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What was not measured, and why."""

    n_vectors: int
    kind: str | None
    """None: no kind at this size."""
    reason: str


@dataclass(slots=True)
class SearchBench:
    """All that one run measured; a part that was not asked for is None or empty."""

    library: str
    generation: int
    n_icons: int
    n_pictures: int
    dim: int
    seed: int
    queries: str
    """Where they come from."""
    machine: Machine
    cold: Cold | None = None
    warm: Warm | None = None
    filtered: list[Filtered] = field(default_factory=list)
    pictured: list[Pictured] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)
    rows: list[IndexRow] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    stopped: bool = False
    """Whether Ctrl-C ended it before everything was measured."""
    likeness: float | None = None
    """Cosine of a made vector with the real one that it was made from; None where none was made."""

    def sizes(self) -> list[int]:
        """Numbers of vectors at which indexes were measured, ascending."""
        return sorted({row.n_vectors for row in self.rows})

    def at(self, n_vectors: int) -> list[IndexRow]:
        """Rows of one size, in the order of the kinds."""
        return [row for row in self.rows if row.n_vectors == n_vectors]
