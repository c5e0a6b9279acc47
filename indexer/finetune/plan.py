"""What shall a run do? Written by the command into the run's work folder, read by every rank."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import TrainError
from indexer.finetune.options import FinetuneOptions, Places
from indexer.library.durable import write_file


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
        plain = self.options.to_plain()
        kept = {name: plain[name] for name in ("learning", "towers", "loss", "schedule", "augmentation")}
        return {"parent": self.fingerprint, "corpus": self.corpus_key, **kept}


def write_plan(places: Places, plan: Plan) -> None:
    """Write the plan."""
    facts = {
        **{name: getattr(plan, name) for name in ("fingerprint", "is_new", "corpus_key", "allow_regression")},
        "choice": asdict(plan.choice),
        "corpus": str(plan.corpus),
        "options": plan.options.to_plain(),
    }
    write_file(places.plan, (json.dumps(facts, indent=1) + "\n").encode())


def read_plan(places: Places) -> Plan:
    """Read a plan.

    Raises:
        TrainError: there is none.
    """
    if not places.plan.is_file():
        raise TrainError(f'no plan in "{places.work}"; run `icons finetune --out "{places.out}"`')
    facts: Mapping[str, Any] = json.loads(places.plan.read_text("utf-8"))
    return Plan(
        **{name: facts[name] for name in ("fingerprint", "is_new", "corpus_key", "allow_regression")},
        choice=ModelChoice(**facts["choice"]),
        corpus=Path(facts["corpus"]),
        options=FinetuneOptions.from_plain(facts["options"]),
    )
