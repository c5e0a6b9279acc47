"""Knobs are read, varied one at a time or all together, and refused by their value where they can't be measured."""

from typing import Any

import pytest

from indexer.bench.knobs import (
    EMBED,
    PLAIN,
    TRAIN,
    check,
    environment,
    label,
    parse_setting,
    parse_sweep,
    scaled,
    strategies,
    swept,
    turned,
    usual_groups,
)
from indexer.errors import IconsError

ONE: dict[str, Any] = {"devices": 1}
TRAINED: dict[str, Any] = {"devices": 2, "batch": 64}


def test_a_sweep_varies_one_knob_around_a_base_and_keeps_to_the_product() -> None:
    sweeps = [parse_sweep(EMBED, "batch=32,auto,32"), parse_sweep(EMBED, "precision=fp32,bf16")]
    found = dict(swept(EMBED, {**ONE, "workers": 1}, sweeps))
    assert found["batch"] == [{"devices": 1, "workers": 1, "batch": 32}, {"devices": 1, "workers": 1}]
    assert [config["precision"] for config in found["precision"]] == ["fp32", "bf16"]


@pytest.mark.parametrize("sweep", ["shuffle=off,on", "precision=fp32,tf32"])
def test_a_knob_that_the_product_lacks_is_turned_in_the_plain_script_with_all_its_values(sweep: str) -> None:
    [(_, found)] = swept(EMBED, ONE, [parse_sweep(EMBED, sweep)])
    assert [config["program"] for config in found] == [PLAIN, PLAIN]


def test_a_knob_brings_what_it_needs_to_be_seen() -> None:
    [(_, found)] = swept(TRAIN, {**TRAINED, "devices": 1}, [parse_sweep(TRAIN, "bucket_cap_mb=1,25")])
    assert [(config["devices"], config.get("bucket_cap_mb")) for config in found] == [(2, 1.0), (2, None)]


def test_a_grid_is_every_combination() -> None:
    sweeps = [parse_sweep(EMBED, "batch=32,64"), parse_sweep(EMBED, "workers=0,1,2")]
    [(name, found)] = swept(EMBED, ONE, sweeps, is_grid=True)
    assert name == "grid"
    assert [(config["batch"], config["workers"]) for config in found] == [(b, w) for b in (32, 64) for w in (0, 1, 2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bach=1", 'no knob "bach"; there are backend, batch'),
        ("batch=0", '"0" is no value of batch; it takes a number from 1, auto'),
        ("devices=auto", '"auto" is no value of devices; it takes a number from 1'),
        ("strategy=none", '"none" is no value of strategy; it takes ranks, data-parallel'),
        ("pinned=yes", '"yes" is no value of pinned; it takes on, off'),
        ("batch", '"" is no value of batch'),
    ],
)
def test_what_is_no_knob_or_no_value_is_named(text: str, message: str) -> None:
    with pytest.raises(IconsError, match=message):
        parse_setting(EMBED, text)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"devices": 9}, 'devices "9" are more than there are: 2 cores'),
        ({"devices": 2, "backend": "nccl"}, 'backend "nccl" needs GPUs'),
        ({"devices": 1, "precision": "fp16"}, 'precision "fp16" needs GPUs'),
        ({"devices": 1, "pinned": True}, 'pinned "on" needs GPUs'),
        ({"devices": 1, "shuffle": True}, 'shuffle "on" is no knob of the product; give --set program=plain'),
        ({"devices": 1, "program": "plain", "precision": "int8"}, 'precision "int8" is no knob of the plain script'),
        ({"devices": 1, "backend": "gloo"}, 'backend "gloo" needs devices=2 or more'),
    ],
)
def test_what_this_machine_can_not_measure_is_refused_by_its_value(config: dict[str, Any], message: str) -> None:
    with pytest.raises(IconsError, match=message):
        check(EMBED, config, kind="cpu", n_devices=2)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"batch": 9}, 'batch "9" does not give 2 devices x 1 micro-batches as much each.* such as batch=8'),
        ({"nccl_algo": "Tree"}, 'nccl_algo "Tree" needs GPUs'),
        ({"strategy": "fsdp", "bucket_cap_mb": 5.0}, 'bucket_cap_mb "5" needs strategy=ddp'),
        ({"devices": 1, "strategy": "fsdp"}, 'strategy "fsdp" needs devices=2 or more'),
    ],
)
def test_what_no_training_takes_is_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(IconsError, match=message):
        check(TRAIN, {**TRAINED, **config}, kind="cpu", n_devices=2)


def test_the_usual_groups_can_all_be_measured_where_they_are_offered() -> None:
    for kind, n_devices in (("cpu", 1), ("cpu", 2), ("cuda", 1), ("cuda", 4)):
        for table, base in ((EMBED, ONE), (TRAIN, {"devices": n_devices, "batch": 1024})):
            where: dict[str, Any] = {"kind": kind, "n_devices": n_devices}
            most = {"batch": 10_000, "workers": 16}
            groups = dict(usual_groups(table, base, is_thorough=True, most=most, **where))
            for configs in groups.values():
                assert len(configs) > 1
                for config in configs:
                    check(table, config, **where)
            assert ("NCCL" in groups) == (table is TRAIN and kind == "cuda" and n_devices > 1)
            assert ("pinned" in groups) == (table is EMBED and kind == "cuda")


def test_options_of_ddp_are_changed_alone() -> None:
    how: dict[str, Any] = {"kind": "cpu", "n_devices": 2, "is_thorough": False, "most": {}}
    groups = dict(usual_groups(TRAIN, TRAINED, **how))
    assert list(groups) == [
        *("strategy", "batch", "accumulate", "precision", "backend", "DDP options", "options"),
    ]
    configs = groups["DDP options"]
    assert [label(TRAIN, config, configs) for config in configs] == [
        *("base", "bucket_cap_mb=1", "gradient_as_bucket_view=off", "static_graph=on", "find_unused_parameters=on"),
    ]
    assert [label(TRAIN, config, groups["batch"]) for config in groups["batch"]] == [
        "batch=64",
        "batch=32",
        "batch=128",
    ]


def test_devices_are_compared_in_every_way() -> None:
    assert [config["devices"] for config in scaled(EMBED, ONE, 8)] == [1, 2, 3, 4, 6, 8]
    ways = strategies(ONE, kind="cuda", n_devices=4)
    assert [(way.get("program"), way["devices"], way.get("strategy")) for way in ways] == [
        (None, 1, None),
        (None, 4, None),
        (PLAIN, 1, None),
        (PLAIN, 4, None),
        (PLAIN, 4, "data-parallel"),
    ]
    assert len(strategies(ONE, kind="cpu", n_devices=1)) == 2


def test_a_knob_that_is_turned_back_is_as_usual() -> None:
    assert turned(EMBED, {"devices": 1, "batch": 64}, batch=None, workers=2) == {"devices": 1, "workers": 2}


def test_settings_of_nccl_are_variables_of_the_ranks() -> None:
    """NCCL refuses an operation for which it is left no algorithm: a tree is for all-reduce alone."""
    chosen = {"nccl_p2p": False, "nccl_max_channels": 4, "nccl_high_priority": True, "nccl_algo": "Tree", "batch": 8}
    assert environment(chosen) == {
        "NCCL_P2P_DISABLE": "1",
        "NCCL_MAX_NCHANNELS": "4",
        "TORCH_NCCL_HIGH_PRIORITY": "1",
        "NCCL_ALGO": "Ring;allreduce:Tree",
    }
    assert environment({"nccl_algo": "PAT"}) == {"NCCL_ALGO": "Ring;allgather:PAT;reducescatter:PAT"}
