"""`icons lab finetune` makes a model that `icons index` takes, cut or not, on one rank or two, as its settings say."""

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import open_clip
import pytest
import torch
from click.testing import CliRunner, Result
from conftest import kill_rank
from safetensors.torch import load_file

from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.errors import TrainError
from indexer.finetune.options import SUBJECTS, FinetuneOptions, Places, known_settings, parse_settings
from indexer.finetune.watch import Log
from search.cli import main


def settings(**chosen: object) -> list[str]:
    """Type settings that have no option of their own."""
    return [part for name, value in chosen.items() for part in ("--set", f"{name}={value}")]


QUICK = [
    *("--devices", "cpu", "--workers", "0", "--batch", "16", "--rate", "1e-3"),
    *settings(steps=4, log_steps=1, precision="fp32", validate_steps=2, held_out=5),
]


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
    assert "wrote" in run(*arguments(icons, start, out, "--allow-regression", "--set", "ema=0.5")).output
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
    said = run(*arguments(icons, start, out, "--allow-regression", "--set", "caption_pair_weight=0.5", "--timings"))
    spans = ("Rendering", "model and corpus", "waiting for data", "steps", "optimiser", "checkpoints", "validation")
    assert all(re.search(rf"main +{span} +[\d.]+ +[\d.]+ +[\d.]+ +\d+", said.stdout) for span in spans), said.stdout
    lineage = json.loads((out / "training.json").read_text())
    assert lineage["parent"]["fingerprint"] == find_checkpoint(ModelChoice(f"local-dir:{start}")).fingerprint
    (told,) = lineage["training"]
    assert (told["options"]["loss"]["caption_pair_weight"], told["options"]["schedule"]["seed"]) == (0.5, 0)
    assert ([entry["step"] for entry in told["history"]], lineage["data"]["icons"]) == ([2, 4], 64)
    assert lineage["data"]["sets"] == [
        {"key": "icons", "title": "icons", "version": None, "licence": "MIT", "icons": 64}
    ]
    assert {"tags: fused", "names: pictures", "screenshots: pictures"} <= lineage["figures"].keys()
    assert lineage["figures"].keys() == lineage["parent"]["figures"].keys()


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_to_the_same_losses_and_weights(icons: Path, start: Path, tmp_path: Path) -> None:
    long = ["--allow-regression", *settings(steps=12, validate_steps=5, ema=0.9, patience=0)]
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    start_process(*arguments(icons, start, whole, *long)).communicate()
    given = arguments(icons, start, cut, *long, "--set", "checkpoint_seconds=0")
    with start_process(*given) as process:
        wait_for_step(cut, 3)
        process.kill()
    assert not cut.exists() and 3 <= max(losses(cut)) < 12
    start_process(*given, "--resume").communicate()
    assert losses(cut) == losses(whole)
    torch.testing.assert_close(weights(cut), weights(whole), rtol=0, atol=0)


def start_process(*arguments: str, command: str = "from search.cli import main; main()") -> "subprocess.Popen[bytes]":
    """`icons` in a process of its own: the last bits depend on threads, which other tests may have changed here."""
    return subprocess.Popen(
        [sys.executable, "-c", command, *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stderr=subprocess.PIPE,
    )


def wait_for_step(out: Path, step: int) -> None:
    for _ in range(2400):
        log = Places(out).log
        if log.is_file() and sum('"kind": "step"' in line for line in log.read_text().splitlines()) >= step:
            return
        time.sleep(0.05)
    raise AssertionError("no step in two minutes")


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
    assert (bad.exists(), Places(bad).best.is_file()) == (False, True)
    run(*arguments(icons, start, bad, *ruin, "--resume", "--allow-regression"))
    assert (bad / "open_clip_model.safetensors").is_file()


def test_training_ends_early_where_nothing_improves(icons: Path, start: Path, tmp_path: Path) -> None:
    still = ["--rate", "1e-12", "--set", "steps=40", "--set", "validate_steps=1", "--set", "patience=2", "--json"]
    outcome = json.loads(run(*arguments(icons, start, tmp_path / "mine", *still)).stdout)
    assert (outcome["best_step"], outcome["steps"]) == (1, 3)


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_other_precisions_learn_what_fp32_learns(icons: Path, start: Path, tmp_path: Path, precision: str) -> None:
    for out, chosen in ((tmp_path / "plain", "precision=fp32"), (tmp_path / "other", f"precision={precision}")):
        run(*arguments(icons, start, out, "--allow-regression", "--set", chosen, "--set", "seed=1"))
    exact, found = losses(tmp_path / "plain"), losses(tmp_path / "other")
    assert found[1] == pytest.approx(exact[1], abs=0.01)
    assert found == pytest.approx(exact, abs=0.1)  # fp16 may leave out a first step


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "tower"), [("ddp", "full"), ("fsdp", "full"), ("fsdp", "lora")])
def test_two_ranks_make_the_model_of_one_and_resume(
    icons: Path, start: Path, tmp_path: Path, strategy: str, tower: str
) -> None:
    alone = ["--allow-regression", "--set", "ema=0.5", "--picture-tower", tower, "--text-tower", tower]
    spread = ["--devices", "cpu:2", "--set", f"strategy={strategy}", *alone]
    for out, extra in ((tmp_path / "one", alone), (tmp_path / "two", spread)):
        run(*arguments(icons, start, out, *extra))
    assert losses(tmp_path / "two") == pytest.approx(losses(tmp_path / "one"), abs=1e-4)
    torch.testing.assert_close(weights(tmp_path / "two"), weights(tmp_path / "one"), rtol=1e-5, atol=2e-3)
    run(*arguments(icons, start, tmp_path / "two", *spread, "--resume"))


