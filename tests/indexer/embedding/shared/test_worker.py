"""Workers of a shared plan, as a person starts them: they come and go, and the vectors are those of one process."""

import json
import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import Silent
from shared_work import (
    CPU,
    assert_same,
    do_here,
    draw_blocks,
    draw_many,
    of_one_process,
    options_of,
    planned,
    scanned,
    start_worker,
    vectors_of,
)

from indexer.embedding.crew import work_here
from indexer.embedding.plan_store import StoredWork, fetch_encoder, open_work, spell_outlines
from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import EmbedError, IconsError
from indexer.library.folder import Library
from indexer.library.object_store import open_store
from indexer.library.plans import BLOCK_SIZE, BlockHeader, Plan
from indexer.library.shards import read_coverage, shard_name
from indexer.library.stores import Below
from indexer.pipeline import collect, index, plan_only
from search.cli import main


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return draw_blocks(tmp_path, monkeypatch)


def test_a_plan_is_put_done_and_collected_and_then_the_place_is_empty(
    many: Path, tiny_model: Path, tmp_path: Path
) -> None:
    work, options = tmp_path / "work", options_of(many, tiny_model, work=str(tmp_path / "work"))
    library = scanned(tmp_path / "library", options)
    assert plan_only(library, options, Silent()) == f"icons embed --worker {work}"
    before = collect(library, str(work))
    assert (before.blocks, before.of) == (0, 9)
    do_here(work)
    after = collect(library, str(work))
    assert (after.blocks, after.of, after.damaged) == (9, 9, 0)
    assert after.fingerprint is not None
    assert_same(vectors_of(library, after.fingerprint), of_one_process(tmp_path, many, tiny_model))
    assert {path.name for path in work.iterdir()} <= {"encoders", ".aside-lock"}, "no folder is left"
    assert collect(library, str(work)).fingerprint is None
    with pytest.raises(EmbedError, match=r"holds no plan; `icons embed --plan-only --work"):
        do_here(work)


