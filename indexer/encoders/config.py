"""The config of a model: every number of it is looked at before anything is made of it."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from indexer.errors import ModelError, SourceError
from indexer.sources.records import read_regular, shown

_MOST_BYTES = 1_000_000
_RANGES = {
    "embed_dim": (1, 1 << 14),
    "image_size": (1, 1 << 12),
    "patch_size": (1, 1 << 12),
    "layers": (1, 1 << 10),
    "width": (1, 1 << 14),
    "heads": (1, 1 << 10),
    "head_width": (1, 1 << 12),
    "context_length": (3, 1 << 12),
    "vocab_size": (1, 1 << 21),
}
"""The most is several times what any model of open_clip's has. A text of one token has its marks beside it."""
_LISTED = {"image_size": 2, "layers": 4}
"""How many numbers may stand for one."""
_COLOURS = {"mean": (-1000, 1000), "std": (0.001, 1000)}
_LEAST_LAYERS, _LEAST_WIDTH = 12, 512
"""Where a config of open_clip's states none."""
_MOST_PATCHES = 1 << 16
"""Of a picture, each with a row in the table of positions."""


def read_config(file: Path) -> dict[str, Any]:
    """Read a model's config as open_clip saves it with weights, or has it in its own list of models.

    Raises:
        ModelError: it is none.
    """
    try:
        config = json.loads(read_regular(file, limit=_MOST_BYTES))
        config = config if "model_cfg" in config else {"model_cfg": config}
        config["model_cfg"]["embed_dim"]
        for part in (*(config["model_cfg"][name] for name in ("vision_cfg", "text_cfg")), _preprocess(config)):
            part.items()
    except (OSError, SourceError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or shown(repr(error))
        raise ModelError(f'"{file}" is not an open_clip config ({reason}); save the model again') from error
    assert isinstance(config, dict)
    return config


def check_config(config: Mapping[str, Any], file: Path, *, most_weights: int) -> None:
    """See that a model can be built as its config says, which `file` holds, and has `most_weights` numbers at most.

    Raises:
        ModelError: that is not so.
    """
    model = config["model_cfg"]
    timm = model["vision_cfg"].get("timm_model_name")
    if timm is not None and not (isinstance(timm, str) and re.fullmatch(r"[\w.-]+", timm)):
        # Of others it would ask a hub, or look into a folder.
        reason = f'"timm_model_name" may not be "{shown(timm)}"'
        raise ModelError(f'"{file}" is not an open_clip config ({reason}); save the model again')
    parts = {f"{name}.": part for name in ("vision_cfg", "text_cfg", "multimodal_cfg") if (part := model.get(name))}
    found = [where + what for where, part in {"": model, **parts}.items() for what in impossible_numbers(part)]
    found += _impossible_colours(_preprocess(config))
    found = found or [where + what for where, part in parts.items() for what in _too_large(part, most_weights)]
    if found:
        raise ModelError(f'"{file}" says {found[0]}; save the model again, or give another one')


def impossible_numbers(facts: Mapping[str, Any]) -> Iterator[str]:
    """Say of each number that no model has which it is, and what it may be."""
    for field, (least, most) in _RANGES.items():
        value = facts.get(field, least)
        if value is None and field == "patch_size":  # of timm's models
            continue
        numbers = value if isinstance(value, list) and len(value) == _LISTED.get(field) else [value]
        if not all(type(number) is int and least <= number <= most for number in numbers):
            yield f'{field} "{shown(value)}", not a number from {least} to {most}'
        elif field == "image_size" and len(set(numbers)) > 1:
            yield f'{field} "{value}", which is not square; `icons` takes encoders with square input'


def _impossible_colours(preprocess: Mapping[str, Any]) -> Iterator[str]:
    for field, (least, most) in _COLOURS.items():
        value = preprocess.get(field)
        numbers = value if isinstance(value, list) else []
        is_possible = [type(number) in (int, float) and least <= number <= most for number in numbers]
        if value is not None and is_possible != [True] * 3:
            yield f'preprocess_cfg.{field} "{shown(value)}", not three numbers from {least} to {most}'


def _too_large(part: Mapping[str, Any], most_weights: int) -> Iterator[str]:
    """Say which numbers together would make a tower of open_clip's too large; timm's and transformers' have names."""
    if part.get("timm_model_name") or part.get("hf_model_name"):
        return
    width, layers = part.get("width", _LEAST_WIDTH), part.get("layers", _LEAST_LAYERS)
    n_layers, vocabulary = sum(layers) if isinstance(layers, list) else layers, part.get("vocab_size", 0)
    than = f'more than its weights hold ("{most_weights}" numbers at most)'
    if 4 * n_layers * width**2 > most_weights:  # attention alone
        yield f'layers "{layers}" of width "{width}", {than}'
    if vocabulary * width > most_weights:
        yield f'vocab_size "{vocabulary}" of width "{width}", {than}'
    size, patch = (part.get(name) for name in ("image_size", "patch_size"))
    if size and patch and (image_side(part) // patch) ** 2 > _MOST_PATCHES:
        yield f'image_size "{size}" in patches of "{patch}"; {_MOST_PATCHES} are the most'


def image_side(vision: Mapping[str, Any]) -> int:
    """Side of a picture tower's input in pixels, as open_clip reads it from a config that was checked."""
    size = vision.get("image_size", 224)
    return int(size[0] if isinstance(size, list) else size)


def _preprocess(config: Mapping[str, Any]) -> Mapping[str, Any]:
    return config.get("preprocess_cfg") or {}
