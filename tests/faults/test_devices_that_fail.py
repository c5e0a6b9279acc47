"""A device that hangs or has no room, a rank whose disk fails or that stands still: a clear end, nothing lost."""

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import Silent, draw_icons, find_rank
from faults import Stages, copy_library

from indexer.embedding.options import EmbedOptions
from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import EmbedError
from indexer.library.folder import Library
from indexer.library.plans import BLOCK_SIZE
from indexer.library.shards import read_coverage, shard_paths
from indexer.pipeline import embed, scan
from indexer.ranks.heartbeat import Watchdog, watched
from indexer.ranks.progress import RankProgress
from indexer.run import IndexOptions

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
def test_a_device_without_room_for_one_picture_ends_the_run_by_name_and_keeps_what_is_done(
    stages: Stages, unfinished: Path, tiny_model: Path
) -> None:
    n_before = _n_shards(unfinished)
    ended = _index(stages, unfinished, tiny_model, device={"room": 0, "after": 1})["result"]
    assert (ended["code"], ended["stdout"]) == (2, "")
    said = ended["stderr"].splitlines()[-1]
    assert said == 'Error: device "cpu" has no room for one picture; free its memory, or use --devices cpu'
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
    slow, waiting = RankProgress(rank=0, world=2, at="a picture"), RankProgress(rank=1, world=2, at="x", waits=True)
    for _ in range(5):
        slow.steps += 1
        assert watchdog.look([slow, waiting]) is None
    found = watchdog.look([slow, waiting])
    assert found is not None and found[0] == 0


def test_time_in_which_nobody_looked_is_no_standstill(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("indexer.ranks.heartbeat.time.monotonic", lambda: now)
    watchdog, progress = Watchdog(limit=600), [RankProgress(rank=0, world=1, at="a picture")]
    assert watchdog.look(progress) is None
    now += 36_000  # a laptop that slept, a job that was stopped
    assert watchdog.look(progress) is None
    for _ in range(298):
        now += 2
        assert watchdog.look(progress) is None
    now += 2
    assert watchdog.look(progress) is not None


@pytest.mark.slow
def test_a_device_that_hangs_ends_the_run_with_what_it_was_at_and_keeps_what_is_done(
    stages: Stages, unfinished: Path, drawings: Path, tiny_model: Path
) -> None:
    n_before = _n_shards(unfinished)
    ended = _index(stages, unfinished, tiny_model, "--stall-limit", "20", device={"room": -1, "after": 1})
    assert os.waitstatus_to_exitcode(ended["status"]) == 2
    said = unfinished.with_name("stderr").read_text().splitlines()[-1]
    assert said.startswith(f'Error: nothing got done for 20 s, at picture "{drawings}/')
    assert said.endswith(f"({KEPT})")
    n_kept = _n_shards(unfinished) - n_before
    assert n_kept > 0
    again = _index(stages, unfinished, tiny_model)["result"]
    assert json.loads(again["stdout"])["embed"]["images"] == 3 - n_kept
    assert stages.result("examine", unfinished) == []


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
    arguments = ["embed", "--plan-only", *how, "--model", f"local-dir:{tiny_model}"]
    stages.result("command", unfinished, given={"arguments": ["scan"]})
    assert stages.result("command", unfinished, given={"arguments": arguments}, block=1)["code"] == 0
    return copy_library(unfinished, tmp_path / "planned")


@pytest.mark.parametrize("at", [3, 11])
def test_a_rank_on_a_full_disk_says_so_in_one_line(
    stages: Stages, planned: Path, unfinished: Path, tiny_model: Path, at: int
) -> None:
    assert _fail_rank(stages, unfinished, planned, tiny_model, at=at) >= at


@pytest.mark.slow
def test_a_rank_on_a_disk_that_is_full_from_any_operation_says_so_in_one_line(
    stages: Stages, planned: Path, unfinished: Path, tiny_model: Path
) -> None:
    at = 1
    while _fail_rank(stages, unfinished, planned, tiny_model, at=at) >= at:
        at += 1
    assert at > 20


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
