"""What is saved by not exchanging gradients before the last micro-batch? Accumulation as scripts do it, each by itself.

Each micro-batch has a loss of its own, so features are computed once, and wrong answers come from the micro-batch
alone. `icons finetune` compares the whole batch instead, and so computes features twice.
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from indexer.arrays import Ids
from indexer.finetune.run.batches import Draw, Part, share_of
from indexer.finetune.run.relations import list_relations
from indexer.finetune.run.step import Session, compute_gradients


def accumulate_plainly(
    session: Session, draw: Draw, parts: list[Part], *, step: int, exchanges_each: bool
) -> tuple[float, dict[str, float]]:
    """Add up the gradients of micro-batches, and divide by their number; return the mean of loss and terms.

    `exchanges_each`: ranks average gradients after every micro-batch, as DDP does by itself; else after the last.
    """
    n = len(parts)
    told = []
    for number, part in enumerate(parts):
        micro = related(session, micro_batch(draw, number, accumulate=n, world=session.rank.world))
        with _exchange(session, now=exchanges_each or number == n - 1):
            told.append(compute_gradients(session, micro, [part], step=step * n + number))
    for parameter in session.student.parameters():
        if parameter.grad is not None:
            parameter.grad /= n
    terms = {name: sum(each[name] for _, each in told) / n for name in told[0][1]}
    return sum(loss for loss, _ in told) / n, terms


def micro_batch(draw: Draw, number: int, *, accumulate: int, world: int) -> Draw:
    """What all ranks together have in one of their micro-batches, rank after rank; relations are those of the whole."""

    def of_ranks(drawn: Ids) -> Ids:
        cuts = np.array_split(drawn, world * accumulate)
        return np.concatenate(cuts[number::accumulate])

    return replace(
        draw,
        icons=of_ranks(draw.icons),
        captions=of_ranks(draw.captions),
        seconds=None if draw.seconds is None else of_ranks(draw.seconds),
        words=None if draw.words is None else of_ranks(draw.words),
    )


def related(session: Session, micro: Draw) -> Draw:
    """List what belongs together within a micro-batch, for the rows that this rank compares."""
    loss, rank, n = session.options.loss, session.rank, len(micro.icons)
    rows = share_of(n, rank.index, rank.world) if loss.local else slice(0, n)
    drawn = [micro.captions] if micro.seconds is None else [micro.captions, micro.seconds]
    return replace(micro, relations=list_relations(session.lesson, micro.icons, drawn, loss=loss, rows=rows))


def _exchange(session: Session, *, now: bool) -> AbstractContextManager[Any]:
    """Let ranks exchange gradients in the next backward pass, or not."""
    student: Any = session.student
    if hasattr(student, "set_requires_gradient_sync"):  # under FSDP
        student.set_requires_gradient_sync(now)
        return nullcontext()
    if now or session.wrapped is student:
        return nullcontext()
    without: AbstractContextManager[Any] = session.wrapped.no_sync()  # type: ignore[operator]
    return without
