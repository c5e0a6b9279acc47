"""Drawn libraries, and ways to embed side by side."""

import json
from itertools import chain
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from conftest import Build, build_library

from indexer.bench.compare import usual_batch
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
from indexer.bench.report import Report, Row
from indexer.bench.scale import (
    STAGES,
    Place,
    Real,
    bench_scale,
    exponent,
    growth,
    read_real,
    write_sets,
)
from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import BenchError, IconsError, LibraryError
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from search.cli import main

N_REAL = 150


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Library:
    """Some of the bundled samples."""
    folder = tmp_path_factory.mktemp("sampled")
    some = folder / "lucide-static"
    copytree(
        bundled("samples/lucide-static"),
        some,
        ignore=lambda _, names: sorted(name for name in names if name.endswith(".svg"))[N_REAL:],
    )
    build_library(Library(folder / "library"), tiny_model, [some])
    return Library(folder / "library")


def _written(folder: Path, real: Real, *, n: int, seed: int = 0) -> list[list[str]]:
    """Names of each set that is drawn."""
    write_sets(folder, real, n=n, seed=seed)
    sets = [json.loads(file.read_text()) for file in sorted((folder / "json").iterdir())]
    assert [json.loads(file.read_text()).keys() for file in sorted((folder / "beside").iterdir())] == [
        one["icons"].keys() for one in sets
    ]
    return [list(one["icons"]) for one in sets]


def test_drawn_sets_have_the_sizes_and_some_of_the_names_of_real_ones(sampled: Library, tmp_path: Path) -> None:
    real = read_real(sampled)
    n_real = sum(len(one.names) for one in real.sets)
    first, second, rest = _written(tmp_path / "a", real, n=2 * n_real + 5)
    assert (len(set(first)), len(set(second)), len(rest)) == (n_real, n_real, 5)
    assert 0.3 < np.isin(second, first).mean() < 0.8
    assert _written(tmp_path / "b", real, n=50) == _written(tmp_path / "c", real, n=50)
    assert _written(tmp_path / "d", real, n=50, seed=1) != _written(tmp_path / "e", real, n=50)


@pytest.mark.slow
def test_every_stage_is_measured_once(sampled: Library, tmp_path: Path) -> None:
    arguments = ["--icons", "1000", "--out", str(tmp_path), "--json"]
    done = CliRunner().invoke(
        main, ["lab", "bench", "scale", *arguments, "--library", str(sampled.root)], catch_exceptions=False
    )
    rows = [Row(**row) for row in json.loads(done.stdout)["rows"]]
    assert {row.name for row in rows if row.runs[0]["1,000"] > 0} >= {
        "scan",
        "scan, nothing new",
        "plan",
        "merge",
        "icons search",
        "words, p95",
        "library",
    }
    said: list[str] = []
    again = bench_scale(sampled, tmp_path, [1000], keep=False, progress=lambda title, *_: said.append(title))
    assert (again.rows, said) == (rows, [])
    (folder,) = tmp_path.glob("1000-*")
    assert sorted(file.stem for file in folder.iterdir()) == sorted(STAGES), "what was built is gone"


