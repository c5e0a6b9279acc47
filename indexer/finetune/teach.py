"""How does a text tower become a model folder? Teach it what a sentence model says, write weights and lineage."""

import json
from pathlib import Path
from typing import Any

import torch

from indexer.checkpoint import LOCAL, ModelChoice, find_checkpoint
from indexer.encoder import load_model
from indexer.finetune.distill import DistillOptions, distill, distillation_facts, start_token_table
from indexer.finetune.folder import new_model, write_folder
from indexer.finetune.lesson import read_facts
from indexer.finetune.vocabulary import teaching_texts


def teach_folder(
    corpus: Path, out: Path, *, wordnet: Path | None, cache: Path, parent: Path | None, options: DistillOptions
) -> dict[str, float]:
    """Teach the text tower of `parent`, or of a new model, with the words of a corpus; write the folder `out`."""
    texts, n_icon_texts = teaching_texts(read_facts(corpus), wordnet=wordnet, seed=options.seed)
    torch.manual_seed(options.seed)
    if parent is None:
        model = new_model()
        start_token_table(model, cache=cache)
    else:
        model = load_model(find_checkpoint(ModelChoice(f"{LOCAL}{parent}")))
    measured = distill(model, texts, n_icon_texts=n_icon_texts, cache=cache, options=options)
    rounds = [*(_lineage_in(parent).get("distillation", []) if parent else []), distillation_facts(options, measured)]
    write_folder(
        model, out, lineage={"distillation": rounds}, card="# Text tower only\n\nThe picture tower is random.\n"
    )
    return measured


def _lineage_in(folder: Path) -> dict[str, Any]:
    file = folder / "training.json"
    lineage: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return lineage
