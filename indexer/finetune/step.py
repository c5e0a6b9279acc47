"""One step: features of every micro-batch, the loss of the whole batch, gradients."""

import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.autograd.profiler import record_function
from torch.nn import functional

from indexer.embedding.distributed import Rank
from indexer.errors import TrainError
from indexer.finetune.augment import moved
from indexer.finetune.batches import Draw, Part, Sides, pictures_of
from indexer.finetune.lesson import Lesson
from indexer.finetune.options import FinetuneOptions, Loss
from indexer.finetune.student import Student
from indexer.finetune.watch import TrainingReporter, silent_reporter

Features = dict[str, Tensor]
"""What a model says of some icons: unit vectors (n, dim) as `images` and `texts`, the logits' `scale` and `bias`; where
asked for, `seconds` of a second caption of each icon, and `words` whose similarities are to be kept."""


@dataclass(frozen=True, slots=True)
class Right:
    """What fits what in the rows of a batch that a rank compares, and what the parent said of the batch's words."""

    texts: Sides
    """Icon and caption."""
    seconds: Sides | None = None
    """Caption and second caption."""
    words: Tensor | None = None
    """The parent's vectors of the batch's words."""


def batch_loss(features: Features, right: Right, options: Loss, *, rank: Rank) -> tuple[Tensor, dict[str, Tensor]]:
    """Loss of the whole batch from this rank's features, and its terms; every rank gets the same unless it is local."""
    images, texts = gathered(features["images"]), gathered(features["texts"])
    n_own = len(features["images"])
    rows = slice(rank.index * n_own, (rank.index + 1) * n_own) if options.local else slice(0, len(images))
    scalars = (features["scale"], features["bias"])
    terms = {"contrast": both_ways(images, texts, scalars, right.texts, rows, options)}
    if "seconds" in features:
        assert right.seconds is not None
        seconds = gathered(features["seconds"])
        pair = both_ways(texts, seconds, scalars, right.seconds, rows, options)
        terms["caption pair"] = options.caption_pair_weight * pair
    if "words" in features:
        assert right.words is not None
        terms["keep words"] = options.keep_words_weight * keeping_loss(gathered(features["words"]), right.words)
    return torch.stack(list(terms.values())).sum(), {name: term.detach() for name, term in terms.items()}


def both_ways(
    first: Tensor, second: Tensor, scalars: tuple[Tensor, Tensor], right: Sides, rows: slice, options: Loss
) -> Tensor:
    """Loss of some `rows` of `first` against all of `second`, and of those of `second` against all of `first`."""
    own = torch.arange(len(first), device=first.device)[rows]
    masked = options.related == "masked"
    if options.kind == "sigmoid":  # symmetric in itself: every pair counts once
        return sigmoid_loss(first[rows], second, scalars, right[0], own, masked=masked)
    there = softmax_loss(first[rows], second, scalars[0], right[0], own, masked=masked)
    back = softmax_loss(second[rows], first, scalars[0], right[1], own, masked=masked)
    return (there + back) / 2


def softmax_loss(rows: Tensor, columns: Tensor, scale: Tensor, right: Tensor, own: Tensor, *, masked: bool) -> Tensor:
    """Mean cross entropy from each row to all columns (CLIP, Radford et al. 2021), a scalar.

    `rows` (n, dim) and `columns` (m, dim) are unit vectors, `right` bool (n, m) says which columns fit a row, `own`
    int64 (n,) which column was drawn for it. What else fits shares the target, or is left out (`masked`).
    """
    logits = scale * rows @ columns.T
    if masked:
        logits = logits.masked_fill(right & ~_is_own(right, own), -math.inf)
        return functional.cross_entropy(logits, own)
    targets = right.to(logits.dtype)
    return functional.cross_entropy(logits, targets / targets.sum(1, keepdim=True))


def sigmoid_loss(
    rows: Tensor, columns: Tensor, scalars: tuple[Tensor, Tensor], right: Tensor, own: Tensor, *, masked: bool
) -> Tensor:
    """Log loss of every pair on its own, summed over columns, mean over rows (SigLIP, Zhai et al. 2023), a scalar.

    Takes what `softmax_loss` takes, with scale and bias of the logits in `scalars`.
    """
    scale, bias = scalars
    logits = scale * rows @ columns.T + bias
    is_own = _is_own(right, own)
    signs = torch.where(is_own if masked else right, 1.0, -1.0)
    losses = -functional.logsigmoid(signs * logits)
    if masked:
        losses = losses.masked_fill(right & ~is_own, 0.0)
    return losses.sum() / len(rows)


def keeping_loss(vectors: Tensor, parents: Tensor) -> Tensor:
    """Mean squared difference of two similarity matrices over the same texts, from unit vectors (n, any dim) each."""
    return functional.mse_loss(vectors @ vectors.T, parents @ parents.T)


