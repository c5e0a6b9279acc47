"""A shared plan whose beginning or end goes wrong: nothing is lost, and nothing stays behind."""

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import Silent
from shared_work import assert_same, do_here, draw_blocks, of_one_process, options_of, scanned, vectors_of

from indexer.embedding.plan_store import PLAN, ObjectPlanStore, open_work
from indexer.errors import EmbedError, ModelError
from indexer.library.folder import Library
from indexer.library.object_store import open_store
from indexer.library.shards import pack_shard, read_coverage, read_shard
from indexer.library.stores import FolderStore, Listed
from indexer.pipeline import collect, embed, plan_only
from indexer.run import IndexOptions


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return draw_blocks(tmp_path, monkeypatch)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


@pytest.fixture
def options(many: Path, tiny_model: Path, work: Path) -> IndexOptions:
    return options_of(many, tiny_model, work=str(work))


@pytest.fixture
def library(tmp_path: Path, options: IndexOptions) -> Library:
    return scanned(tmp_path / "library", options)


def runs_in(work: Path) -> list[str]:
    """Names of runs of which anything is left."""
    return [path.name for path in work.iterdir() if path.is_dir() and path.name != "encoders"]


def die_at(monkeypatch: pytest.MonkeyPatch, method: str, is_fatal: Callable[[str], bool]) -> None:
    real = getattr(FolderStore, method)

    def die(store: FolderStore, name: str, *content: bytes, **others: str) -> object:
        if is_fatal(name):
            raise Killed
        return real(store, name, *content, **others)

    monkeypatch.setattr(FolderStore, method, die)


def test_a_plan_of_another_library_is_left_alone(many: Path, tiny_model: Path, tmp_path: Path) -> None:
    options = options_of(many, tiny_model, work=str(tmp_path / "work"))
    plan_only(scanned(tmp_path / "library", options), options, Silent())
    other = scanned(tmp_path / "other", options)
    for do in (lambda: plan_only(other, options, Silent()), lambda: collect(other, str(tmp_path / "work"))):
        with pytest.raises(EmbedError, match=r'holds run ".*" of another library'):
            do()


def test_a_shard_that_was_damaged_on_the_way_is_made_again(many: Path, tiny_model: Path, tmp_path: Path) -> None:
    work, options = tmp_path / "work", options_of(many, tiny_model, work=str(tmp_path / "work"))
    library = scanned(tmp_path / "library", options)
    plan_only(library, options, Silent())
    do_here(work)
    shard = next(work.rglob("images-*.safetensors"))
    content = bytearray(shard.read_bytes())
    content[-3] ^= 0xFF
    shard.write_bytes(content)
    found = collect(library, str(work))
    assert (found.blocks, found.damaged) == (8, 1)
    do_here(work)
    assert collect(library, str(work)).blocks == 9


def test_of_two_libraries_that_put_their_plans_at_once_one_does_and_the_other_says_so(
    tmp_path: Path, library: Library, options: IndexOptions, work: Path
) -> None:
    other, real = scanned(tmp_path / "other", options), FolderStore.create
    with pytest.MonkeyPatch.context() as patch:

        def be_late(store: FolderStore, name: str, content: bytes) -> str | None:
            if name == PLAN:
                patch.setattr(FolderStore, "create", real)
                plan_only(other, options, Silent())
            return real(store, name, content)

        patch.setattr(FolderStore, "create", be_late)
        with pytest.raises(EmbedError, match="another library has put its plan into"):
            plan_only(library, options, Silent())
    assert runs_in(work) == [open_work(open_store(str(work))).plan.run], "of the slower one nothing is left"
    do_here(work)
    with pytest.raises(EmbedError, match="of another library"):
        collect(library, str(work))
    assert collect(other, str(work)).blocks == 9


