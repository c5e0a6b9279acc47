"""`icons lab bench embed`, `train` and `index`, really run in small: rows, files, Ctrl-C, and what they refuse."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from indexer.bench.compare import usual_batch
from indexer.bench.report import Report
from indexer.encoders.checkpoint import ModelChoice
from indexer.process import cores
from search.cli import main


def _bench(command: str, out: Path, model: Path, *arguments: str) -> Result:
    options = ["--model", f"local-dir:{model}", "--out", str(out), "--devices", "cpu:2", "--json"]
    return CliRunner().invoke(main, ["lab", "bench", command, *options, *arguments])


def _rows(result: Result) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in json.loads(result.stdout)["rows"]:
        found.setdefault(row["group"], []).append(row)
    return found


@pytest.mark.slow
def test_embedding_is_asked_every_question_of_a_cpu(tmp_path: Path, tiny_model: Path) -> None:
    asked = ["limit", "drawing", "batch", "devices", "devices alone", "all-reduce", "parity"]
    only = [argument for name in asked for argument in ("--only", name)]
    sweep = ["--images", "64", "--repeats", "1", "--sweep", "batch=16,32"]
    result = _bench("embed", tmp_path, tiny_model, *only, *sweep)
    assert result.exit_code == 0, result.output
    rows = _rows(result)
    by_devices = [f"{name}{behind}" for name in asked[3:5] for behind in (", same work", ", as much for each")]
    assert list(rows) == [*asked[:3], *by_devices, *asked[5:]]
    assert [row["setting"] for row in rows["batch"]] == [{"devices": 1, "batch": n} for n in (16, 32)]
    assert [run["batch"] for row in rows["batch"] for run in row["runs"]] == [16, 32]
    assert [row["runs"][0]["pictures"] for row in rows["devices, same work"]] == [64, 64]
    assert [row["runs"][0]["pictures"] for row in rows["devices, as much for each"]] == [32, 64]
    assert all(row["runs"][0]["ms of a core"] > 0 for row in [*rows["limit"], *rows["drawing"]])
    [half] = rows["parity"]
    assert half["name"] == "bf16, pass by pass"
    assert 0.99 < half["runs"][0]["least cosine"] < half["runs"][0]["mean cosine"] < 1
    assert 0 < half["runs"][0]["queries moved"] < 1
    assert {row["name"].partition(" MB")[0] for row in rows["all-reduce"]} == {
        f"gloo, 2 ranks, {n}" for n in (1, 16, 64)
    }
    report = json.loads(result.stdout)
    assert report["machine"]["cores"] == cores()
    assert {law["law"] for law in report["laws"]["devices"]} == {"Amdahl", "Gustafson"}
    assert any(fact.startswith("limit: ") for fact in report["facts"])
    assert (tmp_path / "report.html").is_file() and (tmp_path / "charts" / "batch-images-a-s.png").is_file()


@pytest.mark.slow
def test_a_training_is_swept(tmp_path: Path, start: Path, icons: Path) -> None:
    small = [str(icons), "--steps", "1", "--repeats", "1", "--set", "batch=8", "--sweep", "bucket_cap_mb=25,1"]
    result = _bench("train", tmp_path, start, *small)
    assert result.exit_code == 0, result.output
    [(group, rows)] = _rows(result).items()
    assert (group, [row["name"] for row in rows]) == ("bucket_cap_mb", ["bucket_cap_mb=25", "bucket_cap_mb=1"])
    assert [row["setting"]["devices"] for row in rows] == [2, 2]
    assert all(0 < row["runs"][0]["communication"] <= 1 for row in rows)
    assert rows[0]["runs"][0]["loss"] == pytest.approx(rows[1]["runs"][0]["loss"], abs=1e-3)


@pytest.mark.slow
def test_a_row_that_can_not_be_measured_says_why_and_the_others_go_on(tmp_path: Path, tiny_model: Path) -> None:
    sweep = ["--images", "16", "--repeats", "2", "--sweep", "precision=int8,fp32", "--only", "precision"]
    result = _bench("embed", tmp_path, tiny_model, *sweep)
    assert result.exit_code == 1, result.output
    int8, exact = _rows(result)["precision"]
    assert "can't be embedded in int8" in int8["error"] and int8["runs"] == []
    assert len(exact["runs"]) == 2
    assert Report.read(tmp_path / "report.json", command="icons lab bench embed").is_whole


def test_ctrl_c_keeps_what_was_measured(tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = iter([{"images/s": 1.0}, {"images/s": 2.0}])

    def embed(*_: object) -> dict[str, float]:
        if run := next(taken, None):
            return run
        raise KeyboardInterrupt

    monkeypatch.setattr("indexer.bench.compare.embed", embed)
    result = _bench("embed", tmp_path, tiny_model, "--images", "8", "--sweep", "batch=8,16", "--only", "batch")
    assert (result.exit_code, json.loads(result.stdout)["is_whole"]) == (1, False)
    kept = Report.read(tmp_path / "report.json", command="icons lab bench embed")
    assert [run for row in kept.rows for run in row.runs] == [{"images/s": 2.0}], "the first one warms up"
    assert "cut off: what was measured until then is kept" in (tmp_path / "report.html").read_text()


@pytest.mark.slow
def test_a_whole_indexing_is_timed_by_stage(icon_folder: Path, tiny_model: Path) -> None:
    options = ["--model", f"local-dir:{tiny_model}", "--devices", "cpu", "--json"]
    result = CliRunner().invoke(main, ["lab", "bench", "index", str(icon_folder), *options])
    assert result.exit_code == 0, result.output
    [whole, *stages] = _rows(result)[str(icon_folder)]
    assert (whole["runs"][0]["icons"], whole["runs"][0]["pictures"]) == (12, 11)
    assert {"Starting", "Looking at sources", "Embedding"} <= {stage["name"] for stage in stages}
    assert sum(stage["runs"][0]["seconds"] for stage in stages) == pytest.approx(whole["runs"][0]["seconds"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["embed", "--devices", "cpu:999"], '--devices "cpu:999" asks for 999 processes'),
        (["embed", "--devices", "4"], '--devices "4" asks for GPU 3'),
        (["embed", "--sweep", "pinned=on,off"], 'pinned "on" needs GPUs'),
        (["embed", "--set", "devices=64"], 'devices "64" are more than there are'),
        (["embed", "--sweep", "speed=1"], 'no knob "speed"'),
        (["embed", "--only", "btach"], 'no group "btach"; there are limit, drawing'),
        (["embed", "--grid"], "--grid needs at least one --sweep"),
        (["embed", str(Path(__file__).parent)], f'no pictures in "{Path(__file__).parent}"'),
        (["train", "--set", "precision=tf32"], '"tf32" is no value of precision'),
        (["train", "--sweep", "nccl_algo=Ring,Tree"], 'nccl_algo "Ring" needs GPUs'),
        (["train", "--sweep", "ema=1,two"], '"two" is no value of ema; it takes a number above 0'),
    ],
)
def test_what_can_not_be_is_refused_before_anything_is_measured(
    tiny_model: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    options = ["--model", f"local-dir:{tiny_model}", "--out", str(tmp_path)]
    result = CliRunner().invoke(main, ["lab", "bench", *arguments, *options])
    assert (result.exit_code, message in result.stderr) == (2, True), result.output
    assert not (tmp_path / "report.json").exists()


def test_a_gpu_gets_a_batch_that_computes_as_far_as_there_are_icons(tiny_model: Path) -> None:
    small, bundled = ModelChoice(f"local-dir:{tiny_model}"), ModelChoice.bundled()
    assert usual_batch("cpu", 2, choice=small) == 64
    assert usual_batch("cuda", 4, choice=bundled) == 4096
    assert usual_batch("cuda", 4, choice=bundled, n_icons=2176) == 2048
