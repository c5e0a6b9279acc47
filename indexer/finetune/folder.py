"""How a run ends: a plain open_clip folder of config, weights, lineage and card, unless a task fell."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import psutil
import torch
from safetensors import SafetensorError
from safetensors.torch import save_file

from indexer.encoders.checkpoint import (
    CONFIG_NAME,
    LOCAL,
    TOKENIZER_NAMES,
    WEIGHT_NAMES,
    Checkpoint,
    ModelChoice,
    check_config,
    image_side,
    read_config,
)
from indexer.errors import ModelError, SourceError
from indexer.finetune.checkpoints import TrainingState, gathered, is_sharded, load_best
from indexer.finetune.lesson import Material
from indexer.finetune.options import Places, Plan
from indexer.finetune.step import Session
from indexer.finetune.student import build
from indexer.finetune.watch import fallen
from indexer.library.durable import folder_aside, naming, write_file
from indexer.library.foreign import parsed
from indexer.sources.records import read_regular

LINEAGE_NAME = "training.json"
_OWN = {
    *(CONFIG_NAME, *WEIGHT_NAMES, LINEAGE_NAME, "README.md"),
    *("graphs.json", "text.onnx", "image.onnx", "image-int8.onnx"),
    *(*TOKENIZER_NAMES, "added_tokens.json", "sentencepiece.bpe.model", "spiece.model"),
}
"""Names of all that a model folder holds."""

_FINETUNED = """# A fine-tuned icon encoder

Made by `icons lab finetune` from {parent}. Loads with stock open_clip;
`icons index --model local-dir:PATH_OF_THIS_FOLDER`
uses it.

- Learnt from {icons:,} icons of {sets:,} sets, {names:,} base names, {captions:,} captions; {held_out:,} icons (one
  base name in {one_in}) were held out. Every set with its licence stands in `training.json`. Licences: {licences}.
- Parent, options, seed, every validation: `training.json`.
{figures}"""


def check_replaceable(folder: Path) -> None:
    """See that a folder may be replaced by a model: it is empty, not there, or a model that was written here.

    Raises:
        ModelError: it holds something else, which would be lost.
    """
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    others = [name for name in names if name not in _OWN]
    if others or (names and LINEAGE_NAME not in names):
        raise ModelError(f'"{folder}" holds "{(others or names)[0]}", which a model would replace; give another --out')


def read_lineage(folder: Path) -> dict[str, Any]:
    """What a model folder says of how it was made; nothing where that is not written, or by others."""
    try:
        lineage = parsed(read_regular(folder / LINEAGE_NAME))
    except (OSError, SourceError, ValueError):
        return {}
    is_ours = isinstance(lineage, dict) and isinstance(lineage.get("training", []), list)
    return lineage if is_ours else {}


def card_of(lineage: Mapping[str, Any]) -> str:
    """Write the card of a model."""
    parent, data = lineage["parent"], lineage["data"]
    return _FINETUNED.format(
        parent="random weights" if parent["random"] else f'"{parent["name"]}"',
        held_out=data["held_out_icons"],
        one_in=data["held_out_one_name_in"],
        figures=_compared(lineage["figures"] or {}, parent["figures"] or {}),
        **counts(data),
    )


def counts(data: Mapping[str, Any]) -> dict[str, Any]:
    """How much was learnt from, for a card."""
    licences = Counter(icon_set["licence"] or "not stated" for icon_set in data["sets"])
    return {
        "icons": data["icons"],
        "sets": len(data["sets"]),
        "names": data["base_names"],
        "captions": data["captions"],
        "licences": ", ".join(f"{licence} ({n})" for licence, n in licences.most_common()),
    }


def _compared(figures: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    """A table of the held-out figures before and after."""
    rows = [
        f"| {task} | {name} | {spelled(before[task][name]) if task in before else ''} | {spelled(found)} |\n"
        for task, by_name in figures.items()
        for name, found in by_name.items()
    ]
    head = (
        "On the held-out icons, with 95 % bootstrap intervals:\n\n| task | figure | before | after |\n|---|---|---|---|"
    )
    return "\n".join(["", head, "".join(rows)]) if rows else "\nNothing was held out, so nothing was measured.\n"


def spelled(figure: list[float]) -> str:
    """Spell a value with its interval."""
    return "{:.3f} ({:.3f}-{:.3f})".format(*figure)


def as_json(lineage: Mapping[str, Any]) -> str:
    """A lineage in JSON, a subject a line: histories of a thousand numbers take half the room so."""
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(facts)}" for name, facts in lineage.items()) + "\n}\n"


_BYTES_OF_WEIGHT = 16
"""In training: itself, its gradient, and what Adam keeps of it."""
# The renderer composites on white and keeps the aspect by padding; open_clip's own transform is set to do the same.
PREPROCESS_CONFIG: dict[str, Any] = {
    "size": 64,
    "mode": "RGB",
    "mean": [0.5, 0.5, 0.5],
    "std": [0.5, 0.5, 0.5],
    "interpolation": "bicubic",
    "resize_mode": "longest",
    "fill_color": 255,
}


@dataclass(frozen=True, slots=True)
class FolderFacts:
    """What stands beside the weights of a model."""

    config: Mapping[str, Any]
    lineage: Mapping[str, Any]
    card: str
    stored: Literal["fp8", "fp16", "fp32"] = "fp16"
    """As `finetune.options.Towers` has it."""


def write_random_model(config_file: Path, folder: Path, *, seed: int) -> ModelChoice:
    """Write an open_clip folder with random weights; the config is a model's alone, or has `preprocess_cfg` beside it.

    Raises:
        ModelError: the file holds no config, or none that open_clip builds.
    """
    config = read_config(config_file)
    check_config(config, config_file, most_weights=psutil.virtual_memory().total // _BYTES_OF_WEIGHT)
    torch.manual_seed(seed)
    try:
        model = build(config["model_cfg"])
    except Exception as error:  # open_clip, timm and torch each raise their own
        reason = re.sub(r"\s+", " ", str(error))[:200]
        raise ModelError(f'"{config_file}" is no model config that open_clip builds ({reason})') from error
    config.setdefault("preprocess_cfg", PREPROCESS_CONFIG | {"size": image_side(config["model_cfg"]["vision_cfg"])})
    write_model(model.state_dict(), folder, FolderFacts(config, {}, "# Random weights\n", "fp32"))
    return ModelChoice(f"{LOCAL}{folder}")


def write_model(
    weights: Mapping[str, torch.Tensor],
    folder: Path,
    facts: FolderFacts,
    *,
    tokenizer: tuple[Any, Sequence[Path]] = (None, ()),
) -> None:
    """Write `folder` anew for `open_clip.create_model_and_transforms("local-dir:FOLDER")`; an older model is replaced.

    Stored in fp16 weights take half the room, tokens in fp8 a quarter; open_clip loads them into fp32 parameters. A
    tokenizer of transformers is saved along, from its files where they are known: open_clip's own needs none.

    Raises:
        ModelError: the folder holds something else.
    """
    check_replaceable(folder)
    held, files = tokenizer
    stored = {name: _stored(name, tensor, facts.stored) for name, tensor in weights.items()}
    with naming(folder), folder_aside(folder, replace=True) as aside:
        try:
            save_file(stored, aside / WEIGHT_NAMES[0])
        except SafetensorError as error:  # of the system, without its number
            raise OSError(None, str(error), str(folder / WEIGHT_NAMES[0])) from error
        (aside / WEIGHT_NAMES[0]).chmod(0o644)  # safetensors writes files that only their owner may read
        (aside / CONFIG_NAME).write_text(json.dumps(facts.config, indent=2) + "\n", "utf-8")
        (aside / LINEAGE_NAME).write_text(as_json(facts.lineage), "utf-8")
        (aside / "README.md").write_text(facts.card, "utf-8")
        for file in files:
            shutil.copy(file, aside / file.name)
        if not files and hasattr(held, "save_pretrained"):
            held.save_pretrained(str(aside))


def _stored(name: str, tensor: torch.Tensor, stored: str) -> torch.Tensor:
    tensor = tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
    if not tensor.is_floating_point():
        return tensor
    is_table = stored == "fp8" and name.endswith("token_embedding.weight")
    return tensor.to({"fp32": torch.float32}.get(stored, torch.float8_e4m3fn if is_table else torch.float16))


@dataclass(frozen=True, slots=True)
class Origin:
    """What a run began with."""

    plan: Plan
    checkpoint: Checkpoint
    material: Material
    tokenizer: Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run, as `places.result` says it. `fallen` are tasks below the parent's interval, in words."""

    is_written: bool
    fallen: list[str]
    best_step: int
    steps: int
    seconds: float
    figures: dict[str, Any]
    parent: dict[str, Any] | None
    cut: list[str]
    """Captions that may have been cut."""


