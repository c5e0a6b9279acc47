"""Ranks whose run has ended, has gone on without them, or waits for them: none outlives it, meddles, or is given up."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from conftest import Build, Silent, disc, find_rank
from faults import Stages

from indexer.catalog.database import open_catalog
from indexer.catalog.questions import store_setting
from indexer.commands.library import read_failures, read_status
from indexer.doctor.examine import examine, repair
from indexer.embedding.distributed import _remove_leftovers
from indexer.embedding.planning import EmbedOptions
from indexer.embedding.progress import EmbeddingProgress, EmbeddingReporter, Gauge, Watchdog
from indexer.embedding.work import OVER
from indexer.encoders.checkpoint import ModelChoice
from indexer.library.folder import Library
from indexer.library.plans import BLOCK_SIZE, read_blocks
from indexer.library.shards import partial_shards_by_block, read_coverage, read_shard, shard_paths
from indexer.merging.merge import merge as merge_shards
from indexer.pipeline import IndexOptions, embed, merge, plan_only, scan

ICONS = (sys.executable, "-P", "-c", "from search.cli import main; main()")


def slow_icon(number: int, *, tenths: int = 1) -> str:
    """Ten thousand uses of a square: a tenth of a second, and each another file."""
    drawn = '<use href="#g4"/>' * tenths
    groups = "".join(f'<g id="g{i}">{f"""<use href="#g{i - 1}"/>""" * 10}</g>' for i in range(1, 5))
    body = f'<desc>{number}</desc><defs><g id="g0"><rect width="3" height="2"/></g>{groups}</defs>{drawn}'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">{body}</svg>'


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """64 pictures of a tenth of a second each: one block, which one of two ranks gets."""
    return _draw_slow(tmp_path / "slow", tenths=1)


def _draw_slow(folder: Path, *, tenths: int) -> Path:
    folder.mkdir()
    for number in range(64):
        (folder / f"slow {number:03}.svg").write_text(slow_icon(number, tenths=tenths))
    return folder


def _processes_of(library: Path) -> list[int]:
    """Everything that works on a library: the run, torchrun and its ranks."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if str(library) in command:
            found.append(int(process.name))
    return found


def _wait_until_none(library: Path, *, seconds: float) -> float:
    started = time.monotonic()
    while _processes_of(library):
        assert time.monotonic() - started < seconds, _processes_of(library)
        time.sleep(0.02)
    return time.monotonic() - started


