"""One step: features of every micro-batch, the loss of the whole batch, gradients, and how fast weights follow them."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.nn.functional import all_gather
from torch.nn import functional
from torch.utils._pytree import tree_leaves, tree_map_only

from indexer.encoders.torch_encoder import capture
from indexer.errors import DeviceError, TrainError
from indexer.finetune.augment import as_floats, augment
from indexer.finetune.batches import Draw, Part, Relations, Sides
from indexer.finetune.lesson import Lesson
from indexer.finetune.options import FinetuneOptions, Loss, Schedule, TrainingProgress, TrainingReporter
from indexer.finetune.student import Student, limit_scale, text_parameters, whole
from indexer.ranks import Rank
from indexer.reports.terminal import span

Features = dict[str, Tensor]
"""What a model says of some icons: unit vectors (n, dim) as `images` and `texts`, the logits' `scale` and `bias`; where
asked for, `seconds` of a second caption of each icon, and `words` whose similarities are to be kept."""


def batch_loss(
    features: Features, right: Sequence[Sides], parents: Tensor | None, options: Loss, *, rank: Rank
) -> tuple[Tensor, dict[str, Tensor]]:
    """Loss of the whole batch from this rank's features, and its terms; every rank gets the same unless it is local.

    `right` says what fits what in the rows that this rank compares: icon and caption, then caption and second caption;
    `parents` are the parent's vectors of the batch's words.
    """
    images, texts = gathered(features["images"]), gathered(features["texts"])
    n_own = len(features["images"])
    rows = slice(rank.index * n_own, (rank.index + 1) * n_own) if options.local else slice(0, len(images))
    scalars = (features["scale"], features["bias"])
    terms = {"contrast": both_ways(images, texts, scalars, right[0], rows, options)}
    if "seconds" in features:
        pair = both_ways(texts, gathered(features["seconds"]), scalars, right[1], rows, options)
        terms["caption pair"] = options.caption_pair_weight * pair
    if parents is not None:
        terms["keep words"] = options.keep_words_weight * keeping_loss(gathered(features["words"]), parents)
    return torch.stack(list(terms.values())).sum(), {name: term.detach() for name, term in terms.items()}


def both_ways(
    first: Tensor, second: Tensor, scalars: tuple[Tensor, Tensor], right: Sides, rows: slice, options: Loss
) -> Tensor:
    """Loss of some `rows` of `first` against all of `second`, and of those of `second` against all of `first`."""
    own, masked = torch.arange(len(first), device=first.device)[rows], options.related == "masked"
    if options.kind == "sigmoid":  # symmetric in itself: every pair counts once
        return sigmoid_loss(first[rows], second, scalars, right[0], own, masked=masked)
    there = softmax_loss(first[rows], second, scalars[0], right[0], own, masked=masked)
    return (there + softmax_loss(second[rows], first, scalars[0], right[1], own, masked=masked)) / 2


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
    logits, is_own = scalars[0] * rows @ columns.T + scalars[1], _is_own(right, own)
    signs = torch.where(is_own if masked else right, 1.0, -1.0)
    losses = -functional.logsigmoid(signs * logits)
    return (losses.masked_fill(right & ~is_own, 0.0) if masked else losses).sum() / len(rows)


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
    return torch.cat(all_gather(vectors)) if dist.is_initialized() else vectors  # type: ignore[no-untyped-call]


UNDECAYED = {"text_map", "positional_embedding", "pos_embed", "cls_token"}


def make_optimizer(student: Student, options: FinetuneOptions) -> torch.optim.Optimizer:
    """What a student learns by; norms, biases, positions, the text map and the logits' scale do not decay.

    No fused kernel takes sharded tensors on every device.
    """
    texts = {id(parameter) for parameter in text_parameters(student.model)}
    visual = {id(parameter) for parameter in student.model.visual.parameters()}
    members = defaultdict[tuple[str, bool], list[nn.Parameter]](list)
    for name, parameter in ((name, it) for name, it in student.named_parameters() if it.requires_grad):
        tower = "pictures" if id(parameter) in visual else "texts" if id(parameter) in texts else "map"
        decays = parameter.ndim > 1 and name.rsplit(".", 1)[-1] not in UNDECAYED
        members[tower, decays].append(parameter)
    towers, schedule, decay = options.towers, options.schedule, options.schedule.weight_decay
    factors = {"pictures": towers.picture_rate, "texts": towers.text_rate, "map": towers.map_rate}
    groups = [
        {"params": members[key], "name": key[0], "peak": schedule.rate * factor, "weight_decay": decay * key[1]}
        for tower, factor in factors.items()
        for key in ((tower, True), (tower, False))
        if members[key]
    ]
    return make_adamw(groups, fused=options.distribution.strategy == "ddp")


def make_adamw(groups: Sequence[dict[str, Any]], *, fused: bool = True) -> torch.optim.Optimizer:
    """AdamW over groups of parameters, each with its highest rate as `peak`."""
    return torch.optim.AdamW(list(groups), lr=groups[0]["peak"], betas=(0.9, 0.98), eps=1e-8, fused=fused)


def steps(optimizer: torch.optim.Optimizer, *, n_steps: int, schedule: Schedule, first: int = 0) -> Iterator[int]:
    """Yield the numbers of the steps to take, every group of the optimizer at its rate for it."""
    for step in range(first, n_steps):
        for group in optimizer.param_groups:
            group["lr"] = group["peak"] * rate_share(step / n_steps, schedule)
        yield step


def rate_share(done: float, schedule: Schedule) -> float:
    """Share of the peak rate after a share `done` of all steps: linear from near zero, then a cosine to the end."""
    if done < schedule.warm_up:
        return 0.01 + 0.99 * done / schedule.warm_up
    left = (done - schedule.warm_up) / max(1e-9, 1 - schedule.warm_up)
    return schedule.final_rate + (1 - schedule.final_rate) * (0.5 + 0.5 * math.cos(math.pi * min(1.0, left)))


SCALARS = ("scale", "bias")


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
    reporter: TrainingReporter = field(default_factory=lambda: TrainingReporter(lambda _: None, TrainingProgress(0, 1)))
    graphs: "StepGraphs | None" = None
    """Of its passes, where they may be captured: on one GPU, the whole batch at once."""


class Taken(NamedTuple):
    """A step that a device was told to take: `values` are its loss, the named terms and the gradient's norm there."""

    step: int
    names: Sequence[str]
    values: Tensor
    rates: dict[str, float]
    """By what each group of weights followed its gradient."""


