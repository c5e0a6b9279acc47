"""How good is a finished model on a benchmark? What `icons evaluate --json` found, written into lineage and card."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from indexer.encoders.checkpoint import LOCAL, ModelChoice, find_checkpoint
from indexer.errors import SourceError
from indexer.finetune.model.card import card_of
from indexer.library.durable import write_file

MEASURES = ("R@1", "R@5", "R@10", "MRR@50")
SHOT_SIZE = 24
"""Screenshots of other sizes are left to the evaluation itself."""


def record_figures(model: Path, evaluation: Mapping[str, Any]) -> None:
    """Write a model's figures into its folder; its weights, and so its fingerprint, stay what they are.

    Raises:
        SourceError: the evaluation is not of this model.
    """
    fingerprint = find_checkpoint(ModelChoice(f"{LOCAL}{model}")).fingerprint
    labels = [encoder["label"] for encoder in evaluation["encoders"] if encoder["fingerprint"] == fingerprint]
    if not labels:
        raise SourceError(
            f'the evaluation is of other encoders than "{model}" ({fingerprint}); '
            f"run `icons index --model {LOCAL}{model}`, then `icons evaluate --json`"
        )
    measured: dict[str, dict[str, Any]] = {}
    for row in evaluation["rows"]:
        is_usual = row["condition"] is None or row["condition"]["size"] == SHOT_SIZE
        if row["encoder"] == labels[0] and is_usual:
            found = {name: [round(number, 4) for number in row["figures"][name].values()] for name in MEASURES}
            measured.setdefault(_task(row), {})[row["ranker"]] = found
    lineage = json.loads((model / "training.json").read_text("utf-8")) | {"measured": measured}
    write_file(model / "training.json", (json.dumps(lineage, indent=1) + "\n").encode())
    write_file(model / "README.md", card_of(lineage).encode())


def _task(row: Mapping[str, Any]) -> str:
    condition = row["condition"]
    if condition is None:
        return str(row["task"])
    return f"{row['task']}, {condition['size']} px, {', '.join(condition['changes']) or 'clean'}"
