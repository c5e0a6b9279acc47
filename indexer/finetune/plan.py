"""What a run does: written by the command into the run's work folder, read by every rank."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import TrainError
from indexer.finetune.options import FinetuneOptions, Places
from indexer.library.durable import write_file
from indexer.library.foreign import from_json


@dataclass(frozen=True, slots=True)
class Plan:
    """One run: `choice` is the model that it begins with, `corpus` the folder that it learns from."""

    choice: ModelChoice
    fingerprint: str
    is_new: bool
    """The model holds random weights, so there is no parent to fall behind."""
    corpus: Path
    corpus_key: str
    options: FinetuneOptions
    allow_regression: bool = False

    def made_by(self) -> dict[str, Any]:
        """What a checkpoint must agree with to be gone on from: all that changes numbers, but for the devices."""
        plain = asdict(self.options)
        kept = {name: plain[name] for name in ("learning", "towers", "loss", "schedule", "augmentation")}
        return {"parent": self.fingerprint, "corpus": self.corpus_key, **kept}


def write_plan(places: Places, plan: Plan) -> None:
    """Write the plan."""
    write_file(places.plan, (json.dumps(asdict(plan), indent=1, default=str) + "\n").encode())


def read_plan(places: Places) -> Plan:
    """Read a plan.

    Raises:
        TrainError: there is none, or none that this program wrote.
    """
    try:
        return from_json(Plan, places.plan.read_bytes())
    except (OSError, ValueError) as error:
        raise TrainError(
            f'no plan in "{places.work}" that can be read ({error}); run `icons lab finetune --out "{places.out}"`'
        ) from error