def _is_own(right: Tensor, own: Tensor) -> Tensor:
    return torch.zeros_like(right).scatter_(1, own[:, None], True)


def gathered(vectors: Tensor) -> Tensor:
    """Concatenate all ranks' vectors in rank order; gradients flow back to the rank that each came from.

    Every rank then computes the loss of the whole batch. The backward pass of the gather sums W equal gradients, which
    DDP's averaging over W ranks cancels: parameters get exactly the gradient of the whole batch's loss. With a local
    loss the W gradients differ, and their mean is that gradient.
    """
    return cast(Tensor, _Gather.apply(vectors)) if dist.is_initialized() else vectors


class _Gather(torch.autograd.Function):
    """All ranks' rows; backward adds up what every rank's loss says about this rank's rows."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor) -> Tensor:
        """Rows of all ranks, in rank order."""
        vectors = vectors.contiguous()
        parts = [torch.empty_like(vectors) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, vectors)
        return torch.cat(parts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        """Own rows of the sum over ranks."""
        total = gradients[0].clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total)
        return total.chunk(dist.get_world_size())[dist.get_rank()]


SCALARS = ("scale", "bias")
Inputs = tuple[Tensor, Tensor, Tensor | None, Tensor | None]


@dataclass(slots=True)
class Session:
    """What a rank trains with; `wrapped` is the student under DDP, or the student itself."""

    student: Student
    wrapped: nn.Module
    optimizer: torch.optim.Optimizer
    scaler: torch.amp.GradScaler
    lesson: Lesson
    options: FinetuneOptions
    rank: Rank
    device: torch.device
    reporter: TrainingReporter = field(default_factory=silent_reporter)


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a step has shown; `terms` are the parts of the loss."""

    loss: float
    terms: dict[str, float]
    gradient_norm: float


def take_step(session: Session, draw: Draw, parts: list[Part], *, step: int) -> StepResult:
    """Compute gradients from this rank's micro-batches and update the weights.

    Raises:
        TrainError: the loss or the gradient is no number any more; the weights are as before.
    """
    session.optimizer.zero_grad(set_to_none=True)
    loss, terms = compute_gradients(session, draw, parts, step=step)
    if not math.isfinite(loss):
        raise no_number("loss", loss, step=step)
    with record_function("icons: compute"):
        gradient_norm = _update(session, step)
    return StepResult(loss, terms, gradient_norm)


def _update(session: Session, step: int) -> float:
    """Clip the gradients, change the weights, and return the norm that the gradients had."""
    session.scaler.unscale_(session.optimizer)
    trained = [parameter for group in session.optimizer.param_groups for parameter in group["params"]]
    norm = nn.utils.clip_grad_norm_(trained, session.options.schedule.clip)
    gradient_norm = float(norm.full_tensor() if hasattr(norm, "full_tensor") else norm)
    if not math.isfinite(gradient_norm) and not session.scaler.is_enabled():
        raise no_number("gradient", gradient_norm, step=step)
    session.scaler.step(session.optimizer)
    session.scaler.update()
    session.student.limit_scale()
    return gradient_norm


def check_sound(session: Session, part: Part, *, step: int) -> None:
    """See that the weights after a step still say something, before they are kept: the loss was of those before it.

    Raises:
        TrainError: a vector, the scale or the bias is no number.
    """
    session.student.eval()  # batch norms look at nothing then
    with torch.no_grad():
        features: Features = session.student(*_inputs_of(part, session.device))
    session.student.train()
    if not all(bool(tensor.isfinite().all()) for tensor in features.values()):
        raise no_number("model", math.nan, step=step)


def no_number(what: str, value: float, *, step: int) -> TrainError:
    """Say what became infinite or undefined at a step (counted from 0), and how to go on."""
    return TrainError(
        f'the {what} is "{value}" at step {step + 1}; the last good checkpoint stays: give a lower --rate, and '
        "--resume to go on from there"
    )


def compute_gradients(session: Session, draw: Draw, parts: list[Part], *, step: int) -> tuple[float, dict[str, float]]:
    """Add the gradient of the whole batch's loss to the parameters; return the loss and its terms.

    With several micro-batches features are computed first without a graph, the loss is differentiated by them, and
    each micro-batch is computed again to carry its share of that gradient to the parameters (Gao et al. 2021, "Scaling
    deep contrastive learning batch size under memory limited setup"): memory of one, loss of all.
    """
    with record_function("icons: data"):
        right = rights_of(session, draw)
        inputs = [_inputs_of(part, session.device) for part in parts]
    seeds = [_seed(session, step, number) for number in range(len(parts))]
    if len(parts) == 1:
        torch.manual_seed(seeds[0])
        with record_function("icons: compute"):
            features: Features = session.wrapped(*inputs[0])
            loss, terms = batch_loss(features, right, session.options.loss, rank=session.rank)
            session.scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
            _average_scalars(session)
            return _reported(session, loss, terms)  # in which the host waits for the device
    with record_function("icons: compute"):
        leaves = _features_without_graph(session, inputs, seeds)
        loss, terms = batch_loss(_joined(leaves), right, session.options.loss, rank=session.rank)
        session.scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
        for number, (leaf, part, seed) in enumerate(zip(leaves, inputs, seeds, strict=True)):
            session.reporter.live()
            torch.manual_seed(seed)
            with _synchronised(session, is_last=number == len(parts) - 1):
                features = session.wrapped(*part)
                _carry(features, leaf, scalars=leaves[-1], n_parts=len(parts)).backward()  # type: ignore[no-untyped-call]
        _average_scalars(session)
        return _reported(session, loss, terms)


