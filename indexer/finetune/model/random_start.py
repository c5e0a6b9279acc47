"""How does a model begin with random weights? By an open_clip config and a seed, as a folder."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from open_clip.model import CLIP, CustomTextCLIP

from indexer.encoders.checkpoint import LOCAL, ModelChoice
from indexer.errors import ModelError
from indexer.finetune.model.folder import PREPROCESS_CONFIG, FolderFacts, write_model


def write_random_model(config_file: Path, folder: Path, *, seed: int) -> ModelChoice:
    """Write an open_clip folder with random weights; the config is a model's alone, or has `preprocess_cfg` beside it.

    Raises:
        ModelError: the file holds no config, or none that open_clip builds.
    """
    try:
        given = json.loads(config_file.read_text("utf-8"))
    except (OSError, ValueError) as error:
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
        plain = dict(json.loads(json.dumps(model_config)))
        is_custom = plain.pop("custom_text", False)
        return (CustomTextCLIP if is_custom else CLIP)(**plain)
    except Exception as error:  # open_clip, timm and torch each raise their own
        reason = re.sub(r"\s+", " ", str(error))[:200]
        raise ModelError(f'"{named}" is no model config that open_clip builds ({reason})') from error
