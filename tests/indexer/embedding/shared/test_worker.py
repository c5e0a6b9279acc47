"""Workers of a shared plan, as a person starts them: they come and go, and the vectors are those of one process."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import Silent
from s3_server import Faults
from safetensors import safe_open
from shared_work import (
    CPU,
    assert_same,
    do_here,
    draw_many,
    of_one_process,
    options_of,
    scanned,
    start_worker,
    vectors_of,
)

from indexer.embedding.embed import work_here
from indexer.embedding.plan_store import fetch_encoder, open_work
from indexer.embedding.progress import EmbeddingProgress, Watch
from indexer.embedding.ray_workers import start_on_ray
from indexer.embedding.worker import Ended
from indexer.encoders.checkpoint import ModelChoice
from indexer.encoders.devices import Gpus
from indexer.errors import EmbedError, IconsError
from indexer.library.folder import Library
from indexer.library.plans import BLOCK_SIZE
from indexer.library.shards import read_coverage
from indexer.library.stores import FolderStore, Listed, open_store
from indexer.pipeline import IndexOptions, collect, plan_only
from search.cli import main

Vectors = dict[tuple[str, int], np.ndarray]


def assert_collected(library: Library, work: Path | str, expected: Vectors) -> None:
    """All of a plan is there, and is what one process makes."""
    found = collect(library, str(work))
    assert (found.blocks, found.damaged) == (found.of, 0)
    assert_same(vectors_of(library, found.fingerprint), expected)


def work_watched(work: Path, watch: Callable[[object, list[object]], None]) -> None:
    """Be a worker that says at once what it has done."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("indexer.embedding.progress.REPORT_SECONDS", 0.0)
        work_here(str(work), CPU, show=watch, give_up=pytest.fail)  # type: ignore[arg-type]


def test_a_plan_is_put_done_and_collected_and_then_the_place_is_empty(
    library: Library, options: IndexOptions, work: Path, expected: Vectors
) -> None:
    assert plan_only(library, options, Silent()) == f"icons worker {work}"
    before = collect(library, str(work))
    assert (before.blocks, before.of) == (0, 9)
    do_here(work)
    assert_collected(library, work, expected)
    assert {path.name for path in work.iterdir()} <= {"encoders", ".aside-lock"}, "no folder is left"
    assert collect(library, str(work)).fingerprint is None
    with pytest.raises(EmbedError, match=r"holds no plan; `icons index --only plan --work"):
        do_here(work)


def flipped(content: bytes) -> bytes:
    return content[:-3] + bytes([content[-3] ^ 0xFF]) + content[-2:]


@pytest.mark.parametrize("damage", [bytes, flipped], ids=["whole", "flipped"])
def test_a_worker_that_is_asked_to_end_gives_its_blocks_back_with_what_it_has_made(
    library: Library,
    options: IndexOptions,
    work: Path,
    expected: Vectors,
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[bytes], bytes],
) -> None:
    monkeypatch.setitem(BLOCK_SIZE, "images", 2048)
    plan_only(library, options, Silent())

    def end_at_24(_: object, ranks: object) -> None:
        if ranks[0].images >= 24:  # type: ignore[index]
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(Ended):
        work_watched(work, end_at_24)
    assert list(work.glob("*/claims/*.json")) == []
    [part] = [path for path in work.rglob("*.safetensors") if "+" in path.name]
    with safe_open(part, framework="numpy") as opened:
        assert opened.metadata()["run"] == open_work(open_store(str(work))).run.id
    part.write_bytes(damage(part.read_bytes()))
    if damage is bytes:
        collect(library, str(work))
    do_here(work)
    assert_collected(library, work, expected)
    assert bool(list(library.root.rglob(part.name))) == (damage is bytes)


@pytest.mark.slow
def test_a_plan_that_is_put_again_keeps_what_was_done_and_workers_go_over_to_it(
    planned: Library, options: IndexOptions, work: Path, expected: Vectors
) -> None:
    run = open_work(open_store(str(work))).plan.run
    again: list[Callable[[], object]] = [lambda: plan_only(planned, options, Silent())]

    def put_again(_: object, ranks: object) -> None:
        if ranks[0].images >= 24 and again:  # type: ignore[index]
            again.pop()()

    work_watched(work, put_again)
    assert not again
    assert not list((work / run).rglob("blocks/*/*.json"))
    assert 0 < len(open_work(open_store(str(work))).headers) < 9, "what had been done was not planned again"
    assert_collected(planned, work, expected)


