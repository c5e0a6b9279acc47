"""A small text tower learns what words mean, by repeating a sentence model; and two towers are blended.

Reads texts (`english.teaching_texts`), writes an open_clip folder whose text tower is taught and whose picture tower
is still random. A blend is an average of weights before and after teaching (WiSE-FT: Wortsman et al., Robust fine-
tuning of zero-shot models, CVPR 2022, section 3).
"""

import functools
import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import torch
from open_clip.model import CLIP
from torch import Tensor, nn
from torch.nn import functional

from data.making.model.english import TEACHER, Vectors, glossed_vectors, teacher_vectors, teaching_texts
from data.making.model.learning import WORDS, encode_by_length, learn
from indexer.arrays import Ids, Mask
from indexer.encoders.checkpoint import LOCAL, ModelChoice, find_checkpoint
from indexer.encoders.torch_encoder import Precision, TextTower, autocast, load_model, resolve_device, resolve_precision
from indexer.errors import ModelError
from indexer.finetune.folder import PREPROCESS_CONFIG, FolderFacts, check_replaceable, read_lineage, write_model
from indexer.finetune.lesson import read_facts
from indexer.finetune.student import text_parameters

_START_TEMPERATURE = 0.05
MODEL_CONFIG: dict[str, Any] = {
    "embed_dim": 384,
    "vision_cfg": {
        "image_size": PREPROCESS_CONFIG["size"],
        "timm_model_name": "resnet10t",
        "timm_model_pretrained": False,
        "timm_pool": "avg",
        "timm_proj": "linear",
    },
    "text_cfg": {"context_length": 24, "vocab_size": 49408, "width": 256, "heads": 4, "layers": 4},
}


def new_model() -> Any:
    """Build the small icon CLIP from scratch, with the weights that torch's current seed gives."""
    model = CLIP(**json.loads(json.dumps(MODEL_CONFIG)))
    torch.nn.init.constant_(model.logit_scale, math.log(1 / _START_TEMPERATURE))
    open_clip.model.set_model_preprocess_cfg(model, dict(PREPROCESS_CONFIG))
    return model


def write_folder(model: nn.Module, folder: Path, *, lineage: Mapping[str, Any], card: str) -> None:
    """Write the small icon CLIP of this project, see `write_model`."""
    config = {"model_cfg": MODEL_CONFIG, "preprocess_cfg": PREPROCESS_CONFIG}
    write_model(model.state_dict(), folder, FolderFacts(config, lineage, card))


@dataclass(frozen=True, slots=True)
class DistillOptions:
    """How the text tower is taught; saved in the lineage of the model."""

    steps: int = 1400
    batch: int = 512
    rate: float = 2e-3
    icon_share: float = 0.4
    """Share of the draws that go to the words of icons; the rest to everyday words and phrases."""
    similarity_weight: float = 20.0
    contrast_weight: float = 0.05
    temperature: float = 0.05
    seed: int = 0
    precision: Precision = "auto"


def teach_folder(
    corpus: Path, out: Path, *, wordnet: Path | None, cache: Path, parent: Path | None, options: DistillOptions
) -> dict[str, float]:
    """Teach the text tower of `parent`, or of a new model, with the words of a corpus; write the folder `out`."""
    check_replaceable(out)
    texts, n_icon_texts = teaching_texts(read_facts(corpus), wordnet=wordnet, seed=options.seed)
    torch.manual_seed(options.seed)
    if parent is None:
        model = new_model()
        start_token_table(model, cache=cache)
    else:
        model = load_model(find_checkpoint(ModelChoice(f"{LOCAL}{parent}")))
    target = glossed_vectors(texts, wordnet=wordnet, cache=cache)
    measured = distill(model, texts, target, n_icon_texts=n_icon_texts, options=options)
    facts = {"teacher": TEACHER, "options": asdict(options), "measured": measured}
    rounds = [*(read_lineage(parent).get("distillation", []) if parent else []), facts]
    card = "# Text tower only\n\nThe picture tower is random.\n"
    write_folder(model, out, lineage={"distillation": rounds}, card=card)
    return measured