def take_step(session: Session, draw: Draw, parts: list[Part], *, step: int) -> Taken:
    """Have gradients computed from this rank's micro-batches, and the weights updated; nobody waits for that.

    Where loss or gradient are no numbers the weights stay, unless they are sharded; `read_results` says so.
    """
    optimizer, options = session.optimizer, session.options
    loss, terms = compute_gradients(session, draw, parts, step=step)
    with span("optimiser"):
        session.scaler.unscale_(optimizer)
        trained = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        norm = whole(nn.utils.clip_grad_norm_(trained, options.schedule.clip, foreach=True))
        values = torch.stack([loss, *terms.values(), norm])
        if not session.scaler.is_enabled() and options.distribution.strategy == "ddp":
            optimizer.found_inf = 1 - values.isfinite().all().float()  # type: ignore[attr-defined] # as a scaler does
        session.scaler.step(optimizer)
        session.scaler.update()
        limit_scale(session.student.model.logit_scale)
    return Taken(step, list(terms), values, {group["name"]: group["lr"] for group in optimizer.param_groups})


def read_results(session: Session, taken: Sequence[Taken]) -> Iterator[dict[str, Any]]:
    """Wait for the device to take steps, and say what came of each: loss, its terms, and norm of the gradient.

    Raises:
        TrainError: a loss or a gradient is no number any more.
    """
    for it, (loss, *terms, norm) in zip(taken, torch.stack([it.values for it in taken]).tolist(), strict=True):
        for what, value in (("loss", loss), ("gradient", loss if session.scaler.is_enabled() else norm)):
            if not math.isfinite(value):
                raise no_number(what, value, step=it.step)
        yield {"loss": loss, "terms": dict(zip(it.names, terms, strict=True)), "gradient_norm": norm}


def check_sound(session: Session, part: Part, *, step: int) -> None:
    """See that the weights after a step still say something, before they are kept: the loss was of those before it.

    Raises:
        TrainError: a vector, the scale or the bias is no number.
    """
    session.student.eval()  # batch norms look at nothing then
    with torch.no_grad():
        features: Features = session.student(*_inputs_of(part))
    session.student.train()
    if not all(bool(tensor.isfinite().all()) for tensor in features.values()):
        raise no_number("model", math.nan, step=step)


def no_number(what: str, value: float, *, step: int) -> TrainError:
    """Say what became infinite or undefined at a step (counted from 0), and how to go on."""
    return TrainError(
        f'the {what} is "{value}" at step {step + 1}; the last good checkpoint stays: give a lower --rate, and '
        "--resume to go on from there"
    )


