"""What is compared is on one path, and how devices scale is told with drawing and by themselves."""

from dataclasses import replace
from pathlib import Path

import pytest

from indexer.bench.choices import scaled, strategies
from indexer.bench.embedding import EmbedBenchOptions, _Run
from indexer.bench.report.charts import charts, label_in
from indexer.bench.report.findings import ALONE, EmbedFindings
from indexer.bench.report.summary import scaling_lines
from indexer.bench.trials.knobs import Knobs, check
from indexer.bench.trials.material import Material
from indexer.bench.trials.sweep import Row
from indexer.bench.trials.trial import Measured, Trial
from indexer.encoders.checkpoint import ModelChoice
from indexer.reports.bars import Bars


@pytest.mark.parametrize("kind", ["cpu", "cuda"])
def test_all_strategies_run_in_the_loop_and_the_product_is_a_row_of_its_own(kind: str) -> None:
    found = strategies(Knobs(precision="fp32"), 2, kind=kind)
    in_loop = [knobs for knobs in found if knobs.path == "loop"]
    assert {knobs.strategy for knobs in in_loop} == {"ranks", "threads"} | (
        {"data-parallel"} if kind == "cuda" else set()
    )
    assert {knobs.loader for knobs in in_loop} == {"icons", "files", "memory"}
    others = [(knobs.path, knobs.devices) for knobs in found if knobs not in in_loop]
    assert others == [("index", 1), ("index", 2), ("naive", 1), ("naive", 2)]
    rows = [Row("strategy", knobs, 20, 2) for knobs in found]
    labels = [label_in(row, rows) for row in rows]
    assert len(set(labels)) == len(labels)
    assert "icons index, 2 devices" in labels and "threads x 2, memory" in labels
    for knobs in found:
        check(knobs, kind=kind, n_devices=2, n_images=400)


def test_a_base_that_index_can_not_run_has_no_row_of_the_product() -> None:
    found = strategies(Knobs(shuffle=True, copy="item"), 2, kind="cpu")
    assert {knobs.path for knobs in found} == {"loop", "naive"}
    assert all(knobs.shuffle for knobs in found if knobs.path == "loop")


def test_a_batch_is_that_of_one_device_however_it_is_split() -> None:
    with pytest.raises(Exception, match='batch "60" is more than 100 pictures over 2 devices can fill'):
        check(Knobs(path="loop", strategy="threads", devices=2, batch=60), kind="cpu", n_devices=2, n_images=100)


def test_numbers_of_devices_are_compared_on_one_path() -> None:
    assert {knobs.path for knobs in scaled(Knobs(), 4)} == {"index"}
    with_barrier = scaled(Knobs(barrier=True), 4)
    assert [(knobs.devices, knobs.path, knobs.barrier) for knobs in with_barrier] == [
        (1, "loop", False),
        (2, "loop", True),
        (3, "loop", True),
        (4, "loop", True),
    ]


@pytest.fixture
def whole(tmp_path: Path) -> Trial:
    material = Material(tmp_path, ModelChoice.bundled(), "f" * 16, 64, 40)
    return Trial(Knobs(), material, "cpu", (0, 1, 2, 3, 4, 5), 40)


def _run_of(whole: Trial, tmp_path: Path) -> _Run:
    return _Run(EmbedBenchOptions(tmp_path / "out"), whole, 2, Bars())


@pytest.mark.parametrize(("kind", "cores"), [("cpu", [3, 6]), ("cuda", [6, 6])])
def test_scaling_is_measured_with_drawing_and_of_the_devices_alone(
    whole: Trial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, cores: list[int]
) -> None:
    run = _run_of(replace(whole, kind=kind), tmp_path)
    asked: dict[str, list[Trial]] = {}
    monkeypatch.setattr(run.series, "measure", lambda group, trials: asked.setdefault(group, list(trials)))
    run.scaling()
    assert list(asked) == ["scaling", "weak scaling", f"scaling{ALONE}", f"weak scaling{ALONE}", "stages"]
    assert [len(trial.cores) for trial in asked["scaling"]] == cores, "one GPU has all of them"
    assert [trial.n_images for trial in asked["weak scaling"]] == [20, 40]
    assert {(trial.knobs.path, trial.knobs.loader) for trial in asked["scaling"]} == {("index", "icons")}
    assert {(trial.knobs.path, trial.knobs.loader) for trial in asked[f"scaling{ALONE}"]} == {("loop", "memory")}


def test_the_report_tells_both_ways_to_scale(whole: Trial, tmp_path: Path) -> None:
    findings: EmbedFindings = _run_of(whole, tmp_path).findings
    for feed, seconds in (("", 8.0), (ALONE, 5.0)):
        for group, of_two in (("scaling", seconds), ("weak scaling", 2 * seconds)):
            rows = [Row(f"{group}{feed}", Knobs(devices=n), 40, 3 * n) for n in (1, 2)]
            rows[0].runs = [Measured(40, 10.0)] * 2
            rows[1].runs = [Measured(40 if group == "scaling" else 80, of_two)] * 2
            findings.rows += rows
    lines = list(scaling_lines(findings))
    assert "2 devices, with drawing, same work: 1.25x (1.25-1.25x), efficiency 62%" in lines
    assert "2 devices, devices alone, same work: 2.00x (2.00-2.00x), efficiency 100%" in lines
    assert any(line.startswith("devices alone, Amdahl: serial share 0.000") for line in lines)
    assert {"devices-time", "speed-up", "devices-time-alone", "speed-up-alone"} == charts(findings).keys()
    plain = findings.to_json()
    assert plain["laws"] and plain["laws, devices alone"]
