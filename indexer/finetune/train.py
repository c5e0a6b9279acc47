"""How does a picture tower learn to say what icons mean? The loop: one process, or several under torchrun.

Reads a corpus folder and a start folder (open_clip, its text tower taught by `distill`), writes checkpoints and in the
end an open_clip folder. The text tower is locked: every caption is encoded once, and only a linear map over its
vectors is trained, which the saved model carries inside its text projection.

    python -m indexer.finetune train --corpus CORPUS --parent FOLDER --out FOLDER [--resume]
    torchrun --nproc-per-node 2 -m indexer.finetune train ...
"""

import json
import math
import sys
import time
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

from indexer.distributed import Rank
from indexer.errors import ModelError
from indexer.finetune.batches import Augmentation, Batch, epoch, make_batch
from indexer.finetune.lesson import Lesson
from indexer.finetune.loss import contrastive_loss, gathered, gathered_ids, soft_targets
from indexer.finetune.validation import recall_on_held_out


@dataclass(frozen=True, slots=True)
class TrainOptions:
    """How a model is trained; saved in its lineage. `batch` is over all ranks."""

    passes: int = 8
    batch: int = 512
    rate: float = 1.5e-3
    map_rate: float = 3e-4
    weight_decay: float = 0.05
    warm_up: float = 0.08
    """Share of all steps."""
    precision: str = "bf16"
    seed: int = 0
    checkpoint_seconds: float = 180.0
    augmentation: Augmentation = field(default_factory=Augmentation)


