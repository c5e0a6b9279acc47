"""What is a model before it has weights? All its modules, with parameters that are shapes alone.

A model that no device holds whole begins so on every rank; its weights come in shards.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from open_clip.model import CLIP, CustomTextCLIP, set_model_preprocess_cfg
from open_clip.transform import PreprocessCfg, merge_preprocess_dict
from torch import nn
from torch.nn.modules.module import register_module_parameter_registration_hook

from indexer.encoders.checkpoint import Checkpoint


@contextmanager
def weights_left_out() -> Iterator[None]:
    """Build modules within this context without weights: parameters lie on torch's meta device, buffers are real.

    On the meta device as a whole masks and tables of positions, which no checkpoint holds, would be lost.
    """

    def emptied(_: nn.Module, __: str, parameter: nn.Parameter) -> nn.Parameter:
        return nn.Parameter(parameter.detach().to("meta"), requires_grad=parameter.requires_grad)

    handle = register_module_parameter_registration_hook(emptied)  # type: ignore[arg-type]
    try:
        yield
    finally:
        handle.remove()


def outline(checkpoint: Checkpoint) -> Any:
    """Build the model that a checkpoint holds the weights of, without these, in evaluation mode."""
    with weights_left_out():
        model = build(checkpoint.config["model_cfg"])
    preprocess = merge_preprocess_dict(asdict(PreprocessCfg()), checkpoint.config.get("preprocess_cfg", {}))
    set_model_preprocess_cfg(model, preprocess | {"size": model.visual.image_size})
    return model.eval()


def build(model_config: Mapping[str, Any]) -> Any:
    """Build a model with random weights by open_clip's config of it."""
    config = json.loads(json.dumps(model_config))
    is_custom = config.pop("custom_text", False) or "hf_model_name" in config["text_cfg"]
    config["vision_cfg"]["timm_model_pretrained"] = config["text_cfg"]["hf_model_pretrained"] = False
    return (CustomTextCLIP if is_custom else CLIP)(**config)