@pytest.mark.parametrize(
    ("method", "is_fatal"),
    [
        ("put", lambda name: "/blocks/0000/images" in name),
        ("create", lambda name: name == PLAN),
        ("clear", lambda name: "/claims/" in name),
    ],
    ids=["putting blocks", "before the plan", "removing what is collected"],
)
def test_a_kill_while_a_run_is_put_or_removed_leaves_nothing_that_the_next_one_does_not_remove(
    library: Library, options: IndexOptions, work: Path, method: str, is_fatal: Callable[[str], bool]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        die_at(patch, method, is_fatal)
        with pytest.raises(Killed):
            plan_only(library, options, Silent())
            do_here(work)
            collect(library, str(work))
    [left] = runs_in(work)
    assert not (work / PLAN).exists()
    plan_only(library, options, Silent())
    assert left not in runs_in(work)
    if method != "clear":
        do_here(work)
    found = collect(library, str(work))
    assert (found.blocks, found.of) == ((9, 9) if method != "clear" else (0, 0))
    collect(library, str(work))
    assert runs_in(work) == []


def test_a_kill_before_the_run_that_was_replaced_is_removed(
    library: Library, options: IndexOptions, work: Path
) -> None:
    plan_only(library, options, Silent())
    with pytest.MonkeyPatch.context() as patch:
        die_at(patch, "clear", lambda _: True)
        with pytest.raises(Killed):
            plan_only(library, options, Silent())
    assert len(runs_in(work)) == 2
    assert collect(library, str(work)).blocks == 0
    assert runs_in(work) == [open_work(open_store(str(work))).plan.run]


def test_what_a_worker_says_after_its_run_was_removed_goes_at_the_next_look(
    library: Library, options: IndexOptions, work: Path
) -> None:
    plan_only(library, options, Silent())
    place = open_work(open_store(str(work)))
    do_here(work)
    collect(library, str(work))
    place.tell_end("late", "nothing")
    assert runs_in(work) == [place.plan.run]
    collect(library, str(work))
    assert runs_in(work) == []


def test_a_block_whose_files_lack_some_of_it_is_done_again(
    tmp_path: Path, many: Path, tiny_model: Path, library: Library, options: IndexOptions, work: Path
) -> None:
    plan_only(library, options, Silent())
    do_here(work)
    path = next(work.rglob("images-*.safetensors"))
    place = open_work(open_store(str(work)))
    shard = read_shard(path, fingerprint=place.plan.fingerprint)
    assert shard.traits is not None
    cut = replace(shard, ids=shard.ids[1:], vectors=shard.vectors[1:], traits=shard.traits[1:], contents=None)
    path.write_bytes(pack_shard(cut, fingerprint=place.plan.fingerprint, facts={}))
    found = collect(library, str(work))
    assert (found.blocks, found.of, found.damaged) == (8, 9, 1)
    do_here(work)
    found = collect(library, str(work))
    assert (found.blocks, found.damaged) == (9, 0)
    assert_same(vectors_of(library, place.plan.fingerprint), of_one_process(tmp_path, many, tiny_model))


def test_a_piece_that_a_listing_has_missed_is_brought_before_the_run_goes(
    library: Library, options: IndexOptions, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A listing of many pages is no moment's: the piece comes after its page was read, the shard before its own."""
    plan_only(library, options, Silent())
    do_here(work)
    place = open_work(open_store(str(work)))
    path = next(work.rglob("images-*.safetensors"))
    shard = read_shard(path, fingerprint=place.plan.fingerprint)
    assert shard.traits is not None
    halves = [
        replace(shard, ids=shard.ids[part], vectors=shard.vectors[part], traits=shard.traits[part], contents=None)
        for part in (slice(0, 3), slice(3, None))
    ]
    packed = [pack_shard(half, fingerprint=place.plan.fingerprint, facts={}) for half in halves]
    piece = path.with_name(f"{path.stem}+000000001-00000000.safetensors")
    path.write_bytes(packed[1])
    real, listings = ObjectPlanStore.shards, iter(range(10))

    def shards(place: ObjectPlanStore) -> list[str]:
        found = real(place)
        if next(listings) == 0:
            piece.write_bytes(packed[0])
        return found

    monkeypatch.setattr(ObjectPlanStore, "shards", shards)
    found = collect(library, str(work))
    assert (found.blocks, found.damaged) == (9, 0)
    covered = read_coverage(library.vectors(place.plan.fingerprint))
    assert np.isin(shard.ids, covered.images).all()


def test_a_plan_that_has_lost_its_outlines_is_neither_done_nor_in_the_way(
    library: Library, options: IndexOptions, work: Path
) -> None:
    plan_only(library, options, Silent())
    next(work.glob("*/outlines.jsonl")).unlink()
    with pytest.raises(EmbedError, match="has lost what its blocks are"):
        do_here(work)
    with pytest.raises(EmbedError, match="has lost what its blocks are"):
        collect(library, str(work))
    plan_only(library, options, Silent())
    do_here(work)
    assert collect(library, str(work)).blocks == 9


@pytest.mark.parametrize("lost", [PLAN, "*/outlines.jsonl", "*/blocks/0000/images-*.json", "*"])
def test_who_waits_for_a_run_that_something_removes_says_so_and_the_same_command_goes_on(
    library: Library, options: IndexOptions, work: Path, lost: str
) -> None:
    class Removing(Silent):
        def embedded(self, *_: object) -> None:
            for path in work.glob(lost):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    with pytest.raises(EmbedError, match=r"does not hold all of run .* any more; the same command plans the rest"):
        embed(library, options, Removing())

    class Working(Silent):
        def embedded(self, *_: object) -> None:
            do_here(work)

    assert embed(library, options, Working()).images == 60


def test_a_run_that_ends_leaves_alone_what_another_library_has_put_in_its_place(
    tmp_path: Path, library: Library, options: IndexOptions, work: Path
) -> None:
    other = scanned(tmp_path / "other", options)

    class Replacing(Silent):
        def embedded(self, *_: object) -> None:
            do_here(work)
            (work / PLAN).unlink()
            plan_only(other, options, Silent())

    embed(library, options, Replacing())
    do_here(work)
    assert collect(other, str(work)).blocks == 9


def test_workers_that_are_gone_when_a_shard_is_found_damaged_are_asked_for_again(
    library: Library, options: IndexOptions, work: Path
) -> None:
    class Damaging(Silent):
        looks = 0

        def embedded(self, *_: object) -> None:
            self.looks += 1
            do_here(work)
            if self.looks == 1:
                next(work.rglob("images-*.safetensors")).write_bytes(b"")

    watcher = Damaging()
    embed(library, options, watcher)
    assert watcher.looks == 2
    assert "1 shards were damaged; their blocks are free again" in watcher.stages
    assert watcher.stages.count(f"Embedding elsewhere, by icons worker {work}") == 2


def test_a_piece_that_somebody_else_has_dropped_meanwhile_ends_nobody(
    library: Library, options: IndexOptions, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan_only(library, options, Silent())
    place = open_work(open_store(str(work)))
    block = place.headers[-1].name
    (work / place.run.prefix / "shards" / "0000").mkdir(parents=True)
    piece = work / place.run.prefix / "shards" / "0000" / f"{block}+000000001-00000000.safetensors"
    real = FolderStore.list

    def drop_then(store: FolderStore, prefix: str) -> dict[str, Listed]:
        piece.write_bytes(b"")
        found = real(store, prefix)
        piece.unlink()
        return found

    monkeypatch.setattr(FolderStore, "list", drop_then)
    assert place.finished_items(block) == set()
    found = collect(library, str(work))
    assert (found.blocks, found.damaged) == (0, 0)


def test_why_a_worker_has_ended_that_nobody_looks_at_is_told_once(
    library: Library, options: IndexOptions, work: Path
) -> None:
    class Watching(Silent):
        looks = 0

        def embedded(self, *_: object) -> None:
            self.looks += 1
            place = open_work(open_store(str(work)))
            place.tell_end("icons-ray-0", "no such device")
            if self.looks == 3:
                do_here(work)

    watcher = Watching()
    embed(library, options, watcher)
    assert [said for said in watcher.stages if "has ended:" in said] == ["icons-ray-0 has ended: no such device"]
    assert watcher.stages.count(f"Embedding elsewhere, by icons worker {work}") == 1


def test_a_store_that_is_not_there_for_a_while_makes_a_library_forget_nothing(
    tmp_path: Path, library: Library, options: IndexOptions, work: Path
) -> None:
    plan_only(library, options, Silent())
    do_here(work)
    work.rename(tmp_path / "elsewhere")
    with pytest.raises(EmbedError, match=r"does not hold run .*, which this library has put there; look whether"):
        collect(library, str(work))
    assert collect(library, str(work)).fingerprint is None
    (tmp_path / "elsewhere").rename(work)
    assert collect(library, str(work)).blocks == 9


def test_a_copy_of_a_library_leaves_alone_what_the_original_has_put_and_a_moved_one_collects_it(
    tmp_path: Path, library: Library, options: IndexOptions, work: Path
) -> None:
    plan_only(library, options, Silent())
    copied = Library(shutil.copytree(library.root, tmp_path / "copy"))
    for do in (lambda: plan_only(copied, options, Silent()), lambda: collect(copied, str(work))):
        with pytest.raises(EmbedError, match=r'of ".*/library", of which ".*/copy" is a copy'):
            do()
    do_here(work)
    moved = Library(library.root.rename(tmp_path / "moved"))
    assert collect(moved, str(work)).blocks == 9


def test_a_run_that_was_put_by_another_spelling_of_the_place_goes_when_it_is_replaced(
    tmp_path: Path, library: Library, options: IndexOptions, work: Path
) -> None:
    plan_only(library, options, Silent())
    (tmp_path / "link").symlink_to(work)
    plan_only(library, replace(options, work=str(tmp_path / "link")), Silent())
    assert runs_in(work) == [open_work(open_store(str(work))).plan.run]


def test_what_a_worker_says_of_a_run_that_was_replaced_goes_as_well(
    library: Library, options: IndexOptions, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan_only(library, options, Silent())
    before = open_work(open_store(str(work)))
    plan_only(library, options, Silent())
    before.tell_end("late", "nothing")
    assert before.plan.run in runs_in(work)
    collect(library, str(work))
    before.tell_end("later", "nothing")
    monkeypatch.setattr("indexer.embedding.sharing._LATE_SECONDS", 0.0)
    for _ in range(2):
        collect(library, str(work))
    assert before.plan.run not in runs_in(work)
    notes = json.loads((library.root / "work" / "shared.json").read_bytes())
    assert list(notes) == [open_work(open_store(str(work))).plan.run]


@pytest.mark.parametrize("name", ["*/outlines.jsonl", "*/blocks/0000/images-*.json"])
def test_small_files_that_are_damaged_are_as_if_lost(
    library: Library, options: IndexOptions, work: Path, name: str
) -> None:
    plan_only(library, options, Silent())
    for path in work.glob(name):
        path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(EmbedError, match=r"has lost .*`icons index --only plan --work` plans it anew"):
        do_here(work)
    with suppress(EmbedError):
        collect(library, str(work))
    plan_only(library, options, Silent())
    do_here(work)
    found = collect(library, str(work))
    assert found.fingerprint is not None
    assert len(read_coverage(library.vectors(found.fingerprint)).images) == 60


def test_notes_of_runs_that_are_damaged_are_named(library: Library, options: IndexOptions, work: Path) -> None:
    plan_only(library, options, Silent())
    (library.root / "work" / "shared.json").write_text("[1")
    with pytest.raises(EmbedError, match=r'shared.json" is damaged .*; remove it, and give another --work'):
        collect(library, str(work))


@pytest.mark.parametrize("run", ["../victim/photos", "", "..", "photos", "/photos"])
def test_notes_that_a_stranger_wrote_delete_nothing(library: Library, work: Path, run: str) -> None:
    photos = [work.parent / "victim" / "photos" / "a.jpg", work / "photos" / "a.jpg", work / "a.jpg"]
    for photo in photos:
        photo.parent.mkdir(parents=True, exist_ok=True)
        photo.write_bytes(b"a photo")
    (library.root / "work").mkdir()
    note = {"store": str(work), "library": str(library.root), "removed_at": 0.0}
    (library.root / "work" / "shared.json").write_text(json.dumps({run: note}))
    with pytest.raises(EmbedError, match=r'shared.json" is damaged \("?.*may not be'):
        collect(library, str(work))
    assert [photo.read_bytes() for photo in photos] == [b"a photo"] * 3


def test_what_is_not_of_a_run_stays_in_its_folder(library: Library, options: IndexOptions, work: Path) -> None:
    plan_only(library, options, Silent())
    [run] = runs_in(work)
    (work / run / "photos").mkdir()
    (work / run / "photos" / "a.jpg").write_bytes(b"a photo")
    do_here(work)
    collect(library, str(work))
    assert [path.name for path in (work / run).rglob("*.*")] == ["a.jpg"]


@pytest.mark.parametrize(
    "change",
    [
        {"run": "../victim/deep"},
        {"run": ""},
        {"fingerprint": "../victim"},
        {"fingerprint": "a/b"},
        {"n_blocks": True},
        {"options": {"workers": 10**9}},
        {"options": {"lease_seconds": 0}},
    ],
)
def test_a_plan_that_a_stranger_wrote_is_refused_and_writes_nothing(
    library: Library, options: IndexOptions, work: Path, change: dict[str, object]
) -> None:
    plan_only(library, options, Silent())
    plan = json.loads((work / PLAN).read_bytes())
    (work / PLAN).write_text(json.dumps({**plan, **change}))
    before = sorted(work.parent.rglob("*"))
    for do in (lambda: do_here(work), lambda: collect(library, str(work))):
        with pytest.raises(EmbedError, match=r'plan.json" is of another version of icons, or damaged \(".*may not be'):
            do()
    assert sorted(work.parent.rglob("*")) == before


@pytest.mark.parametrize("name", ["../../planted", "..", "/planted", "a/b", ""])
def test_a_block_that_leads_elsewhere_is_not_done(
    library: Library, options: IndexOptions, work: Path, name: str
) -> None:
    plan_only(library, options, Silent())
    [headers] = work.glob("*/outlines.jsonl")
    lines = [json.loads(line) for line in headers.read_text().splitlines()]
    lines[0][0] = name
    headers.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(EmbedError, match="has lost what its blocks are"):
        do_here(work)
    assert not list(work.parent.rglob("planted*"))


@pytest.mark.parametrize("model", ["hf-hub:someone/clip", "../../../../victim/config"])
def test_a_plan_s_model_is_not_fetched_and_names_no_file(
    library: Library, options: IndexOptions, work: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("indexer.encoders.checkpoint._fetch", asked.append)
    plan_only(library, options, Silent())
    shutil.rmtree(work / "encoders")
    plan = json.loads((work / PLAN).read_bytes())
    (work / PLAN).write_text(json.dumps({**plan, "model": json.dumps({"model": model, "pretrained": None})}))
    with pytest.raises(
        ModelError, match=r"is not on this machine; `--model hf-hub:someone/clip` fetches|unknown model"
    ):
        do_here(work)
    assert asked == []


def test_what_another_version_has_written_is_one_line_or_passed_over(
    library: Library, options: IndexOptions, work: Path
) -> None:
    plan_only(library, options, Silent())
    plan = json.loads((work / PLAN).read_bytes())
    run = work / plan["run"]
    (run / "workers").mkdir()
    (run / "workers" / "newer.json").write_text('{"rank": 0, "world": 1, "new": 1}')
    assert ObjectPlanStore(open_store(str(work)), open_work(open_store(str(work))).plan).told("newer") is None
    for newer in ({**plan, "new": 1}, {**plan, "options": {**plan["options"], "new": 1}}):
        (work / PLAN).write_text(json.dumps(newer))
        for do in (lambda: do_here(work), lambda: collect(library, str(work))):
            with pytest.raises(
                EmbedError, match=r"plan.json\" is of another version of icons, or damaged .*install one everywhere"
            ):
                do()
