"""A device that hangs or has no room, a rank whose disk fails or that stands still: a clear end, nothing lost."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Silent, draw_icons, find_rank
from faults import Stages, copy_library
from lessons import save_model

from indexer.embedding.planning import EmbedOptions
from indexer.embedding.progress import RankProgress, Watchdog, watched
from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import EmbedError
from indexer.finetune.options import Places
from indexer.library.folder import Library
from indexer.library.plans import BLOCK_SIZE
from indexer.library.shards import read_coverage, shard_paths
from indexer.pipeline import IndexOptions, embed, scan

KEPT = "finished blocks are kept, `icons index` does the rest"


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
    """It has no room for one picture, or hangs."""
    n_before = _n_shards(unfinished)
    options, device = ("--stall-limit", "20") if hangs else (), {"room": -1 if hangs else 0, "after": 1}
    ended = _index(stages, unfinished, tiny_model, *options, device=device)
    assert os.waitstatus_to_exitcode(ended["status"]) == 2 if hangs else ended["result"]["code"] == 2
    said = unfinished.with_name("stderr").read_text().splitlines()[-1]
    stalled = f'Error: nothing got done for 20 s, at picture "{drawings}/'
    full = 'Error: device "cpu" has no room for one picture; free its memory, or use --devices cpu'
    assert said.startswith(stalled) and said.endswith(f"({KEPT})") if hangs else said == full
    n_kept = _n_shards(unfinished) - n_before
    assert n_kept > 0
    again = _index(stages, unfinished, tiny_model)["result"]
    assert json.loads(again["stdout"])["embed"]["images"] == 3 - n_kept
    assert stages.result("examine", unfinished) == []


@pytest.mark.slow
def test_a_device_with_little_room_makes_the_vectors_of_one_with_much(
    stages: Stages, grown: Path, unfinished: Path, tiny_model: Path, tmp_path: Path
) -> None:
    roomy = copy_library(grown, tmp_path / "roomy")
    for library, room in ((unfinished, 1), (roomy, 100)):
        given = {"sources": [], "model": str(tiny_model)}
        stages.result("index", library, given=given, device={"room": room, "after": 0})
    assert stages.result("dump", unfinished) == stages.result("dump", roomy)


def test_a_watchdog_tells_what_a_rank_that_stands_still_is_at() -> None:
    told: list[str] = []
    has_ended = threading.Event()

    def give_up(reason: str) -> None:
        told.append(reason)
        has_ended.set()

    progress = RankProgress(rank=3, world=4, at='64 pictures, from "/a.svg" to "/b.svg"')
    with watched(progress, limit=0.001, give_up=give_up):
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


def _fingerprint(library: Path) -> str:
    return next((library / "work").iterdir()).name


def _fail_rank(stages: Stages, library: Path, start: Path, model: Path, *, at: int) -> int:
    """Let a rank's n-th operation meet a full disk; return how many it has tried."""
    copy_library(start, library)
    given = {"name": "rank", "arguments": ["--fingerprint", _fingerprint(library)]}
    told = stages.run("command", library, given=given, block=1, mode="full", at=at)
    result = told["result"]
    if result["code"] == 0:  # nothing was written any more
        assert (result["stderr"], told["count"] - at < 4) == ("", True)
        return 0
    assert result["code"] == 1
    (said,) = result["stderr"].splitlines()
    assert said.startswith(f'Error: rank 0: "{library}')
    assert said.endswith("can't be read or written (No space left on device)")
    stages.result("index", library, given={"sources": [], "model": str(model)})
    assert stages.result("examine", library) == []
    return int(told["count"])


@pytest.fixture
def planned(stages: Stages, unfinished: Path, tiny_model: Path, tmp_path: Path) -> Path:
    """A library with a plan for ranks."""
    how = ["--devices", "cpu", "--workers", "0", "--precision", "fp32"]
    arguments = ["index", "--only", "plan", *how, "--model", f"local-dir:{tiny_model}"]
    stages.result("command", unfinished, given={"arguments": ["index", "--only", "scan"]})
    assert stages.result("command", unfinished, given={"arguments": arguments}, block=1)["code"] == 0
    return copy_library(unfinished, tmp_path / "planned")


@pytest.mark.parametrize("first", [11, pytest.param(1, marks=pytest.mark.slow)])
def test_a_rank_on_a_full_disk_says_so_in_one_line(
    stages: Stages, planned: Path, unfinished: Path, tiny_model: Path, first: int
) -> None:
    """From the eleventh operation on, or from any."""
    at = first
    while _fail_rank(stages, unfinished, planned, tiny_model, at=at) >= at and first == 1:
        at += 1
    assert at > 20 or first == at


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
    settings = [f"--set={one}" for one in ("steps=2", "validate_steps=1", "held_out=5", "precision=fp32")]
    quick = ["--devices", "cpu", "--workers", "0", "--batch", "16", "--allow-regression", *settings]
    arguments = [
        "lab",
        "finetune",
        str(icons),
        "--out",
        str(folder / "mine"),
        f"--model=local-dir:{start}",
        *quick,
        *more,
    ]
    return stages.run("command", folder, given={"arguments": arguments}, **asked)


