"""`icons lab bench gpu`: its parts and their order, how it goes on, and its goals; on the CPU, in small."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from indexer.bench import gpu
from indexer.bench.gpu import Part, Parts, Setting, bench_gpu, chosen, goals, tiny
from indexer.bench.processes import Ran
from indexer.bench.report import Report, Row
from indexer.errors import BenchError
from indexer.reports.terminal import Bars
from search.cli import main

_MACHINE = {"processor": "P", "cores": 2, "packages": {"torch": "2.11"}, "gpus": [{"name": "H"}]}


def _names(**facts: Any) -> list[str]:
    with Bars() as bars:
        return [part.name for part in Parts(Setting(Path("/out"), **facts), bars).all()]


def test_the_most_important_comes_first_and_everything_once() -> None:
    one, two = _names(), _names(n_devices=2)
    models, plain = ("bundled", "ViT-L-14", "ViT-B-32"), "embed ViT-L-14: program=plain, batch"
    assert one == [
        *("links", "parity bundled", "weights ViT-L-14", "parity ViT-L-14", "weights ViT-B-32", "parity ViT-B-32"),
        *(f"limit {model}" for model in models),
        *(f"embed {model}: base" for model in models),
        *("start bundled", "start ViT-L-14", "training: base"),
        f"{plain}=64, workers=2, precision=fp32",
        f"{plain}=256, workers=2, precision=bf16, pinned=on",
    ]
    assert (len(two), len({*one} - {*two})) == (len(set(two)), 0) and two[-1] == "all-reduce"
    assert two.index("training: base") < two.index("devices bundled, as much for each: devices=2")


def test_the_plan_comes_to_fine_tuning_within_four_minutes_and_shows_each_part_as_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one GPU, where a part takes as long as it should."""
    shown, clock = list[tuple[str, float]](), SimpleNamespace(now=0.0)
    monkeypatch.setattr(gpu, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(gpu, "ask_alone", lambda *_, **__: [_MACHINE])

    def take(name: str) -> list[Row]:
        clock.now += gpu._SECONDS
        return [Row(name, "base", runs=[{"images/s": 1.0}])]

    parts = [Part(name, partial(take, name)) for name in _names()]
    with Bars() as bars:
        how: dict[str, Any] = {"kind": "cuda", "minutes": 4, "show": lambda row: shown.append((row.group, clock.now))}
        bench_gpu(parts, tmp_path, bars=bars, **how)
    assert shown == [(name, gpu._SECONDS * n) for n, name in enumerate(_names()[:16], 1)]
    assert "training: base" in dict(shown) and clock.now <= 240


def test_a_start_is_read_from_the_commands_own_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = [{"rank": "main", "span": name, "start": 1.0, "seconds": 2.0, "processor_seconds": 0.5} for name in "ab"]
    asked = list[tuple[str, ...]]()

    def run(*arguments: str, is_watched: bool = True) -> Ran:
        asked.append(arguments[:3])
        return Ran(7.0, json.dumps({"timings": ran}), [(1.5, 2_000_000_000)])

    monkeypatch.setattr(gpu, "run_icons", run)
    with Bars() as bars:
        (part,) = (part for part in Parts(tiny(tmp_path), bars).all() if part.name == "start bundled")
    figures = {"seconds": 2.0, "start, s": 1.0, "processor, s": 0.5, "peak memory, GB": 2.0}
    assert [(row.name, row.runs) for row in part.measure()] == [
        ("the whole", [{"seconds": 7.0}]),
        *((name, [figures]) for name in "ab"),
    ]
    assert asked == [("index", "--only", "scan"), ("index", "--only", "embed")]


def test_parts_are_chosen_by_how_their_names_begin() -> None:
    parts = [Part(name, list) for name in ("links", "parity bundled", "parity ViT-L-14")]
    assert chosen(parts, []) == chosen(parts, ["parity", "links"]) == parts
    assert chosen(parts, ["parity V"]) == parts[2:]
    with pytest.raises(BenchError, match='--only "nccl" is no part; there are links, parity bundled, parity ViT-L-14'):
        chosen(parts, ["nccl"])


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[list[str], Report]]:
    """Measure parts that only say that they ran; returns the names of those that did, and the report."""
    monkeypatch.setattr(gpu, "ask_alone", lambda *_, **__: [_MACHINE])

    def measure(*names: str, fails: str = "", ends: str = "", minutes: float | None = None) -> tuple[list[str], Report]:
        ran = []

        def run(name: str) -> list[Row]:
            if name == ends:
                raise KeyboardInterrupt
            ran.append(name)
            if name == fails:
                raise BenchError("out of memory")
            return [Row(name, "base", runs=[{"images/s": 1.0}])]

        parts = [Part(name, partial(run, name)) for name in names or ("a", "b", "c")]
        with Bars(estimate=False) as bars:
            done = bench_gpu(parts, tmp_path, kind="cuda", bars=bars, minutes=minutes, show=lambda _: None)
        assert Report.read(tmp_path / "report.json", command=gpu.COMMAND).rows == done.rows, (
            "nothing is lost when time ends"
        )
        return ran, done

    return measure


