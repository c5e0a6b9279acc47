import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from known_screens import plain_sight, save_screen
from PIL import Image

from indexer.errors import LibraryError, SourceError
from indexer.library.folder import Library
from indexer.screens import add as adding
from indexer.screens.add import AddOptions, AddSummary, Sight, add, remove
from indexer.screens.files import UsageFolder
from indexer.screens.looks import (
    LookKey,
    LookShard,
    UsageManifest,
    look_paths,
    read_looks,
    usage_failures,
    usage_status,
)

Add = Callable[..., AddSummary]


@pytest.fixture
def shots(tmp_path: Path) -> Path:
    """Three screens, one of them twice, and one file that is no picture."""
    folder = tmp_path / "shots"
    save_screen(folder / "a.png", ["house", "arrow-left"])
    save_screen(folder / "b.png", ["house", "disc", "disc"])
    save_screen(folder / "deep/c.png", ["disc"], shade=240)
    shutil.copy(folder / "a.png", folder / "copy.png")
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n but no more")
    return folder


@pytest.fixture
def held(copied: Path) -> Library:
    """The library of `asked`, to write screenshots into."""
    return Library(copied)


@pytest.fixture
def run_add(held: Library) -> Add:
    def run(*shots: Path, **options: Any) -> AddSummary:
        given = AddOptions(shots=shots, workers=1, **options)
        return add(held, given, lambda *_: None, sight=plain_sight(held))

    return run


def shards_of(library: Library) -> list[LookShard]:
    """What was seen, of what answers."""
    folder = UsageFolder(library)
    key = UsageManifest.read(folder.generation(folder.current() or 0)).key
    return [read_looks(path, key=key) for path in look_paths(folder.looks_of(key))]


def crops_in(library: Library) -> int:
    """Bytes of crops in shards and generations."""
    folder = UsageFolder(library)
    kept = sum(folder.generation(number).crops.stat().st_size for number in folder.numbers())
    return kept + sum(len(shard.tensors["crops"]) for shard in shards_of(library))


def test_every_file_is_indexed_a_duplicate_or_failed(run_add: Add, shots: Path, held: Library) -> None:
    counts = run_add(shots).counts
    assert (counts.found, counts.indexed, counts.duplicate, counts.failed) == (5, 3, 1, 1)
    assert (counts.icons, counts.drawings) == (6, 4)
    (failure,) = usage_failures(held)
    assert failure["file"] == str(shots / "broken.png")
    assert "PNG" in failure["reason"]
    status = usage_status(held)
    assert (status["generation"], status["crops"], status["places"][0]["files"]) == (1, True, 5)


def test_what_is_unchanged_is_not_read_what_is_moved_or_copied_not_looked_at_what_is_changed_is(
    run_add: Add, shots: Path
) -> None:
    run_add(shots)
    again = run_add()
    assert (again.read, again.looked, again.generation) == (0, 0, None)
    (shots / "b.png").rename(shots / "deep/moved.png")
    shutil.copy(shots / "deep/c.png", shots / "again.png")
    summary = run_add()
    assert (summary.read, summary.looked, summary.generation) == (2, 0, 2)
    assert (summary.counts.found, summary.counts.indexed, summary.counts.duplicate) == (6, 3, 2)
    save_screen(shots / "broken.png", ["arrow-left"], shade=230)
    save_screen(shots / "again.png", ["house"], shade=250)
    summary = run_add()
    assert (summary.read, summary.looked, summary.counts.failed, summary.counts.indexed) == (2, 2, 0, 5)


def test_a_file_that_goes_takes_its_look_from_the_disk(run_add: Add, shots: Path, held: Library) -> None:
    run_add(shots)
    (shots / "b.png").unlink()
    summary = run_add()
    assert (summary.counts.found, summary.counts.indexed, summary.counts.icons) == (4, 2, 3)
    assert sum(len(shard.screens()) for shard in shards_of(held)) == 2


def test_no_crops_are_stored_where_none_are_wanted_and_those_there_go(run_add: Add, shots: Path, held: Library) -> None:
    run_add(shots)
    assert crops_in(held) > 500
    summary = run_add(keeps_crops=False)
    assert (summary.looked, summary.generation) == (0, 2)
    assert UsageFolder(held).numbers() == [2]
    assert crops_in(held) == 0
    assert run_add().generation is None
    back = run_add(keeps_crops=True)
    assert (back.looked, back.counts.indexed) == (3, 3)
    assert crops_in(held) > 500


