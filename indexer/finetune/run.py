"""How does a run become a model folder? Open what is learnt from, teach or train, write weights, lineage and card."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from indexer.checkpoint import LOCAL, ModelChoice, find_checkpoint
from indexer.distributed import Rank
from indexer.encoder import load_model
from indexer.finetune.card import card_of
from indexer.finetune.distill import DistillOptions, distill, distillation_facts, start_token_table
from indexer.finetune.folder import new_model, write_folder
from indexer.finetune.lesson import Lesson, open_lesson, read_facts
from indexer.finetune.train import Pair, Progress, TrainOptions, train
from indexer.finetune.vocabulary import teaching_texts


def train_folder(
    corpus: Path, start: Path, out: Path, *, options: TrainOptions, checkpoint: Path, resume: bool = False
) -> Progress:
    """Train on the corpus folder from the open_clip folder `start`; rank 0 writes `out`."""
    rank = Rank.from_environment()
    origin = find_checkpoint(ModelChoice(f"{LOCAL}{start}"))
    model = load_model(origin)
    vectors = corpus / f"captions-{origin.fingerprint}-{options.seed}.npy"
    if rank.index == 0 and not vectors.exists():
        np.save(vectors, open_lesson(corpus, model, seed=options.seed).text_vectors.numpy())
    if rank.world > 1:
        dist.barrier()
    lesson = open_lesson(corpus, model, seed=options.seed, vectors=vectors)
    pair = new_pair(model)
    progress = train(pair, lesson, options=options, checkpoint=checkpoint, resume=resume)
    if rank.index == 0:
        save(pair, model, out, lineage=lineage_of(start, corpus, lesson, progress, options, n_ranks=rank.world))
    return progress


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


def new_pair(model: Any) -> Pair:
    """Take a model's picture tower for training, laid out in memory as the processor likes it."""
    visual = model.visual.to(memory_format=torch.channels_last).train()
    return Pair(visual, int(model.text_projection.shape[1]), logit_scale=model.logit_scale.item())


def save(pair: Pair, model: Any, out: Path, *, lineage: Mapping[str, Any]) -> None:
    """Fold the text map into the model's text projection, and write the folder."""
    projection = model.text_projection.detach().clone()
    with torch.no_grad():
        model.text_projection.copy_(projection @ pair.text_map)
        model.logit_scale.copy_(pair.logit_scale)
    write_folder(model.eval(), out, lineage=lineage, card=card_of(lineage))
    with torch.no_grad():
        model.text_projection.copy_(projection)


def lineage_of(
    start: Path, corpus: Path, lesson: Lesson, progress: Progress, options: TrainOptions, *, n_ranks: int
) -> dict[str, Any]:
    """What `training.json` says: data with licences, options, seed, measured figures."""
    facts, parent = read_facts(corpus), _lineage_in(start)
    parent.pop("measured", None)
    this_run = {
        "options": asdict(options),
        "ranks": n_ranks,
        "seconds": round(progress.seconds),
        "history": progress.history,
    }
    return {
        "made": datetime.now(UTC).strftime("%Y-%m-%d"),
        **parent,
        "training": [*parent.get("training", []), this_run],
        "data": {
            "icons": len(lesson.words),
            "held_out_icons": len(lesson.held_out_rows),
            "base_names": len(set(lesson.bases.tolist())),
            "captions": len(lesson.captions.texts),
            "icons_with_tags": sum(bool(tags) for tags in lesson.tags),
            "limits": facts["limits"],
            "refused": facts["refused"],
            "sets": facts["sets"],
        },
    }


def _lineage_in(folder: Path) -> dict[str, Any]:
    file = folder / "training.json"
    lineage: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return lineage
