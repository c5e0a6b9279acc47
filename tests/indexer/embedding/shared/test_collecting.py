"""A shared plan whose beginning or end goes wrong: nothing is lost, and nothing stays behind."""

import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from conftest import Silent
from shared_work import assert_same, do_here, vectors_of

from indexer.embedding.plan_store import OUTLINES, PLAN, BlockQueue, ObjectPlanStore, open_work
from indexer.embedding.planning import EmbedOptions
from indexer.embedding.progress import EmbeddingProgress, Run, Watch
from indexer.errors import EmbedError, ModelError
from indexer.library.folder import Library
from indexer.library.plans import Block, Plan
from indexer.library.shards import Shard, pack_shard, read_coverage, read_shard
from indexer.library.stores import FolderStore, Listed, open_store
from indexer.pipeline import IndexOptions, collect, embed, plan_only


class Killed(BaseException):
    """The process ends here."""


def runs_in(work: Path) -> list[str]:
    """Names of runs of which anything is left."""
    return [path.name for path in work.iterdir() if path.is_dir() and path.name != "encoders"]


def place_in(work: Path) -> ObjectPlanStore:
    return open_work(open_store(str(work)))


@contextmanager
def killed_at(method: str, is_fatal: Callable[[str], bool]) -> Iterator[None]:
    real = getattr(FolderStore, method)

    def die(store: FolderStore, name: str, *content: bytes, **others: str) -> object:
        if is_fatal(name):
            raise Killed
        return real(store, name, *content, **others)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        patch.setattr(FolderStore, method, die)
        yield


def cut(shard: Shard, part: slice, fingerprint: str) -> bytes:
    """Some rows of a shard of pictures."""
    some = replace(shard, ids=shard.ids[part], vectors=shard.vectors[part], traits=shard.traits[part], contents=None)
    return pack_shard(some, fingerprint=fingerprint, facts={})


