"""How is a plan embedded? Every choice with its default; it travels to the ranks inside the plan. No torch here."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indexer.encoders.loading import AnyPrecision


@dataclass(frozen=True, slots=True)
class EmbedOptions:
    """How to embed; every field has a default that is good on any machine."""

    device: str = "auto"
    """auto, cpu, or cuda: one GPU a rank."""
    precision: "AnyPrecision" = "auto"
    batch_size: int | None = None
    """None: found by doubling."""
    workers: int | None = None
    """Rendering processes of a rank; None: its share of the cores, less one where it feeds a GPU."""
    backend: str = "auto"
    """Of the process group: nccl, gloo, or auto, which is gloo: NCCL would take memory of the device for two counts."""
    stall_limit: float = 600.0
    """Seconds without any progress, after which a rank is given up. A worker draws 32 pictures at 10 s each between two
    signs of life, so that the slowest pictures are no standstill."""
    lease_seconds: float = 60.0
    """For how long a block stays with a worker of which nothing is heard any more."""
