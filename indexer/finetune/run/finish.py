"""How does a run become a model folder? The best weights, held against the parent, with lineage and card."""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from indexer.encoders.checkpoint import Checkpoint
from indexer.finetune.corpus.lesson import Material
from indexer.finetune.model.folder import FolderFacts, write_model
from indexer.finetune.model.lineage import card_of, read_lineage
from indexer.finetune.options import Places
from indexer.finetune.plan import Plan
from indexer.finetune.run.checkpoints import Standing, is_sharded, load_best
from indexer.finetune.run.step import Session
from indexer.finetune.run.tensors import gathered
from indexer.finetune.run.validation import fallen
from indexer.library.durable import write_file


@dataclass(frozen=True, slots=True)
class Origin:
    """What a run began with."""

    plan: Plan
    checkpoint: Checkpoint
    material: Material
    tokenizer: Any


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a run, as `places.result` says it."""

    written: bool
    fallen: list[str]
    standing: Standing
    cut: list[str]
    """Captions that may have been cut."""


def finish(session: Session, origin: Origin, standing: Standing, *, places: Places) -> None:
    """Write `places.out` unless a task fell below the parent's interval; say in `places.result` what came of it."""
    if session.rank.index and not is_sharded(session):
        return
    load_best(session, places.best)
    weights = gathered(session.student.plain_weights(), rank=session.rank)
    if session.rank.index:
        return
    lost = _lost(origin.plan, standing)
    is_written = not lost or origin.plan.allow_regression
    if is_written:
        lineage = lineage_of(origin, standing, n_ranks=session.rank.world)
        preprocess = dict(session.student.model.visual.preprocess_cfg)
        config = {"model_cfg": origin.checkpoint.config["model_cfg"], "preprocess_cfg": preprocess}
        facts_of_folder = FolderFacts(config, lineage, card_of(lineage), origin.plan.options.towers.stored)
        tokenizer = (origin.tokenizer, origin.checkpoint.tokenizer)
        write_model(weights, places.out, facts_of_folder, tokenizer=tokenizer)
    result = Result(is_written, lost, standing, list(session.lesson.cut))
    write_file(places.result, (json.dumps(asdict(result)) + "\n").encode())


def best_figures(standing: Standing) -> dict[str, Any]:
    """Figures of the validation that the best weights were kept at."""
    entry = next((entry for entry in standing.history if entry["step"] == standing.best_step), {})
    figures: dict[str, Any] = entry.get("figures", {})
    return figures


def _lost(plan: Plan, standing: Standing) -> list[str]:
    figures = best_figures(standing)
    if plan.is_new or standing.parent is None or not figures:
        return []
    return fallen(figures, standing.parent)


def lineage_of(origin: Origin, standing: Standing, *, n_ranks: int) -> dict[str, Any]:
    """What `training.json` says: parent, data with licences, options, seed, figures, versions."""
    plan, checkpoint = origin.plan, origin.checkpoint
    parent = read_lineage(checkpoint.weights.parent) if checkpoint.weights.name.startswith("open_clip_model") else {}
    parent.pop("measured", None)
    this_run = {
        "options": asdict(plan.options),
        "ranks": n_ranks,
        "steps": standing.step,
        "seconds": round(standing.seconds),
        "best_step": standing.best_step,
        "history": standing.history,
        "changed": standing.changed,
    }
    return {
        **parent,
        "made": datetime.now(UTC).strftime("%Y-%m-%d"),
        "parent": {
            "name": checkpoint.name,
            "fingerprint": plan.fingerprint,
            "random": plan.is_new,
            "figures": standing.parent,
        },
        "figures": best_figures(standing),
        "versions": {name: version(name) for name in ("torch", "open_clip_torch", "timm")},
        "training": [*parent.get("training", []), this_run],
        "data": _data_facts(origin.material),
    }


def _data_facts(material: Material) -> dict[str, Any]:
    facts = material.facts
    return {
        "icons": len(facts["words"]),
        "held_out_icons": int(material.held_out.sum()),
        "held_out_one_name_in": material.one_in,
        "base_names": len(set(material.bases.tolist())),
        "captions": len(material.captions.texts),
        "icons_with_tags": sum(bool(tags) for tags in facts["tags"]),
        "icons_with_own_captions": sum(bool(own) for own in facts.get("own", ())),
        "limits": facts["limits"],
        "refused": facts["refused"],
        "sets": facts["sets"],
    }
