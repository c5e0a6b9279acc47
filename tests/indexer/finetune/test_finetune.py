"""`icons lab finetune` makes a model that `icons index` takes, cut or not, on one rank or two."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import open_clip
import pytest
import torch
from click.testing import CliRunner, Result
from conftest import kill_rank
from safetensors.torch import load_file

from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.finetune.options import Places
from indexer.finetune.student import Student
from indexer.finetune.watch import Log
from search.cli import main


def settings(**chosen: object) -> list[str]:
    """Type settings that have no option of their own."""
    return [part for name, value in chosen.items() for part in ("--set", f"{name}={value}")]


QUICK = [
    *("--devices", "cpu", "--workers", "0", "--batch", "16", "--rate", "1e-3"),
    *settings(steps=4, log_steps=1, precision="fp32", validate_steps=2, held_out=5),
]
Finetune = Callable[..., Result]


def arguments(icons: Path, start: Path, out: Path, *more: str) -> list[str]:
    return ["lab", "finetune", str(icons), "--out", str(out), "--model", f"local-dir:{start}", *QUICK, *more]


def run(*given: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, list(given), catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def losses(out: Path) -> dict[int, float]:
    lines = map(json.loads, Places(out).log.read_text().splitlines())
    return {line["step"]: line["loss"] for line in lines if line["kind"] == "step"}


def weights(out: Path) -> dict[str, torch.Tensor]:
    return load_file(out / "open_clip_model.safetensors")


def test_a_finetuned_model_is_indexed_with_and_asked(icons: Path, start: Path, tmp_path: Path) -> None:
    out, library = tmp_path / "mine", str(tmp_path / "library")
    report = run(*arguments(icons, start, out, "--allow-regression", "--set", "ema=0.5"))
    assert "wrote" in report.output
    assert sorted(path.name for path in out.iterdir()) == [
        "README.md", "graphs.json", "image.onnx", "open_clip_config.json", "open_clip_model.safetensors", "text.onnx",
        "training.json",
    ]  # fmt: skip
    model, _, _ = open_clip.create_model_and_transforms(f"local-dir:{out}")
    assert model.visual.image_size in (16, (16, 16))
    run("index", str(icons), "--model", f"local-dir:{out}", "--library", library, "--devices", "cpu")
    hits = run("search", "ring left", "--json", "--library", library).output
    assert json.loads(hits)["hits"][0]["name"].startswith("ring")


def test_the_lineage_names_parent_data_options_and_figures(icons: Path, start: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    run(*arguments(icons, start, out, "--allow-regression", "--set", "caption_pair_weight=0.5"))
    lineage = json.loads((out / "training.json").read_text())
    assert lineage["parent"]["fingerprint"] == find_checkpoint(ModelChoice(f"local-dir:{start}")).fingerprint
    (told,) = lineage["training"]
    assert told["options"]["loss"]["caption_pair_weight"] == 0.5
    assert told["options"]["schedule"]["seed"] == 0
    assert [entry["step"] for entry in told["history"]] == [2, 4]
    assert lineage["data"]["icons"] == 64
    assert lineage["data"]["sets"] == [
        {"key": "icons", "title": "icons", "version": None, "licence": "MIT", "icons": 64}
    ]
    assert {"tags: fused", "names: pictures", "screenshots: pictures"} <= lineage["figures"].keys()
    assert lineage["figures"].keys() == lineage["parent"]["figures"].keys()


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_to_the_same_losses_and_weights(icons: Path, start: Path, tmp_path: Path) -> None:
    long = ["--allow-regression", *settings(steps=12, validate_steps=5, ema=0.9, patience=0)]
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert start_process(*arguments(icons, start, whole, *long)).wait() == 0
    given = arguments(icons, start, cut, *long, "--set", "checkpoint_seconds=0")
    process = start_process(*given)
    wait_for_step(cut, 3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not cut.exists()
    assert 3 <= max(losses(cut)) < 12
    assert start_process(*given, "--resume").wait() == 0
    assert losses(cut) == losses(whole)
    expected = weights(whole)
    for name, tensor in weights(cut).items():
        assert torch.equal(tensor, expected[name]), name


def start_process(*arguments: str) -> "subprocess.Popen[bytes]":
    """`icons` in a process of its own: the last bits depend on threads, which other tests may have changed here."""
    command = [sys.executable, "-c", "from search.cli import main; main()", *arguments]
    return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})


def wait_for_step(out: Path, step: int) -> None:
    for _ in range(1200):
        log = Places(out).log
        if log.is_file() and sum('"kind": "step"' in line for line in log.read_text().splitlines()) >= step:
            return
        time.sleep(0.05)
    raise AssertionError("no step in a minute")


@pytest.mark.slow
def test_a_model_that_falls_below_its_parent_is_not_written_unless_allowed(
    icons: Path, start: Path, tmp_path: Path
) -> None:
    """The bundled encoder tells pictures apart; thrown far off by a huge rate it does not."""
    bad = tmp_path / "bad"
    ruin = ["--model", "bundled", "--text-tower", "locked", "--rate", "2", "--set", "warm_up=0", "--set", "held_out=2"]
    refused = run(*arguments(icons, start, bad, *ruin), code=1)
    assert "below the parent's interval: " in refused.output
    assert "--resume --allow-regression writes it" in refused.output
    assert not bad.exists()
    assert Places(bad).best.is_file()
    run(*arguments(icons, start, bad, *ruin, "--resume", "--allow-regression"))
    assert (bad / "open_clip_model.safetensors").is_file()


def test_training_ends_early_where_nothing_improves(icons: Path, start: Path, tmp_path: Path) -> None:
    still = ["--rate", "1e-12", "--set", "steps=40", "--set", "validate_steps=1", "--set", "patience=2", "--json"]
    outcome = json.loads(run(*arguments(icons, start, tmp_path / "mine", *still)).stdout)
    assert (outcome["best_step"], outcome["steps"]) == (1, 3)


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["bf16", pytest.param("fp16", marks=pytest.mark.slow)])
def test_other_precisions_learn_what_fp32_learns(icons: Path, start: Path, tmp_path: Path, precision: str) -> None:
    for kind in ("fp32", precision):
        run(*arguments(icons, start, tmp_path / kind, "--allow-regression", *settings(precision=kind, seed=1)))
    exact, found = losses(tmp_path / "fp32"), losses(tmp_path / precision)
    assert found[1] == pytest.approx(exact[1], abs=0.01)
    assert all(found[step] == pytest.approx(exact[step], abs=0.1) for step in exact)  # fp16 may leave out a first step
    assert found != exact


def test_the_log_is_json_where_a_gradient_was_infinite(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl", from_step=0)
    log.write("step", 1, {"loss": 0.5, "gradient_norm": float("inf")})
    log.close()
    assert json.loads((tmp_path / "log.jsonl").read_text(), parse_constant=pytest.fail) == {
        "kind": "step", "step": 1, "loss": 0.5, "gradient_norm": None,
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # of torch itself, while it compiles
def test_compiled_towers_learn_what_plain_ones_learn(icons: Path, start: Path, tmp_path: Path) -> None:
    for out, extra in ((tmp_path / "plain", []), (tmp_path / "compiled", ["--set", "compile=true"])):
        run(*arguments(icons, start, out, "--allow-regression", "--set", "steps=2", *extra))
    exact, found = losses(tmp_path / "plain"), losses(tmp_path / "compiled")
    assert all(found[step] == pytest.approx(exact[step], abs=1e-3) for step in exact)


@pytest.mark.slow
def test_two_ranks_make_a_model_and_log_the_losses_of_one(icons: Path, start: Path, tmp_path: Path) -> None:
    for out, devices in ((tmp_path / "one", "cpu"), (tmp_path / "two", "cpu:2")):
        run(*arguments(icons, start, out, "--devices", devices, "--allow-regression"))
    one, two = losses(tmp_path / "one"), losses(tmp_path / "two")
    assert one.keys() == two.keys() == {1, 2, 3, 4}
    assert all(two[step] == pytest.approx(one[step], abs=1e-4) for step in one)
    for name, tensor in weights(tmp_path / "one").items():
        assert torch.allclose(weights(tmp_path / "two")[name].float(), tensor.float(), atol=2e-3), name


@pytest.mark.slow
@pytest.mark.parametrize("tower", ["full", "lora"])
def test_sharded_ranks_resume_and_write_a_whole_model(icons: Path, start: Path, tmp_path: Path, tower: str) -> None:
    alone = ["--allow-regression", "--set", "ema=0.5", "--picture-tower", tower, "--text-tower", tower]
    sharded = ["--devices", "cpu:2", "--set", "strategy=fsdp", *alone]
    for out, extra in ((tmp_path / "one", alone), (tmp_path / "two", sharded)):
        run(*arguments(icons, start, out, *extra))
    expected = weights(tmp_path / "one")
    for name, tensor in weights(tmp_path / "two").items():
        assert torch.allclose(tensor.float(), expected[name].float(), atol=2e-3), name
    run(*arguments(icons, start, tmp_path / "two", *sharded, "--resume"))


@pytest.mark.slow
def test_a_killed_rank_is_named_and_its_checkpoint_stays(icons: Path, start: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    given = arguments(icons, start, out, "--devices", "cpu:2", "--set", "steps=4000", "--set", "checkpoint_seconds=0")
    command = [sys.executable, "-c", "from search.cli import main; main()", *given]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
    wait_for_step(out, 2)
    kill_rank("indexer.finetune.rank", out, "1")
    _, told = process.communicate(timeout=60)
    assert process.returncode == 2
    assert b"rank 1 was killed by SIGKILL" in told
    assert b"the last checkpoint stays, --resume goes on from it" in told
    assert Places(out).checkpoint.is_file()


def test_a_new_model_begins_with_random_weights_by_its_config(icons: Path, start: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps(json.loads((start / "open_clip_config.json").read_text())["model_cfg"]))
    given = arguments(icons, start, tmp_path / "mine", "--new-model", str(config))
    run(*given)
    lineage = json.loads((tmp_path / "mine" / "training.json").read_text())
    assert lineage["parent"]["random"] is True


def test_settings_for_torch_come_before_torch_is_loaded() -> None:
    told = "import sys, indexer.process as it; it.prepare_for_batches = lambda: sys.exit(3 + ('torch' in sys.modules))"
    command = f"{told}; from search.cli import main; main(['lab', 'finetune', 'x', '--out', 'y'])"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    assert subprocess.run([sys.executable, "-c", command], env=environment, check=False).returncode == 3


@pytest.mark.slow
def test_pictures_are_rendered_once_while_nothing_changes(icons: Path, start: Path, tmp_path: Path) -> None:
    given = arguments(icons, start, tmp_path / "mine", "--allow-regression")
    run(*given)
    pixels = Places(tmp_path / "mine").corpus / "pixels.npy"
    made = pixels.stat().st_mtime_ns
    assert "nothing has changed" in run(*given, "--replace").output
    assert pixels.stat().st_mtime_ns == made


@pytest.mark.slow
def test_training_in_fp32_rounds_nothing_to_tf32(
    icons: Path, start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[bool] = set()
    encode = Student.encode_images

    def watch(student: Student, images: torch.Tensor) -> torch.Tensor:
        seen.add(torch.backends.cudnn.allow_tf32)
        return encode(student, images)

    monkeypatch.setattr(Student, "encode_images", watch)
    run(*arguments(icons, start, tmp_path / "mine", "--set", "steps=1", "--allow-regression"))
    assert seen == {False}
    assert torch.backends.cudnn.allow_tf32


@pytest.mark.slow
def test_devices_that_train_are_watched_line_by_line(icons: Path, start: Path, tmp_path: Path) -> None:
    result = run(*arguments(icons, start, tmp_path / "mine", "--set", "watch_devices=true", "--allow-regression"))
    told = re.findall(
        r"rank 0, device cpu, images/s ([\d,]+), waits \d+%, memory (\S+) GB, busy \d+%, power -", result.stderr
    )
    assert told and all(float(memory) > 0.05 for _, memory in told)
    assert int(told[-1][0].replace(",", "")) > 0


@pytest.mark.slow
def test_events_profile_and_log_are_written_when_asked_for(icons: Path, start: Path, tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    out = tmp_path / "mine"
    run(*arguments(icons, start, out, "--set", "tensorboard=true", "--set", "profile_steps=2", "--allow-regression"))
    events = EventAccumulator(str(Places(out).work / "tensorboard"))
    events.Reload()
    tags = set(events.Tags()["scalars"])
    assert {"loss", "rate/pictures", "speed/images_per_second_of_rank_0", "recall/names: pictures/R@10"} <= tags
    assert [event.step for event in events.Scalars("loss")] == [1, 2, 3, 4]
    shares: dict[str, Any] = json.loads((Places(out).work / "profile" / "rank-0.json").read_text())
    assert 0.1 < shares["compute share"] <= 1
    assert (Places(out).work / "profile" / "rank-0.trace.json").stat().st_size > 1000
