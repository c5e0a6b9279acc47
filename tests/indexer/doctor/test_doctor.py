"""A library and what is known of screenshots, broken by hand: `icons doctor` says so, and mends what can be derived."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import Build, Silent, build_library, svg
from faults import draw
from known_screens import plain_sight, save_screen

from indexer.doctor.checks import Report
from indexer.doctor.examine import examine, repair
from indexer.errors import LibraryError, ShardError, SourceError
from indexer.library.folder import Library, Preferences, write_manifest, write_preferences
from indexer.library.shards import read_shard, shard_paths, write_shard
from indexer.merging.manifest import Manifest
from indexer.pipeline import IndexOptions, scan
from indexer.screens.add import AddOptions, Sight, add
from indexer.screens.files import UsageFolder
from indexer.screens.located import detector_version
from indexer.screens.looks import LookKey
from search.cli import main
from search.engine import SearchEngine
from search.screens.opened import UsageIndex

SLOW = pytest.mark.slow


def _mended(library: Library) -> Report:
    return repair(library, sample=0, stage=lambda _: None)


@pytest.fixture
def apart(build: Build, library: Library, icon_folder: Path) -> Library:
    """Two generations of a few icons, whose sources a test may change."""
    build(icon_folder)
    draw(icon_folder, "new", 20, 20)
    build()
    return library


@pytest.fixture
def published(twice: Path, library: Library) -> Library:
    """Two generations of a few icons, whose sources stay."""
    shutil.copytree(twice, library.root)
    write_preferences(library, Preferences())
    return library


def _faults(report: Report) -> list[str]:
    return sorted({finding.kind for finding in report.findings if finding.is_fault})


def _answers(library: Library) -> list[tuple[int, str, float]]:
    return [(hit.id, hit.name, hit.score) for hit in SearchEngine.open(library.root).search("dot a", k=50)]


def _flip(path: Path, place: float = 0.5) -> None:
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 255
    path.write_bytes(content)


def _shards(library: Library, kind: str) -> list[Path]:
    return shard_paths(next((library.root / "vectors").iterdir()), kind)  # type: ignore[arg-type]


def test_a_first_run_that_ended_before_the_pointer_was_written_is_no_fault(published: Library) -> None:
    before = _answers(published)
    published.pointer.unlink()
    with closing(sqlite3.connect(published.catalog)) as connection, connection:
        connection.execute("DELETE FROM runs")
    report = examine(published, sample=0)
    assert (report.is_sound, _answers(published)) == (True, before)
    assert "the first run has not come to its end" in report.findings[0].message


def test_an_examination_changes_nothing_and_finds_a_whole_library_sound(published: Library) -> None:
    def state() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in published.root.rglob("*") if path.is_file()}

    before, report = state(), examine(published)
    assert (report.is_sound, report.findings, state()) == (True, [], before)
    sample = report.facts["sample"]
    assert (sample["n_pictures"], sample["n_names"], sample["n_changed"]) == (12, 12, 0)
    assert sample["least_cosine"] > 0.999


def _write(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


BREAKAGES: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "a flipped byte in an index": ("generations/2/icons.faiss", _flip, "generation"),
    "a truncated index": ("generations/2/pictures.faiss", _write(b"IxM2"), "generation"),
    "a missing index": ("generations/2/icons.faiss", Path.unlink, "generation"),
    "a flipped byte in the snapshot": ("generations/2/catalog.sqlite", _flip, "generation"),
    "a flipped byte in the facets": ("generations/2/facets.npy", _flip, "generation"),
    "an empty manifest": ("generations/2/manifest.json", _write(b""), "generation"),
    "a changed digit in a manifest": (
        "generations/2/manifest.json",
        lambda path: path.write_text(path.read_text().replace('"n": 13', '"n": 14')),
        "generation",
    ),
    "a generation before that is half gone": ("generations/1/catalog.sqlite", Path.unlink, "generation"),
    "a flipped byte in an encoder": ("encoders/*/text.onnx", _flip, "encoder"),
    "a missing encoder": ("encoders", shutil.rmtree, "encoder"),
    "a flipped byte in preferences": ("preferences.json", _flip, "preferences"),
    "a pointer that is gone": ("CURRENT", Path.unlink, "pointer"),
    "a pointer of garbage": ("CURRENT", _write(b"\xff\x00"), "pointer"),
    "a pointer that names nothing": ("CURRENT", _write(b"77"), "pointer"),
}
IN_GATE = (
    "a flipped byte in an index",
    "a flipped byte in preferences",
    "a changed digit in a manifest",
    "a pointer of garbage",
)


@pytest.mark.parametrize("breakage", [one if one in IN_GATE else pytest.param(one, marks=SLOW) for one in BREAKAGES])
def test_what_can_be_derived_is_made_again_and_nothing_is_deleted(published: Library, breakage: str) -> None:
    before = _answers(published)
    pattern, act, kind = BREAKAGES[breakage]
    [path] = published.root.glob(pattern)
    act(path)
    damaged = path.read_bytes() if path.is_file() else None
    if breakage == "a pointer of garbage":
        with pytest.warns(UserWarning, match=r"names no generation that is there; `icons doctor --repair` .* gen.* 2"):
            assert _answers(published) == before
    report = examine(published, sample=0)
    assert (report.is_sound, _faults(report)) == (False, [kind])
    mended = _mended(published)
    assert mended.is_sound and mended.repairs, mended.findings
    assert _answers(published) == before
    if damaged is not None and kind != "pointer":
        [kept] = (published.root / "damaged").glob(f"*/{pattern}")
        assert kept.read_bytes() == damaged


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("images", 0.99),
        *(pytest.param(*one, marks=SLOW) for one in (("names", 0.99), ("images", 0.01), ("names", 0.01))),
    ],
)
def test_a_damaged_shard_is_set_aside_with_what_was_lost_and_indexing_makes_it_again(
    published: Library, build: Build, kind: str, place: float
) -> None:
    before = _answers(published)
    _flip(_shards(published, kind)[0], place)
    assert "shard" in _faults(examine(published, sample=0))
    mended = _mended(published)
    n_lost = 11
    assert _faults(mended) == ["vectors"]  # what answers is whole, its vectors are to be made again
    assert (f"the vectors of {n_lost} {kind}" if place > 0.5 else "can't be told") in mended.repairs[0]
    assert _answers(published) == before
    summary = build()
    assert {"images": summary.embed.images, "names": summary.embed.names}[kind] == n_lost
    assert (examine(published).is_sound, _answers(published)) == (True, before)


def test_a_damaged_catalog_is_restored_from_what_was_published_and_ids_are_not_given_again(
    apart: Library, build: Build, icon_folder: Path
) -> None:
    before = _answers(apart)
    draw(icon_folder, "lost", 3, 20)  # scanned and embedded, but not in any generation that is whole
    build()
    newest = _answers(apart)
    _flip(apart.generation(3).icons)
    (apart.root / "catalog.sqlite").write_bytes(b"SQLite format 3\0 and then nothing")
    assert _faults(examine(apart, sample=0)) == ["catalog", "generation"]
    mended = _mended(apart)
    assert any("restored the catalog from generation 2" in line for line in mended.repairs)
    assert (mended.findings, _answers(apart)) == ([], before)
    draw(icon_folder, "other", 20, 3)
    (icon_folder / "lost.svg").unlink()
    build()
    with closing(sqlite3.connect(apart.catalog)) as connection:
        row = connection.execute("SELECT image_id, id FROM icons WHERE name = 'other'").fetchone()
    assert row[0] > 13  # 13 is the picture of "lost", whose vector a shard still holds
    assert row[1] not in {number for number, _, _ in newest}
    assert examine(apart).is_sound


CHANGES = {
    "icons": "UPDATE icons SET name = CAST(x'ff' AS TEXT) WHERE name = 'dot-a'",
    "names": "UPDATE names SET words = 'dot x' WHERE words = 'dot a'",
    "pictures": "UPDATE images SET digest = x'00' WHERE id = 1",
}


@pytest.mark.parametrize("what", ["icons", *(pytest.param(what, marks=SLOW) for what in ("names", "pictures"))])
def test_a_catalog_that_says_something_else_than_was_published_from_it_is_restored(
    published: Library, what: str
) -> None:
    before = _answers(published)
    with closing(sqlite3.connect(published.catalog)) as connection, connection:
        assert connection.execute(CHANGES[what]).rowcount == 1
    report = examine(published, sample=0)
    assert _faults(report) == ["catalog"]
    assert f"says of 1 {what} what generation 2" in report.findings[0].message
    assert (_mended(published).is_sound, _answers(published)) == (True, before)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b"CREATE TABLE settings", b"CREATE TABLE s\xa2ttings", "can't be read"),
        pytest.param(b"skipped", b"skipqed", "files.skipped is missing", marks=SLOW),
    ],
)
def test_a_catalog_whose_text_is_damaged_is_refused_and_restored(
    published: Library, build: Build, old: bytes, new: bytes, said: str
) -> None:
    before = _answers(published)
    published.catalog.write_bytes(published.catalog.read_bytes().replace(old, new))
    report = examine(published, sample=0)
    assert _faults(report) == ["catalog"] and any(said in finding.message for finding in report.findings)
    with pytest.raises(LibraryError):
        build()
    assert (_mended(published).is_sound, _answers(published)) == (True, before)


def test_a_scan_that_is_not_published_yet_is_no_fault(apart: Library, icon_folder: Path) -> None:
    (icon_folder / "dot-a.svg").unlink()
    (icon_folder / "dot-b.svg").rename(icon_folder / "dot-y.svg")
    draw(icon_folder, "dot-c", 1, 1)
    scan(apart, IndexOptions(), Silent())
    assert examine(apart, sample=0).is_sound


def test_without_a_whole_generation_a_damaged_catalog_is_told_as_lost(published: Library) -> None:
    published.catalog.write_bytes(b"garbage" * 1000)
    for number in published.numbers():
        _flip(published.generation(number).catalog)
    mended = _mended(published)
    assert (mended.is_sound, any("no generation is whole" in line for line in mended.repairs)) == (False, True)


def test_what_a_killed_process_left_aside_is_noted_and_cleared_away(published: Library) -> None:
    folder = next((published.root / "vectors").iterdir())
    left = [published.generations / ".aside-9", published.root / ".aside-77-CURRENT", folder / ".aside-7-images-x"]
    left[0].mkdir()
    for path in left[1:]:
        path.write_bytes(b"half")
    os.utime(left[2], (0, 0))  # a rank of another machine may be at work on a young one
    report = examine(published, sample=0)
    assert (report.is_sound, [finding.path for finding in report.findings]) == (True, [left[1], left[0], left[2]])
    with published.writing():
        assert not any(path.exists() for path in left)


def test_an_index_that_holds_other_vectors_than_the_shards_is_found_though_its_checksum_is_right(
    published: Library,
) -> None:
    from indexer.library.durable import describe_file
    from indexer.merging.vector_index import VectorIndex

    generation = published.generation(2)
    manifest = Manifest.read(generation)
    index = VectorIndex.open(generation.pictures, spec=manifest.pictures.spec)
    ids = index.ids.copy()
    turned = index.reconstruct(ids)[::-1].copy()
    del index
    VectorIndex.build(ids, [turned], dim=turned.shape[1], spec=manifest.pictures.spec).save(generation.pictures, ())
    described = {"pictures.faiss": describe_file(generation.pictures)}
    write_manifest(generation, replace(manifest, files=manifest.files | described))
    report = examine(published, sample=0)
    assert _faults(report) == ["generation"]
    assert "vectors in pictures.faiss of generation 2 are not those of the shards" in report.findings[0].message


@pytest.fixture(scope="session")
def other_once(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As many other icons, so that ids are the same, and other pictures and names."""
    folder = tmp_path_factory.mktemp("other")
    (folder / "icons").mkdir()
    for number, letter in enumerate("abcdefghijklm"):
        (folder / "icons" / f"block-{letter}.svg").write_text(svg(f'<path d="M0 0h24v{number + 6}h-24z"/>'))
    build_library(Library(folder / "library"), tiny_model, [folder / "icons"])
    return folder / "library"