@pytest.mark.slow
def test_index_waits_for_workers_that_come_later_and_publishes(many: Path, tiny_model: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"

    class Watched(Silent):
        def stage(self, title: str) -> None:
            super().stage(title)
            if title.startswith("Embedding elsewhere"):
                worker.start()

    watcher, worker = Watched(), start_later(work)
    summary = index(Library(tmp_path / "library"), options_of(many, tiny_model, work=str(work)), watcher)
    assert (summary.counts.embedded, summary.counts.missing, summary.generation) == (60, 0, 1)
    assert f"Embedding elsewhere, by icons embed --worker {work}" in watcher.stages
    assert worker.wait() == 0


class start_later:  # noqa: N801
    """A worker that is started when it is told to."""

    def __init__(self, work: Path) -> None:
        self.work = work

    def start(self) -> None:
        self.process = start_worker(str(self.work))

    def wait(self) -> int:
        _, said = self.process.communicate(timeout=60)
        assert b"Traceback" not in said, said.decode()
        return self.process.returncode


def flipped(content: bytes) -> bytes:
    return content[:-3] + bytes([content[-3] ^ 0xFF]) + content[-2:]


@pytest.mark.parametrize("damage", [bytes, flipped, lambda content: content[:100]], ids=["whole", "flipped", "cut"])
def test_a_worker_that_is_asked_to_end_gives_its_blocks_back_with_what_it_has_made(
    many: Path, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setitem(BLOCK_SIZE, "images", 2048)
    monkeypatch.setattr("indexer.embedding.progress.REPORT_SECONDS", 0.0)
    work, _, library = planned(tmp_path, many, tiny_model)

    def end_at_24(_: object, ranks: object) -> None:
        if ranks[0].images >= 24:  # type: ignore[index]
            signal.raise_signal(signal.SIGTERM)

    from indexer.embedding.shard_writer import Ended

    with pytest.raises(Ended):
        work_here(str(work), CPU, watch=end_at_24, give_up=pytest.fail)
    assert list(work.glob("*/claims/*.json")) == []
    [piece] = [path for path in work.rglob("*.safetensors") if "+" in path.name]
    content = piece.read_bytes()
    piece.write_bytes(damage(content))
    if damage is bytes:
        collect(library, str(work))
    do_here(work)
    found = collect(library, str(work))
    assert found.blocks == found.of
    assert found.fingerprint is not None
    assert_same(vectors_of(library, found.fingerprint), of_one_process(tmp_path, many, tiny_model))
    assert (library.vectors(found.fingerprint) / piece.name).is_file() == (damage is bytes)


@pytest.mark.slow
def test_a_plan_that_is_put_again_keeps_what_was_done_and_workers_go_over_to_it(
    many: Path, tiny_model: Path, tmp_path: Path
) -> None:
    work, options, library = planned(tmp_path, many, tiny_model)
    [run] = [path.name for path in work.iterdir() if (path / "blocks").is_dir()]
    again: list[Callable[[], object]] = [lambda: plan_only(library, options, Silent())]

    def put_again(_: object, ranks: object) -> None:
        if ranks[0].images >= 24 and again:  # type: ignore[index]
            again.pop()()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("indexer.embedding.progress.REPORT_SECONDS", 0.0)
        work_here(str(work), CPU, watch=put_again, give_up=pytest.fail)
    assert not again
    assert not (work / run / "blocks").is_dir() or not list((work / run / "blocks").rglob("*.json"))
    found = collect(library, str(work))
    assert found.fingerprint is not None
    assert 0 < found.of < 9, "what had been done was not planned again"
    assert found.blocks == found.of
    assert_same(vectors_of(library, found.fingerprint), of_one_process(tmp_path, many, tiny_model))


@pytest.mark.parametrize("lacks", ["the folder", "what is mounted on it", "what is mounted below it"])
def test_a_machine_that_lacks_the_icons_settles_nothing_and_says_which_it_can_t_read(
    many: Path, tiny_model: Path, tmp_path: Path, lacks: str
) -> None:
    icons = many
    if lacks == "what is mounted below it":
        icons = many.rename(tmp_path / "below")
        many.mkdir()
        icons = icons.rename(many / "below")
        (many / "readme.txt").write_text("icons lie below")
    work, _, library = planned(tmp_path, many, tiny_model)
    elsewhere = icons.rename(tmp_path / "elsewhere")
    if lacks != "the folder":
        icons.mkdir()
    with pytest.raises(EmbedError, match=r'dot-00000.svg" and 7 other pictures can\'t be read on this machine'):
        do_here(work)
    assert list(work.rglob("images-*.safetensors")) == []
    assert list(work.glob("*/claims/*.json")) == []
    assert any("can't be read on this machine" in reason for reason in open_work(open_store(str(work))).ends().values())
    if lacks != "the folder":
        icons.rmdir()
    elsewhere.rename(icons)
    do_here(work)
    found = collect(library, str(work))
    assert found.fingerprint is not None
    assert_same(vectors_of(library, found.fingerprint), of_one_process(tmp_path, many, tiny_model))


def test_a_place_that_can_t_be_read_is_told_though_icons_of_another_are_beside(
    many: Path, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BLOCK_SIZE, "images", 128)
    other = draw_many(tmp_path / "other", 75)
    for number in range(60):
        (other / f"dot-{number:05}.svg").unlink()
    options = options_of(many, tiny_model, work=str(tmp_path / "work"))
    options = replace(options, sources=[other, many], embed=replace(options.embed, batch_size=64))
    plan_only(scanned(tmp_path / "library", options), options, Silent())
    many.rename(tmp_path / "elsewhere")
    with pytest.raises(EmbedError, match=r'many/dot-00000.svg" and \d+ other pictures can\'t be read on this machine'):
        do_here(tmp_path / "work")


def test_icons_that_have_gone_or_changed_since_the_scan_are_listed(
    many: Path, tiny_model: Path, tmp_path: Path
) -> None:
    work, _, library = planned(tmp_path, many, tiny_model)
    for picture in many.iterdir():
        picture.unlink() if picture.name < "dot-00030" else picture.write_text("another")
    (many / "new.svg").write_text("<svg/>")
    do_here(work)
    found = collect(library, str(work))
    assert found.fingerprint is not None
    failures = read_coverage(library.vectors(found.fingerprint)).failures
    assert len(failures) == 60
    assert not any(failed.is_final for failed in failures.values())


def test_a_worker_that_began_with_names_alone_does_a_picture_block_that_is_free_again(
    many: Path, tiny_model: Path, tmp_path: Path
) -> None:
    work, _, library = planned(tmp_path, many, tiny_model)
    do_here(work)
    next(work.rglob("names-*.safetensors")).unlink()
    shard = next(work.rglob("images-*.safetensors"))
    damaged = [shard]

    def damage(_: object, ranks: object) -> None:
        if ranks[0].names and damaged:  # type: ignore[index]
            damaged.pop().write_bytes(b"")
            collect(library, str(work))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("indexer.embedding.progress.REPORT_SECONDS", 0.0)
        work_here(str(work), CPU, watch=damage, give_up=pytest.fail)
    assert not damaged
    assert collect(library, str(work)).blocks == 9


def test_a_block_that_is_free_again_is_found_though_its_thousand_seemed_done(tmp_path: Path) -> None:
    outlines = [BlockHeader(f"images-{number:09d}-0", "images", 1) for number in range(1500)]
    store = open_store(str(tmp_path))
    store.put("0/outlines.jsonl", spell_outlines(outlines))
    place = StoredWork(store, Plan("f00d", "{}", 1500, 0, 1500, run="0"))
    for number, outline in enumerate(outlines):
        place.write(outline.name, shard_name(outline.name), b"")
        if number == 1400:
            assert [missing.name for missing in place.missing()] == [later.name for later in outlines[1401:]]
    assert list(place.missing()) == []
    (tmp_path / "0" / "shards" / "0000" / shard_name(outlines[3].name)).unlink()
    assert list(place.missing()) == [outlines[3]]


def test_commands_refuse_what_does_not_go_together(tmp_path: Path) -> None:
    run = CliRunner().invoke(main, ["embed", "--worker", str(tmp_path), "--collect", str(tmp_path)])
    assert run.exit_code == 2
    assert "exclude each other" in run.output
    for option in ("--worker", "--collect", "--work"):
        run = CliRunner().invoke(main, ["embed", option, ""])
        assert run.exit_code == 2
        assert "is empty; give a folder or a URL" in run.output
    run = CliRunner().invoke(main, ["embed", "--ray", "auto"])
    assert run.exit_code == 2
    assert "--ray needs --work" in run.output
    run = CliRunner().invoke(main, ["embed", "--worker", str(tmp_path)])
    assert run.exit_code == 2
    assert "holds no plan" in run.output


@pytest.mark.slow
@pytest.mark.parametrize(("send", "number"), [(os.kill, signal.SIGTERM), (os.killpg, signal.SIGINT)])
def test_a_signal_ends_all_workers_of_a_machine_and_the_rest_is_done_later(
    many: Path, tiny_model: Path, tmp_path: Path, send: Callable[[int, int], None], number: int
) -> None:
    work, _, library = planned(tmp_path, many, tiny_model)
    crew = start_worker(str(work), "cpu:2")
    until = time.monotonic() + 120
    while not list(work.rglob("workers/*.json")) and time.monotonic() < until:
        time.sleep(0.02)
    send(crew.pid, number)  # Ctrl-C is for the whole group
    _, said = crew.communicate(timeout=60)
    assert crew.returncode == 143, said.decode()
    assert b"asked to end" in said
    assert list(work.glob("*/claims/*.json")) == []
    again = start_worker(str(work), "cpu:2")
    _, said = again.communicate(timeout=120)
    assert again.returncode == 0, said.decode()
    assert len(list(work.rglob("workers/*.json"))) >= 3
    found = collect(library, str(work))
    assert found.fingerprint is not None
    assert_same(vectors_of(library, found.fingerprint), of_one_process(tmp_path, many, tiny_model))


@pytest.mark.parametrize("is_there", [False, True], ids=["lost", "cut"])
def test_an_encoder_s_file_that_is_lost_or_cut_is_put_again(
    many: Path, tiny_model: Path, tmp_path: Path, is_there: bool
) -> None:
    work, options, library = planned(tmp_path, many, tiny_model)
    [weights] = work.rglob("open_clip_model.safetensors")
    if is_there:
        weights.write_bytes(weights.read_bytes()[:1000])
    else:
        weights.unlink()
    with pytest.raises(IconsError, match=r"is missing; `icons embed --plan-only --work` puts it there again|encoder"):
        do_here(work)
    plan_only(library, options, Silent())
    do_here(work)
    assert collect(library, str(work)).blocks == 9


def test_facts_of_an_encoder_that_are_damaged_and_a_cache_that_can_t_be_written_are_named(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "work"))
    part = Below(store, "encoders/f00d/")
    part.put("encoder.json", b"{")
    with pytest.raises(EmbedError, match=r'encoders/f00d/encoder.json" is damaged .*; remove it'):
        fetch_encoder(store, ModelChoice("x"), fingerprint="f00d", folder=tmp_path / "cache")
    part.put("encoder.json", json.dumps({"model": "x", "weights": "w", "files": ["w"]}).encode())
    part.put("w", b"")
    (tmp_path / "a file").write_text("")
    with pytest.raises(EmbedError, match=r'a file/f00d" can\'t be written .*; XDG_CACHE_HOME names another place'):
        fetch_encoder(store, ModelChoice("x"), fingerprint="f00d", folder=tmp_path / "a file")


def test_an_encoder_that_names_files_elsewhere_is_refused(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "work"))
    part = Below(store, "encoders/f00d/")
    part.put("encoder.json", json.dumps({"model": "x", "weights": "w", "files": ["w", "../../outside"]}).encode())
    part.put("w", b"")

    with pytest.raises(EmbedError, match=r'is damaged \("files.1" may not be \'../../outside\''):
        fetch_encoder(store, ModelChoice("x"), fingerprint="f00d", folder=tmp_path / "cache")
    assert not (tmp_path / "cache").exists()