def _fill_disk(stages: Stages, folder: Path, icons: Path, start: Path, expected: bytes, *, at: int) -> str:
    """Train on a disk that is full from an operation on, then on one with room; returns the file that was named."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    places = Places(folder / "mine")
    ended = _finetune(stages, folder, icons, start, at=at, mode="full")["result"]
    assert ended["code"] == 2, ended
    assert "Traceback" not in ended["stderr"]
    (said,) = [line for line in ended["stderr"].splitlines() if line.startswith("Error: ")]
    found = re.fullmatch(
        r'Error: "(.*)" can\'t be (?:read or written|made) \(.*No space left on device.*\); (.*)', said
    )
    assert found, said
    assert ("the last checkpoint stays, --resume goes on" in found[2]) == places.has_checkpoint
    assert not (places.out.exists() and not (places.out / "training.json").exists())
    again = _finetune(stages, folder, icons, start, *["--resume"] * places.has_checkpoint)["result"]
    assert again["code"] == 0, again
    assert (places.out / "open_clip_model.safetensors").read_bytes() == expected
    assert not list(folder.rglob(".aside-*"))
    return Path(found[1]).name


@pytest.fixture
def finetuned(stages: Stages, icons: Path, start: Path, tmp_path: Path) -> tuple[int, bytes]:
    """How many operations a training takes, and the weights that come of it."""
    whole = tmp_path / "whole"
    whole.mkdir()
    n = _finetune(stages, whole, icons, start)["count"]
    return n, (whole / "mine" / "open_clip_model.safetensors").read_bytes()


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_training_on_a_full_disk_names_the_file_keeps_its_checkpoint_and_goes_on(
    stages: Stages, icons: Path, start: Path, tmp_path: Path, finetuned: tuple[int, bytes], every: bool
) -> None:
    n, expected = finetuned
    for at in range(1, n - 10, 5) if every else [round(0.7 * n)]:  # the last ones take no room
        named = _fill_disk(stages, tmp_path / "full", icons, start, expected, at=at)
        assert every or named == "last.checkpoint"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a disk")
    yield disk
    subprocess.run(["umount", disk], check=True)


def _train_on(disk: Path, icons: Path, model: Path, *more: str) -> str:
    command = [
        sys.executable,
        "-c",
        "from search.cli import main; main()",
        "lab",
        "finetune",
        str(icons),
        "--workers",
        "0",
    ]
    options = ["--out", str(disk / "mine"), "--model", f"local-dir:{model}", "--batch", "16", "--set", "steps=2", *more]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()[-1]


@pytest.mark.slow
def test_pictures_to_learn_from_that_find_no_room_end_a_training_in_one_line(
    small_disk: Path, icons: Path, tmp_path: Path
) -> None:
    """They are written into a file that is mapped: where a page of it finds no room the process is ended."""
    model = save_model(tmp_path / "model", size=128)
    pixels = small_disk / "mine.work" / "corpus" / "pixels.part.npy"
    assert _train_on(small_disk, icons, model, "--devices", "cpu") == (
        f'Error: "{pixels}" can\'t be read or written (No space left on device); '
        "there is no checkpoint yet, run again once that is mended"
    )


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["ddp", "fsdp"])
def test_ranks_that_train_on_a_full_disk_say_so_in_one_line(
    small_disk: Path, icons: Path, start: Path, strategy: str
) -> None:
    said = _train_on(
        small_disk, icons, start, "--devices", "cpu:2", f"--set=strategy={strategy}", "--set=precision=fp32"
    )
    kind = r"best\.checkpoint(/step-0+1)?"
    assert re.fullmatch(rf'Error: rank [01]: ".*/{kind}" can\'t be read or written \(.*\); there is no .*', said), said


def _options(folder: Path, model: Path, *, stall_limit: float = 600) -> IndexOptions:
    how = EmbedOptions(workers=0, batch_size=8, precision="fp32", stall_limit=stall_limit)
    return IndexOptions(sources=[folder], choice=ModelChoice(f"local-dir:{model}"), devices="cpu:2", embed=how)


@pytest.mark.slow
def test_ranks_that_can_not_write_say_so_without_a_trace(library: Library, icon_folder: Path, tiny_model: Path) -> None:
    options = _options(icon_folder, tiny_model)
    scan(library, options, Silent())
    (library.root / "vectors").write_text("no folder")
    with pytest.raises(EmbedError, match=rf'rank [01]: ".*" can\'t be read or written .*{KEPT}'):
        embed(library, options, Silent())
    log = next((library.root / "work").glob("*/runs/*/torchrun.log")).read_text()
    assert "in embed\n" not in log


@pytest.mark.slow
def test_a_rank_that_stands_still_ends_the_stage_by_name_and_any_number_of_ranks_finishes_the_rest(
    library: Library, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped, it can't even say so itself."""
    monkeypatch.setitem(BLOCK_SIZE, "images", 2)
    options = _options(draw_icons(tmp_path / "icons"), tiny_model, stall_limit=20)
    scan(library, options, Silent())

    def stop() -> None:
        os.kill(find_rank("indexer.embedding.embed", library.root, "1"), signal.SIGSTOP)

    stopper = threading.Thread(target=stop)
    stopper.start()
    with pytest.raises(EmbedError, match=rf"rank [01]: nothing got done for \d+ s, at .*{KEPT}"):
        embed(library, options, Silent())
    stopper.join()
    alone = IndexOptions(choice=options.choice, devices="cpu", embed=options.embed)
    fingerprint = embed(library, alone, Silent()).fingerprint
    assert len(read_coverage(library.vectors(fingerprint)).images) == 11