@pytest.mark.parametrize("lacks", ["the folder", "what is mounted on it", "what is mounted below it"])
def test_a_machine_that_lacks_the_icons_fails_none_and_says_which_it_can_t_read(
    tiny_model: Path, tmp_path: Path, work: Path, lacks: str
) -> None:
    source = icons = tmp_path / "icons"
    if lacks == "what is mounted below it":
        icons = source / "below"
        source.mkdir()
        (source / "readme.txt").write_text("icons lie below")
    draw_many(icons, 24)
    options = options_of(source, tiny_model, work=str(work))
    library = scanned(tmp_path / "library", options)
    plan_only(library, options, Silent())
    elsewhere = icons.rename(tmp_path / "elsewhere")
    if lacks != "the folder":
        icons.mkdir()
    with pytest.raises(EmbedError, match=r'dot-000(00|08|16).svg" and 7 other pictures can\'t be read on this machine'):
        do_here(work)
    assert list(work.rglob("images-*.safetensors")) == list(work.glob("*/claims/*.json")) == []
    [ended] = Watch(open_work(open_store(str(work))).run, EmbeddingProgress).look()
    assert (ended.finished, ended.note) == (True, ended.ended) and "can't be read on this machine" in ended.ended
    if lacks != "the folder":
        icons.rmdir()
    elsewhere.rename(icons)
    do_here(work)
    assert len(read_coverage(library.vectors(collect(library, str(work)).fingerprint)).images) == 24


def test_icons_that_have_gone_or_changed_since_the_scan_are_listed(
    tiny_model: Path, tmp_path: Path, work: Path
) -> None:
    icons = draw_many(tmp_path / "icons", 24)
    options = options_of(icons, tiny_model, work=str(work))
    library = scanned(tmp_path / "library", options)
    plan_only(library, options, Silent())
    for picture in icons.iterdir():
        picture.unlink() if picture.name < "dot-00012" else picture.write_text("another")
    (icons / "new.svg").write_text("<svg/>")
    do_here(work)
    failures = read_coverage(library.vectors(collect(library, str(work)).fingerprint)).failures
    assert [failed.is_final for failed in failures.values()] == [False] * 24


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["worker", ""], "is empty; give a folder or a URL"),
        (["index", "--work", ""], "is empty; give a folder or a URL"),
        (["index", "--only", "embed", "--ray", "auto"], "--ray needs --work"),
        (["index", "--only", "collect"], "--only collect needs --work"),
        (["index", "--only", "merge", "w"], "--only merge looks at no SOURCES; --only scan does"),
        (["index", "--publish", "milvus://x/y"], "is now `icons lab publish ADDRESS`"),
        (["worker", "w"], "holds no plan"),
    ],
)
def test_commands_refuse_what_does_not_go_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(main, arguments)
    assert (run.exit_code, reason in run.output) == (2, True), run.output


@pytest.mark.slow
@pytest.mark.parametrize(("send", "number"), [(os.kill, signal.SIGTERM), (os.killpg, signal.SIGINT)])
def test_a_signal_ends_all_workers_of_a_machine_and_the_rest_is_done_later(
    planned: Library, work: Path, expected: Vectors, send: Callable[[int, int], None], number: int
) -> None:
    workers, until = start_worker(str(work), "cpu:2"), time.monotonic() + 120
    while not list(work.rglob("workers/*.json")) and time.monotonic() < until:
        time.sleep(0.02)
    send(workers.pid, number)  # Ctrl-C is for the whole group
    _, said = workers.communicate(timeout=60)
    assert (workers.returncode, b"asked to end" in said, list(work.glob("*/claims/*.json"))) == (143, True, []), said
    again = start_worker(str(work), "cpu:2")
    assert (again.communicate(timeout=120)[1], again.returncode)[1] == 0
    assert len(list(work.rglob("workers/*.json"))) >= 3
    assert_collected(planned, work, expected)


