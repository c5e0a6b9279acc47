"""`icons bench gpu` on the CPU, in small: its parts, how it goes on, and what it makes of what they say."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch
from click.testing import CliRunner

from indexer.bench import limit
from indexer.bench.gpu import encoding
from indexer.bench.gpu import run as running
from indexer.bench.gpu.parts import LIMIT_SECONDS, Part, measure, parts_of
from indexer.bench.gpu.report import goals_of, is_all_well, results_of, to_json, write
from indexer.bench.gpu.run import Found, Result, bench_gpu, call_part, find_gpus
from indexer.bench.gpu.setting import Setting, random_weights, tiny
from indexer.bench.training.knobs import usual_group_names
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.torch_encoder import Encoder, load_model
from indexer.errors import BenchError, DeviceError
from indexer.reports.bars import Bars
from search.cli import main

BARE = (
    *("faiss", "onnxruntime", "uvicorn", "starlette", "fastapi", "mcp", "matplotlib"),
    *("sqlalchemy", "alembic", "platformdirs"),
)
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


def _run_bare(tmp_path: Path, model: Path | str, environment: dict[str, str], *kinds: str) -> dict[str, Any]:
    setting = tiny(tmp_path / "out", models=(f"local-dir:{model}" if isinstance(model, Path) else model,))
    program = (
        "import json, sys; from indexer.bench.gpu.parts import measure, parts_of; "
        "from indexer.bench.gpu.setting import Setting; given = Setting.from_json(sys.argv[1]); "
        "json.dump({p.kind: list(measure(given, p)) for p in parts_of(given, sys.argv[2:])}, sys.stdout)"
    )
    command = [sys.executable, "-c", program, setting.to_json(), *kinds]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_parts_run_with_few_wheels(tmp_path: Path, tiny_model: Path, bare: dict[str, str]) -> None:
    found = _run_bare(tmp_path, tiny_model, bare, "machine", "parity", "embed")
    assert list(found) == ["machine", "parity", "embed"]
    assert found["parity"][0]["least cosine"] > 0.999
    chosen, fixed = found["embed"]
    assert (chosen["images"], chosen["failed"], chosen["graphs"]) == (96, 0, "none on a CPU")
    assert (fixed["batch size"], fixed["batch"], fixed["images"]) == ("fixed", 16, 24)
    assert 0 <= chosen["cores busy"] <= 1.05


@pytest.mark.slow
def test_a_model_that_has_graphs_goes_through_torch_where_there_is_nothing_else(
    tmp_path: Path, bare: dict[str, str]
) -> None:
    found = _run_bare(tmp_path, "bundled", bare, "parity")
    assert found["parity"][0]["least cosine"] > 0.999


@pytest.mark.slow
def test_the_command_runs_with_few_wheels(tmp_path: Path, bare: dict[str, str]) -> None:
    program = "import sys; from search.cli import main; main(sys.argv[1:])"
    arguments = ["bench", "gpu", "--devices", "cpu", "--out", str(tmp_path / "out"), "--only", "machine", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], env=bare, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert [(part["name"], part["error"]) for part in json.loads(done.stdout)["parts"]] == [("machine", None)]


@pytest.mark.slow
def test_ranks_and_training_run_with_few_wheels(tmp_path: Path, tiny_model: Path, bare: dict[str, str]) -> None:
    found = _run_bare(tmp_path, tiny_model, bare, "limit", "two ranks", "knobs", "training")
    assert found["limit"][0]["images/s"] > 0
    alone, both = found["two ranks"]
    assert (alone["images"], both["images"]) == (96, 96)
    assert both["least cosine to one rank"] > 0.999
    assert [(row["configuration"], row["error"]) for row in found["knobs"]] == [("batch=16", None), ("batch=32", None)]
    assert all(row["images/s"] > 0 and 0 <= row["waits"] <= 1 for row in found["knobs"])
    plain, accumulated = found["training"]
    assert (plain["configuration"], accumulated["configuration"]) == ("batch=16", "batch=16 accumulate=2")
    assert plain["error"] is accumulated["error"] is None
    assert plain["images/s"] == pytest.approx(16 * plain["steps/s"])


@pytest.mark.slow
def test_a_usual_group_of_training_is_measured_by_itself(tmp_path: Path, tiny_model: Path) -> None:
    setting = replace(tiny(tmp_path, models=(f"local-dir:{tiny_model}",)), sweeps=())
    rows = list(measure(setting, Part("training", "accumulate")))
    assert [row["measured"] for row in rows] == ["accumulate"] * 2


@pytest.mark.slow
def test_each_of_several_ranks_gets_as_many_pictures(tmp_path: Path, tiny_model: Path) -> None:
    setting = replace(tiny(tmp_path), n_devices=2)
    alone, both = measure(setting, Part("devices", f"local-dir:{tiny_model}"))
    assert [(row["devices"], row["images"]) for row in (alone, both)] == [(1, 96), (2, 192)]
    assert alone["efficiency"] == 1.0
    assert both["efficiency"] == pytest.approx(both["images/s"] / (2 * alone["images/s"]))
    assert all(0 < row["cores busy"] <= 1.05 and 0 <= row["device waits"] <= 1 for row in (alone, both))
    assert alone["device busy"] is None, "nobody can tell on a CPU"


def test_a_setting_travels() -> None:
    setting = tiny(Path("/out"), models=("bundled", "ViT-B-32"))
    assert Setting.from_json(setting.to_json()) == setting


def test_parts_are_chosen_by_name_or_kind() -> None:
    setting = Setting(Path("/out"), n_devices=2)
    assert [part.name for part in parts_of(setting, ["machine", "embed ViT-L-14"])] == ["machine", "embed ViT-L-14"]
    assert [part.name for part in parts_of(setting, ["knobs copy", "training NCCL"])] == ["knobs copy", "training NCCL"]
    assert len(parts_of(setting, ["parity"])) == 3
    with pytest.raises(BenchError, match='--only "nccl" is no part; there are machine, parity'):
        parts_of(replace(setting, n_devices=1), ["nccl"])


def test_each_group_of_configurations_is_a_part() -> None:
    one, two = Setting(Path("/out")), Setting(Path("/out"), n_devices=2)
    training = usual_group_names("cuda", 2)
    assert {"strategy", "NCCL", "precision"} <= set(training)
    assert [part.subject for part in parts_of(two, ["training"])] == training
    assert [part.subject for part in parts_of(one, ["training"])] == usual_group_names("cuda", 1)
    knobs = [part.subject for part in parts_of(two, ["knobs"])]
    assert {"precision", "copy", "pinned", "cudnn_benchmark", "strategy", "devices alone"} <= set(knobs)
    assert "devices alone" not in [part.subject for part in parts_of(one, ["knobs"])]
    kinds = ["two ranks", "devices", "knobs", "training", "nccl"]
    assert [kind for kind in dict.fromkeys(part.kind for part in parts_of(two)) if kind in kinds] == kinds
    assert all(part.seconds < LIMIT_SECONDS / 2 for part in parts_of(two))


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[list[str], Found]]:
    """Measure with parts that say nothing; returns the names of those that ran."""
    monkeypatch.setattr(running, "call_apart", lambda *_: _MACHINE)

    def measure_all(*, fails: str = "", **options: Any) -> tuple[list[str], Found]:
        ran = []

        def call(_: Setting, part: Part, look: Callable[[], None]) -> tuple[list[dict[str, Any]], str | None]:
            ran.append(part.name)
            look()
            if fails == "Ctrl-C" and len(ran) == 2:
                raise KeyboardInterrupt
            return [{"value": 1}], "out of memory" if part.name == fails else None

        setting = options.pop("setting", tiny(tmp_path / "out"))
        with Bars(estimate=False) as bars:
            return ran, bench_gpu(setting, bars, call=call, **options)

    return measure_all


ALL = [
    *("machine", "parity bundled", "limit bundled", "embed bundled", "two ranks bundled"),
    *("knobs batch", "training accumulate"),
]


def test_a_part_that_fails_stops_no_other_and_is_tried_again_last(bench: Callable[..., Any]) -> None:
    ran, found = bench(fails="limit bundled", only=("machine", "limit"))
    assert ran == ["machine", "limit bundled"]
    assert [result.error for result in found.results] == [None, "out of memory"]
    assert [result.rows for result in found.results] == [[{"value": 1}]] * 2, "what it had measured is kept"
    assert found.missing == found_missing(ALL, "machine", "limit bundled")
    ran, found = bench()
    assert ran == [*found_missing(ALL, "machine", "limit bundled"), "limit bundled"]
    assert not found.missing
    assert bench()[0] == []


def found_missing(names: list[str], *without: str) -> list[str]:
    return [name for name in names if name not in without]


def test_time_ends_a_call_between_parts_after_the_first(bench: Callable[..., Any]) -> None:
    assert bench(minutes=0.1)[0] == ["machine"]
    assert bench(minutes=2)[0] == ALL[1:3], "the next one takes three minutes"


def test_an_interrupt_keeps_what_there_is(bench: Callable[..., Any]) -> None:
    ran, found = bench(fails="Ctrl-C")
    assert ran == ALL[:2]
    assert [result.name for result in found.results] == ["machine"]


def test_another_setting_needs_another_folder(bench: Callable[..., Any], tmp_path: Path) -> None:
    bench(only=("machine",))
    with pytest.raises(BenchError, match=r"measured with models .*bundled.*, not .*ViT-B-32.*; give another --out"):
        bench(setting=tiny(tmp_path / "out", models=("ViT-B-32",)))
    (tmp_path / "out" / "setting.json").write_text("[]")
    with pytest.raises(BenchError, match=r"setting.json\" is none of `icons bench gpu`; give another --out"):
        bench()


def test_a_part_whose_file_was_cut_is_measured_again(bench: Callable[..., Any], tmp_path: Path) -> None:
    bench(only=("machine",))
    file = tmp_path / "out" / "parts" / "machine.json"
    file.write_bytes(file.read_bytes()[:40])
    assert bench(only=("machine",))[0] == ["machine"]


def test_a_folder_that_was_moved_is_gone_on_with(bench: Callable[..., Any], tmp_path: Path) -> None:
    bench()
    (tmp_path / "out").rename(tmp_path / "moved")
    assert bench(setting=tiny(tmp_path / "moved"))[0] == []


def test_a_part_in_its_process_says_what_ended_it(tmp_path: Path) -> None:
    looks: list[int] = []
    rows, error = call_part(tiny(tmp_path / "out"), Part("dance"), lambda: looks.append(1))
    assert rows == []
    assert re.search(r'--only "dance" is no part; .*dance\.log', error or "")
    assert looks


_HANGING = """
import os, subprocess, sys, time
from indexer.bench.gpu import parts