def test_a_removed_screenshot_leaves_no_crop_and_stays_out(run_add: Add, shots: Path, held: Library) -> None:
    run_add(shots)
    assert remove(held, [shots / "b.png"]).counts.icons == 3
    assert UsageFolder(held).numbers() == [2]
    summary = run_add()
    assert (summary.generation, summary.counts.found) == (None, 4)
    assert remove(held, [shots]).counts.found == 0
    assert crops_in(held) == 0
    with pytest.raises(SourceError, match="no screenshots are known"):
        run_add()
    with pytest.raises(SourceError, match="is not among the screenshots"):
        remove(held, [shots])


def test_a_damaged_shard_is_made_again(run_add: Add, shots: Path, held: Library) -> None:
    first = run_add(shots)
    (path,) = UsageFolder(held).looks.rglob("*.safetensors")
    content = bytearray(path.read_bytes())
    content[-20] ^= 255
    path.write_bytes(content)
    save_screen(shots / "new.png", ["arrow-left"], shade=220)
    assert run_add().counts.icons == first.counts.icons + 1
    assert sum(len(shard.screens()) for shard in shards_of(held)) == 4


def test_an_interrupted_run_keeps_what_it_saw(
    run_add: Add, shots: Path, held: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_add(shots)
    for number in range(4):
        save_screen(shots / f"new-{number}.png", ["house"], shade=150 + number)
    look, left = adding.look, iter(range(2))

    def interrupted(*arguments: Any, **options: Any) -> Any:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return look(*arguments, **options)

    monkeypatch.setattr(adding, "look", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_add()
    monkeypatch.undo()
    assert usage_status(held)["found"] == 5
    summary = run_add()
    assert (summary.looked, summary.counts.indexed) == (2, 7)


@pytest.mark.slow
def test_another_detector_sees_all_again_and_the_old_looks_go(run_add: Add, shots: Path, held: Library) -> None:
    run_add(shots)
    sight = plain_sight(held)
    other = LookKey(sight.key.fingerprint, "another-1", sight.key.dim)
    summary = add(held, AddOptions(), lambda *_: None, sight=Sight(other, sight.locator, sight.encoder))
    assert (summary.looked, summary.generation, summary.counts.indexed) == (4, 2, 3)
    assert [path.name for path in UsageFolder(held).looks.iterdir()] == [str(other)]


def test_hostile_files_fail_with_a_reason_and_links_out_are_not_followed(
    run_add: Add, tmp_path: Path, held: Library
) -> None:
    folder, outside = tmp_path / "hostile", save_screen(tmp_path / "outside.png", ["house"])
    folder.mkdir()
    (folder / "empty.png").touch()
    (folder / "text.jpg").write_text("<html>")
    Image.new("RGB", (400, 300), (9, 9, 9)).save(folder / "plain.png")
    (folder / "leads-out.png").symlink_to(outside)
    os.mkfifo(folder / "pipe.png")
    whole = save_screen(folder / "whole.png", ["house"] * 9).read_bytes()
    (folder / "cut.png").write_bytes(whole[: len(whole) // 2])
    (folder / "note.txt").write_text("no screenshot")
    counts = run_add(folder).counts
    reasons = {Path(failure["file"]).name: failure["reason"] for failure in usage_failures(held)}
    assert (counts.found, counts.indexed, counts.failed) == (7, 1, 6)
    assert reasons["empty.png"] == "empty file"
    assert reasons["text.jpg"] == "not a picture"
    assert reasons["pipe.png"] == "not a regular file"
    assert "leads out of the source" in reasons["leads-out.png"]
    assert "one colour" in reasons["plain.png"]
    assert "truncated" in reasons["cut.png"]


def test_the_writer_is_one_and_a_library_without_icons_is_refused(
    run_add: Add, shots: Path, held: Library, tmp_path: Path
) -> None:
    from filelock import FileLock

    with FileLock(held.root / "writer.lock"), pytest.raises(LibraryError, match="being written by another"):
        run_add(shots)
    with pytest.raises(LibraryError, match="no library"):
        add(Library(tmp_path / "none"), AddOptions(shots=[shots]), lambda *_: None)