@pytest.mark.slow
def test_a_stage_that_fails_says_why_and_what_is_too_small_is_refused(
    sampled: Library, build: Build, library: Library, icon_folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(LibraryError, match="holds no generation to ask"):
        bench_scale(Library(tmp_path / "none"), tmp_path, [1000], keep=False, progress=lambda *_: None)
    with pytest.raises(BenchError, match="`icons index` failed: "):
        Place(tmp_path / "new", sampled, 1000).measure("merge")
    build(icon_folder)
    with pytest.raises(LibraryError, match="holds 12 icons, too few to draw from; index a larger source"):
        read_real(library)


def test_figures_grow_with_a_power_of_the_size() -> None:
    figures = ({10: 5.0, 100: 50.0, 1000: 500.0}, {10: 7.0, 1000: 7.0}, {10: 1.0, 20: 4.0})
    assert [exponent(of) for of in (*figures, {10: 1.0}, {10: 0.0, 20: 1.0})] == [1, 0, 2, None, None]
    measured = {n: {"merge, s": n / 1000, "merge, memory": 2e9, "library, disk": n * 1e6} for n in (1000, 2000)}
    assert [(row.group, row.name, row.runs[0]) for row in growth(measured)] == [
        ("time, s", "merge", {"1,000": 1.0, "2,000": 2.0, "grows as n^": 1.0}),
        ("memory, GB", "merge", {"1,000": 2.0, "2,000": 2.0, "grows as n^": 0.0}),
        ("disk, GB", "library", {"1,000": 1.0, "2,000": 2.0, "grows as n^": 1.0}),
    ]


def _bench(command: str, out: Path, model: Path, *arguments: str) -> Result:
    options = ["--model", f"local-dir:{model}", "--out", str(out), "--devices", "cpu:2", "--json"]
    return CliRunner().invoke(main, ["lab", "bench", command, *options, *arguments])


def _rows(result: Result) -> dict[str, list[dict[str, Any]]]:
    rows = json.loads(result.stdout)["rows"]
    return {group: [row for row in rows if row["group"] == group] for group in [row["group"] for row in rows]}


@pytest.mark.slow
def test_embedding_is_asked_every_question_of_a_cpu(tmp_path: Path, tiny_model: Path) -> None:
    asked = ["limit", "drawing", "batch", "devices", "devices alone", "all-reduce", "parity"]
    only = [argument for name in asked for argument in ("--only", name)]
    how = ("--images", "64", "--repeats", "1", "--sweep", "batch=16,32")
    result = _bench("embed", tmp_path, tiny_model, *only, *how)
    assert result.exit_code == 0, result.output
    rows = _rows(result)
    by_devices = [f"{name}{behind}" for name in asked[3:5] for behind in (", same work", ", as much for each")]
    assert list(rows) == [*asked[:3], *by_devices, *asked[5:]]
    assert [(row["setting"]["batch"], row["runs"][0]["batch"]) for row in rows["batch"]] == [(16, 16), (32, 32)]
    assert [row["runs"][0]["pictures"] for name in by_devices[:2] for row in rows[name]] == [64, 64, 32, 64]
    assert all(row["runs"][0]["ms of a core"] > 0 for row in [*rows["limit"], *rows["drawing"]])
    assert {row["name"].partition(" MB")[0] for row in [*rows["parity"], *rows["all-reduce"]]} == {
        *("bf16, pass by pass", "gloo, 2 ranks, 1", "gloo, 2 ranks, 16", "gloo, 2 ranks, 64"),
    }
    report = json.loads(result.stdout)
    assert {law["law"] for law in report["laws"]["devices"]} == {"Amdahl", "Gustafson"}
    assert any(fact.startswith("limit: ") for fact in report["facts"])
    assert (tmp_path / "report.html").is_file() and (tmp_path / "charts" / "batch-images-a-s.png").is_file()


def test_a_row_that_can_not_be_measured_says_why_and_ctrl_c_keeps_what_was_measured(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = iter([{"images/s": 1.0}, BenchError("no room"), {"images/s": 2.0}, KeyboardInterrupt()])

    def embed(*_: object) -> Any:
        if isinstance(run := next(taken), BaseException):
            raise run
        return run

    monkeypatch.setattr("indexer.bench.compare.embed", embed)
    result = _bench("embed", tmp_path, tiny_model, "--images", "8", "--sweep", "batch=8,16", "--only", "batch")
    assert (result.exit_code, json.loads(result.stdout)["is_whole"]) == (1, False)
    rows = Report.read(tmp_path / "report.json", command="icons lab bench embed").rows
    assert [(row.error, row.runs) for row in rows] == [("no room", []), (None, [{"images/s": 2.0}])]
    assert "cut off: what was measured until then is kept" in (tmp_path / "report.html").read_text()


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
    assert (usual_batch("cpu", 2, choice=small), usual_batch("cuda", 4, choice=bundled)) == (64, 4096)
    assert usual_batch("cuda", 4, choice=bundled, n_icons=2176) == 2048


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
    [(_, found)] = swept(EMBED, ONE, sweeps, is_grid=True)
    assert [(config["batch"], config["workers"]) for config in found] == [(b, w) for b in (32, 64) for w in (0, 1, 2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bach=1", 'no knob "bach"; there are batch, devices'),
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
        (TRAINED | {"backend": "nccl"}, 'backend "nccl" needs GPUs'),
        ({"devices": 1, "precision": "fp16"}, 'precision "fp16" needs GPUs'),
        ({"devices": 1, "pinned": True}, 'pinned "on" needs GPUs'),
        ({"devices": 1, "shuffle": True}, 'shuffle "on" is no knob of the product; give --set program=plain'),
        ({"devices": 1, "program": "plain", "precision": "int8"}, 'precision "int8" is no knob of the plain script'),
        (TRAINED | {"devices": 1, "backend": "gloo"}, 'backend "gloo" needs devices=2 or more'),
        (TRAINED | {"batch": 9}, 'batch "9" does not give 2 devices x 1 micro-batches as much each.* such as batch=8'),
        (TRAINED | {"nccl_algo": "Tree"}, 'nccl_algo "Tree" needs GPUs'),
        (TRAINED | {"strategy": "fsdp", "bucket_cap_mb": 5.0}, 'bucket_cap_mb "5" needs strategy=ddp'),
        (TRAINED | {"devices": 1, "strategy": "fsdp"}, 'strategy "fsdp" needs devices=2 or more'),
    ],
)
def test_what_can_not_be_measured_here_is_refused_by_its_value(config: dict[str, Any], message: str) -> None:
    with pytest.raises(IconsError, match=message):
        check(TRAIN if "batch" in config else EMBED, config, kind="cpu", n_devices=2)


def test_the_usual_groups_can_all_be_measured_where_they_are_offered() -> None:
    for kind, n_devices in (("cpu", 1), ("cpu", 2), ("cuda", 1), ("cuda", 4)):
        for table, base in ((EMBED, ONE), (TRAIN, {"devices": n_devices, "batch": 1024})):
            where: dict[str, Any] = {"kind": kind, "n_devices": n_devices}
            groups = dict(usual_groups(table, base, is_thorough=True, most={"batch": 10_000, "workers": 16}, **where))
            assert min(map(len, groups.values())) > 1
            for config in chain.from_iterable(groups.values()):
                check(table, config, **where)
            assert ("NCCL" in groups) == (table is TRAIN and kind == "cuda" and n_devices > 1)
            assert ("pinned" in groups) == (table is EMBED and kind == "cuda")


def test_options_of_ddp_are_changed_alone() -> None:
    groups = dict(usual_groups(TRAIN, TRAINED, kind="cpu", n_devices=2, is_thorough=False, most={}))
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
    assert [
        (way.get("program"), way["devices"], way.get("strategy")) for way in strategies(ONE, kind="cuda", n_devices=4)
    ] == [
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