@pytest.mark.parametrize("n_bytes", [0, 1000], ids=["lost", "cut"])
def test_an_encoder_s_file_that_is_lost_or_cut_is_put_again(
    planned: Library, options: IndexOptions, work: Path, n_bytes: int
) -> None:
    [weights] = work.rglob("open_clip_model.safetensors")
    content = weights.read_bytes()[:n_bytes]
    weights.unlink()
    if content:
        weights.write_bytes(content)
    with pytest.raises(EmbedError, match=r"is damaged \(.*; `icons index --only plan --work` puts it there again"):
        do_here(work)
    plan_only(planned, options, Silent())
    do_here(work)
    assert collect(planned, str(work)).blocks == 9


@pytest.mark.parametrize(
    ("name", "cache", "match"),
    [
        ("..", "cache", r'".." is no name of a file or folder'),
        ("w", "a file", r"a file/f00d\" can't be written .*; XDG_CACHE_HOME names another place"),
    ],
)
def test_an_encoder_s_file_that_lies_elsewhere_and_a_cache_that_can_t_be_written_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, cache: str, match: str
) -> None:
    store = open_store(str(tmp_path / "work"))
    store.put("encoders/f00d/w", b"")
    monkeypatch.setattr(FolderStore, "list", lambda *_: {f"encoders/f00d/{name}": Listed("1", 1)})
    (tmp_path / "a file").write_text("")
    with pytest.raises(IconsError, match=match):
        fetch_encoder(store, ModelChoice("x"), fingerprint="f00d", folder=tmp_path / cache)
    assert not (tmp_path / "cache").exists()


def test_a_worker_says_why_it_goes_to_the_cpu(planned: Library, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexer.encoders.devices.may_have_gpu", lambda: True)
    monkeypatch.setattr("indexer.encoders.devices.find_gpus", lambda: Gpus(why="the driver is too old"))
    run = CliRunner().invoke(main, ["worker", str(work)])
    assert (run.exit_code, "On the CPU: the driver is too old" in run.output) == (0, True), run.output


def test_without_a_plan_or_without_ray_there_is_one_line(
    library: Library, options: IndexOptions, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EmbedError, match="holds no plan"):
        start_on_ray("127.0.0.1:1", str(work))
    plan_only(library, options, Silent())
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(EmbedError, match=r"--ray needs Ray; `pip install"):
        start_on_ray("127.0.0.1:1", str(work))


NURSERY = Path(__file__).parents[3] / "worker_nursery.py"


@pytest.mark.slow
@pytest.mark.parametrize(
    "storm",
    [
        (96, 8, 1.5, (11, 7, 0.1), "--at-once 3 --kills 4 --seed 1 --pause 0.4 --batch-seconds 0.1"),
        (8000, 16, 2.5, (13, 9, 0.3), "--at-once 8 --kills 200 --seed 7 --pause 1.2 --batch-seconds 1.5"),
    ],
    ids=["4", "200"],
)
def test_workers_that_are_killed_leave_a_plan_that_others_finish(
    s3: Faults, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, storm: tuple[Any, ...]
) -> None:
    """Held against one process, over a store that fails, loses answers and is late."""
    n, block, lease, faults, how = storm
    monkeypatch.setitem(BLOCK_SIZE, "images", block)
    s3.fail_every, s3.late_every, s3.late_seconds = faults
    work, icons = f"s3://{s3.bucket}/plans", draw_many(tmp_path / "many", n)
    options = options_of(icons, tiny_model, work=work, lease_seconds=lease)
    library = scanned(tmp_path / "library", options)
    plan_only(library, options, Silent())
    command = [sys.executable, str(NURSERY), work, *how.split()]
    nursery = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Traceback" not in nursery.stderr, nursery.stderr[-4000:]
    counts = json.loads(nursery.stdout)
    assert (counts["killed"], counts.get("ended 1", 0)) == (int(how.split()[3]), 0), nursery.stderr[-4000:]
    s3.fail_every = s3.late_every = 0
    assert_collected(library, work, of_one_process(tmp_path, icons, tiny_model))