def hang(setting, subject):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
    yield {"processes": [os.getpid(), child.pid]}
    time.sleep(100)

parts._measures = lambda: {"machine": hang}
parts.main(sys.argv[1:])
"""


def test_a_part_that_hangs_is_ended_with_all_it_has_started_and_keeps_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def command(setting: Setting, part: Part, file: Path) -> list[str]:
        return [sys.executable, "-c", _HANGING, setting.to_json(), part.name, str(file)]

    monkeypatch.setattr(running, "_command", command)
    monkeypatch.setattr(running, "LIMIT_SECONDS", 3.0)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    [row], error = call_part(tiny(tmp_path / "out"), Part("machine"), lambda: None)
    assert (error or "").startswith("took longer than 3 s, see ")
    until = time.monotonic() + 10
    while any(map(_runs, row["processes"])) and time.monotonic() < until:
        time.sleep(0.05)  # a killed process ends when the system gets to it
    assert [number for number in row["processes"] if _runs(number)] == []
    assert not list((tmp_path / "out").rglob("*.rows"))


def _runs(number: int) -> bool:
    """Whether a process is there; one that has ended and that nobody asks for is not."""
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(number).status() != psutil.STATUS_ZOMBIE
    return False


_LIMIT = {"images/s": 1000.0, "GFLOP a picture": 10.0, "ceiling, TFLOP/s": 50.0}


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
        limit_bundled=[_LIMIT, {**_LIMIT, "images/s": None}],
        embed_bundled=_embedded(500.0),
        training_batch=[{"error": None}, {"error": "no room"}],
        knobs_copy=[{"error": None}],
    )
    goals = {(goal.name, round(goal.reached, 4)): goal.is_met for goal in goals_of(found)}
    assert goals == {
        ("cosine to the CPU, bundled", 0.9992): True,
        ("cosine to the CPU, bundled", 0.998): False,
        ("cores busy, bundled", 0.99): True,
        ("end to end against passes alone, bundled", 0.5): None,
        ("configurations that learn, batch", 0.5): False,
        ("configurations that embed, copy", 1.0): True,
    }
    assert not is_all_well(found)
    write(found)
    assert "MISSED" in (tmp_path / "report.html").read_text()
    assert json.loads((tmp_path / "report.json").read_text())["format"] == "gpu 1"


def test_a_large_model_is_held_against_its_passes_alone(tmp_path: Path) -> None:
    rows = {"limit_ViT_L-14": [_LIMIT], "embed_ViT_L-14": _embedded(590.0)}
    [goal] = goals_of(_found(tmp_path, **rows))
    assert (goal.least, goal.is_met) == (0.60, False)
    [goal] = goals_of(_found(tmp_path, **{**rows, "embed_ViT_L-14": _embedded(610.0)}))
    assert goal.is_met
    assert is_all_well(_found(tmp_path, **{**rows, "embed_ViT_L-14": _embedded(610.0)}))


def test_embedding_is_held_against_the_ceiling_that_the_limit_has_found(tmp_path: Path) -> None:
    rows = {"limit_ViT_L-14": [_LIMIT], "embed_ViT_L-14": _embedded(600.0)}
    found = _found(tmp_path, **rows)
    [goal] = goals_of(found)
    assert goal.note.endswith("MFU 0.120"), "600 pictures of 10 GFLOP a second, of 50 TFLOP"
    [limit, embedded] = to_json(found)["parts"]
    assert limit["rows"] == [_LIMIT]
    assert embedded["rows"][0]["MFU"] == pytest.approx(0.12)
    [alone] = results_of(_found(tmp_path, **{"embed_ViT_L-14": _embedded(600.0)}))
    assert "MFU" not in alone.rows[0]


def test_what_is_tried_in_small_has_no_goals_of_speed(tmp_path: Path) -> None:
    found = _found(tmp_path, limit_bundled=[{**_LIMIT, "images/s": 1.0}], embed_bundled=_embedded(0.1, cores_busy=0.1))
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


def test_every_precision_is_compared_once(tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = Setting(tmp_path)
    for usual, all_of_them in (("bf16", ("bf16", "fp16")), ("fp16", ("fp16", "bf16"))):
        monkeypatch.setattr(encoding, "resolve_precision", lambda *_, usual=usual: usual)
        assert encoding._precisions(gpu) == all_of_them
    monkeypatch.setattr(encoding, "_precisions", lambda _: ("fp32", "bf16"))
    rows = list(encoding.compare_with_cpu(tiny(tmp_path), f"local-dir:{tiny_model}"))
    assert [row["precision"] for row in rows] == ["fp32", "bf16"]
    assert rows[0]["least cosine"] > rows[1]["least cosine"] > 0.99


def test_larger_batches_than_one_that_takes_seconds_are_left_out(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "_LONGEST_PASS", 0.0)
    monkeypatch.setattr(encoding, "measure_tower", lambda _: {"flops_per_image": 1e9, "flops_per_second": 1e12})
    setting = replace(tiny(tmp_path), batch_sizes=(4, 2, 8))
    measured, *others = encoding.measure_limit(setting, f"local-dir:{tiny_model}")
    assert (measured["batch"], measured["way"]) == (2, "pass by pass")
    assert [row["batch"] for row in others] == [4, 8]
    assert all(row["way"].startswith("left out: a pass of 2 takes") and row["images/s"] is None for row in others)


def test_a_long_pass_is_not_repeated() -> None:
    passes: list[float] = []

    def long() -> None:
        passes.append(0.0)
        time.sleep(0.05)

    assert encoding._seconds(long, torch.device("cpu"), least=0.01) == pytest.approx(0.05, abs=0.04)
    assert len(passes) == 2
    encoding._seconds(lambda: passes.append(0.0), torch.device("cpu"), least=0.01)
    assert len(passes) > 10


def test_memory_is_copied_as_far_as_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu, free = torch.device("cuda:0"), 6 << 30
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (free, 80 << 30))
    assert limit._copied_bytes(gpu) == free // 4
    free = 64 << 30
    assert limit._copied_bytes(gpu) == 4 << 30


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
