"""Ranks and micro-batches learn exactly what one process with the whole batch learns."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lessons import tiny_options, tiny_session
from played_cuda import Graph, Launches, play

from indexer.finetune import step as step_
from indexer.finetune.batches import Feed, order_of_pass
from indexer.finetune.options import FinetuneOptions
from indexer.finetune.step import Session, StepGraphs, compute_gradients, read_results, take_step
from indexer.ranks import MEETING, Rank

TERMS = {"caption_pair_weight": 0.5, "keep_words_weight": 3.0}
CASES: dict[str, dict[str, Any]] = {
    "ddp": {},
    "by hand": {"by_hand": True},
    "all terms": TERMS,
    "all with all": {"local": False, **TERMS},
    "sigmoid masked": {"kind": "sigmoid", "related": "masked"},
    "sigmoid, all with all": {"kind": "sigmoid", "local": False},
    "accumulated": {"accumulate": 2, **TERMS},
    "accumulated, static graph": {"accumulate": 2, "static_graph": True},
    "accumulated, all with all": {"accumulate": 4, "local": False, "kind": "sigmoid"},
    "locked with map": {"text_tower": "locked", **TERMS},
    "lora": {"text_tower": "lora", "picture_tower": "lora", "lora_rank": 2, "accumulate": 2},
    "weights that nobody asks": {"find_unused_parameters": True},
    "checkpointed": {"grad_checkpointing": True},
}

RESUMED: dict[str, dict[str, Any]] = {
    "whole models": {"ema": 0.6, "caption_pair_weight": 0.5},
    "additions": {"ema": 0.6, "text_tower": "lora", "picture_tower": "lora", "lora_rank": 2},
}

EXAMINED: dict[str, dict[str, Any]] = {
    "exam of whole models": {"ema": 0.6, "rate": 1e-2},
}


@pytest.fixture(scope="module")
def from_two_ranks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return found_by_two_ranks(
        tmp_path_factory.mktemp("gradients"), {"gradients": CASES, "resumed": RESUMED, "examined": EXAMINED}
    )


def found_by_two_ranks(folder: Path, cases: dict[str, dict[str, dict[str, Any]]]) -> dict[str, Any]:
    """What real ranks, by `ranks.py`, make of some cases; they meet without torchrun, which imports torch once more."""
    (folder / "cases.json").write_text(json.dumps(cases))
    command = [sys.executable, str(Path(__file__).with_name("ranks.py")), str(folder)]
    paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), MEETING: str(folder)}
    own = [{"RANK": number, "LOCAL_RANK": number, "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"} for number in "01"]
    ranks = [subprocess.Popen(command, stderr=subprocess.PIPE, env=os.environ | paths | it) for it in own]
    said = [rank.communicate(timeout=240)[1].decode()[-3000:] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0], said
    return torch.load(folder / "found.pt", weights_only=True)


def alone(options: FinetuneOptions, *, tower: str | None = None) -> dict[str, Any]:
    """One process, the whole batch at once, every pair on one side of the loss."""
    session = tiny_session(options, tower=tower)
    draw, parts = Feed(session.lesson, options, Rank()).read(0)
    loss, _ = compute_gradients(session, draw, parts, step=0)
    named = session.student.named_parameters()
    return {"loss": loss.item(), "gradients": {name: tensor.grad for name, tensor in named if tensor.grad is not None}}


def assert_equal(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found["loss"] == pytest.approx(expected["loss"], abs=1e-5)
    assert found["gradients"].keys() == expected["gradients"].keys() and expected["gradients"]
    for name, gradient in expected["gradients"].items():
        rounding = 2e-6 * max(1.0, float(gradient.abs().max()))  # of sums in another order
        assert torch.allclose(found["gradients"][name], gradient, rtol=1e-4, atol=rounding), name


def assert_as_alone(found: dict[str, Any], chosen: dict[str, Any]) -> None:
    """Ranks found the gradients of one process with the same options, but for those that say how work is spread."""
    same = {name: value for name, value in chosen.items() if name not in {"by_hand", "strategy", "accumulate"}}
    tower = same.pop("tower", None)
    assert_equal(found, alone(tiny_options(**{**same, "local": False, "grad_checkpointing": False}), tower=tower))


def assert_went_on(found: dict[str, Any]) -> None:
    """A run that was cut came to the weights and averages of one that was not."""
    whole, resumed = found["whole"], found["resumed"]
    for kind, weights in whole.items():
        torch.testing.assert_close(resumed[kind], weights, rtol=0, atol=0)
    assert any(not torch.equal(tensor, whole["averaged"][name]) for name, tensor in whole["live"].items())


def assert_examined_as_saved(found: dict[str, Any]) -> None:
    """The exam was sat with the weights that were saved, and training goes on with its own."""
    assert torch.allclose(found["averaged"], found["averaged saved"], atol=1e-6)
    assert torch.allclose(found["live"], found["live saved"], atol=1e-6)
    assert not torch.allclose(found["averaged"], found["live"], atol=1e-3)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.slow
def test_two_ranks_give_the_gradients_of_one_process_with_the_whole_batch(
    case: str, from_two_ranks: dict[str, Any]
) -> None:
    assert_as_alone(from_two_ranks[case], CASES[case])


@pytest.mark.slow
def test_what_a_rank_compares_by_default_gives_the_gradient_of_all_with_all(from_two_ranks: dict[str, Any]) -> None:
    """By default a rank compares its own pictures and captions alone."""
    assert FinetuneOptions().loss.local
    assert_equal(from_two_ranks["all terms"], from_two_ranks["all with all"])


@pytest.mark.slow
@pytest.mark.parametrize("case", RESUMED)
def test_two_ranks_that_were_cut_go_on_to_the_same_weights_and_averages(
    case: str, from_two_ranks: dict[str, Any]
) -> None:
    assert_went_on(from_two_ranks[case])


@pytest.mark.slow
def test_the_exam_is_sat_with_the_weights_that_are_saved(from_two_ranks: dict[str, Any]) -> None:
    assert_examined_as_saved(from_two_ranks["exam of whole models"])


@pytest.mark.parametrize("chosen", [{}, TERMS, {"kind": "sigmoid"}, {"text_tower": "locked", **TERMS}])
@pytest.mark.parametrize("accumulate", [2, 4])
def test_micro_batches_give_the_gradients_of_the_whole_batch(chosen: dict[str, Any], accumulate: int) -> None:
    assert_equal(alone(tiny_options(**chosen, accumulate=accumulate)), alone(tiny_options(**chosen)))


def test_every_rank_count_sees_the_same_icons_captions_and_pictures() -> None:
    options = tiny_options(caption_pair_weight=1.0)
    session = tiny_session(options)
    _, (whole,) = Feed(session.lesson, options, Rank()).read(3)
    parts = [Feed(session.lesson, options, Rank(number, number, 4)).read(3)[1][0] for number in range(4)]
    assert torch.equal(whole.changes.dark, torch.cat([part.changes.dark for part in parts]))
    for name in ("pixels", "texts"):  # after the icons' own come those of neighbours, and second captions
        own, others = getattr(whole, name).tensor_split([16])
        assert torch.equal(own, torch.cat([getattr(part, name)[:4] for part in parts]))
        assert torch.equal(others, torch.cat([getattr(part, name)[4:] for part in parts]))


def test_a_pass_shows_every_icon_once_spreads_groups_and_differs_from_others_in_what_is_left_over() -> None:
    groups = np.repeat(np.arange(20), 4)
    order = order_of_pass(np.arange(80), groups, batch=10, seed=1, number=2)
    assert sorted(order.ravel().tolist()) == list(range(80))
    assert all(len(set(groups[batch].tolist())) == 10 for batch in order)
    assert not np.array_equal(order, order_of_pass(np.arange(80), groups, batch=10, seed=1, number=3))
    passes = [order_of_pass(np.arange(23), None, batch=5, seed=1, number=number) for number in range(20)]
    assert all(order.shape == (4, 5) for order in passes)
    assert len({number for order in passes for number in order.ravel().tolist()}) == 23


def played_graphs(monkeypatch: pytest.MonkeyPatch) -> StepGraphs:
    parts = {"max_memory_allocated": lambda: 1, "mem_get_info": lambda: (1, 2)}
    play(monkeypatch, CUDAGraph=Graph, graph=lambda graph, **_: graph, **parts)
    return StepGraphs()


def taken(session: Session, steps: int) -> list[dict[str, Any]]:
    """What came of some steps."""
    feed = Feed(session.lesson, session.options, session.rank)
    results = [take_step(session, *feed.read(step), step=step) for step in range(steps)]
    return list(read_results(session, results))


@pytest.mark.parametrize(
    ("tower", "chosen"),
    [(None, TERMS), (None, {"text_tower": "locked", "kind": "sigmoid"}), ("resnet10t", {"picture_tower": "full"})],
)
def test_captured_steps_learn_what_plain_ones_learn(
    monkeypatch: pytest.MonkeyPatch, tower: str | None, chosen: dict[str, Any]
) -> None:
    """With dropout, and batch norms that remember; there is a graph of each length of texts."""
    plain, other = (tiny_session(tiny_options(**chosen), tower=tower) for _ in range(2))
    for session in (plain, other):
        session.student.model.visual.register_forward_hook(lambda _, __, out: torch.dropout(out, 0.2, train=True))
    expected = taken(plain, 8)
    monkeypatch.setattr(step_, "TOKENS_APART", 1)
    other.graphs = played_graphs(monkeypatch)
    found = taken(other, 8)
    assert sum(it.graph.n_replays - 1 for it in other.graphs.captured.values()) >= 2, other.graphs
    assert [it["loss"] for it in found] == pytest.approx([it["loss"] for it in expected], rel=1e-5)
    torch.testing.assert_close(other.student.state_dict(), plain.student.state_dict(), rtol=1e-4, atol=1e-5)


def test_the_host_launches_a_fifth_of_a_plain_step(monkeypatch: pytest.MonkeyPatch) -> None:
    session, counts = tiny_session(tiny_options(steps=8), precision="bf16"), list[int]()
    feed, session.graphs = Feed(session.lesson, session.options, session.rank), played_graphs(monkeypatch)
    for step in range(step_.WARM_UPS + 2):
        read = feed.read(step)
        with Launches() as launches:
            take_step(session, *read, step=step)
        counts.append(launches.counts.total())
    assert counts[-1] < counts[0] / 5, counts


def raise_refused(*_: object, **__: object) -> None:
    raise RuntimeError("operation not permitted\nat line 3")


@pytest.mark.parametrize(
    ("part", "broken", "why"),
    [
        ("CUDAGraph.__enter__", raise_refused, "operation not permitted"),
        ("max_memory_allocated", lambda: 2, "they take more than half of the GPU's memory"),
        ("CUDAGraph.replay", lambda _: None, "its gradients differ from those of the pass that was captured"),
    ],
)
def test_steps_that_cannot_be_captured_say_why_and_are_taken(
    monkeypatch: pytest.MonkeyPatch, part: str, broken: Any, why: str
) -> None:
    plain, other = (tiny_session(tiny_options()) for _ in range(2))
    said, other.graphs = list[str](), played_graphs(monkeypatch)
    other.reporter.report = lambda progress: said.append(progress.note)
    monkeypatch.setattr(f"torch.cuda.{part}", broken)
    found, expected = ([it["loss"] for it in taken(session, 6)] for session in (other, plain))
    assert found == pytest.approx(expected, rel=1e-6)
    assert [*filter(None, said)] == [f"steps are not captured as a graph: {why}"]
