"""The whole path on real files with a real encoder: what goes in comes out once, and a rerun does only what is new."""

import json
import random
import shlex
import shutil
import sqlite3
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from conftest import Build, Silent, build_library, disc, svg
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.catalog import contents
from indexer.catalog.database import open_catalog
from indexer.commands.library import read_failures, read_sources, read_status
from indexer.embedding.planning import EmbedOptions
from indexer.encoders import devices
from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import DeviceError, IconsError, LibraryError
from indexer.library.durable import describe_file, with_checksum
from indexer.library.folder import Library
from indexer.pipeline import IndexOptions, embed, forget, index, merge, scan
from search.engine import SearchEngine


def _options(source: Path, model: Path) -> IndexOptions:
    how = EmbedOptions(workers=0, batch_size=32)
    return IndexOptions(sources=[source], choice=ModelChoice(f"local-dir:{model}"), devices="cpu", embed=how)


def _answers(library: Library, *queries: str) -> list[list[tuple[str, float, int]]]:
    """Hits by their words: of icons with the same words and picture, which stands for all depends on their ids."""
    engine = SearchEngine.open(library.root)
    return [
        sorted((hit.words, round(hit.score, 2), hit.n_variants) for hit in engine.search(query, k=100))
        for query in queries
    ]


def test_every_icon_is_embedded_a_duplicate_or_failed_with_a_reason(
    build: Build, library: Library, icon_folder: Path
) -> None:
    (icon_folder / "empty.svg").write_text("")
    (icon_folder / "blank.svg").write_text(svg(""))
    (icon_folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n and then nothing")
    counts = build(icon_folder).counts
    assert (counts.found, counts.embedded, counts.duplicate, counts.failed, counts.missing) == (15, 11, 1, 3, 0)
    reasons = {Path(failure["file"]).name: failure["reason"] for failure in read_failures(library)}
    assert set(reasons) == {"empty.svg", "blank.svg", "broken.png"}
    assert reasons["blank.svg"] == "blank: nothing is drawn"
    assert [build(retry_failed=is_asked).embed.images for is_asked in (False, True)] == [0, 3], "only what failed"


def test_a_library_of_an_older_program_answers_and_gets_an_id_with_its_next_generation(
    build: Build, library: Library, icon_folder: Path
) -> None:
    build(icon_folder)
    make_older(library)
    assert SearchEngine.open(library.root).manifest.library == ""
    assert build().generation is None
    (icon_folder / "new.svg").write_text(disc(9, 20))
    build()
    assert len(SearchEngine.open(library.root).manifest.library) == 16


def make_older(library: Library) -> None:
    """Take the library's id out of the catalog and generation 1, as in what older programs wrote."""
    generation = library.generation(1)
    for path in (library.catalog, generation.catalog):
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("DELETE FROM settings WHERE key = 'library'")
    facts = json.loads(generation.manifest.read_text())
    del facts["library"], facts["sha256"]
    facts["files"]["catalog.sqlite"] = asdict(describe_file(generation.catalog))
    generation.manifest.write_text(json.dumps(with_checksum(facts)))


@pytest.mark.parametrize(
    ("written", "advice"), [("0001", "`icons index` builds a new one"), ("9999", "pip install --upgrade icons")]
)
def test_a_generation_of_another_program_is_refused_and_the_next_run_replaces_it(
    build: Build, library: Library, icon_folder: Path, written: str, advice: str
) -> None:
    build(icon_folder)
    facts = json.loads(library.generation(1).manifest.read_text())
    library.generation(1).manifest.write_text(json.dumps(facts | {"schema": written, "of_another_time": 1}))
    with pytest.raises(LibraryError, match=f'generation 1 has format "{written}".*{advice}'):
        SearchEngine.open(library.root)
    assert advice in read_status(library)["refused"]
    again = build()
    assert (again.generation, again.embed.images, again.embed.names) == (2, 0, 0)
    assert read_status(library)["refused"] is None
    assert SearchEngine.open(library.root).generation.number == 2


TO_FILES = ("add", "change", "rename", "move", "delete", "copy", "break", "hide")
TO_SOURCES = ("fill a set", "empty a set", "install a package", "remove a package", "mount", "unmount")
CHANGES = st.lists(st.tuples(st.sampled_from((*TO_FILES, *TO_SOURCES)), st.integers(0, 10**6)), max_size=8)
HISTORY = st.lists(st.tuples(CHANGES, st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=4)
"""What happens to the files before each run; whether another encoder is taken, the library rolled back before, and what
was lost accepted after."""
History = list[tuple[list[tuple[str, int]], bool, bool, bool]]


@given(history=HISTORY)
@settings(max_examples=2, deadline=None)
def test_an_updated_library_answers_as_one_built_anew(models: tuple[Path, Path], history: History) -> None:
    with TemporaryDirectory() as folder:
        _relive(history, models, Path(folder).resolve())


@pytest.mark.slow
@given(history=HISTORY)
@settings(max_examples=300, deadline=None)
def test_a_library_updated_in_hundreds_of_ways_answers_as_one_built_anew(
    models: tuple[Path, Path], history: History
) -> None:
    with TemporaryDirectory() as folder:
        _relive(history, models, Path(folder).resolve())


@pytest.fixture(scope="session")
def models(tiny_model: Path, other_model: Path) -> tuple[Path, Path]:
    return tiny_model, other_model


def _relive(history: History, models: tuple[Path, Path], folder: Path) -> None:
    """Update a library through a history; hold every step against the promises, the end against a new library."""
    source = folder / "icons"
    source.mkdir()
    for number in range(4):
        (source / f"start {number}.svg").write_text(disc(3 + 4 * number, 9))
    (source / "always.svg").write_text(disc(12, 20))  # a library of nothing is refused
    places = _Places(folder)
    given = [source, *places.given]
    updated, anew = Library(folder / "updated"), Library(folder / "anew")
    ids = _Ids()
    for number, (changes, is_other, is_rolled_back, is_accepted) in enumerate(history, start=1):
        for change, seed in changes:
            if change in TO_FILES:
                _apply(source, change, random.Random(seed))
            else:
                places.apply(change, seed)
        model = models[is_other]
        if is_rolled_back and len(updated.numbers()) > 1 and updated.current() != min(updated.numbers()):
            updated.rollback()
        emptied = [path for path in places.empty() if _n_icons(updated).get(str(path))]
        summary = build_library(updated, model, given)
        assert sorted(kept.location for kept in summary.scan.kept) == sorted(map(str, emptied))
        if is_accepted or number == len(history):
            for kept in summary.scan.kept:
                assert forget(updated, Path(shlex.split(kept.command)[-1])) == kept.icons
            summary = build_library(updated, model, given)
            assert summary.scan.kept == []
        counts = summary.counts
        assert counts.found == counts.embedded + counts.failed + counts.duplicate == read_status(updated)["found"]
        ids.look(updated)
    assert build_library(anew, model, given).counts == counts
    queries = ("start", "dot", "circle left", "arrow", "Einstellungen")
    for found, expected in zip(_answers(updated, *queries), _answers(anew, *queries), strict=True):
        assert [hit[0] for hit in found] == [hit[0] for hit in expected]
        assert [hit[1:] for hit in found] == [pytest.approx(hit[1:], abs=0.02) for hit in expected]


def _n_icons(library: Library) -> dict[str, int]:
    sources = read_sources(library) if library.catalog.exists() else ()
    return {source["location"]: source["icons"] for source in sources}


class _Places:
    """Sources that lose all they have, and get it back: sets in one folder, packages, and a mount."""

    def __init__(self, folder: Path) -> None:
        self.given = [folder / name for name in ("sets", "node_modules", "mount")]
        self.sets, self.modules, self.mounted = self.given
        self.package, self.away = self.modules / "@acme" / "icons", folder / "away"
        for place in (self.sets / "json", self.mounted, self.away):
            place.mkdir(parents=True)
        (self.sets / "collections.json").touch()
        self._install(self.modules / "always-icons", "always", 1)  # without any, a node_modules folder is none
        self._install(self.package, "bell", 2)
        for number in (3, 4):
            (self.away / f"bar {number}.svg").write_text(self._draw(number))
            self.apply("fill a set", number)
        self.apply("mount", 0)

    def empty(self) -> list[Path]:
        """Places without any icon."""
        has_sets = any(json.loads(path.read_text())["icons"] for path in (self.sets / "json").iterdir())
        are_full = {self.sets: has_sets, self.package: self.package.exists(), self.mounted: any(self.mounted.iterdir())}
        return [place for place, is_full in are_full.items() if not is_full]

    def apply(self, change: str, seed: int) -> None:
        file = self.sets / "json" / f"{'ab'[seed % 2]}.json"
        match change:
            case "fill a set":
                body = self._draw(seed).partition(">")[2].removesuffix("</svg>")
                file.write_text(json.dumps({"prefix": file.stem, "icons": {f"flag-{seed}": {"body": body}}}))
            case "empty a set" if seed % 3:
                file.unlink(missing_ok=True)
            case "empty a set":
                file.write_text(json.dumps({"prefix": file.stem, "icons": {}}))
            case "install a package":
                self._install(self.package, "bell", seed)
            case "remove a package":
                shutil.rmtree(self.package, ignore_errors=True)
            case _:
                source, target = (self.mounted, self.away)[:: 1 if change == "unmount" else -1]
                for path in source.iterdir():
                    path.rename(target / path.name)

    def _install(self, package: Path, name: str, seed: int) -> None:
        package.mkdir(parents=True, exist_ok=True)
        (package / "package.json").write_text(json.dumps({"name": f"{package.name}-icons"}))
        (package / f"{name}-{seed}.svg").write_text(self._draw(seed))

    def _draw(self, seed: int) -> str:
        """A picture that no folder of discs has: what appears elsewhere at once has moved and is not lost."""
        return svg(f'<rect x="2" y="2" width="{1 + seed % 20}.{seed}" height="9"/>')


class _Ids:
    """All ids that a library has ever given: an icon's goes with it, a picture's and a name's stay theirs for ever."""

    def __init__(self) -> None:
        self.icons, self.gone = set[int](), set[int]()
        self.meanings: dict[str, dict[int, object]] = {"digest FROM images": {}, "words FROM names": {}}

    def look(self, library: Library) -> None:
        with closing(sqlite3.connect(library.catalog)) as connection:
            now = {icon for (icon,) in connection.execute("SELECT id FROM icons")}
            assert not now & self.gone, "the id of an icon that has gone was given again"
            self.icons, self.gone = self.icons | now, self.icons - now | self.gone
            for what, known in self.meanings.items():
                found = dict(connection.execute(f"SELECT id, {what}"))
                assert known.items() <= found.items(), f"an id no longer means the same: {what}"
                known.update(found)


def _apply(source: Path, change: str, rng: random.Random) -> None:
    paths = sorted(path for path in source.rglob("*.svg") if path.name != "always.svg")
    fresh = source / f"{rng.choice(('dot', 'dot', 'pfeil', 'einstellungen'))} {rng.randrange(10**6)}.svg"
    drawn = disc(rng.randrange(4, 20), rng.randrange(4, 20), rng.randrange(2, 6))
    if change == "add" or len(paths) < 2:
        fresh.write_text(drawn)
        return
    chosen, deep = rng.choice(paths), source / "deep"
    deep.mkdir(exist_ok=True)
    moves = {"rename": fresh, "move": deep / chosen.name, "hide": chosen.with_name(f".{chosen.name}")}
    if change in moves:
        chosen.rename(moves[change])
    elif change == "copy":
        fresh.write_bytes(chosen.read_bytes())  # which may be the same file
    elif change == "delete":
        chosen.unlink()
    else:
        chosen.write_text(drawn if change == "change" else rng.choice(["", "<svg", svg("")]))


def test_a_model_that_does_not_load_leaves_the_old_generation_answering(
    build: Build, library: Library, icon_folder: Path, tmp_path: Path, tiny_model: Path
) -> None:
    build(icon_folder)
    broken = Path(shutil.copytree(tiny_model, tmp_path / "broken"))
    (broken / "open_clip_model.safetensors").write_bytes(b"\0" * 100)
    with pytest.raises(IconsError, match="does not load"):
        build(model=broken)
    assert library.current() == 1
    assert build().generation is None


@pytest.mark.skipif(Path("/proc/driver/nvidia").exists(), reason="plays a GPU that torch does not find")
@pytest.mark.parametrize(
    ("free", "says"),
    [
        (
            80e9,
            ["On the GPU: 11 pictures take about", 'On the CPU: "cuda:0" can\'t be used ('],
        ),
        (1e9, ['On the CPU: GPU "0" has 1.0 GB free']),
        ("GPU is lost", ['On the CPU: GPU "0" does not answer: GPU is lost']),
    ],
)
def test_auto_goes_on_with_the_cpu_where_a_gpu_turns_out_to_be_broken_or_full(
    build: Build, icon_folder: Path, monkeypatch: pytest.MonkeyPatch, free: object, says: list[str]
) -> None:
    monkeypatch.setattr(devices, "may_have_gpu", lambda: True)
    monkeypatch.setattr(devices, "ask_driver", lambda _: (99, {"0": free}))
    monkeypatch.setattr(devices.Machine, "here", lambda: devices.Machine(1, gpu_start_seconds=0.0))
    watcher = Silent()
    monkeypatch.setattr("conftest.Silent", lambda: watcher)
    assert build(icon_folder, devices="auto").embed.images == 11
    told = [stage for stage in watcher.stages if stage.startswith("On the ")]
    assert [line.startswith(start) for line, start in zip(told, says, strict=True)] == [True] * len(says), told
    if free == 80e9:
        with pytest.raises(DeviceError, match=r"can't be used \(.*\); `nvidia-smi` says more, --devices cpu works"):
            build(icon_folder, into=Library(icon_folder.parent / "other"), devices="1")


@pytest.mark.slow
def test_a_file_that_changed_since_the_scan_fails_and_the_next_run_mends_it(
    build: Build, library: Library, icon_folder: Path, tiny_model: Path
) -> None:
    options = _options(icon_folder, tiny_model)
    scan(library, options, Silent())
    with open_catalog(library.catalog).begin() as connection:
        contents.store_setting(connection, "model", ModelChoice(f"local-dir:{tiny_model}").to_json())
    (icon_folder / "dot-b.svg").write_text(disc(1, 1))
    (icon_folder / "dot-c.svg").unlink()
    (icon_folder / "copy-of-dot.svg").unlink()  # the first of two icons that show one picture
    embed(library, options, Silent())
    reasons = {Path(failure["file"]).name: failure["reason"] for failure in read_failures(library)}
    assert set(reasons) == {"dot-a.svg", "dot-b.svg", "dot-c.svg", "copy-of-dot.svg"}
    assert "changed since the scan" in reasons["dot-b.svg"]
    assert build().counts.failed == 0


@pytest.mark.slow
def test_stages_run_alone_and_merge_publishes_what_is_embedded(
    build: Build, library: Library, icon_folder: Path, tiny_model: Path
) -> None:
    options = _options(icon_folder, tiny_model)
    assert scan(library, options, Silent()).added == 12
    assert embed(library, options, Silent()).images == 11
    with pytest.raises(LibraryError, match="nothing"):
        merge(library, None, Silent().stage)  # the encoder in use is still the bundled one
    watcher = Silent()
    published = merge(library, options.choice, watcher.stage)
    assert published is not None and published.number == 1
    assert watcher.stages.index("Publishing") > watcher.stages.index("Merging")
    assert merge(library, None, Silent().stage) is None
    assert build().generation is None


def test_nothing_embedded_publishes_nothing(build: Build, library: Library, tmp_path: Path) -> None:
    (tmp_path / "blank.svg").write_text(svg(""))
    with pytest.raises(LibraryError, match="nothing to search"):
        build(tmp_path)
    assert library.current() is None


@pytest.mark.slow
def test_a_plain_index_of_an_empty_library_builds_from_the_bundled_icons_and_says_so(
    library: Library, tiny_model: Path
) -> None:
    watcher = Silent()
    options = IndexOptions(choice=ModelChoice(f"local-dir:{tiny_model}"), devices="cpu")
    assert index(library, options, watcher).counts.found == 2176
    assert any("bundled sample icons" in stage for stage in watcher.stages)
