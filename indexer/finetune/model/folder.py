"""How does a model become a plain open_clip folder? Config, weights, lineage, card, renamed into place."""

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psutil
import torch
from safetensors import SafetensorError
from safetensors.torch import save_file

from indexer.encoders.checkpoint import CONFIG_NAME, LOCAL, WEIGHT_NAMES, ModelChoice
from indexer.encoders.config import check_config, image_side, read_config
from indexer.errors import ModelError
from indexer.finetune.model.lineage import LINEAGE_NAME, as_json, check_replaceable
from indexer.finetune.model.outline import build
from indexer.library.durable import folder_aside, naming

_BYTES_OF_WEIGHT = 16
"""In training: itself, its gradient, and what Adam keeps of it."""
_TOKENS = "token_embedding.weight"
"""Of open_clip's own text towers."""
# The renderer composites on white and keeps the aspect by padding; open_clip's own transform is told to do the same.
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
    model = _build(config["model_cfg"], config_file)
    size = image_side(config["model_cfg"]["vision_cfg"])
    config.setdefault("preprocess_cfg", PREPROCESS_CONFIG | {"size": size})
    write_model(model.state_dict(), folder, FolderFacts(config, {}, "# Random weights\n", "fp32"))
    return ModelChoice(f"{LOCAL}{folder}")


def _build(model_config: Mapping[str, Any], named: Path) -> Any:
    try:
        return build(model_config)
    except Exception as error:  # open_clip, timm and torch each raise their own
        reason = re.sub(r"\s+", " ", str(error))[:200]
        raise ModelError(f'"{named}" is no model config that open_clip builds ({reason})') from error


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
    if stored == "fp8" and name.endswith(_TOKENS):
        return tensor.float().to(torch.float8_e4m3fn)
    return tensor.float() if stored == "fp32" else tensor.half()