def compute_gradients(
    session: Session, draw: Draw, parts: list[Part], *, step: int
) -> tuple[Tensor, dict[str, Tensor]]:
    """Have the parameters hold the gradient of the whole batch's loss; return the loss and its terms."""
    options, rank = session.options, session.rank
    parents = None if draw.parents is None else draw.parents.float()
    inputs = [_inputs_of(part) for part in parts]
    first = rank.index * options.distribution.accumulate  # dropout is another one for each step, rank and micro-batch
    seeds = [hash((options.schedule.seed, step, first + number)) % (1 << 62) for number in range(len(parts))]
    if len(parts) > 1:
        loss, terms = _in_micro_batches(session, inputs, draw.relations, parents, seeds)
    else:
        batch = Batch(*inputs[0], draw.relations, parents)
        torch.manual_seed(seeds[0])
        loss, terms = session.graphs.take(session, batch, seeds[0]) if session.graphs else _at_once(session, batch)
    if options.distribution.strategy == "fsdp" and options.loss.local:
        for parameter in session.student.parameters():
            if parameter.ndim == 0 and parameter.grad is not None:  # which FSDP leaves whole
                dist.all_reduce(parameter.grad)
                parameter.grad.div_(rank.world)
    if rank.world > 1 and options.loss.local:
        values = torch.stack([loss, *terms.values()])
        dist.all_reduce(values)
        loss, *others = (values / rank.world).unbind()
        terms = dict(zip(terms, others, strict=True))
    return loss, terms


class Batch(NamedTuple):
    """What a rank computes from where it takes its pictures at once: what a student takes, and what fits what."""

    pictures: Tensor
    counts: tuple[int, int, int]
    texts: Tensor
    longest: int
    relations: Relations
    parents: Tensor | None