def test_workers_that_look_at_once_take_different_blocks_and_list_shards_when_no_block_is_free(
    planned: Library, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, list_real, create_real = list[str](), FolderStore.list, FolderStore.create

    def listed(store: FolderStore, prefix: str) -> dict[str, Listed]:
        asked.append("shards" if prefix.endswith("/shards/") else "")
        return list_real(store, prefix)

    def created(store: FolderStore, name: str, content: bytes) -> str | None:
        asked.append("create")
        return create_real(store, name, content)

    monkeypatch.setattr(FolderStore, "list", listed)
    monkeypatch.setattr(FolderStore, "create", created)
    monkeypatch.setattr("indexer.embedding.plan_store.random.sample", lambda near, n: near[::-1])
    with BlockQueue(place_in(work), "a") as first, BlockQueue(place_in(work), "b") as second:
        queues = [first, second]
        found = [queues[turn % 2].next() for turn in range(9)]
        assert (first.next(), second.next()) == ("wait", "wait")
        order = [header.name for header in first.place.headers]
    names = [block.name for block in found if isinstance(block, Block)]
    assert sorted(names) == sorted(order)
    assert names[:2] == [order[0], order[5]], "the first one, then one of five for each that is claimed"
    assert (asked.count("create"), asked.count("shards")) == (9, 4)


def test_of_two_libraries_that_put_their_plans_at_once_one_does_and_the_other_says_so(
    library: Library, other: Library, options: IndexOptions, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = FolderStore.create

    def be_late(store: FolderStore, name: str, content: bytes) -> str | None:
        if name == PLAN:
            monkeypatch.setattr(FolderStore, "create", real)
            plan_only(other, options, Silent())
        return real(store, name, content)

    monkeypatch.setattr(FolderStore, "create", be_late)
    with pytest.raises(EmbedError, match="another library has put its plan into"):
        plan_only(library, options, Silent())
    assert runs_in(work) == [place_in(work).plan.run], "of the slower one nothing is left"
    do_here(work)
    with pytest.raises(EmbedError, match="of another library"):
        collect(library, str(work))
    assert collect(other, str(work)).blocks == 9


@pytest.mark.parametrize(
    ("method", "is_fatal"),
    [
        ("put", lambda name: "/blocks/0000/names" in name),
        ("create", lambda name: name == PLAN),
        ("clear", lambda name: "/claims/" in name),
    ],
    ids=["putting blocks", "before the plan", "removing what is collected"],
)
def test_a_kill_while_a_run_is_put_or_removed_leaves_nothing_that_the_next_one_does_not_remove(
    library: Library, options: IndexOptions, work: Path, method: str, is_fatal: Callable[[str], bool]
) -> None:
    with killed_at(method, is_fatal):
        plan_only(library, options, Silent())
        do_here(work)
        collect(library, str(work))
    [left] = runs_in(work)
    assert not (work / PLAN).exists()
    plan_only(library, options, Silent())
    assert left not in runs_in(work)
    n_left = 0 if method == "clear" else 9
    if n_left:
        do_here(work)
    found = collect(library, str(work))
    assert (found.blocks, found.of) == (n_left, n_left)
    collect(library, str(work))
    assert runs_in(work) == []


def test_a_shard_that_is_damaged_or_lacks_some_of_its_block_is_made_again(
    planned: Library, work: Path, expected: dict[tuple[str, int], np.ndarray]
) -> None:
    fingerprint = place_in(work).plan.fingerprint
    do_here(work)
    damaged, lacking = sorted(work.rglob("images-*.safetensors"))[:2]
    lacking.write_bytes(cut(read_shard(lacking, fingerprint=fingerprint), slice(1, None), fingerprint))
    content = bytearray(damaged.read_bytes())
    content[-3] ^= 0xFF
    damaged.write_bytes(content)
    found = collect(planned, str(work))
    assert (found.blocks, found.of, found.damaged) == (8, 9, 1)
    do_here(work)
    assert collect(planned, str(work)).damaged == 1, "what lacks some shows once every block is there"
    do_here(work)
    found = collect(planned, str(work))
    assert (found.blocks, found.damaged) == (9, 0)
    assert_same(vectors_of(planned, fingerprint), expected)


@pytest.mark.parametrize("lost", [PLAN, "*/blocks/0000/images-*.json"])
def test_who_waits_for_a_run_that_something_removes_says_so_and_the_same_command_goes_on(
    library: Library, options: IndexOptions, work: Path, lost: str
) -> None:
    class Removing(Silent):
        def embedded(self, *_: object) -> None:
            for path in work.glob(lost):
                path.unlink()

    with pytest.raises(EmbedError, match=r"does not hold all of run .* any more; the same command plans the rest"):
        embed(library, options, Removing())

    class Working(Silent):
        def embedded(self, *_: object) -> None:
            do_here(work)

    assert embed(library, options, Working()).images == 60


def test_who_waits_asks_for_workers_again_where_a_shard_is_damaged_and_prints_once_why_one_has_ended(
    library: Library, options: IndexOptions, work: Path
) -> None:
    class Damaging(Silent):
        looks, spans = 0, set[str]()

        def embedded(self, _: object, ranks: Sequence[EmbeddingProgress]) -> None:
            self.looks += 1
            self.spans = {span.name for rank in ranks for span in rank.spans}
            place_in(work).run.report("icons-ray-0", EmbeddingProgress(0, 1, "icons-ray-0", ended="no such device"))
            if self.looks > 1:
                do_here(work)
            if self.looks == 2:
                next(work.rglob("images-*.safetensors")).write_bytes(b"")

    watcher = Damaging()
    embed(library, options, watcher)
    assert [said for said in watcher.stages if "has ended:" in said] == ["icons-ray-0 has ended: no such device"]
    assert "1 shards were damaged; their blocks are free again" in watcher.stages
    assert (watcher.looks, watcher.stages.count(f"Embedding elsewhere, by icons worker {work}")) == (3, 2)
    assert {"names", "pictures", "writing"} <= watcher.spans, "what workers elsewhere spend their time on"


def test_a_store_that_is_not_there_for_a_while_makes_a_library_forget_nothing(
    tmp_path: Path, planned: Library, work: Path
) -> None:
    do_here(work)
    work.rename(tmp_path / "elsewhere")
    with pytest.raises(EmbedError, match=r"does not hold run .*, which this library has put there; look whether"):
        collect(planned, str(work))
    assert collect(planned, str(work)).fingerprint is None
    (tmp_path / "elsewhere").rename(work)
    assert collect(planned, str(work)).blocks == 9


def test_a_copy_of_a_library_leaves_alone_what_the_original_has_put_and_a_moved_one_collects_it(
    tmp_path: Path, planned: Library, options: IndexOptions, work: Path
) -> None:
    copied = Library(shutil.copytree(planned.root, tmp_path / "copy"))
    for do in (lambda: plan_only(copied, options, Silent()), lambda: collect(copied, str(work))):
        with pytest.raises(EmbedError, match=r'of ".*/library", of which ".*/copy" is a copy'):
            do()
    do_here(work)
    assert collect(Library(planned.root.rename(tmp_path / "moved")), str(work)).blocks == 9


def test_a_run_that_is_replaced_goes_by_whatever_spelling_of_the_place_and_what_its_workers_still_say(
    tmp_path: Path, planned: Library, options: IndexOptions, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = place_in(work)
    (tmp_path / "link").symlink_to(work)
    plan_only(planned, replace(options, work=str(tmp_path / "link")), Silent())
    now = place_in(work).plan.run
    assert runs_in(work) == [now]
    before.run.report("late", EmbeddingProgress(0, 1))
    assert before.plan.run in runs_in(work)
    collect(planned, str(work))
    before.run.report("later", EmbeddingProgress(0, 1))
    monkeypatch.setattr("indexer.embedding.sharing._LATE_SECONDS", 0.0)
    for _ in range(2):
        collect(planned, str(work))
    assert runs_in(work) == list(json.loads((planned.root / "work" / "shared.json").read_bytes())) == [now]


@pytest.mark.parametrize("name", ["*/outlines.jsonl", "*/blocks/0000/images-*.json"])
def test_small_files_that_are_damaged_or_lost_are_named_and_in_nobody_s_way(
    planned: Library, options: IndexOptions, work: Path, name: str
) -> None:
    for harm in (lambda path: path.write_bytes(path.read_bytes()[:-5]), Path.unlink):
        for path in work.glob(name):
            harm(path)
        with pytest.raises(EmbedError, match=r"has lost .*`icons index --only plan --work` plans it anew"):
            do_here(work)
    with suppress(EmbedError):  # which ends the run
        collect(planned, str(work))
    plan_only(planned, options, Silent())
    do_here(work)
    assert len(read_coverage(planned.vectors(collect(planned, str(work)).fingerprint)).images) == 60


def test_notes_that_a_stranger_wrote_delete_nothing(library: Library, work: Path) -> None:
    photos = [work.parent / "victim" / "photos" / "a.jpg", work / "photos" / "a.jpg", work / "a.jpg"]
    for photo in photos:
        photo.parent.mkdir(parents=True, exist_ok=True)
        photo.write_bytes(b"a photo")
    notes = library.root / "work" / "shared.json"
    notes.parent.mkdir()
    note = {"store": str(work), "library": str(library.root), "removed_at": 0.0}
    for run in ("../victim/photos", "", "..", "photos", "/photos"):
        notes.write_text(json.dumps({run: note}))
        with pytest.raises(EmbedError, match=r'shared.json" is damaged \("?.*may not be'):
            collect(library, str(work))
    notes.write_text("[1")
    with pytest.raises(EmbedError, match=r'shared.json" is damaged .*; remove it, and give another --work'):
        collect(library, str(work))
    assert [photo.read_bytes() for photo in photos] == [b"a photo"] * 3


def test_what_is_not_of_a_run_stays_in_its_folder(planned: Library, work: Path) -> None:
    [run] = runs_in(work)
    (work / run / "photos").mkdir()
    (work / run / "photos" / "a.jpg").write_bytes(b"a photo")
    do_here(work)
    collect(planned, str(work))
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
        {"new": 1},
        {"options": {"new": 1}},
    ],
    ids=str,
)
def test_a_plan_that_a_stranger_wrote_is_refused_and_writes_nothing(tmp_path: Path, change: dict[str, object]) -> None:
    work, plan = tmp_path / "work", asdict(Plan("f00d", "{}", 1, 1, 2, "0" * 12, asdict(EmbedOptions())))
    open_store(str(work)).put(PLAN, json.dumps({**plan, **change}).encode())
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(EmbedError, match=r'plan.json" is of another version of icons, or damaged .*install one every'):
        do_here(work)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["../../planted", "..", "/planted", "a/b", ""])
