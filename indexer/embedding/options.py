"""How is a plan embedded? Every choice with its default; it travels to the ranks inside the plan. No torch here."""

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from indexer.encoders.loaded import AnyPrecision
from indexer.errors import EmbedError
from indexer.library.foreign import Positive, Size, from_plain
from indexer.library.plans import Plan


@dataclass(frozen=True, slots=True)
class EmbedOptions:
    """How to embed; every field has a default that is good on any machine."""

    device: Annotated[str, re.compile("auto|cpu|cuda")] = "auto"
    """auto, cpu, or cuda: one GPU a rank."""
    precision: AnyPrecision = "auto"
    batch_size: Size | None = None
    """None: found by doubling."""
    workers: Annotated[int, range(1025)] | None = None
    """Rendering processes of a rank; None: its share of the cores, less one where it feeds a GPU."""
    backend: Literal["auto", "nccl", "gloo"] = "auto"
    """Of the process group: nccl, gloo, or auto, which is gloo: NCCL would take memory of the device for two counts."""
    stall_limit: Positive = 600.0
    """Seconds without any progress, after which a rank is given up. A worker draws 32 pictures at 10 s each between two
    signs of life, so that the slowest pictures are no standstill."""
    lease_seconds: Positive = 60.0
    """For how long a block stays with a worker of which nothing is heard any more."""

    @classmethod
    def of(cls, plan: Plan) -> "EmbedOptions":
        """How a plan is embedded.

        Raises:
            EmbedError: this program does not know that.
        """
        try:
            return from_plain(cls, plan.options)
        except ValueError as error:
            raise EmbedError(f"the plan is of another version of icons, or damaged ({error}); plan again") from error
