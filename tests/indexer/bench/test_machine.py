"""Facts of the machine, the tower's operations, precision's price, and a whole indexing."""

import os
from pathlib import Path

import pytest
import torch

from indexer.bench.embedding import machine_cores
from indexer.bench.goals import Goal
from indexer.bench.limit import Limit, measure_tower
from indexer.bench.machine import describe
from indexer.bench.parity import measure_parity
from indexer.bench.trials.knobs import Knobs
from indexer.bench.trials.material import gather
from indexer.bench.trials.sweep import Row
from indexer.bench.trials.trial import Measured, Trial
from indexer.bench.whole import measure_whole
from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import BenchError
from indexer.process import cores


def test_as_many_cores_are_measured_on_as_the_quota_pays_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {2, 3, 5, 7}, raising=False)
    monkeypatch.setattr("indexer.process.cpu_quota", lambda: 2.0)
    assert machine_cores() == (2, 3)


def test_the_machine_is_described() -> None:
    facts = describe("cpu")
    assert facts["cores"] == cores()
    assert facts["packages"]["torch"] == torch.__version__.split("+")[0]
    assert facts["memory_gb"] > 0.5
    assert "gpus" not in facts


@pytest.mark.slow
def test_operations_are_those_of_the_tower(tmp_path: Path, tiny_model: Path) -> None:
    material = gather(tmp_path, None, choice=ModelChoice(f"local-dir:{tiny_model}"), n_images=4)
    told = measure_tower(Trial(Knobs(path="loop", precision="fp32"), material, "cpu", (0,), 4))
    tokens, width = 17, 32
    conv = 16 * 2 * 3 * 8 * 8 * width
    layer = 2 * tokens * width * (3 * width + width + 2 * 4 * width)
    attention = 2 * 2 * tokens * tokens * width
    projection = 2 * width * width
    assert told["flops_per_image"] == conv + layer + attention + projection
    assert told["bytes_per_image"] > 4 * 32 * 32 * 3
    assert told["flops_per_second"] > 1e8
    assert told["bytes_per_second"] > 1e8


def _limit(**facts: object) -> Limit:
    told = {
        "precision": "fp32",
        "flops_per_image": 10**9,
        "bytes_per_image": 10**6,
        "flops_per_second": 1e11,
        "bytes_per_second": 1e10,
        "render_seconds": 0.001,
        "forward_seconds": 0.015,
        "n_cores": 2,
        "kind": "cpu",
    }
    return Limit(**{**told, **facts})  # type: ignore[arg-type]


def test_a_row_is_held_against_the_limit() -> None:
    row = Row("batch", Knobs(), 100, 2, runs=[Measured(100, 1.0)])
    limit = _limit()
    assert limit.images_per_second == pytest.approx(125)
    assert limit.share(row) == pytest.approx(0.8)
    assert limit.mfu(row) == pytest.approx(1.0)
    assert limit.bound_of(row) == "forward (compute)"
    assert _limit(bytes_per_second=1e7).bound_of(row) == "forward (memory)"
    assert _limit(render_seconds=0.02).bound_of(row) == "rendering"
    half = Row("scaling", Knobs(), 100, 1, runs=[Measured(100, 2.0)])
    assert limit.share(half) == pytest.approx(0.8), "half of the machine, half of the limit"


@pytest.mark.slow
def test_a_precision_is_held_against_fp32(tiny_model: Path) -> None:
    exact, half = measure_parity(ModelChoice(f"local-dir:{tiny_model}"), "cpu", ["bf16"], 1)
    assert (exact.precision, exact.changed_share) == ("fp32", 0.0)
    assert exact.least_cosine == pytest.approx(1, abs=1e-5)
    assert 0.99 < half.least_cosine < exact.least_cosine
    assert half.changed_share > 0
    assert half.median_move >= 1


@pytest.mark.slow
def test_a_whole_indexing_is_timed_by_stage(icon_folder: Path, tiny_model: Path) -> None:
    told = measure_whole(icon_folder, options=["--model", f"local-dir:{tiny_model}", "--devices", "cpu"])
    assert (told.found, told.embedded) == (12, 11)
    assert {"Looking at sources", "Embedding", "Merging"} <= told.seconds_by_stage.keys()
    assert sum(told.seconds_by_stage.values()) == pytest.approx(told.seconds, abs=0.1)
    assert told.peak_bytes > 100e6


def test_an_indexing_that_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"exit code 2.*does not exist"):
        measure_whole(tmp_path / "nowhere", options=[])


def test_goals_are_met_from_their_bound_on() -> None:
    assert Goal("ratio", 3.5, least=3.5).is_met
    assert Goal("ratio", 3.49, least=3.5).is_met is False
    assert Goal("wall", 1.1, most=1.1).is_met
    assert Goal("wall", 1.2, most=1.1).is_met is False
    assert Goal("told only", 2.0).is_met is None
