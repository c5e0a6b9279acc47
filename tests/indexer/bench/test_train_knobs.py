"""What `icons bench train` compares by itself, on which devices, and with which settings ranks are started."""

from dataclasses import asdict, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch.distributed as dist

from indexer.bench.training import measure
from indexer.bench.training import ranks as training_ranks
from indexer.bench.training.knobs import NCCL_VARIABLES, TrainKnobs, check, groups_of, usual_group_names
from indexer.bench.training.measure import TrainBenchOptions, bench_train, usual_batch
from indexer.bench.training.ranks import RankGroups, options_of, places_in
from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import BenchError
from indexer.finetune.plan import Plan, read_plan, write_plan
from indexer.ranks.devices import Devices
from indexer.ranks.distributed import _high_priority
from indexer.ranks.launch import Ranks
from indexer.reports.bars import Bars


def test_the_usual_groups_hold_ways_to_share_a_batch_and_every_option() -> None:
    groups = dict(groups_of(TrainKnobs(devices=2), n_devices=2, kind="cpu", sweeps=(), is_thorough=False))
    assert list(groups) == ["strategy", "DDP options", "batch", "accumulate", "accumulation", "precision", "options"]
    ways = [(knobs.strategy, knobs.devices) for knobs in groups["strategy"]]
    assert ways == [("ddp-sampled", 1), ("ddp", 2), ("ddp-sampled", 2), ("fsdp", 2)]
    on_gpus = dict(groups_of(TrainKnobs(devices=2), n_devices=2, kind="cuda", sweeps=(), is_thorough=False))
    assert ("data-parallel", 2) in [(knobs.strategy, knobs.devices) for knobs in on_gpus["strategy"]]
    base = groups["DDP options"][0]
    changed = [knobs.label(of=base) for knobs in groups["DDP options"][1:]]
    assert changed == ["bucket_cap_mb=1", "gradient_as_bucket_view=off", "static_graph=on"]
    alone = dict(groups_of(TrainKnobs(), n_devices=1, kind="cpu", sweeps=(), is_thorough=False))
    assert list(alone) == ["batch", "accumulate", "accumulation", "precision", "options"]
    assert [knobs.accumulation for knobs in alone["accumulation"]] == ["whole", "plain"], "it exchanges nothing"
    assert [knobs.accumulation for knobs in groups["accumulation"]] == ["whole", "plain", "plain-no-sync"]


def test_options_of_a_step_are_changed_alone_where_the_devices_have_them() -> None:
    def changed(base: TrainKnobs, kind: str) -> list[str]:
        groups = dict(groups_of(base, n_devices=base.devices, kind=kind, sweeps=(), is_thorough=False))
        for knobs in groups["options"]:
            check(knobs, kind=kind, n_devices=base.devices)
        return [knobs.label(of=base) for knobs in groups["options"]]

    everywhere = ["ema=0.999", "picture_tower=lora", "picture_tower=locked"]
    memory, unused = "grad_checkpointing=on", "find_unused_parameters=on"
    assert changed(TrainKnobs(), "cpu") == ["base", memory, *everywhere]
    assert changed(TrainKnobs(devices=2), "cpu") == ["base", memory, unused, *everywhere]
    assert changed(TrainKnobs(), "cuda") == ["base", memory, "compile=on", *everywhere]
    on_gpus = changed(TrainKnobs(devices=2), "cuda")
    assert on_gpus == ["base", memory, "compile=on", "sync_batch_norm=on", unused, *everywhere]
    assert unused not in changed(TrainKnobs(devices=2, strategy="fsdp"), "cuda")
    assert changed(TrainKnobs(picture_tower="lora"), "cpu").count("base") == 1


def test_ranks_train_with_the_options_that_finetuning_has_under_the_same_names() -> None:
    chosen: dict[str, Any] = {"compile": True, "grad_checkpointing": True, "sync_batch_norm": True}
    chosen |= {"find_unused_parameters": True, "ema": 0.9, "picture_tower": "locked"}

    def named(knobs: TrainKnobs) -> dict[str, Any]:
        subjects = asdict(options_of(knobs, steps=1)).values()
        return {name: value for subject in subjects for name, value in subject.items()}

    usual, found = named(TrainKnobs(devices=2)), named(TrainKnobs(devices=2, **chosen))
    assert found == usual | chosen
    assert {name: usual[name] for name in chosen} == {name: getattr(TrainKnobs(), name) for name in chosen}


