"""`icons bench gpu` on the CPU, in small: its parts, how it goes on, and what it makes of what they say."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner

from indexer.bench.gpu import encoding
from indexer.bench.gpu import run as running
from indexer.bench.gpu.parts import Part, measure, parts_of
from indexer.bench.gpu.report import goals_of, is_all_well, to_json, write
from indexer.bench.gpu.run import Found, Result, bench_gpu, call_part, find_gpus
from indexer.bench.gpu.setting import Setting, random_weights, tiny
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.torch_encoder import Encoder, load_model
from indexer.errors import BenchError, DeviceError
from indexer.reports.bars import Bars
from search.cli import main

BARE = ("faiss", "onnxruntime", "uvicorn", "starlette", "fastapi", "mcp", "matplotlib")
"""What embedding, training and this command do without."""
_BLOCKED = f"""
import sys
from importlib.machinery import ModuleSpec

class Blocked:
    def find_spec(self, name, path=None, target=None):  # torch only asks whether some of them are there
        return ModuleSpec(name, self) if name.split(".")[0] in {BARE!r} else None

    def create_module(self, spec):
        raise ModuleNotFoundError(f"blocked: {{spec.name}}", name=spec.name)

    def exec_module(self, module):
        raise AssertionError

sys.meta_path.insert(0, Blocked())
"""
_MACHINE = {"processor": "P", "cores": 2, "packages": {"torch": "2.11"}, "gpus": [{"name": "H"}]}


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """The environment of processes that lack those packages, and so do all that they start."""
    (tmp_path / "blocked").mkdir()
    (tmp_path / "blocked" / "sitecustomize.py").write_text(_BLOCKED)
    paths = [str(tmp_path / "blocked"), str(Path(__file__).parents[3])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _run_bare(tmp_path: Path, model: Path, environment: dict[str, str], *kinds: str) -> dict[str, Any]:
    setting = tiny(tmp_path / "out", models=(f"local-dir:{model}",))
    program = (
        "import json, sys; from indexer.bench.gpu.parts import measure, parts_of; "
        "from indexer.bench.gpu.setting import Setting; given = Setting.from_json(sys.argv[1]); "
        "json.dump({p.kind: measure(given, p) for p in parts_of(given, sys.argv[2:])}, sys.stdout)"
    )
    command = [sys.executable, "-c", program, setting.to_json(), *kinds]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_parts_run_with_few_wheels(tmp_path: Path, tiny_model: Path, bare: dict[str, str]) -> None:
    found = _run_bare(tmp_path, tiny_model, bare, "machine", "parity", "embed")
    assert list(found) == ["machine", "parity", "embed"]
    assert found["parity"][0]["least cosine"] > 0.999
    [row] = found["embed"]
    assert (row["images"], row["failed"], row["graphs"]) == (96, 0, "none on a CPU")
    assert 0 <= row["cores busy"] <= 1.05


@pytest.mark.slow
def test_ranks_and_training_run_with_few_wheels(tmp_path: Path, tiny_model: Path, bare: dict[str, str]) -> None:
    found = _run_bare(tmp_path, tiny_model, bare, "limit", "two ranks", "training")
    assert found["limit"][0]["images/s"] > 0
    alone, both = found["two ranks"]
    assert (alone["images"], both["images"]) == (96, 96)
    assert both["least cosine to one rank"] > 0.999
    assert [row["error"] for row in found["training"]] == [None, None]


def test_a_setting_travels() -> None:
    setting = tiny(Path("/out"), models=("bundled", "ViT-B-32"))
    assert Setting.from_json(setting.to_json()) == setting


def test_parts_are_chosen_by_name_or_kind() -> None:
    setting = Setting(Path("/out"), n_devices=2)
    assert [part.name for part in parts_of(setting)][-3:] == ["two ranks bundled", "training bundled", "nccl"]
    assert [part.name for part in parts_of(setting, ["machine", "embed ViT-L-14"])] == ["machine", "embed ViT-L-14"]
    assert len(parts_of(setting, ["parity"])) == 3
    with pytest.raises(BenchError, match='--only "nccl" is no part; there are machine, parity'):
        parts_of(replace(setting, n_devices=1), ["nccl"])


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[list[str], Found]]:
    """Measure with parts that say nothing; returns the names of those that ran."""
    monkeypatch.setattr(running, "call_apart", lambda *_: _MACHINE)

    def measure_all(*, fails: str = "", **options: Any) -> tuple[list[str], Found]:
        ran = []

        def call(_: Setting, part: Part, look: Callable[[], None]) -> list[dict[str, Any]]:
            ran.append(part.name)
            look()
            if part.name == fails:
                raise BenchError("out of memory")
            if fails == "Ctrl-C" and len(ran) == 2:
                raise KeyboardInterrupt
            return [{"value": 1}]

        setting = options.pop("setting", tiny(tmp_path / "out"))
        with Bars(estimate=False) as bars:
            return ran, bench_gpu(setting, bars, call=call, **options)

    return measure_all


ALL = ["machine", "parity bundled", "limit bundled", "embed bundled", "two ranks bundled", "training bundled"]


def test_a_part_that_fails_stops_no_other_and_is_tried_again_last(bench: Callable[..., Any]) -> None:
    ran, found = bench(fails="limit bundled", only=("machine", "limit"))
    assert ran == ["machine", "limit bundled"]
    assert [result.error for result in found.results] == [None, "out of memory"]
    assert found.missing == ["parity bundled", "embed bundled", "two ranks bundled", "training bundled"]
    ran, found = bench()
    assert ran == [*found_missing(ALL, "machine", "limit bundled"), "limit bundled"]
    assert not found.missing
    assert bench()[0] == []


def found_missing(names: list[str], *without: str) -> list[str]:
    return [name for name in names if name not in without]


def test_time_ends_a_call_between_parts_after_the_first(bench: Callable[..., Any]) -> None:
    assert bench(minutes=0.1)[0] == ["machine"]
    assert bench(minutes=5)[0] == ALL[1:5], "training takes longer than five minutes"


def test_an_interrupt_keeps_what_there_is(bench: Callable[..., Any]) -> None:
    ran, found = bench(fails="Ctrl-C")
    assert ran == ALL[:2]
    assert [result.name for result in found.results] == ["machine"]


def test_another_setting_needs_another_folder(bench: Callable[..., Any], tmp_path: Path) -> None:
    bench(only=("machine",))
    with pytest.raises(BenchError, match="something else; give another --out"):
        bench(setting=tiny(tmp_path / "out", models=("ViT-B-32",)))


def test_a_part_in_its_process_says_what_ended_it(tmp_path: Path) -> None:
    looks: list[int] = []
    with pytest.raises(BenchError, match=r'--only "dance" is no part; .*dance\.log'):
        call_part(tiny(tmp_path / "out"), Part("dance"), lambda: looks.append(1))
    assert looks


def _embedded(rate: float, *, cores_busy: float = 0.99) -> list[dict[str, Any]]:
    return [{"images/s": rate, "batch": 256, "graphs": "captured", "cores busy": cores_busy}]


def _found(out: Path, **rows: list[dict[str, Any]]) -> Found:
    named = {name.replace("_", " ", 1).replace("ViT_", "ViT-"): found for name, found in rows.items()}
    results = [Result(name, 1.0, "2026-11-22", found) for name, found in named.items()]
    return Found(Setting(out), _MACHINE, results, [])


def test_goals_are_met_or_missed(tmp_path: Path) -> None:
    cosine = {"way": "captured graphs", "precision": "bf16", "mean cosine": 0.9999}
    found = _found(
        tmp_path,
        parity_bundled=[{**cosine, "least cosine": 0.9992}, {**cosine, "least cosine": 0.998}],
        limit_bundled=[{"images/s": 1000.0}, {"images/s": None}],
        embed_bundled=_embedded(500.0),
        training_bundled=[{"error": None}, {"error": "no room"}],
    )
    goals = {(goal.name, round(goal.reached, 4)): goal.is_met for goal in goals_of(found)}
    assert goals == {
        ("cosine to the CPU, bundled", 0.9992): True,
        ("cosine to the CPU, bundled", 0.998): False,
        ("cores busy, bundled", 0.99): True,
        ("end to end against passes alone, bundled", 0.5): None,
        ("configurations that learn", 0.5): False,
    }
    assert not is_all_well(found)
    write(found)
    assert "MISSED" in (tmp_path / "report.html").read_text()
    assert json.loads((tmp_path / "report.json").read_text())["format"] == "gpu 1"


def test_a_large_model_is_held_against_its_passes_alone(tmp_path: Path) -> None:
    rows = {"limit_ViT_L-14": [{"images/s": 1000.0}], "embed_ViT_L-14": _embedded(590.0)}
    [goal] = goals_of(_found(tmp_path, **rows))
    assert (goal.least, goal.is_met) == (0.60, False)
    [goal] = goals_of(_found(tmp_path, **{**rows, "embed_ViT_L-14": _embedded(610.0)}))
    assert goal.is_met
    assert is_all_well(_found(tmp_path, **{**rows, "embed_ViT_L-14": _embedded(610.0)}))


def test_what_is_tried_in_small_has_no_goals_of_speed(tmp_path: Path) -> None:
    found = _found(tmp_path, limit_bundled=[{"images/s": 1.0}], embed_bundled=_embedded(0.1, cores_busy=0.1))
    small = replace(found, setting=tiny(tmp_path))
    assert [goal.is_met for goal in goals_of(small)] == [None, None]
    assert to_json(small)["goals"]


def test_without_a_gpu_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("indexer.ranks.devices._count_gpus", lambda: 0)
    with pytest.raises(DeviceError, match=r"no GPU is here: torch .* sees none; look at `nvidia-smi`"):
        find_gpus("auto")
    done = CliRunner().invoke(main, ["bench", "gpu", "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert "try all parts in small with --devices cpu" in done.output
    assert not (tmp_path / "out").exists()


def test_random_weights_are_made_once_and_load_as_any(tmp_path: Path) -> None:
    path = random_weights(tmp_path, "ViT-S-32-alt")
    made_at = path.stat().st_mtime_ns
    assert random_weights(tmp_path, "ViT-S-32-alt").stat().st_mtime_ns == made_at
    model = load_model(find_checkpoint(ModelChoice("ViT-S-32-alt", str(path))))
    assert next(model.parameters()).abs().sum() > 0


def test_the_part_that_measures_is_the_one_that_is_named(tmp_path: Path) -> None:
    [row] = measure(tiny(tmp_path), Part("machine"))
    assert row["GB"] > 0.3


def test_a_pass_that_cannot_be_captured_says_why_and_is_not_tried_again(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> Any:
        raise RuntimeError("a copy from the host\nat line 3")

    monkeypatch.setattr(encoding, "_captured", fail)
    checkpoint = find_checkpoint(ModelChoice(f"local-dir:{tiny_model}"))
    encoder = Encoder(checkpoint, device=torch.device("cpu"), precision="fp32")
    ways: dict[str, encoding.Way] = {"pass by pass": lambda function: function, "captured graph": encoding._captured}
    found = dict(encoding._rates(encoder, 4, ways, seconds=0.001))
    assert found["captured graph: a copy from the host"] is None
    assert (found["pass by pass"] or 0) > 0
    assert list(ways) == ["pass by pass"]