def test_a_part_that_fails_stops_no_other_and_is_tried_again_last(bench: Callable[..., Any]) -> None:
    ran, found = bench("a", "b", fails="a")
    assert (ran, [(row.group, row.error) for row in found.rows]) == (["a", "b"], [("a", "out of memory"), ("b", None)])
    ran, found = bench()
    assert (ran, found.failed, found.is_whole) == (["c", "a"], [], True) and bench()[0] == []


def test_time_and_an_interrupt_end_a_call_between_parts_and_keep_what_there_is(bench: Callable[..., Any]) -> None:
    ran, found = bench(minutes=0.1)
    assert (ran, found.is_whole) == (["a"], False)
    ran, found = bench(ends="c")
    assert (ran, [row.group for row in found.rows]) == (["b"], ["a", "b"]) and bench(minutes=1)[0] == ["c"]


def test_another_machine_needs_another_folder(bench: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    bench("a")
    monkeypatch.setattr(gpu, "ask_alone", lambda *_, **__: [{**_MACHINE, "gpus": [{"name": "G"}]}])
    with pytest.raises(BenchError, match=r"was measured on P, H, torch 2.11, this is P, G, torch 2.11; give another"):
        bench("a")


def _goals(machine: dict[str, Any] = _MACHINE, **runs: dict[str, Any]) -> dict[str, bool]:
    rows = [Row(group.replace("_", " ", 1).replace("ViT_", "ViT-"), "base", runs=[run]) for group, run in runs.items()]
    return dict(goals(Report(command=gpu.COMMAND, main="images/s", machine=machine, rows=rows)))


def test_goals_are_met_or_missed() -> None:
    measured = {
        "parity_bundled": {"least cosine": 0.998},
        "embed_bundled": {"images/s": 500.0, "cores busy": 0.98},
        "limit_ViT_L-14": {"images/s": 1000.0},
        "embed_ViT_L-14": {"images/s": 590.0},
    }
    assert _goals(**measured) == {
        "parity bundled, base: least cosine 0.99800 of 0.999": False,
        "ViT-L-14: end to end 0.59 of passes alone, of 0.6": False,
        "bundled: cores busy 0.98 of 0.97": True,
    }
    assert "ViT-L-14: end to end 0.61 of passes alone, of 0.6" in _goals(
        **{**measured, "embed_ViT_L-14": {"images/s": 610.0}}
    )
    assert len(_goals({"processor": "P"}, **measured)) == 1, "what is tried in small has no speed"


def test_without_a_gpu_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("indexer.encoders.devices.may_have_gpu", lambda: False)
    done = CliRunner().invoke(main, ["lab", "bench", "gpu", "--out", str(tmp_path / "out")])
    assert "no GPU can be used: no driver of one is here; look at `nvidia-smi`, or try all parts" in done.output
    assert (done.exit_code, (tmp_path / "out").exists()) == (2, False)