def test_the_usual_groups_have_names_of_which_some_can_be_chosen(tiny_model: Path, tmp_path: Path) -> None:
    assert usual_group_names("cpu", 1) == ["batch", "accumulate", "accumulation", "precision", "options"]
    assert usual_group_names("cuda", 4)[:3] == ["strategy", "DDP options", "NCCL"]
    assert "size" not in usual_group_names("cuda", 4)
    assert usual_group_names("cpu", 2, is_thorough=True)[-2:] == ["size", "devices"]
    options = TrainBenchOptions(tmp_path, choice=ModelChoice(f"local-dir:{tiny_model}"), only=("options", "batch"))
    found = measure._groups(options, kind="cpu", n_devices=1)
    assert [name for name, _ in found] == ["batch", "options"]
    wrong = replace(options, devices="cpu:1", only=("batch", "optoins"))
    message = 'no group "optoins"; there are batch, accumulate, accumulation, precision, options'
    with pytest.raises(BenchError, match=message):
        bench_train(wrong, Bars())


@pytest.mark.parametrize("is_thorough", [False, True])
def test_settings_of_nccl_are_swept_on_gpus_each_in_the_environment_of_its_ranks(is_thorough: bool) -> None:
    given: dict[str, Any] = {"n_devices": 4, "kind": "cuda", "sweeps": (), "is_thorough": is_thorough}
    groups = dict(groups_of(TrainKnobs(devices=4, batch=1024), **given))
    base, *changed = groups["NCCL"]
    assert base.environment == {}
    told = [knobs.environment for knobs in changed]
    assert {"NCCL_P2P_DISABLE": "1"} in told and {"NCCL_MAX_NCHANNELS": "4"} in told
    assert {"NCCL_ALGO": "Ring"} in told and {"NCCL_ALGO": "Ring;allreduce:Tree"} in told
    assert any(knobs.nccl_high_priority for knobs in changed)
    names = {name for variables in told for name in variables}
    assert not is_thorough or names == set(NCCL_VARIABLES.values())
    for _, configurations in groups.items():
        for knobs in configurations:
            check(knobs, kind="cuda", n_devices=4)
    without = dict(groups_of(TrainKnobs(devices=4, batch=1024, backend="gloo"), **given))
    assert "NCCL" not in without


@pytest.mark.parametrize(
    "chosen",
    [
        {"bucket_cap_mb": 5.0},
        {"static_graph": True},
        {"accumulate": 4, "accumulation": "plain-no-sync"},
        {"precision": "fp16"},
        {"sync_batch_norm": True},
        {"compile": True},
        {"strategy": "fsdp"},
        {"strategy": "data-parallel"},
    ],
    ids=str,
)
def test_a_setting_is_left_out_of_usual_configurations_that_cannot_take_it(chosen: dict[str, Any]) -> None:
    base = TrainKnobs(devices=4, batch=1024, **chosen)
    check(base, kind="cuda", n_devices=4)
    groups = dict(groups_of(base, n_devices=4, kind="cuda", sweeps=(), is_thorough=True))
    for configurations in groups.values():
        assert len(configurations) > 1
        for knobs in configurations:
            check(knobs, kind="cuda", n_devices=4)
    assert groups["batch"][0] == base and len(groups["strategy"]) >= 4


def test_ranks_find_their_settings_in_their_environment_and_urgent_streams_in_their_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[tuple[str, ...], Any]] = []

    class Recorded(Ranks):
        def __init__(self, module: str, *arguments: str, environment: Any, **_: Any) -> None:
            started.append((arguments, environment))

    monkeypatch.setattr(training_ranks, "Ranks", Recorded)
    monkeypatch.setattr(training_ranks._Group, "do", lambda group, knobs: [])
    ranks = RankGroups(tmp_path, kind="cuda")
    changed = ({"nccl_shm": False, "nccl_buffer": 1 << 20}, {"nccl_high_priority": True}, {"nccl_algo": "Tree"})
    for chosen in ({}, *changed, {}):
        ranks._do(TrainKnobs(devices=2, **chosen), [0])
    assert [environment for _, environment in started] == [
        {},
        {"NCCL_SHM_DISABLE": "1", "NCCL_BUFFSIZE": "1048576"},
        {},
        {"NCCL_ALGO": "Ring;allreduce:Tree"},
    ]
    assert ["--high-priority" in arguments for arguments, _ in started] == [False, False, True, False]
    assert not [arguments for arguments, _ in started if ";" in arguments[0]], "a folder's name stands in addresses"