def test_shards_of_another_library_in_the_place_of_ours_are_set_aside_and_no_generation_is(
    published: Library, other_once: Path, build: Build
) -> None:
    before = _answers(published)
    for kind in ("images", "names"):
        shutil.copy(_shards(Library(other_once), kind)[0], _shards(published, kind)[0])  # the name is that of ours
    assert "generation" not in _faults(examine(published, sample=0))
    mended = _mended(published)
    assert (published.numbers(), _answers(published)) == ([2, 1], before)
    assert len(list((published.root / "damaged").glob("*/vectors/*/*"))) == 2
    assert _faults(mended) == ["vectors"]  # which were set aside are to be made again
    assert (build().embed.images, examine(published).is_sound, _answers(published)) == (11, True, before)


def test_a_generation_of_another_library_is_set_aside_and_catalog_and_shards_stay(
    published: Library, other_once: Path
) -> None:
    before, catalog, shards = _answers(published), published.catalog.read_bytes(), sorted(published.root.glob("v*/*/*"))
    shutil.rmtree(published.generations)
    shutil.copytree(other_once / "generations", published.generations)
    published.point_to(1)
    [finding] = examine(published, sample=0).findings
    assert finding.message == "generation 1 belongs to another library"
    assert (_mended(published).is_sound, _answers(published)) == (True, before)
    assert (published.catalog.read_bytes(), sorted(published.root.glob("v*/*/*"))) == (catalog, shards)