def test_the_log_is_json_where_a_gradient_was_infinite(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl", from_step=0)
    log.write("step", 1, {"loss": 0.5, "gradient_norm": float("inf")})
    log.close()
    assert json.loads((tmp_path / "log.jsonl").read_text(), parse_constant=pytest.fail) == {
        "kind": "step", "step": 1, "loss": 0.5, "gradient_norm": None,
    }  # fmt: skip


@pytest.mark.slow
def test_a_killed_rank_is_named_and_its_checkpoint_stays(icons: Path, start: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    process = start_process(
        *arguments(icons, start, out, "--devices", "cpu:2", *settings(steps=4000, checkpoint_seconds=0))
    )
    wait_for_step(out, 2)
    kill_rank("indexer.finetune.rank", out, "1")
    _, told = process.communicate(timeout=60)
    assert (process.returncode, Places(out).checkpoint.is_file()) == (2, True)
    assert re.search(
        b"rank 1 was killed by SIGKILL.*the last checkpoint stays, --resume goes on from it", told, re.DOTALL
    )


def test_a_new_model_begins_with_random_weights_by_its_config(icons: Path, start: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps(json.loads((start / "open_clip_config.json").read_text())["model_cfg"]))
    run(*arguments(icons, start, tmp_path / "mine", "--new-model", str(config)))
    assert json.loads((tmp_path / "mine" / "training.json").read_text())["parent"]["random"] is True


def test_settings_for_torch_come_before_torch_is_loaded() -> None:
    told = "import sys, indexer.process as it; it.prepare_for_batches = lambda: sys.exit(3 + ('torch' in sys.modules))"
    command = f"{told}; from search.cli import main; main(['lab', 'finetune', 'x', '--out', 'y'])"
    with start_process(command=command) as process:
        assert process.wait() == 3


@pytest.mark.slow
def test_events_log_and_devices_are_shown_when_asked_for(icons: Path, start: Path, tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    out, shown = tmp_path / "mine", settings(tensorboard="true", watch_devices="true")
    said = run(*arguments(icons, start, out, *shown, "--allow-regression")).stderr
    assert re.search(r"rank 0, device cpu, images/s [\d,]+, waits \d+%, memory (?!0.0)\S+ GB, busy \d+%, power -", said)
    events = EventAccumulator(str(Places(out).work / "tensorboard"))
    events.Reload()
    tags = set(events.Tags()["scalars"])
    assert {"loss", "rate/pictures", "speed/images_per_second_of_rank_0", "recall/names: pictures/R@10"} <= tags
    assert [event.step for event in events.Scalars("loss")] == [1, 2, 3, 4]


def test_settings_come_to_their_subjects_and_the_later_counts() -> None:
    typed = ["accumulate=4", "loss=sigmoid", "text-map=false", "held_out=3", "captions=3", "rate=1e-4", "rate=2"]
    options = FinetuneOptions.of(parse_settings(typed))
    assert (options.distribution.accumulate, options.loss.kind, options.towers.text_map) == (4, "sigmoid", False)
    assert (options.learning.held_out, options.learning.own_captions, options.schedule.rate) == (3, "3", 2.0)
    assert options.augmentation == FinetuneOptions().augmentation


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("acumulate=4", 'no setting "acumulate"; did you mean "accumulate"? --set help lists all'),
        ("xyz=4", 'no setting "xyz"; --set help lists all'),
        ("rate=0", 'rate can\'t be "0": Highest learning rate. [above 0]'),
        ("rate", 'rate can\'t be ""'),
        ("inverted=1.5", "[0 to 1]"),
        ("inverted=NaN", "[0 to 1]"),
        ("held_out=1", "[2 or more]"),
        ("loss=hinge", "[softmax, sigmoid]"),
        ("text_map=no", "[true, false]"),
        ("steps=2.5", "[1 or more]"),
    ],
)
def test_what_no_setting_can_be_is_refused_with_what_it_may_be(typed: str, reason: str) -> None:
    with pytest.raises(TrainError) as refused:
        parse_settings([typed])
    assert reason in str(refused.value)


def test_help_lists_every_setting_and_options_that_are_settings_say_so() -> None:
    shown = run("lab", "finetune", "--set", "help").output
    assert all(f"\n  {name}=" in shown for name in known_settings())
    assert len(known_settings()) == sum(len(fields(kind)) for kind in SUBJECTS.values())
    assert run("lab", "finetune", "--help").output.count("\n  --") <= 22
    assert (
        "--accumulate is a setting; give --set accumulate=VALUE"
        in run("lab", "finetune", "--accumulate", "4", code=2).output
    )
    assert "give --set text_map=false" in run("lab", "finetune", "--no-text-map", code=2).output
    assert 'did you mean "accumulate"' in run("lab", "captions", "--set", "acumulate=4", code=2).output
