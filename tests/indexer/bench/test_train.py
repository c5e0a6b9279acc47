"""`icons bench train`, really run: two gloo ranks, files, report, Ctrl-C, and what it refuses."""

import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from indexer.bench.training.findings import TrainFindings
from indexer.bench.training.knobs import TrainKnobs
from indexer.bench.training.measure import TrainBenchOptions, make_plan
from indexer.bench.training.ranks import RankGroups, places_in, steady_from
from indexer.bench.training.trial import Trained, TrainRow
from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import BenchError
from indexer.library.bundled import bundled
from indexer.reports.bars import Bars
from search.cli import main


def _run(out: Path, model: Path, *arguments: str) -> Result:
    options = ["--model", f"local-dir:{model}", "--out", str(out), "--devices", "cpu:2"]
    return CliRunner().invoke(main, ["bench", "train", *options, *arguments])


@pytest.fixture(scope="module")
def measured(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    out = tmp_path_factory.mktemp("bench") / "out"
    small = ["--steps", "3", "--repeats", "2", "--set", "batch=16", "--set", "precision=fp32"]
    sweeps = ["--sweep", "strategy=ddp,fsdp", "--sweep", "bucket_cap_mb=0.5", "--sweep", "devices=1"]
    return out, _run(out, tiny_model, *small, *sweeps, "--json")


@pytest.mark.slow
def test_every_way_to_train_takes_the_same_steps(measured: tuple[Path, Result]) -> None:
    _, result = measured
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["rows"]
    told = [(row["group"], row["knobs"]["strategy"], row["knobs"]["devices"], len(row["runs"])) for row in rows]
    assert told == [
        ("strategy", "ddp-sampled", 2, 2),
        ("strategy", "ddp", 2, 2),
        ("strategy", "fsdp", 2, 2),
        ("bucket_cap_mb", "ddp-sampled", 2, 2),
        ("bucket_cap_mb", "ddp-sampled", 2, 2),
        ("devices", "ddp-sampled", 2, 2),
        ("devices", "ddp-sampled", 1, 2),
    ]
    losses = [run["loss"] for row in rows for run in row["runs"]]
    assert max(losses) - min(losses) < 1e-3, "after five steps of the same pictures, captions and gradients"
    for row in rows:
        assert all(run["steps"] == 3 and run["seconds"] > 0 for run in row["runs"])


@pytest.mark.slow
def test_the_profiler_tells_communication_where_there_is_any(measured: tuple[Path, Result]) -> None:
    rows = json.loads(measured[1].stdout)["rows"]
    for row in rows:
        assert 0 < row["shares"]["compute"] <= 1.01
        assert (row["shares"]["communication"] > 0) == (row["knobs"]["devices"] > 1)
        assert row["shares"]["data"] > 0


@pytest.mark.slow
def test_an_effect_is_the_ratio_to_the_first_of_the_group(measured: tuple[Path, Result]) -> None:
    rows = json.loads(measured[1].stdout)["rows"]
    base, row = (row for row in rows if row["group"] == "bucket_cap_mb")
    assert base["effect"]["value"] == 1
    paired = [its["seconds"] / mine["seconds"] for its, mine in zip(base["runs"], row["runs"], strict=True)]
    assert row["effect"]["value"] == pytest.approx(sum(paired) / 2)


def test_an_effect_counts_pictures_not_steps() -> None:
    base, double = TrainRow("batch", TrainKnobs(batch=32), 2), TrainRow("batch", TrainKnobs(batch=64), 2)
    base.runs.append(Trained(10, 5.0, 0.0, 1.0))
    double.runs.append(Trained(10, 8.0, 0.0, 1.0))
    effect = double.effect(base)
    assert effect is not None and effect.value == pytest.approx(1.25)


@pytest.mark.slow
def test_a_saved_run_reads_back_compares_and_is_shown(
    measured: tuple[Path, Result], tiny_model: Path, tmp_path: Path
) -> None:
    out, _ = measured
    findings = TrainFindings.read(out / "report.json")
    assert [row.to_json() for row in findings.rows] == [
        {name: value for name, value in row.items() if name != "effect"}
        for row in json.loads(measured[1].stdout)["rows"]
    ]
    page = (out / "report.html").read_text()
    assert "DDP x 2" in page and "bucket_cap_mb=0.5" in page
    assert page.count("<svg") == 6
    assert len(list((out / "charts").iterdir())) == 6
    assert len((out / "runs.jsonl").read_text().splitlines()) == 7 * 3
    small = ["--steps", "1", "--repeats", "1", "--set", "batch=16", "--set", "precision=fp32"]
    again = _run(tmp_path / "out", tiny_model, *small, "--sweep", "devices=1", "--compare", str(out / "report.json"))
    assert again.exit_code == 0, again.output
    assert "steps was 3, is 1" in (tmp_path / "out" / "report.html").read_text()
    assert "against the first" in again.stdout


@pytest.mark.slow
def test_ranks_that_fail_say_why_and_are_started_anew(tiny_model: Path, tmp_path: Path) -> None:
    choice = ModelChoice(f"local-dir:{tiny_model}")
    options = TrainBenchOptions(tmp_path / "out", choice=choice, steps=1)
    findings = make_plan(tmp_path, options, kind="cpu", n_devices=2, bars=Bars())
    assert findings.n_icons > 2000
    facts = places_in(tmp_path).corpus / "corpus.json"
    knobs, cores = TrainKnobs(devices=2, batch=8), sorted(os.sched_getaffinity(0))[:2]
    with RankGroups(tmp_path, kind="cpu") as ranks:
        aside = facts.rename(facts.with_suffix(".aside"))
        with pytest.raises(BenchError, match="is no corpus"):
            ranks.train(knobs, cores=cores, steps=1)
        aside.rename(facts)
        assert ranks.train(knobs, cores=cores, steps=1).steps == 1


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_measured(
    tiny_model: Path, tmp_path: Path, interrupted: Callable[..., tuple[int, str, str, int]]
) -> None:
    out = tmp_path / "out"
    options = ["--model", f"local-dir:{tiny_model}", "--out", str(out), "--devices", "cpu:2", "--set", "batch=8"]
    sweep = ["--steps", "1", "--repeats", "1000", "--sweep", "batch=16"]
    code, said, told, lines = interrupted(["train", *options, *sweep], journal=out / "runs.jsonl", lines=4)
    assert code == 1, told
    assert "cut off: what was measured until then is kept" in said
    findings = TrainFindings.read(out / "report.json")
    assert findings.is_cut_off
    n_kept = sum(len(row.runs) for row in findings.rows)
    assert n_kept >= 2
    assert abs(n_kept - (lines - 2)) <= 1, "two lines are profiled runs; the signal may come between a row and its line"


def test_steps_are_counted_once_they_take_equally_long() -> None:
    def ended(*taken: float) -> list[float]:
        return list(itertools.accumulate(taken))

    assert steady_from(ended(9, 5, *[1] * 8), most=2) == 2
    assert steady_from(ended(9, 5, 3, 2, 1, 1, 1, 1, 1, 1), most=6) == 4
    assert steady_from(ended(9, 5, 1, 3, 1, 1, 1, 1, 1, 1), most=6) == 4, "three in a row"
    assert steady_from(ended(9, 5, 4, 4, 4, 4, 4, 1, 1, 1), most=6) == 6, "not before: at most so many"


@pytest.mark.slow
def test_data_keep_up_with_eight_simulated_devices(tmp_path: Path) -> None:
    """The whole data path in eight ranks; a step is a delay, long enough for two cores to make eight parts of it."""
    settings = ["--set", "batch=64", "--set", "step_seconds=0.5", "--sweep", "devices=1,8", "--steps", "10"]
    result = _run(tmp_path / "out", bundled("model"), *settings, "--repeats", "1", "--json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["rows"]
    assert [row["knobs"]["devices"] for row in rows] == [2, 1, 8]
    runs = [row["runs"][0] for row in rows]
    assert all(run["waited_share"] <= 0.03 for run in runs), runs
    assert all(run["seconds"] / run["steps"] == pytest.approx(0.5, rel=0.15) for run in runs)


@pytest.mark.slow
def test_gradients_accumulate_plainly_in_fp64_and_at_another_size(tmp_path: Path) -> None:
    model = bundled("model")  # whose convolutions take pictures of any size
    small = ["--steps", "2", "--repeats", "1", "--set", "batch=16", "--set", "precision=fp32", "--set", "accumulate=2"]
    sweeps = ["--sweep", "accumulation=plain,plain-no-sync", "--sweep", "precision=fp64", "--sweep", "size=48"]
    result = _run(tmp_path / "out", model, *small, *sweeps, "--json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["rows"]
    whole, plain, without, *_ = (row["runs"][0]["loss"] for row in rows)
    assert plain == pytest.approx(without, abs=1e-4), "the same gradients, exchanged once or twice"
    assert plain < whole - 0.1, "of half as many pictures each"
    of = {row["group"]: row["runs"][0]["loss"] for row in rows}
    assert of["precision"] == pytest.approx(whole, abs=1e-3)
    assert of["size"] != pytest.approx(whole, abs=1e-6)


@pytest.mark.slow
def test_a_size_that_the_tower_does_not_take_is_named(tiny_model: Path, tmp_path: Path) -> None:
    small = ["--steps", "1", "--repeats", "1", "--set", "batch=8", "--set", "devices=1", "--sweep", "size=48"]
    result = _run(tmp_path / "out", tiny_model, *small)
    assert result.exit_code == 1, result.output
    assert (
        'size "48" is none that this tower takes' in TrainFindings.read(tmp_path / "out" / "report.json").rows[1].error
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--devices", "cpu:999"], '--devices "cpu:999" asks for 999 processes'),
        (["--devices", "4"], '--devices "4" asks for GPU 3'),
        (["--set", "devices=64"], 'devices "64" are more than there are'),
        (["--sweep", "backend=nccl,gloo"], 'backend "nccl" needs GPUs'),
        (["--set", "precision=fp16"], 'precision "fp16" needs GPUs'),
        (["--sweep", "batch=8,100000"], 'batch "100000" is more than the 2,176 icons'),
        (["--sweep", "batch=9"], 'batch "9" does not give 2 devices x 1 micro-batches as much'),
        (["--sweep", "strategy=data-parallel"], 'strategy "data-parallel" needs GPUs'),
        (["--set", "devices=1", "--sweep", "bucket_cap_mb=5"], 'bucket_cap_mb "5" needs several ranks'),
        (["--set", "devices=1", "--sweep", "strategy=ddp"], 'strategy "ddp" needs devices=2 or more'),
        (["--sweep", "bucket_cap_mb=-1"], '"-1" is no value of bucket_cap_mb; it takes a number above 0'),
        (["--set", "speed=1"], 'no knob "speed"'),
        (["--sweep", "nccl_algo=Ring,Tree"], 'nccl_algo "Ring" needs GPUs'),
        (["--sweep", "nccl_p2p=on,off"], 'nccl_p2p "off" needs GPUs'),
        (["--set", "nccl_max_channels=4"], 'nccl_max_channels "4" needs GPUs'),
        (["--set", "nccl_high_priority=on"], 'nccl_high_priority "on" needs GPUs'),
        (["--set", "precision=tf32"], 'precision "tf32" needs GPUs'),
        (["--sweep", "accumulation=plain"], 'accumulation "plain" needs accumulate=2 or more'),
        (
            ["--set", "devices=1", "--set", "accumulate=2", "--sweep", "accumulation=plain-no-sync"],
            'accumulation "plain-no-sync" needs several ranks',
        ),
        (["--set", "strategy=fsdp", "--sweep", "bucket_cap_mb=5"], 'bucket_cap_mb "5" is an option of DDP'),
        (["--set", "devices=1", "--sweep", "strategy=fsdp"], 'strategy "fsdp" needs devices=2 or more'),
        (["--set", "sync_batch_norm=on"], 'sync_batch_norm "on" needs GPUs'),
        (["--set", "devices=1", "--sweep", "find_unused_parameters=on"], 'find_unused_parameters "on" needs several'),
        (["--set", "strategy=fsdp", "--sweep", "find_unused_parameters=on"], '"on" is an option of DDP'),
        (["--set", "static_graph=on", "--sweep", "find_unused_parameters=on"], '"on" goes with static_graph=off'),
        (["--sweep", "ema=1"], 'ema "1" is no decay; set a number below 1'),
        (["--sweep", "picture_tower=half"], '"half" is no value of picture_tower; it takes full, lora, locked'),
        (["--compare", "nowhere.json"], '"nowhere.json" is no report.json of `icons bench train`'),
    ],
)
def test_what_can_not_be_is_refused_before_anything_is_measured(
    tiny_model: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    result = _run(tmp_path / "out", tiny_model, *arguments)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert not (tmp_path / "out" / "report.html").exists()