class Pair(nn.Module):
    """The picture tower, and the map over the locked text tower's vectors."""

    def __init__(self, visual: nn.Module, dim: int, *, logit_scale: float) -> None:
        super().__init__()
        self.visual = visual
        self.text_map = nn.Parameter(torch.eye(dim))
        self.logit_scale = nn.Parameter(torch.tensor(logit_scale))

    def forward(self, images: Tensor, texts: Tensor, *, half: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Unit vectors of pictures (n, dim) and of captions (n, dim), and the scale of the logits."""
        with torch.autocast(images.device.type, dtype=torch.bfloat16, enabled=half):
            pictures = self.visual(images)
        return (
            functional.normalize(pictures.float(), dim=-1),
            functional.normalize(texts @ self.text_map, dim=-1),
            self.logit_scale.clamp(max=math.log(100)).exp(),
        )


@dataclass(slots=True)
class Progress:
    """Where a run stands; `step` counts over all passes."""

    step: int = 0
    seconds: float = 0.0
    history: list[dict[str, float]] = field(default_factory=list)


def train(pair: Pair, lesson: Lesson, *, options: TrainOptions, checkpoint: Path, resume: bool = False) -> Progress:
    """Train `pair` in place on `lesson`; every rank calls this. `checkpoint` is written now and then, by rank 0.

    Raises:
        ModelError: fewer icons than a batch, a loss that is no number, or no fitting checkpoint to resume from.
    """
    rank = Rank.from_environment()
    optimizer = _optimizer(pair, options)
    progress = _restored(pair, optimizer, checkpoint) if resume else Progress()
    wrapped = DistributedDataParallel(pair) if rank.world > 1 else pair
    per_pass = len(lesson.train_rows) // options.batch
    if per_pass == 0:
        raise ModelError(
            f'"{options.batch}" icons a batch, but only {len(lesson.train_rows)} to learn; use a smaller --batch'
        )
    n_steps = per_pass * options.passes
    saved, loss = time.monotonic(), math.nan
    started = saved - progress.seconds
    while progress.step < n_steps:
        number, done = divmod(progress.step, per_pass)
        parts = epoch(
            lesson.train_rows, batch=options.batch, seed=options.seed, number=number, rank=rank.index, world=rank.world
        )
        for part in islice(parts, done, None):
            _set_rates(optimizer, done=progress.step / n_steps, options=options)
            seed = (options.seed, progress.step, rank.index)
            batch = make_batch(lesson.pixels, lesson.captions, part, seed=seed, change=options.augmentation)
            loss = _step(wrapped, optimizer, batch, lesson, half=options.precision == "bf16")
            progress.step, progress.seconds = progress.step + 1, time.monotonic() - started
            if rank.index == 0 and progress.step % 20 == 0:
                _report(progress, loss, n_steps=n_steps, batch=options.batch)
            if rank.index == 0 and time.monotonic() - saved >= options.checkpoint_seconds:
                save_checkpoint(pair, optimizer, progress, checkpoint)
                saved = time.monotonic()
        if rank.index == 0:
            progress.history.append({"pass": number + 1, "loss": round(loss, 4), **recall_on_held_out(pair, lesson)})
            sys.stderr.write(f"train: {json.dumps(progress.history[-1])}\n")
            save_checkpoint(pair, optimizer, progress, checkpoint)
    return progress


def _step(wrapped: nn.Module, optimizer: torch.optim.Optimizer, batch: Batch, lesson: Lesson, *, half: bool) -> float:
    loss = batch_loss(wrapped, batch, lesson, half=half)
    if not torch.isfinite(loss):
        raise ModelError("the loss is no number any more; lower --rate and run again with --resume")
    optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(wrapped.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def batch_loss(wrapped: nn.Module, batch: Batch, lesson: Lesson, *, half: bool) -> Tensor:
    """Loss of the whole batch over all ranks, from this rank's part of it; the same value on every rank."""
    texts = lesson.text_vectors[torch.from_numpy(batch.captions)].float()
    images, texts, scale = wrapped(batch.images, texts, half=half)
    icons, drawn = gathered_ids(batch.icons), gathered_ids(batch.captions)
    targets = soft_targets(lesson.captions, lesson.bases, icons=icons, drawn=drawn)
    return contrastive_loss(gathered(images), gathered(texts), scale, targets)


def _optimizer(pair: Pair, options: TrainOptions) -> torch.optim.Optimizer:
    """AdamW; no decay for norms and biases, nor for the map, which shall stay near the identity that it starts from."""
    matrices = [parameter for parameter in pair.visual.parameters() if parameter.ndim > 1]
    vectors = [parameter for parameter in pair.visual.parameters() if parameter.ndim <= 1]
    groups = [
        {"params": matrices, "peak": options.rate, "weight_decay": options.weight_decay},
        {"params": vectors, "peak": options.rate, "weight_decay": 0.0},
        {"params": [pair.text_map, pair.logit_scale], "peak": options.map_rate, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=options.rate, betas=(0.9, 0.98), fused=True)


def _set_rates(optimizer: torch.optim.Optimizer, *, done: float, options: TrainOptions) -> None:
    """Linear warm-up, then a cosine to a hundredth."""
    warm = done / options.warm_up
    cosine = 0.01 + 0.99 * (0.5 + 0.5 * math.cos(math.pi * (done - options.warm_up) / (1 - options.warm_up)))
    for group in optimizer.param_groups:
        group["lr"] = group["peak"] * (warm + 0.01 if warm < 1 else cosine)


def _report(progress: Progress, loss: float, *, n_steps: int, batch: int) -> None:
    rate = progress.step * batch / progress.seconds
    left = (n_steps - progress.step) * progress.seconds / progress.step
    sys.stderr.write(
        f"train: step {progress.step:,} of {n_steps:,}, loss {loss:.3f}, "
        f"{rate:,.0f} images/s, {left / 60:.0f} min left\n"
    )


def save_checkpoint(pair: Pair, optimizer: torch.optim.Optimizer, progress: Progress, path: Path) -> None:
    """Write all that a resumed run needs; random choices depend on the step alone, so no generator is among it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {"pair": pair.state_dict(), "optimizer": optimizer.state_dict(), "progress": asdict(progress)}
    torch.save(state, path.with_suffix(".part"))
    path.with_suffix(".part").replace(path)


def _restored(pair: Pair, optimizer: torch.optim.Optimizer, path: Path) -> Progress:
    if not path.is_file():
        raise ModelError(f'no checkpoint at "{path}"; run without --resume')
    state: dict[str, Any] = torch.load(path, weights_only=True)
    try:
        pair.load_state_dict(state["pair"])
        optimizer.load_state_dict(state["optimizer"])
    except (RuntimeError, ValueError) as error:
        raise ModelError(f'the checkpoint "{path}" has another shape; run without --resume') from error
    return Progress(**state["progress"])
