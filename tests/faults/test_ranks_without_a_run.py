"""Ranks whose run has ended, has gone on without them, or waits for them: none outlives it, meddles, or is given up."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Silent, disc, find_rank, svg
from faults import Stages

from indexer.commands.library import read_failures, read_status
from indexer.doctor.examine import examine
from indexer.embedding.plan_store import LibraryPlanStore
from indexer.embedding.planning import EmbedOptions
from indexer.embedding.progress import EmbeddingProgress, EmbeddingReporter, Watchdog
from indexer.embedding.worker import OVER
from indexer.encoders.checkpoint import ModelChoice
from indexer.library.folder import Library
from indexer.library.plans import BLOCK_SIZE, write_plan
from indexer.library.shards import partial_shards_by_block, read_coverage
from indexer.pipeline import IndexOptions, embed, merge, plan_only, scan
from indexer.ranks import _remove_leftovers

ICONS = (sys.executable, "-P", "-c", "from search.cli import main; main()")


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """64 pictures of ten thousand squares, a tenth of a second each: one block, which one of two ranks gets."""
    folder = tmp_path / "slow"
    folder.mkdir()
    groups = "".join(f'<g id="g{i}">{f"""<use href="#g{i - 1}"/>""" * 10}</g>' for i in range(1, 5))
    for number in range(64):  # each another file
        body = f'<desc>{number}</desc><defs><g id="g0"><rect width="3" height="2"/></g>{groups}</defs>'
        (folder / f"slow {number:03}.svg").write_text(svg(body + '<use href="#g4"/>'))
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
        for path in library.glob("work/*/runs/*/workers/rank-*.json"):
            if json.loads(path.read_text()).get("waits") and "waiting" in json.loads(path.read_text())["at"]:
                return
        time.sleep(0.05)
    raise AssertionError("it never waited")


@pytest.mark.slow
@pytest.mark.parametrize("whom", ["group", "run", "torchrun", "a stopped torchrun"])
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
    assert {"torchrun": "torchrun ended early", "a stopped torchrun": "what was finished is kept"}.get(
        whom, ""
    ) in running.communicate(timeout=30)[1]
    _wait_until_none(library, seconds=3)


def test_folders_of_runs_that_were_killed_are_cleared_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ended = subprocess.Popen(["true"])
    ended.wait()
    for process in (ended.pid, os.getpid(), "x", 10**20):
        (tmp_path / f"icons-ranks-{process}-abc").mkdir()
    _remove_leftovers()
    assert {path.name for path in tmp_path.glob("icons-ranks-*")} == {
        f"icons-ranks-{kept}-abc" for kept in (os.getpid(), "x", 10**20)
    }


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
        if list(library.root.glob("work/*/runs/*/workers/rank-0.json")):
            break
        time.sleep(0.05)
    place = LibraryPlanStore(library, fingerprint)
    write_plan(library, replace(place.plan, run="later"), map(place.read, place.headers))
    shards = {path: path.stat().st_mtime_ns for path in library.vectors(fingerprint).glob("*")}
    assert OVER in rank.communicate(timeout=60)[1] and rank.returncode == 1
    assert {path.name for path in library.run(fingerprint, "later").iterdir()} == {"blocks", "outlines.jsonl"}
    assert {path: path.stat().st_mtime_ns for path in library.vectors(fingerprint).glob("*")} == shards


def test_a_rank_that_waits_for_others_says_so_and_is_not_given_up() -> None:
    progress = EmbeddingProgress(rank=0, world=2)
    reporter = EmbeddingReporter(lambda _: None, progress)
    reporter.begin("waiting for blocks that others hold", waits=True)
    watchdog = Watchdog(limit=1e-9)
    assert [watchdog.look([progress]) for _ in range(3)] == [None] * 3
    reporter.begin("more")
    assert progress.waits is False and watchdog.look([progress]) is None
    assert watchdog.look([progress]) is not None


def test_a_block_that_takes_long_leaves_pieces_and_a_rank_that_is_ended_on_the_way_loses_none_of_them(
    library: Library, icon_folder: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.embedding.worker.FIRST_PART_SECONDS", 0.0)
    how = EmbedOptions(workers=0, batch_size=2, precision="fp32")
    options = IndexOptions(
        sources=[icon_folder], choice=ModelChoice(f"local-dir:{tiny_model}"), devices="cpu", embed=how
    )
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
    (block,) = (block for block in LibraryPlanStore(library, folder.name).headers if block.kind == "images")
    assert len(partial_shards_by_block(folder)[block.name]) == n_kept // 2

    assert (embed(library, options, Silent()).images, len(read_coverage(folder).images)) == (11 - n_kept, 11)
    assert examine(library, sample=0).is_sound


@pytest.mark.slow
def test_whoever_merges_stores_what_failed(
    stages: Stages, library: Library, icon_folder: Path, tiny_model: Path
) -> None:
    (icon_folder / "broken.svg").write_text("<svg")
    _planned(library, icon_folder, tiny_model)
    assert _run_rank(stages, library) == 0
    assert [finding.is_fault for finding in examine(library, sample=0).findings if finding.kind == "failures"] == [
        False
    ]
    assert merge(library, ModelChoice(f"local-dir:{tiny_model}"), Silent().stage) is not None
    assert (read_status(library)["waiting"], [failure["file"] for failure in read_failures(library)]) == (
        0,
        [str(icon_folder / "broken.svg")],
    )
    assert examine(library, sample=0).is_sound