def test_a_block_that_leads_elsewhere_is_not_done(tmp_path: Path, name: str) -> None:
    store = open_store(str(tmp_path / "work"))
    store.put(f"run/{OUTLINES}", json.dumps([name, "names", 1]).encode())
    place = ObjectPlanStore(store, Plan("f00d", "{}", 0, 1, 1, "run"))
    with pytest.raises(EmbedError, match="has lost what its blocks are"):
        place.headers  # noqa: B018


def test_a_plan_s_model_is_not_fetched_and_names_no_file(
    planned: Library, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[str] = []
    monkeypatch.setattr("indexer.encoders.checkpoint._fetch", fetched.append)
    shutil.rmtree(work / "encoders")
    plan = json.loads((work / PLAN).read_bytes())
    for model in ("hf-hub:someone/clip", "../../../../victim/config"):
        (work / PLAN).write_text(json.dumps({**plan, "model": json.dumps({"model": model, "pretrained": None})}))
        with pytest.raises(
            ModelError, match=r"is not on this machine; `--model hf-hub:someone/clip` fetches|unknown model"
        ):
            do_here(work)
    assert fetched == []


def test_workers_are_told_by_name_with_who_is_late_and_who_has_fallen_silent(tmp_path: Path) -> None:
    run = Run("1", open_store(str(tmp_path)), lease_seconds=0.4, report_seconds=1.0)
    watch = Watch(run, EmbeddingProgress)
    assert watch.look() == []

    def told(**how: bool) -> list[tuple[str, int, bool, bool]]:
        return [(one.name, one.done, one.finished, one.note.startswith("late: ")) for one in watch.look(**how)]

    run.report("a", EmbeddingProgress(0, 1, "a", images=10, steps=1))
    run.report("b", EmbeddingProgress(0, 1, "b", images=30, failed=2, steps=1))
    run.report("c", EmbeddingProgress(0, 1, "c", images=5, finished=True))
    assert told() == [("a", 10, False, False), ("b", 32, False, False), ("c", 5, True, False)]
    time.sleep(0.5)
    run.report("b", EmbeddingProgress(0, 1, "b", images=40, failed=2, steps=2))
    assert told()[:2] == [("a", 10, False, True), ("b", 42, False, False)]
    time.sleep(0.5)
    run.report("b", EmbeddingProgress(0, 1, "b", images=40, failed=2, seconds=1.0, steps=2))
    assert told(keeps_silent=True)[0] == ("a", 10, False, True)
    assert told()[:2] == [("a", 10, True, False), ("b", 42, False, True)]
    run.report("a", EmbeddingProgress(0, 1, "a", images=11, steps=2))
    assert told()[0] == ("a", 11, False, False)
    run.report("a", EmbeddingProgress(0, 1, "a", images=11, steps=2, ended="no such device"))
    assert [(one.finished, one.note) for one in watch.look()][:1] == [(True, "no such device")]
