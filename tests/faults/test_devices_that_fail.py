"""A device that hangs or has no room, a rank whose disk fails or that stands still: a clear end, nothing lost."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from conftest import Silent, draw_icons, find_rank
from faults import Stages, copy_library

from indexer.embedding.planning import EmbedOptions
from indexer.embedding.progress import RankProgress, Watchdog, watched
from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import EmbedError
from indexer.library.folder import Library
from indexer.library.plans import BLOCK_SIZE
from indexer.library.shards import read_coverage, shard_paths
from indexer.pipeline import IndexOptions, embed, scan

KEPT = "finished blocks are kept, the same command does the rest"


def _index(stages: Stages, library: Path, model: Path, *options: str, **asked: Any) -> dict[str, Any]:
    """Run `icons index` in a process of its own, a picture a block."""
    how = ["--devices", "cpu", "--workers", "0", "--precision", "fp32", "--model", f"local-dir:{model}", "--json"]
    return stages.run("command", library, given={"arguments": ["index", *how, *options]}, block=1, **asked)


def _n_shards(library: Path) -> int:
    return len(shard_paths(next((library / "vectors").iterdir()), "images"))


@pytest.fixture
def unfinished(grown: Path, tmp_path: Path) -> Path:
    """A library whose sources hold two new pictures, and a blank one."""
    return copy_library(grown, tmp_path / "library")


@pytest.mark.slow
@pytest.mark.parametrize("hangs", [False, True])
def test_a_device_that_fails_ends_the_run_by_name_and_keeps_what_is_done(
    stages: Stages, unfinished: Path, drawings: Path, tiny_model: Path, hangs: bool
) -> None:
    """It has no room for one picture, or hangs: after what an encoder is tried with, and one block."""
    n_before = _n_shards(unfinished)
    options, device = ("--stall-limit", "20") if hangs else (), {"room": -1 if hangs else 0, "after": 2}
    ended = _index(stages, unfinished, tiny_model, *options, device=device)
    assert os.waitstatus_to_exitcode(ended["status"]) == 2 if hangs else ended["result"]["code"] == 2
    said = unfinished.with_name("stderr").read_text().splitlines()[-1]
    stalled = f'Error: nothing got done for 20 s, at picture "{drawings}/'
    full = 'Error: device "cpu" has no room for one picture; free its memory, or use --devices cpu'
    assert said.startswith(stalled) and said.endswith(f"({KEPT})") if hangs else said == full
    n_kept = _n_shards(unfinished) - n_before
    assert n_kept > 0
    assert json.loads(_index(stages, unfinished, tiny_model)["result"]["stdout"])["embed"]["images"] == 3 - n_kept
    assert stages.result("examine", unfinished) == []


@pytest.mark.slow
def test_a_device_with_little_room_makes_the_vectors_of_one_with_much(
    stages: Stages, grown: Path, unfinished: Path, tiny_model: Path, tmp_path: Path
) -> None:
    roomy = copy_library(grown, tmp_path / "roomy")
    for library, room in ((unfinished, 1), (roomy, 100)):
        stages.result(
            "index", library, given={"sources": [], "model": str(tiny_model)}, device={"room": room, "after": 0}
        )
    assert stages.result("dump", unfinished) == stages.result("dump", roomy)


def test_a_watchdog_tells_what_a_rank_that_stands_still_is_at() -> None:
    told: list[str] = []
    has_ended = threading.Event()

    def give_up(reason: str) -> None:
        told.append(reason)
        has_ended.set()

    with watched(
        RankProgress(rank=3, world=4, at='64 pictures, from "/a.svg" to "/b.svg"'), limit=0.001, give_up=give_up
    ):
        assert has_ended.wait(60)
    assert told == [
        'nothing got done for 0.001 s, at 64 pictures, from "/a.svg" to "/b.svg"; --stall-limit allows more'
    ]


def test_a_rank_that_gets_on_or_waits_for_others_is_not_given_up() -> None:
    watchdog = Watchdog(limit=1e-9)
    slow, waiting = (
        RankProgress(rank=0, world=2, at="a picture"),
        RankProgress(rank=1, world=2, at="x", waits=True),
    )
    for _ in range(5):
        slow.steps += 1
        assert watchdog.look([slow, waiting]) is None
    found = watchdog.look([slow, waiting])
    assert found is not None and found[0] == 0


def test_time_in_which_nobody_looked_is_no_standstill(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("indexer.embedding.progress.time.monotonic", lambda: now)
    watchdog, progress = Watchdog(limit=600), [RankProgress(rank=0, world=1, at="a picture")]
    assert watchdog.look(progress) is None
    now += 36_000  # a laptop that slept, a job that was stopped
    assert watchdog.look(progress) is None
    for _ in range(298):
        now += 2
        assert watchdog.look(progress) is None
    now += 2
    assert watchdog.look(progress) is not None


@pytest.fixture
def planned(stages: Stages, unfinished: Path, tiny_model: Path) -> Path:
    """A library with a plan for ranks."""
    how = ["--devices", "cpu", "--workers", "0", "--precision", "fp32"]
    arguments = ["index", "--only", "plan", *how, "--model", f"local-dir:{tiny_model}"]
    stages.result("command", unfinished, given={"arguments": ["index", "--only", "scan"]})
    assert stages.result("command", unfinished, given={"arguments": arguments}, block=1)["code"] == 0
    return unfinished


@pytest.mark.slow
def test_a_rank_on_a_full_disk_says_so_in_one_line(stages: Stages, planned: Path, tiny_model: Path) -> None:
    """From its eleventh operation on."""
    given = {"name": "rank", "arguments": ["--fingerprint", next((planned / "work").iterdir()).name]}
    result = stages.result("command", planned, given=given, block=1, mode="full", at=11)
    assert result["code"] == 1
    (said,) = result["stderr"].splitlines()
    assert said.startswith(f'Error: rank 0: "{planned}')
    assert said.endswith("can't be read or written (No space left on device)")
    stages.result("index", planned, given={"sources": [], "model": str(tiny_model)})
    assert stages.result("examine", planned) == []


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [400, 1500, 2800])
def test_ranks_without_the_memory_to_start_end_the_run_in_one_line(unfinished: Path, megabytes: int) -> None:
    """Torchrun and its ranks import torch, the run itself does not."""
    limit = f'ulimit -v {megabytes << 10}; exec "$@"'
    program = [sys.executable, "-c", "from search.cli import main; main()"]
    command = [*program, "index", "--devices", "cpu:2", "--workers", "1", "--library", str(unfinished)]
    done = subprocess.run(["bash", "-c", limit, "", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    said = done.stderr.splitlines()[-1]
    late = rf'(torchrun ended early|rank [01]).*torchrun.log" \({KEPT}\)'
    assert re.fullmatch(rf"Error: (not enough memory or threads .* needs 1,000 MB.*|{late})", said), said


def _finetune(stages: Stages, folder: Path, icons: Path, start: Path, *more: str, **asked: Any) -> dict[str, Any]:
    """Run `icons lab finetune` for two steps, a checkpoint after each; what it makes lies in the watched folder."""
    arguments = [
        "lab",
        "finetune",
        str(icons),
        "--out",
        str(folder / "mine"),
        f"--model=local-dir:{start}",
        *("--devices", "cpu", "--workers", "0", "--batch", "16", "--allow-regression"),
        *(f"--set={one}" for one in ("steps=2", "validate_steps=1", "held_out=5", "precision=fp32")),
        *more,
    ]
    return stages.run("command", folder, given={"arguments": arguments}, **asked)


@pytest.mark.slow
def test_a_training_on_a_full_disk_names_the_file_keeps_its_checkpoint_and_goes_on(
    stages: Stages, icons: Path, start: Path, tmp_path: Path
) -> None:
    whole, full = tmp_path / "whole", tmp_path / "full"
    whole.mkdir()
    full.mkdir()
    ended = _finetune(
        stages, full, icons, start, at=round(0.7 * _finetune(stages, whole, icons, start)["count"]), mode="full"
    )["result"]
    assert ended["code"] == 2, ended
    assert "Traceback" not in ended["stderr"]
    (said,) = [line for line in ended["stderr"].splitlines() if line.startswith("Error: ")]
    assert re.fullmatch(
        r'Error: ".*/last.checkpoint" can\'t be (read or written|made) \(.*No space left on device.*\); '
        "the last checkpoint stays, --resume goes on.*",
        said,
    ), said
    assert not (full / "mine").exists()
    again = _finetune(stages, full, icons, start, "--resume")["result"]
    assert again["code"] == 0, again
    weights = [(folder / "mine" / "open_clip_model.safetensors").read_bytes() for folder in (whole, full)]
    assert weights[0] == weights[1] and not list(full.rglob(".aside-*"))


def _options(folder: Path, model: Path, *, stall_limit: float = 600) -> IndexOptions:
    how = EmbedOptions(workers=0, batch_size=8, precision="fp32", stall_limit=stall_limit)
    return IndexOptions(sources=[folder], choice=ModelChoice(f"local-dir:{model}"), devices="cpu:2", embed=how)


@pytest.mark.slow
def test_a_rank_that_stands_still_ends_the_stage_by_name_and_any_number_of_ranks_finishes_the_rest(
    library: Library, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped, it can't even say so itself."""
    monkeypatch.setitem(BLOCK_SIZE, "images", 2)
    options = _options(draw_icons(tmp_path / "icons"), tiny_model, stall_limit=20)
    scan(library, options, Silent())

    stopped: list[int] = []

    def stop() -> None:
        stopped.append(find_rank("indexer.embedding.embed", library.root, "1"))
        os.kill(stopped[0], signal.SIGSTOP)

    stopper = threading.Thread(target=stop)
    stopper.start()
    with pytest.raises(EmbedError, match=rf"rank [01]: nothing got done for \d+ s, at .*{KEPT}"):
        embed(library, options, Silent())
    stopper.join()
    with suppress(ProcessLookupError):  # it may have been stopped before it could ask to end with who has started it
        os.kill(stopped[0], signal.SIGKILL)
    alone = IndexOptions(choice=options.choice, devices="cpu", embed=options.embed)
    assert len(read_coverage(library.vectors(embed(library, alone, Silent()).fingerprint)).images) == 11
