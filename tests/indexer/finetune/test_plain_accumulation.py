"""Gradients added up as scripts do it: the mean of the micro-batches' own, each with its own loss."""

import numpy as np
import torch
from lessons import tiny_options, tiny_session

from indexer.bench.training.accumulation import accumulate_plainly, micro_batch, related
from indexer.bench.training.knobs import TrainKnobs
from indexer.bench.training.rank import arrange
from indexer.finetune.run.batches import Feed
from indexer.finetune.run.objective import batch_loss
from indexer.finetune.run.step import _given, compute_gradients, rights_of, take_step
from indexer.ranks.distributed import Rank


def test_a_micro_batch_is_what_the_parts_of_all_ranks_hold() -> None:
    options = tiny_options(accumulate=2)
    session = tiny_session(options)
    feeds = [Feed(session.lesson, options, Rank(rank, rank, 2)) for rank in range(2)]
    draw, _ = feeds[0].read(0)
    for number in range(2):
        micro = micro_batch(draw, number, accumulate=2, world=2)
        parts = [feed.read(0)[1][number] for feed in feeds]
        assert (session.lesson.pixels[micro.icons] == np.concatenate([part.pixels.numpy() for part in parts])).all()
        texts = torch.cat([part.texts for part in parts])
        assert torch.equal(session.lesson.texts_of(micro.captions), texts)


def test_the_loss_is_the_mean_of_those_of_the_micro_batches_and_so_is_the_gradient() -> None:
    options = tiny_options(accumulate=2)
    session = tiny_session(options)
    draw, parts = Feed(session.lesson, options, session.rank).read(0)
    total = torch.zeros(())
    for number, part in enumerate(parts):
        right = rights_of(session, related(session, micro_batch(draw, number, accumulate=2, world=1)))
        total = (
            total
            + batch_loss(session.student(*_given(part, session.device)), right, options.loss, rank=session.rank)[0] / 2
        )
    total.backward()
    wanted = {name: parameter.grad.clone() for name, parameter in session.student.named_parameters()}
    session.optimizer.zero_grad()
    loss, terms = accumulate_plainly(session, draw, parts, step=0, exchanges_each=False)
    assert abs(loss - total.item()) < 1e-5 and abs(terms["contrast"] - loss) < 1e-5
    for name, parameter in session.student.named_parameters():
        assert torch.allclose(parameter.grad, wanted[name], atol=1e-6), name
    session.optimizer.zero_grad()
    of_all, _ = compute_gradients(session, draw, parts, step=0)
    assert of_all > loss + 0.1, "twice as many wrong answers"


def test_a_step_takes_the_gradients_that_a_benchmark_asks_for() -> None:
    options = tiny_options(accumulate=2)
    losses = {}
    for accumulation in ("whole", "plain"):
        session = tiny_session(options)
        arrange(session, TrainKnobs(accumulate=2, accumulation=accumulation))  # type: ignore[arg-type]
        draw, parts = Feed(session.lesson, options, session.rank).read(0)
        losses[accumulation] = take_step(session, draw, parts, step=0).loss
    assert losses["plain"] < losses["whole"] - 0.1