@pytest.fixture
def running(slow: Path, tiny_model: Path, tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A run with two ranks that draws for seven seconds; one rank has nothing to do and waits."""
    options = ["--model", f"local-dir:{tiny_model}", "--devices", "cpu:2", "--workers", "1", "--precision", "fp32"]
    command = [*ICONS, "index", str(slow), *options, "--library", str(tmp_path / "library")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _wait_until_one_waits(library: Path) -> None:
    """Wait until a rank says that it waits for the other."""
    for _ in range(2400):
        for path in library.glob("work/*/runs/*/rank-*.json"):
            if json.loads(path.read_text()).get("waits") and "waiting" in json.loads(path.read_text())["at"]:
                return
        time.sleep(0.05)
    raise AssertionError("it never waited")


@pytest.mark.parametrize(
    "whom", ["group", *(pytest.param(one, marks=pytest.mark.slow) for one in ("run", "torchrun", "a stopped torchrun"))]
)
def test_no_rank_outlives_the_run_that_has_started_it(
    running: "subprocess.Popen[str]", tmp_path: Path, whom: str
) -> None:
    library = tmp_path / "library"
    _wait_until_one_waits(library)
    rank = find_rank("indexer.embedding.embed", library, "1")
    torchrun = int(Path(f"/proc/{rank}/stat").read_text().rpartition(")")[2].split()[1])
    assert len(_processes_of(library)) >= 4
    assert not any(library.glob("vectors/*/images-*")), "the other rank still draws"
    if whom == "a stopped torchrun":
        os.kill(torchrun, signal.SIGSTOP)
        running.send_signal(signal.SIGINT)
    elif whom == "group":
        os.killpg(running.pid, signal.SIGKILL)
    else:
        os.kill(torchrun if whom == "torchrun" else running.pid, signal.SIGKILL)
    said = {"torchrun": "torchrun ended early", "a stopped torchrun": "what was finished is kept"}.get(whom, "")
    assert said in running.communicate(timeout=30)[1]
    _wait_until_none(library, seconds=3)


def test_folders_of_runs_that_were_killed_are_cleared_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ended = subprocess.Popen(["true"])
    ended.wait()
    for process in (ended.pid, os.getpid(), "x", 10**20):
        (tmp_path / f"icons-ranks-{process}-abc").mkdir()
    _remove_leftovers()
    left = {path.name for path in tmp_path.glob("icons-ranks-*")}
    assert left == {f"icons-ranks-{kept}-abc" for kept in (os.getpid(), "x", 10**20)}


def _planned(library: Library, source: Path, model: Path) -> list[str]:
    """Plan an embedding; return what starts its one rank by hand."""
    how = EmbedOptions(workers=0, batch_size=8, precision="fp32")
    options = IndexOptions(sources=[source], choice=ModelChoice(f"local-dir:{model}"), devices="cpu", embed=how)
    scan(library, options, Silent())
    line = plan_only(library, options, Silent()).split()
    return [sys.executable, *line[line.index("-m") :]]


def _run_rank(stages: Stages, library: Library) -> int:
    """Run the one rank of a plan as if by hand; its exit code."""
    (fingerprint,) = (path.name for path in (library.root / "work").iterdir())
    given = {"name": "rank", "arguments": ["--fingerprint", fingerprint]}
    return int(stages.result("command", library.root, given=given)["code"] or 0)


@pytest.fixture
def dots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Forty pictures in blocks of eight."""
    monkeypatch.setitem(BLOCK_SIZE, "images", 8)
    folder = tmp_path / "dots"
    folder.mkdir()
    for number in range(40):
        (folder / f"dot {number:02}.svg").write_text(disc(4 + number % 8 * 2, 4 + number // 8 * 2))
    return folder


@pytest.mark.slow
def test_a_rank_of_an_earlier_run_ends_and_writes_nothing_into_a_later_one(
    library: Library, slow: Path, tiny_model: Path
) -> None:
    command = _planned(library, slow, tiny_model)
    fingerprint = next((library.root / "work").iterdir()).name
    rank = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for _ in range(1200):
        if list(library.root.glob("work/*/runs/*/rank-0.json")):
            break
        time.sleep(0.05)
    library.begin_run(fingerprint, "later")
    shards = {path: path.stat().st_mtime_ns for path in library.vectors(fingerprint).glob("*")}
    said = rank.communicate(timeout=60)[1]
    assert (rank.returncode, OVER in said) == (1, True)
    assert list(library.run(fingerprint, "later").iterdir()) == []
    assert {path: path.stat().st_mtime_ns for path in library.vectors(fingerprint).glob("*")} == shards


def test_what_made_a_shard_tells_its_run(build: Build, library: Library, icon_folder: Path) -> None:
    from safetensors import safe_open

    build(icon_folder)
    (run,) = (path.name for path in library.root.glob("work/*/runs/*"))
    for path in library.root.glob("vectors/*/*.safetensors"):
        with safe_open(path, framework="numpy") as shard:
            assert shard.metadata()["run"] == run


def test_a_rank_that_waits_says_so_at_once_and_is_not_given_up() -> None:
    import torch

    said: list[dict[str, object]] = []
    progress = EmbeddingProgress(rank=0, world=2)
    reporter = EmbeddingReporter(lambda now: said.append(asdict(now)), progress, Gauge(torch.device("cpu"), 1))
    reporter.begin("writing its last vectors")
    reporter.wait("waiting for the other ranks")
    assert (said[-1]["at"], said[-1]["waits"]) == ("waiting for the other ranks", True)
    watchdog = Watchdog(limit=1e-9)
    assert [watchdog.look([progress]) for _ in range(3)] == [None] * 3
    reporter.begin("more")
    assert said[-1]["waits"] is False
    assert watchdog.look([progress]) is None
    assert watchdog.look([progress]) is not None


def test_a_block_that_takes_long_leaves_pieces_and_a_rank_that_is_ended_on_the_way_loses_none_of_them(
    library: Library, icon_folder: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.embedding.work.FIRST_PART_SECONDS", 0.0)
    how = EmbedOptions(workers=0, batch_size=2, precision="fp32")
    choice = ModelChoice(f"local-dir:{tiny_model}")
    options = IndexOptions(sources=[icon_folder], choice=choice, devices="cpu", embed=how)
    scan(library, options, Silent())

    class Ends(Silent):
        def embedded(self, plan: object, ranks: object) -> None:
            if len(list(library.root.glob("vectors/*/images-*+*.safetensors"))) >= 2:
                raise KeyboardInterrupt

    monkeypatch.setattr("indexer.embedding.progress.REPORT_SECONDS", 0.0)
    with pytest.raises(KeyboardInterrupt):
        embed(library, options, Ends())
    folder = next((library.root / "vectors").iterdir())
    n_kept = len(read_coverage(folder).images)
    assert n_kept >= 4
    (block,) = (block for block in read_blocks(_plan(library)) if block.kind == "images")
    assert len(partial_shards_by_block(folder)[block.name]) == n_kept // 2

    rest = embed(library, options, Silent())
    assert rest.images == 11 - n_kept
    whole = Library(library.root.with_name("whole"))
    scan(whole, options, Silent())
    monkeypatch.undo()
    fingerprint = embed(whole, options, Silent()).fingerprint
    assert _vectors(library, fingerprint) == _vectors(whole, fingerprint)


def _plan(library: Library) -> Path:
    return next((library.root / "work").iterdir()) / "plan.jsonl"


def _vectors(library: Library, fingerprint: str) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    for path in shard_paths(library.vectors(fingerprint), "images"):
        shard = read_shard(path, fingerprint=fingerprint)
        assert np.all(np.diff(shard.ids) > 0)
        assert not set(shard.ids.tolist()) & set(found)
        found.update(zip(shard.ids.tolist(), map(bytes, shard.vectors), strict=True))
    return found


@pytest.mark.slow
def test_a_rank_that_waits_for_slow_pictures_of_another_is_not_given_up(tiny_model: Path, tmp_path: Path) -> None:
    slow = _draw_slow(tmp_path / "slow", tenths=3)
    options = ["--model", f"local-dir:{tiny_model}", "--devices", "cpu:2", "--workers", "1", "--stall-limit", "12"]
    command = [*ICONS, "index", str(slow), *options, "--library", str(tmp_path / "library"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"]["embedded"] == 64


BROKEN = "<svg"


@pytest.mark.slow
def test_whoever_merges_stores_what_failed(
    stages: Stages, library: Library, icon_folder: Path, tiny_model: Path
) -> None:
    (icon_folder / "broken.svg").write_text(BROKEN)
    _planned(library, icon_folder, tiny_model)
    assert _run_rank(stages, library) == 0
    assert [finding.is_fault for finding in examine(library, sample=0).findings if finding.kind == "failures"] == [
        False
    ]
    choice = ModelChoice(f"local-dir:{tiny_model}")
    assert merge(library, choice, Silent().stage) is not None
    assert read_status(library)["waiting"] == 0
    assert [failure["file"] for failure in read_failures(library)] == [str(icon_folder / "broken.svg")]
    assert examine(library, sample=0).is_sound


@pytest.mark.slow
def test_a_generation_that_was_published_without_what_failed_is_found_and_mended(
    stages: Stages, library: Library, icon_folder: Path, tiny_model: Path
) -> None:
    """As older programs did it: the shards alone know."""
    (icon_folder / "broken.svg").write_text(BROKEN)
    _planned(library, icon_folder, tiny_model)
    assert _run_rank(stages, library) == 0
    engine, (fingerprint,) = open_catalog(library.catalog), (path.name for path in (library.root / "work").iterdir())
    covered = read_coverage(library.vectors(fingerprint))
    merge_shards(library, engine, fingerprint=fingerprint, embedded=covered.images)
    with engine.begin() as connection:
        store_setting(connection, "model", ModelChoice(f"local-dir:{tiny_model}").to_json())
    engine.dispose()
    (found,) = (finding for finding in examine(library, sample=0).findings if finding.is_fault)
    assert found.message == "1 pictures failed, and the catalog does not say why; `icons index` brings that in"
    report = repair(library, sample=0, stage=lambda _: None)
    assert report.is_sound
    assert len(list(read_failures(library))) == 1
