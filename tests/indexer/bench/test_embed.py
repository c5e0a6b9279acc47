"""`icons bench embed`, really run: rows, files, report, Ctrl-C, and what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from PIL import Image

from indexer.bench.report.findings import EmbedFindings
from search.cli import main


def _run(out: Path, model: Path, *arguments: str) -> Result:
    options = ["--model", f"local-dir:{model}", "--out", str(out), "--devices", "cpu:2"]
    return CliRunner().invoke(main, ["bench", "embed", *options, *arguments])


@pytest.fixture(scope="module")
def measured(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    out = tmp_path_factory.mktemp("bench") / "out"
    small = ["--images", "24", "--repeats", "2", "--only", "limit", "--only", "sweeps"]
    return out, _run(out, tiny_model, *small, "--sweep", "batch=8,16", "--json")


@pytest.mark.slow
def test_a_sweep_measures_every_value_as_often_as_asked(measured: tuple[Path, Result]) -> None:
    _, result = measured
    assert result.exit_code == 0, result.output
    rows = [row for row in json.loads(result.stdout)["rows"] if row["part"] == "all"]
    told = [(row["group"], row["knobs"]["path"], row["knobs"]["batch"], len(row["runs"])) for row in rows]
    assert told == [
        ("batch", "index", 8, 2),
        ("batch", "index", 16, 2),
    ]
    for row in rows:
        rate = row["images_per_second"]
        assert 0 < rate["low"] <= rate["value"] <= rate["high"]
        assert all(run["images"] == 24 for run in row["runs"])


@pytest.mark.slow
def test_every_run_is_a_line(measured: tuple[Path, Result]) -> None:
    lines = [json.loads(line) for line in (measured[0] / "runs.jsonl").read_text().splitlines()]
    assert len(lines) == 2 * 2 + 2 * 2
    batches = [line for line in lines if line["group"] == "batch"]
    assert [line["knobs"]["batch"] for line in batches] == [8, 16, 16, 8], "forwards, then backwards"


def test_the_report_shows_charts_and_the_limit(measured: tuple[Path, Result]) -> None:
    out, _ = measured
    page = (out / "report.html").read_text()
    for part in ("How fast icons are embedded", "batch against time", "matrix products"):
        assert part in page, part
    assert page.count("<svg") == 2
    names = {path.name for path in (out / "charts").iterdir()}
    assert names == {"batch-time.png", "batch-rate.png"}
    for name in names:
        with Image.open(out / "charts" / name) as picture:
            assert picture.size[0] == 1400 or picture.size[1] == 1400
            assert len(picture.getcolors(1 << 24) or ()) > 50


@pytest.mark.slow
def test_a_saved_run_reads_back_and_compares(measured: tuple[Path, Result], tiny_model: Path, tmp_path: Path) -> None:
    out, _ = measured
    findings = EmbedFindings.read(out / "report.json")
    assert [len(row.runs) for row in findings.of("batch")] == [2, 2]
    assert findings.limit is not None and findings.limit.images_per_second > 0
    small = ["--images", "24", "--repeats", "1", "--only", "sweeps", "--sweep", "batch=16"]
    again = _run(tmp_path / "again", tiny_model, *small, "--compare", str(out / "report.json"))
    assert again.exit_code == 0, again.output
    page = (tmp_path / "again" / "report.html").read_text()
    assert "Compared with a saved run" in page
    assert "batch 16" in again.stdout or "base" in again.stdout
    assert page.count("x</td>") == 1, "one row is in both"


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_measured(
    tiny_model: Path, tmp_path: Path, interrupted: Callable[..., tuple[int, str, str, int]]
) -> None:
    out = tmp_path / "out"
    options = ["--model", f"local-dir:{tiny_model}", "--out", str(out), "--images", "24", "--repeats", "1000"]
    sweep = ["--only", "sweeps", "--sweep", "batch=8,16"]
    code, said, told, lines = interrupted(["embed", *options, *sweep], journal=out / "runs.jsonl", lines=3)
    assert code == 1, told
    assert "cut off: what was measured until then is kept" in said
    findings = EmbedFindings.read(out / "report.json")
    n_kept = sum(len(row.runs) for row in findings.rows)
    assert findings.is_cut_off
    assert n_kept >= 3
    assert abs(n_kept - lines) <= 1, "the signal may come between a run's row and its line"
    assert "cut off" in (out / "report.html").read_text()


def test_a_row_that_can_not_be_measured_says_why_and_the_others_go_on(tiny_model: Path, tmp_path: Path) -> None:
    small = ["--images", "16", "--repeats", "1", "--only", "sweeps", "--sweep", "size=32,48"]
    result = _run(tmp_path / "out", tiny_model, *small)
    assert result.exit_code == 1, result.output
    assert 'size "48" is none that this tower takes' in result.stdout
    assert [len(row.runs) for row in EmbedFindings.read(tmp_path / "out" / "report.json").rows] == [1, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--devices", "cpu:999"], '--devices "cpu:999" asks for 999 processes'),
        (["--devices", "4"], '--devices "4" asks for GPU 3'),
        (["--sweep", "backend=nccl,gloo"], 'backend "nccl" needs GPUs'),
        (["--sweep", "batch=8,100000"], 'batch "100000" is more than 16 pictures can fill; give --images 100000'),
        (["--set", "devices=64"], 'devices "64" are more than there are'),
        (["--sweep", "speed=1"], 'no knob "speed"'),
        (["--set", "batch=16", "--only", "scaling"], 'batch "16" is more than 16 pictures over 2 devices can fill'),
        (["--grid"], "--grid needs at least one --sweep"),
        (["--compare", "nowhere.json"], '"nowhere.json" is no report.json'),
        ([str(Path(__file__).parent)], f'no pictures in "{Path(__file__).parent}"'),
    ],
)
def test_what_can_not_be_is_refused_before_anything_is_measured(
    tiny_model: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    command = ["bench", "embed", "--model", f"local-dir:{tiny_model}", "--images", "16", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(main, [*command, *arguments])
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert not (tmp_path / "out" / "report.html").exists()
