"""How does a model become a plain open_clip folder? Config, weights, lineage, card, renamed into place."""

import json
import math
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import open_clip
import torch
from open_clip.model import CLIP
from safetensors.torch import save_file
from torch import nn

from indexer.encoders.checkpoint import CONFIG_NAME, LOCAL, WEIGHT_NAMES, ModelChoice
from indexer.errors import ModelError
from indexer.finetune.model.lineage import LINEAGE_NAME, as_json, check_replaceable
from indexer.finetune.model.outline import build
from indexer.library.durable import sync
from indexer.library.named import read_text

SIZE = 64
_TOKENS = "token_embedding.weight"
"""Of open_clip's own text towers."""
START_TEMPERATURE = 0.05
MODEL_CONFIG: dict[str, Any] = {
    "embed_dim": 384,
    "vision_cfg": {
        "image_size": SIZE,
        "timm_model_name": "resnet10t",
        "timm_model_pretrained": False,
        "timm_pool": "avg",
        "timm_proj": "linear",
    },
    "text_cfg": {"context_length": 24, "vocab_size": 49408, "width": 256, "heads": 4, "layers": 4},
}
# The renderer composites on white and keeps the aspect by padding; open_clip's own transform is told to do the same.
PREPROCESS_CONFIG: dict[str, Any] = {
    "size": SIZE,
    "mode": "RGB",
    "mean": [0.5, 0.5, 0.5],
    "std": [0.5, 0.5, 0.5],
    "interpolation": "bicubic",
    "resize_mode": "longest",
    "fill_color": 255,
}


def new_model() -> Any:
    """Build the small icon CLIP from scratch, with the weights that torch's current seed gives."""
    model = CLIP(**json.loads(json.dumps(MODEL_CONFIG)))
    torch.nn.init.constant_(model.logit_scale, math.log(1 / START_TEMPERATURE))
    open_clip.model.set_model_preprocess_cfg(model, dict(PREPROCESS_CONFIG))
    return model


@dataclass(frozen=True, slots=True)
class FolderFacts:
    """What stands beside the weights of a model."""

    config: Mapping[str, Any]
    lineage: Mapping[str, Any]
    card: str
    stored: Literal["fp8", "fp16", "fp32"] = "fp16"
    """As `finetune.options.Towers` has it."""


def write_folder(model: nn.Module, folder: Path, *, lineage: Mapping[str, Any], card: str) -> None:
    """Write the small icon CLIP of this project, see `write_model`."""
    config = {"model_cfg": MODEL_CONFIG, "preprocess_cfg": PREPROCESS_CONFIG}
    write_model(model.state_dict(), folder, FolderFacts(config, lineage, card))


def write_random_model(config_file: Path, folder: Path, *, seed: int) -> ModelChoice:
    """Write an open_clip folder with random weights; the config is a model's alone, or has `preprocess_cfg` beside it.

    Raises:
        ModelError: the file holds no config, or none that open_clip builds.
    """
    text = read_text(config_file)
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelError(f'"{config_file}" is no model config ({error}); give one as open_clip has them') from error
    config = given if isinstance(given, dict) and "model_cfg" in given else {"model_cfg": given}
    torch.manual_seed(seed)
    model = _build(config["model_cfg"], config_file)
    size = config["model_cfg"]["vision_cfg"].get("image_size", 224)  # open_clip's own default
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
    aside = folder.with_name(f".aside-{folder.name}-{os.getpid()}")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    save_file({name: _stored(name, tensor, facts.stored) for name, tensor in weights.items()}, aside / WEIGHT_NAMES[0])
    (aside / WEIGHT_NAMES[0]).chmod(0o644)  # safetensors writes files that only their owner may read
    (aside / CONFIG_NAME).write_text(json.dumps(facts.config, indent=2) + "\n", "utf-8")
    (aside / LINEAGE_NAME).write_text(as_json(facts.lineage), "utf-8")
    (aside / "README.md").write_text(facts.card, "utf-8")
    for file in files:
        shutil.copy(file, aside / file.name)
    if not files and hasattr(held, "save_pretrained"):
        held.save_pretrained(str(aside))
    for file in aside.iterdir():
        sync(file)
    _swap(aside, folder)


def _stored(name: str, tensor: torch.Tensor, stored: str) -> torch.Tensor:
    tensor = tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
    if not tensor.is_floating_point():
        return tensor
    if stored == "fp8" and name.endswith(_TOKENS):
        return tensor.float().to(torch.float8_e4m3fn)
    return tensor.float() if stored == "fp32" else tensor.half()


def _swap(aside: Path, folder: Path) -> None:
    old = folder.with_name(f".old-{folder.name}-{os.getpid()}")
    if folder.exists():
        folder.rename(old)
    aside.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