def test_a_catalog_of_another_library_makes_way_for_ours(published: Library, other_once: Path) -> None:
    before, shards = _answers(published), sorted(published.root.glob("vectors/*/*"))
    shutil.copy(other_once / "catalog.sqlite", published.catalog)
    assert _faults(examine(published, sample=0)) == ["catalog"]
    assert (_mended(published).is_sound, _answers(published)) == (True, before)
    assert (published.numbers(), sorted(published.root.glob("vectors/*/*"))) == ([2, 1], shards)


def test_a_damaged_generation_is_not_built_again_from_shards_of_another_library(
    published: Library, other_once: Path, build: Build
) -> None:
    before = _answers(published)
    stray = _shards(published, "images")[0].with_name("images-stray.safetensors")
    shutil.copy(_shards(Library(other_once), "images")[0], stray)
    for number in published.numbers():
        _flip(published.generation(number).icons)
    _mended(published)
    assert not stray.exists()
    build()
    assert (examine(published).is_sound, _answers(published)) == (True, before)


def test_shards_that_do_not_say_what_they_hold_are_left_and_so_is_the_generation_that_differs(
    published: Library, other_once: Path
) -> None:
    before = _answers(published)
    shutil.copy(_shards(Library(other_once), "images")[0], _shards(published, "images")[0])
    for path in _shards(published, "images"):  # as older programs have written them
        shard = replace(read_shard(path, fingerprint=path.parent.name), contents=None)
        write_shard(path, shard, fingerprint=path.parent.name, facts={"precision": "fp32"})
    there = sorted(published.root.glob("*/*/*"))
    mended = _mended(published)
    assert _faults(mended) == ["vectors"]
    assert mended.findings[0].message == (
        "11 vectors in pictures.faiss of generation 2 are not those of the shards; which are right can't be told, "
        "as 2 shards do not say what they hold"
    )
    assert (sorted(published.root.glob("*/*/*")), _answers(published)) == (there, before)