def start_token_table(model: Any, *, cache: Path) -> None:
    """Set each row of the token table to the sentence model's vector of its string: centred, SVD to the width."""
    tokenizer = _tokenizer()
    strings = [tokenizer.decoder[index].replace("</w>", "") for index in range(tokenizer.vocab_size)]
    vectors = teacher_vectors(strings, cache=cache).astype(np.float32)
    vectors -= vectors.mean(axis=0)
    width = model.token_embedding.weight.shape[1]
    _, _, axes = np.linalg.svd(vectors[:: max(1, len(vectors) // 20_000)], full_matrices=False)
    table = torch.from_numpy(vectors @ axes[:width].T)
    with torch.no_grad():
        model.token_embedding.weight.copy_(table * (0.05 / table.std()))


def distill(
    model: Any, texts: Sequence[str], answers: Vectors, *, n_icon_texts: int, options: DistillOptions
) -> dict[str, float]:
    """Teach `model`'s text tower in place; the first `n_icon_texts` texts are those of icons. Return what was measured.

    `answers` are the teacher's, unit vectors (n, 384). One text in 100 is never drawn; `held_out_cosine` is the mean
    cosine to the teacher over those.
    """
    torch.manual_seed(options.seed)
    target = torch.from_numpy(answers)
    tokens = tokenize(texts)
    held_out = np.arange(len(texts)) % 100 == 99
    device = resolve_device("auto")
    tower, precision = TextTower(model.to(device)), resolve_precision(options.precision, device)
    batches = _batches(tokens, held_out, n_icon_texts=n_icon_texts, options=options)

    def loss_of(_: int) -> Tensor:
        rows = next(batches)
        with autocast(precision, device):
            student = tower.encode_short(tokens[rows].to(device))
        return _loss(student.float(), target[rows].to(device).float(), options=options)

    groups = [{"params": text_parameters(model), "peak": options.rate, "weight_decay": 0.01}]
    seconds = learn("Teaching English", groups, loss_of, n_steps=options.steps, schedule=WORDS)
    model.cpu()
    measured: dict[str, float] = {"seconds": round(seconds), "texts": len(texts)}
    if held_out.any():
        measured["held_out_cosine"] = round(held_out_cosine(model, tokens[held_out], target[held_out].float()), 4)
    return measured


def tokenize(texts: Sequence[str]) -> Tensor:
    """Token ids int64 (n, context) of open_clip's own tokenizer; longer texts are cut."""
    tokenizer = _tokenizer()
    return torch.cat([tokenizer(list(texts[start : start + 4096])) for start in range(0, len(texts), 4096)])


@functools.cache
def _tokenizer() -> open_clip.tokenizer.SimpleTokenizer:
    """Built once: it reads and sorts 49,408 tokens, and `relate` asks it in every step."""
    return open_clip.tokenizer.SimpleTokenizer(context_length=MODEL_CONFIG["text_cfg"]["context_length"])


@torch.inference_mode()
def held_out_cosine(model: nn.Module, tokens: Tensor, target: Tensor) -> float:
    """Mean cosine between the tower and the teacher, texts in any order."""
    return float((encode_by_length(TextTower(model), tokens) * target).sum(1).mean())


def _loss(student: Tensor, target: Tensor, *, options: DistillOptions) -> Tensor:
    """1 - cosine, squared difference of the batch's similarity matrices, and a small contrastive term."""
    own, across, theirs = student @ student.T, student @ target.T, target @ target.T
    right = torch.arange(len(student), device=student.device)
    contrast = functional.cross_entropy(across / options.temperature, right)
    cosine = 1 - across.diagonal().mean()
    return cosine + options.similarity_weight * functional.mse_loss(own, theirs) + options.contrast_weight * contrast


def _batches(tokens: Tensor, held_out: Mask, *, n_icon_texts: int, options: DistillOptions) -> Iterator[Ids]:
    """Batches of texts of nearly one length, so that little is padded: 16 at a time are drawn, sorted and cut."""
    drawn = np.flatnonzero(~held_out)
    icon, other = drawn[drawn < n_icon_texts], drawn[drawn >= n_icon_texts]
    pools = ((icon, options.icon_share), (other, 1 - options.icon_share)) if len(other) else ((icon, 1.0),)
    generator = np.random.default_rng(options.seed)
    shuffle = random.Random(options.seed)
    lengths = (tokens != 0).sum(1).numpy()
    left = options.steps
    while left:
        n_batches = min(16, left)
        rows = np.concatenate(
            [generator.choice(pool, max(1, round(n_batches * options.batch * share))) for pool, share in pools]
        )
        rows = rows[np.argsort(lengths[rows] + generator.random(len(rows)))]
        cut = np.array_split(rows, n_batches)
        shuffle.shuffle(cut)
        yield from cut
        left -= n_batches


_PICTURES = "visual."


def blend_folder(earlier: Path, later: Path, out: Path, *, share: float) -> None:
    """Write `later` with a text tower that is `share` its own and the rest that of `earlier`.

    Raises:
        ModelError: the two are not of one architecture.
    """
    check_replaceable(out)
    before, model = (load_model(find_checkpoint(ModelChoice(f"{LOCAL}{folder}"))) for folder in (earlier, later))
    weights, old = model.state_dict(), before.state_dict()
    if {name: it.shape for name, it in weights.items()} != {name: it.shape for name, it in old.items()}:
        raise ModelError(f'"{earlier}" and "{later}" are of different architectures; blend two that have one parent')
    for name, tensor in weights.items():
        if not name.startswith(_PICTURES) and tensor.is_floating_point():
            weights[name] = old[name].lerp(tensor, share)
    model.load_state_dict(weights)
    lineage = read_lineage(later)
    blends = [*lineage.get("blend", []), {"earlier": earlier.name, "later": later.name, "share": share}]
    write_folder(
        model, out, lineage=lineage | {"blend": blends}, card="# Words blended\n\nThe pictures are to follow.\n"
    )