def finish(session: Session, origin: Origin, state: TrainingState, *, places: Places) -> None:
    """Write `places.out` unless a task fell below the parent's interval; say in `places.result` what came of it."""
    if session.rank.index and not is_sharded(session):
        return
    load_best(session, places.best)
    weights = gathered(session.student.plain_weights(), rank=session.rank)
    if session.rank.index:
        return
    figures, parent = best_figures(state), None if origin.plan.is_new else state.parent
    lost = list(fallen(figures, parent)) if figures and parent else []
    if is_written := not lost or origin.plan.allow_regression:
        lineage = lineage_of(origin, state, n_ranks=session.rank.world)
        preprocess = dict(session.student.model.visual.preprocess_cfg)
        config = {"model_cfg": origin.checkpoint.config["model_cfg"], "preprocess_cfg": preprocess}
        facts = FolderFacts(config, lineage, card_of(lineage), origin.plan.options.towers.stored)
        write_model(weights, places.out, facts, tokenizer=(origin.tokenizer, origin.checkpoint.tokenizer))
    reached = state.best_step, state.step, state.seconds, figures, state.parent, list(session.lesson.cut)
    write_file(places.result, (json.dumps(asdict(Outcome(is_written, lost, *reached))) + "\n").encode())


def best_figures(state: TrainingState) -> dict[str, Any]:
    """Figures of the validation that the best weights were kept at."""
    return next((entry.get("figures", {}) for entry in state.history if entry["step"] == state.best_step), {})


def lineage_of(origin: Origin, state: TrainingState, *, n_ranks: int) -> dict[str, Any]:
    """What `training.json` says: parent, data with licences, options, seed, figures, versions."""
    plan, checkpoint, material, facts = origin.plan, origin.checkpoint, origin.material, origin.material.facts
    parent = read_lineage(checkpoint.weights.parent) if checkpoint.weights.name.startswith("open_clip_model") else {}
    parent.pop("measured", None)
    this_run = {
        "options": asdict(plan.options),
        "ranks": n_ranks,
        "steps": state.step,
        "seconds": round(state.seconds),
        "best_step": state.best_step,
        "history": state.history,
        "changed": state.changed,
    }
    return {
        **parent,
        "made": datetime.now(UTC).strftime("%Y-%m-%d"),
        "parent": {
            "name": checkpoint.name,
            "fingerprint": plan.fingerprint,
            "random": plan.is_new,
            "figures": state.parent,
        },
        "figures": best_figures(state),
        "versions": {name: version(name) for name in ("torch", "open_clip_torch", "timm")},
        "training": [*parent.get("training", []), this_run],
        "data": {
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
        },
    }
