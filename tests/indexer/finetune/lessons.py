"""A tiny real lesson and a tiny real model without batch norm: drawn pictures, names, tags, tokens."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import torch
from safetensors.torch import save_file

from indexer.finetune.augment import edges
from indexer.finetune.captions import base_of, make_captions
from indexer.finetune.lesson import KeptWords, Lesson, encode_texts, tokenize
from indexer.finetune.options import FinetuneOptions
from indexer.finetune.rank import wrap
from indexer.finetune.step import Session, make_optimizer
from indexer.finetune.student import Student, sharded
from indexer.ranks import Rank

TINY = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 16, "layers": 2, "width": 16, "patch_size": 4, "head_width": 8},
    "text_cfg": {"context_length": 12, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 2},
}
PREPROCESS = {"size": 16, "mode": "RGB", "mean": [0.5] * 3, "std": [0.5] * 3, "interpolation": "bicubic"}
TOKENIZER = open_clip.tokenizer.SimpleTokenizer(context_length=12)
TIMM = {"timm_model_pretrained": False, "timm_pool": "avg", "timm_proj": "linear", "image_size": 32}
SHAPES = ("disc", "ring", "bar", "cross", "corner", "box", "dots", "slope")
PLACES = ("left", "right", "top", "bottom")


def tiny_model(seed: int = 3, **changed: Any) -> Any:
    torch.manual_seed(seed)
    model = open_clip.CLIP(**json.loads(json.dumps(TINY | changed)))
    open_clip.model.set_model_preprocess_cfg(model, dict(PREPROCESS))
    return model


def save_model(folder: Path, *, seed: int = 3, size: int = 16) -> Path:
    """Save a tiny model as a local-dir folder."""
    config = TINY | {"vision_cfg": {**TINY["vision_cfg"], "image_size": size, "patch_size": size // 4}}  # type: ignore[dict-item]
    model = tiny_model(seed, **config)
    folder.mkdir(parents=True)
    preprocess = {**PREPROCESS, "size": size, "resize_mode": "longest"}
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": config, "preprocess_cfg": preprocess}))
    weights = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    save_file(weights, folder / "open_clip_model.safetensors")
    return folder


def tiny_lesson(model: Any, options: FinetuneOptions, n: int = 48) -> Lesson:
    """Icons whose names, tags and pictures repeat here and there, as in real sets."""
    generator = np.random.default_rng(7)
    words = [f"{SHAPES[number % 7]} {PLACES[number % 3]}" for number in range(n)]
    tags = [[f"tag{number % 5}", "common"] if number % 2 else [] for number in range(n)]
    captions = make_captions(words, tags, seed=0)
    _, bases = np.unique([base_of(name) for name in words], return_inverse=True)
    size, _ = model.visual.image_size
    pixels = generator.integers(0, 256, (n, size, size, 3), dtype=np.uint8)
    pixels[n // 2] = pixels[0]
    tokens = tokenize(captions.texts, TOKENIZER)
    vectors = encode_texts(model, tokens)
    text_inputs = vectors if options.towers.text_tower == "locked" else tokens
    kept = KeptWords(text_inputs, vectors, options.loss.keep_words_batch) if options.loss.keep_words_weight else None
    looks = edges(torch.from_numpy(pixels)).half()
    return Lesson(pixels, captions, text_inputs, bases, looks, np.arange(n), np.arange(0), words, kept)


def tiny_options(**chosen: Any) -> FinetuneOptions:
    """Options by name, fitting the tiny lesson."""
    fitting = {"batch": 16, "precision": "fp32", "seed": 5, "passes": 2.0, "keep_words_batch": 8}
    return FinetuneOptions.of({**fitting, **chosen})


def tiny_session(
    options: FinetuneOptions,
    *,
    rank: Rank | None = None,
    model: Any = None,
    beside: torch.nn.Module | None = None,
    tower: str | None = None,
    where: str = "cpu",
    precision: Any = "fp32",
) -> Session:
    """A session, the same for every rank; a module `beside` the towers is asked by nobody.

    A `tower` of timm's takes the place of open_clip's for pictures.
    """
    rank, changed = rank or Rank(), {"vision_cfg": {"timm_model_name": tower, **TIMM}} if tower else {}
    model = model or tiny_model(**changed)
    lesson = tiny_lesson(model, options)
    torch.manual_seed(options.schedule.seed)
    device, student = torch.device(where), Student(model, options, precision=precision)
    student.beside = beside
    with torch.no_grad():  # LoRA's additions and the map start as nothing; let them be something
        for name, parameter in student.named_parameters():
            if name.endswith("up") or name == "text_map":
                parameter.add_(0.05 * torch.randn(parameter.shape))
    if options.distribution.strategy == "fsdp":
        whole = student if rank.index == 0 else None
        student = sharded(
            whole, lambda: Student(tiny_model(**changed), options, precision=precision), rank=rank, device=device
        )
    student.to(device)
    wrapped = wrap(student, options.distribution, rank=rank, device=device)
    return Session(
        student,
        wrapped,
        make_optimizer(student, options),
        torch.amp.GradScaler(device.type, enabled=False),
        lesson,
        options,
        rank,
        device,
    )