def test_an_index_run_refuses_shards_of_another_library_and_publishes_nothing(
    apart: Library, other_once: Path, build: Build, icon_folder: Path
) -> None:
    before = _answers(apart)
    shutil.copy(_shards(Library(other_once), "names")[0], _shards(apart, "names")[0])
    draw(icon_folder, "later", 3, 20)
    with pytest.raises(ShardError, match="belongs to another library: 12 of its names are others here; `icons doctor"):
        build()
    assert _answers(apart) == before


def test_a_sample_tells_an_encoder_that_makes_other_vectors(
    published: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    from indexer.encoders.torch_encoder import Encoder

    encode = Encoder.encode_images
    monkeypatch.setattr(Encoder, "encode_images", lambda self, pixels: encode(self, 255 - pixels))
    assert _faults(examine(published)) == ["sample"]


def test_the_command_says_what_is_wrong_exits_with_2_and_with_0_once_mended(published: Library) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(main, ["doctor", "--sample", "2", "--library", str(published.root), *arguments])
        return result.exit_code, result.stdout

    assert run()[0] == 0
    _flip(published.generation(2).icons)
    code, text = run()
    assert code == 2 and "FAULT" in text and 'icons.faiss" does not match its checksum' in text
    code, text = run("--json")
    assert (code, json.loads(text)["sound"], json.loads(text)["findings"][0]["kind"]) == (2, False, "generation")
    code, text = run("--repair")
    assert code == 0 and "built generation 3 from the vectors" in text and "the library is sound" in text


def _sight(library: Library) -> Sight:
    """Quick to look with, under the name of the detector that ships."""
    plain = plain_sight(library)
    return Sight(LookKey(plain.key.fingerprint, detector_version(), plain.key.dim), plain.locator, plain.encoder)


@pytest.fixture(scope="module")
def seen(asked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that knows two screenshots, and these beside it."""
    place = tmp_path_factory.mktemp("seen")
    shutil.copytree(asked, place / "held")
    save_screen(place / "shots/a.png", ["house", "arrow-left"])
    save_screen(place / "shots/b.png", ["disc"])
    library = Library(place / "held")
    add(library, AddOptions(shots=[place / "shots"], workers=1), lambda *_: None, sight=_sight(library))
    return place


@pytest.fixture
def folder(seen: Path, tmp_path: Path) -> UsageFolder:
    """A copy of it."""
    return UsageFolder(Library(Path(shutil.copytree(seen / "held", tmp_path / "held"))))


def _examined(folder: UsageFolder) -> list[str]:
    return [finding.message for finding in examine(folder.library, sample=0).findings if finding.kind == "usage"]


def _boxes(folder: UsageFolder) -> list[list[float]]:
    return UsageIndex.open(folder.library.root).corners.tolist()


@pytest.mark.parametrize(
    "name",
    [
        *("boxes.safetensors", "manifest.json"),
        *(pytest.param(name, marks=SLOW) for name in ("places.jsonl", "drawings.faiss", "crops.bin", "CURRENT")),
    ],
)
def test_a_damaged_generation_is_built_again_from_the_shards(folder: UsageFolder, name: str) -> None:
    before = _boxes(folder)
    assert _examined(folder) == []
    _flip(next(folder.root.rglob(name)))
    assert len(_examined(folder)) == 1
    report = _mended(folder.library)
    assert report.is_sound and "built generation 2 of screenshots: 2 screens; it answers" in report.repairs
    assert (_boxes(folder), folder.current(), _examined(folder)) == (before, 2, [])


def test_a_damaged_shard_is_set_aside_and_its_screenshots_are_looked_at_again(folder: UsageFolder) -> None:
    before = _boxes(folder)
    [shard] = folder.looks.rglob("*.safetensors")
    _flip(shard)
    [message] = _examined(folder)
    assert "receipt" in message or "can't be read" in message
    assert any("`icons usage add` looks at them again" in line for line in _mended(folder.library).repairs)
    assert not shard.exists()
    assert list(folder.library.root.glob("damaged/*/usage/looks/*/looks-*.safetensors"))
    assert _boxes(folder) == before  # what was published goes on answering
    added = add(folder.library, AddOptions(workers=1), lambda *_: None, sight=_sight(folder.library))
    assert (added.looked, _boxes(folder)) == (2, before)


def test_damaged_settings_are_set_aside_and_asked_for_again(folder: UsageFolder) -> None:
    folder.settings.write_text("{")
    assert "give `icons usage add` the screenshots again" in _examined(folder)[0]
    assert (_mended(folder.library).is_sound, UsageIndex.open(folder.library.root).n_screens) == (True, 2)
    with pytest.raises(SourceError, match="no screenshots are known yet"):
        add(folder.library, AddOptions(), lambda *_: None, sight=_sight(folder.library))