def test_a_run_finds_no_state_of_the_one_before_be_it_a_file_or_shards(tmp_path: Path) -> None:
    """After a run in shards, whose state is a folder, one with whole models writes a file of that name."""
    places = places_in(tmp_path)
    options = options_of(TrainKnobs(batch=2), steps=1)
    write_plan(places, Plan(ModelChoice.bundled(), "f", False, tmp_path / "corpus", "key", options))
    (places.best / "step-000000001").mkdir(parents=True)
    places.checkpoint.write_text("whole")
    ranks = RankGroups(tmp_path, kind="cpu")
    assert ranks._plan(TrainKnobs(batch=4), steps=1, profiled=0).best == places.best
    assert not places.best.exists() and not places.checkpoint.exists()
    assert read_plan(places).options.loss.batch == 4


@pytest.mark.parametrize(
    ("algorithm", "variable"),
    [
        ("Ring", "Ring"),
        ("Tree", "Ring;allreduce:Tree"),
        ("NVLS", "Ring;allreduce:NVLS"),
        ("PAT", "Ring;allgather:PAT;reducescatter:PAT"),
    ],
)
def test_nccl_has_an_algorithm_for_every_operation(algorithm: Any, variable: str) -> None:
    """DDP broadcasts when it begins and features are gathered; a tree is for all-reduce alone."""
    assert TrainKnobs(devices=2, nccl_algo=algorithm).environment == {"NCCL_ALGO": variable}


def test_simulated_devices_are_processes_on_the_cores_even_where_there_are_gpus(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[tuple[str, ...], Any]] = []

    class Recorded(Ranks):
        def __init__(self, module: str, *arguments: str, devices: Any, **_: Any) -> None:
            started.append((arguments, devices))

    monkeypatch.setattr(training_ranks, "Ranks", Recorded)
    monkeypatch.setattr(training_ranks._Group, "do", lambda group, knobs: [])
    ranks = RankGroups(tmp_path, kind="cuda")
    for chosen in ({}, {"step_seconds": 0.1}):
        ranks._do(TrainKnobs(devices=8, **chosen), list(range(8)))
    assert [devices.device for _, devices in started] == ["cuda", "cpu"]
    assert [arguments[arguments.index("--device") + 1] for arguments, _ in started] == ["cuda", "cpu"]
    assert started[1][1] == Devices("cpu", 8)
    simulated = TrainKnobs(devices=8, step_seconds=0.1)
    check(simulated, kind="cuda", n_devices=1)
    for chosen in ({"backend": "nccl"}, {"precision": "fp16"}, {"nccl_algo": "Tree"}, {"strategy": "data-parallel"}):
        with pytest.raises(BenchError, match="needs a device that computes; leave it out, or step_seconds"):
            check(replace(simulated, **chosen), kind="cuda", n_devices=8)
    choice = ModelChoice(f"local-dir:{tiny_model}")
    options = TrainBenchOptions(tmp_path, choice=choice, settings={"step_seconds": 0.1})
    usual = measure._groups(options, kind="cuda", n_devices=2)
    assert not {"NCCL", "options"} & {name for name, _ in usual}
    for knobs in measure._all_of(usual):
        check(knobs, kind="cuda", n_devices=2)


@pytest.mark.skipif(not dist.is_nccl_available(), reason="torch was built without nccl")
def test_high_priority_is_an_option_of_nccls_process_group() -> None:
    options = _high_priority(timedelta(minutes=7))
    assert options.is_high_priority_stream
    assert options._timeout == timedelta(minutes=7)


def test_a_usual_batch_keeps_gpus_computing_and_has_icons_enough(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = ModelChoice(f"local-dir:{tiny_model}")
    assert usual_batch("cpu", 2, choice=small) == 64
    assert usual_batch("cuda", 2, choice=small) == 2048
    assert usual_batch("cuda", 4, choice=small, n_icons=2176) == 2048
    assert usual_batch("cuda", 8, choice=small, n_icons=2000) == 8 * 128
    monkeypatch.setattr(measure, "SMALL", 16)
    assert usual_batch("cuda", 2, choice=small) == 512
    options = TrainBenchOptions(Path(), choice=small)
    found = measure._all_of(measure._groups(options, kind="cuda", n_devices=2, n_icons=600))
    assert max(knobs.batch for knobs in found) == 512