def _at_once(session: Session, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
    """Pass forward and back. Where graphs write gradients, too, these stay in their place."""
    *inputs, relations, parents = batch
    session.optimizer.zero_grad(set_to_none=session.graphs is None)
    return _differentiated(session, session.wrapped(*inputs), relations, parents)


def _differentiated(
    session: Session, features: Features, relations: Relations, parents: Tensor | None
) -> tuple[Tensor, dict[str, Tensor]]:
    """Carry the loss of the whole batch back to what features come from; return it and its terms."""
    options = session.options.loss
    right = relations.spelled(twins=options.twin_similarity)
    loss, terms = batch_loss(features, right, parents, options, rank=session.rank)
    session.scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
    return loss.detach(), terms


def _in_micro_batches(
    session: Session, inputs: Sequence[tuple[Any, ...]], relations: Relations, parents: Tensor | None, seeds: list[int]
) -> tuple[Tensor, dict[str, Tensor]]:
    """Memory of one micro-batch, loss of all.

    Features are computed first without a graph, the loss is differentiated by them, and each micro-batch is computed
    again to carry its share of that gradient to the parameters (Gao et al. 2021, "Scaling deep contrastive learning
    batch size under memory limited setup").
    """
    session.optimizer.zero_grad(set_to_none=True)
    leaves = _features_without_graph(session, inputs, seeds)
    features = leaves[-1] | {  # whose scalars are those of all
        name: torch.cat([leaf[name] for leaf in leaves]) for name in leaves[0] if name not in SCALARS
    }
    loss, terms = _differentiated(session, features, relations, parents)
    # FSDP holds no gradients back: they would be those of the whole model on every rank. A static graph is learnt
    # from a first pass that exchanges gradients; averaging what is averaged changes nothing.
    exchanges_always = session.wrapped is session.student or session.options.distribution.static_graph
    for leaf, part, seed in zip(leaves, inputs, seeds, strict=True):
        session.reporter.live()
        torch.manual_seed(seed)
        with nullcontext() if part is inputs[-1] or exchanges_always else session.wrapped.no_sync():  # type: ignore[operator]
            carried = _carry(session.wrapped(*part), leaf, scalars=leaves[-1], n_parts=len(inputs))
            carried.backward()  # type: ignore[no-untyped-call]
    return loss, terms


WARM_UPS = 3
"""Steps before a capture, as torch asks for: libraries allocate in the first ones."""
TOKENS_APART = 8
"""Texts of a graph are cut to a multiple of so many tokens: there are few graphs, and little is padded."""
GRAPH_PARITY = 0.01
"""How far a graph's gradient may be from that of the pass that was captured, of the norm of that."""


class Captured(NamedTuple):
    """A pass that was captured: its graph, what that reads, and the loss and terms that it writes."""

    graph: Any
    read: Batch
    written: tuple[Tensor, dict[str, Tensor]]


@dataclass(slots=True)
class StepGraphs:
    """Passes of a step as CUDA graphs, by how long texts are: the host launches one instead of hundreds of operations.

    They share their memory: one runs after the other, and what it writes is read before the next.
    """

    n_warm_ups: int = 0
    captured: dict[int, Captured] = field(default_factory=dict)
    why_not: str = ""
    """What stands against them; then there are no more."""

    def take(self, session: Session, batch: Batch, seed: int) -> tuple[Tensor, dict[str, Tensor]]:
        """Have gradients computed by a graph, where there is one; else pass as usual, and capture that for the next."""
        batch = batch._replace(longest=-(-batch.longest // TOKENS_APART) * TOKENS_APART)
        if found := self.captured.get(batch.longest):
            torch._foreach_copy_(_tensors(found.read), _tensors(batch))
            found.graph.replay()
            return found.written
        taken = _at_once(session, batch)
        self.n_warm_ups += 1
        if self.n_warm_ups > WARM_UPS and not self.why_not:
            try:
                self.captured[batch.longest] = self._capture(session, batch, seed)
            except (DeviceError, torch.OutOfMemoryError) as error:
                self.why_not = str(error).partition("\n")[0]
                session.reporter.note(f"steps are not captured as a graph: {self.why_not}")
                session.reporter.note("")
        return taken

    def _capture(self, session: Session, batch: Batch, seed: int) -> Captured:
        """Capture a pass that was just taken; gradients and batch norms stay as that has left them.

        Raises:
            DeviceError: it can't be captured, or its graph finds other gradients.
        """
        if 2 * torch.cuda.max_memory_allocated() > torch.cuda.mem_get_info()[1]:  # a failed capture gives none back
            raise DeviceError("they take more than half of the GPU's memory")
        read = tree_map_only(Tensor, torch.clone, batch)
        gradients = [it.grad for it in session.student.parameters() if it.grad is not None]
        changed = [*gradients, *session.student.buffers()]
        before = [tensor.clone() for tensor in changed]
        expected = before[: len(gradients)]
        pool = next((other.graph.pool() for other in self.captured.values()), None)
        graph, written = capture(lambda: _at_once(session, read), pool=pool)
        torch._foreach_zero_(gradients)
        torch.manual_seed(seed)
        graph.replay()
        apart = nn.utils.get_total_norm(torch._foreach_sub(gradients, expected))
        torch._foreach_copy_(changed, before)
        limit = GRAPH_PARITY * nn.utils.get_total_norm(expected)
        if limit.isfinite() and not apart <= limit:
            raise DeviceError("its gradients differ from those of the pass that was captured")
        return Captured(graph, read, written)


def _tensors(batch: Batch) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(batch) if isinstance(leaf, Tensor)]


def _inputs_of(part: Part) -> tuple[Tensor, tuple[int, int, int], Tensor, int]:
    return augment(as_floats(part.pixels), part.changes), part.counts, part.texts, part.longest


def _features_without_graph(session: Session, inputs: Sequence[tuple[Any, ...]], seeds: list[int]) -> list[Features]:
    """Features of each micro-batch as leaves that will collect the loss's gradient.

    Batch norms look at a batch without remembering it: it will come once more.
    """
    leaves, statistics = list[Features](), [*session.student.buffers()]
    before = [tensor.clone() for tensor in statistics]
    for part, seed in zip(inputs, seeds, strict=True):
        session.reporter.live()
        torch.manual_seed(seed)
        with torch.no_grad():
            leaves.append(session.student(*part))
    torch._foreach_copy_(statistics, before)
    return [{name: tensor.detach().requires_grad_() for name, tensor in leaf.items()} for leaf in leaves]


def _carry(features: Features, leaf: Features, *, scalars: Features, n_parts: int) -> Tensor:
    """A scalar whose gradient is the loss's share of one micro-batch; scale and bias bring an equal share each time."""
    total = torch.zeros((), device=features["images"].device)
    for name, tensor in features.items():
        collected = (scalars if name in SCALARS else leaf)[name].grad  # the bias of softmax has none
        share = tensor * (0.0 if collected is None else collected)
        total = total + (share / n_parts if name in SCALARS else share.sum())
    return total