def rights_of(session: Session, draw: Draw) -> Right:
    """What fits what in the rows of a step that this rank compares."""
    kept, words = session.lesson.kept_words, None
    texts, *seconds = draw.relations.spelled(session.device, twins=session.options.loss.twin_similarity)
    if draw.words is not None and kept is not None:
        words = moved(kept.vectors[torch.from_numpy(draw.words)].float(), session.device)
    return Right(texts, seconds[0] if seconds else None, words)


def _inputs_of(part: Part, device: torch.device) -> Inputs:
    texts = (None if tensor is None else moved(tensor, device) for tensor in (part.texts, part.seconds, part.words))
    return cast(Inputs, (pictures_of(part, device), *texts))


def _features_without_graph(session: Session, inputs: list[Inputs], seeds: list[int]) -> list[Features]:
    """Features of each micro-batch as leaves that will collect the loss's gradient."""
    leaves = []
    with torch.no_grad(), _statistics_held(session.student):
        for part, seed in zip(inputs, seeds, strict=True):
            session.reporter.live()
            torch.manual_seed(seed)
            leaves.append(session.student(*part))
    return [{name: tensor.detach().requires_grad_() for name, tensor in leaf.items()} for leaf in leaves]


def _joined(parts: list[Features]) -> Features:
    """Concatenate the features of micro-batches; the scalars are those of the last one."""
    whole = {name: torch.cat([part[name] for part in parts]) for name in parts[0] if name not in SCALARS}
    return whole | {name: parts[-1][name] for name in SCALARS}


def _carry(features: Features, leaf: Features, *, scalars: Features, n_parts: int) -> Tensor:
    """A scalar whose gradient is the loss's share of one micro-batch; scale and bias bring an equal share each time."""
    total = torch.zeros((), device=features["images"].device)
    for name, tensor in features.items():
        collected = leaf[name].grad
        if name not in SCALARS:
            assert collected is not None
            total = total + (tensor * collected).sum()
    for name in SCALARS:
        collected = scalars[name].grad
        total = total + features[name] * (0.0 if collected is None else collected / n_parts)
    return total


@contextmanager
def _statistics_held(student: nn.Module) -> Iterator[None]:
    """Let batch norms look at a batch without remembering it: it will come once more."""
    norms = [module for module in student.modules() if isinstance(module, nn.modules.batchnorm._BatchNorm)]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = 0.0
    try:
        yield
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum


def _synchronised(session: Session, *, is_last: bool) -> Any:
    """Let DDP exchange gradients in the last micro-batch alone.

    FSDP exchanges them after each: what it held back would be the gradients of the whole model on every rank.
    """
    if session.wrapped is session.student:
        return nullcontext()
    # A static graph is learnt from a first pass that exchanges gradients; averaging what is averaged changes nothing.
    if is_last or session.options.distribution.static_graph:
        return nullcontext()
    return session.wrapped.no_sync()  # type: ignore[operator]


def _average_scalars(session: Session) -> None:
    """Average the gradients of what FSDP leaves whole; without a local loss they are equal on all ranks already."""
    options = session.options
    if options.distribution.strategy == "fsdp" and options.loss.local:
        for parameter in session.student.parameters():
            if parameter.ndim == 0 and parameter.grad is not None:
                dist.all_reduce(parameter.grad)
                parameter.grad /= session.rank.world


def _seed(session: Session, step: int, number: int) -> int:
    """Of dropout: another one for each step, rank and micro-batch, and the same when a step is done again."""
    accumulate = session.options.distribution.accumulate
    return hash((session.options.schedule.seed, step, session.rank.index * accumulate + number)) % (1 << 62)


def _reported(session: Session, loss: Tensor, terms: dict[str, Tensor]) -> tuple[float, dict[str, float]]:
    values = torch.stack([loss.detach(), *terms.values()])
    if session.rank.world > 1 and session.options.loss.local:
        dist.all_reduce(values)
        values /= session.rank.world
    total, *others = values.tolist()
    return total, dict(zip(terms, others, strict=True))
