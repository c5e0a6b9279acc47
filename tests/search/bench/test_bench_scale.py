"""How cost grows: synthetic sets are like real ones, are built as any source, and answer."""

import json
import os
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import Build, build_library

from indexer.bench.synthetic.real import Real, read_real
from indexer.bench.synthetic.sets import draw_sets, open_tagged, write_sets
from indexer.bench.synthetic.stages import BUILDING, Place
from indexer.errors import BenchError, LibraryError
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.library.shards import read_vectors
from search.bench.scale.report import exponent, grids
from search.bench.scale.run import Measured, measure_scale
from search.cli import main
from search.engine import SearchEngine
from search.publishing.standalone import free_port, install, running

N_REAL = 150


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Library:
    """Some of the bundled samples, with their tags."""
    folder = tmp_path_factory.mktemp("sampled")
    package = folder / "lucide-static"
    samples = bundled("samples/lucide-static")
    copytree(samples, package, ignore=lambda where, names: sorted(n for n in names if n.endswith(".svg"))[N_REAL:])
    names = [path.stem for path in (package / "icons").glob("*.svg")]
    (package / "tags.json").write_text(json.dumps({name: [f"kind {len(name)}", name[:3]] for name in names}))
    build_library(Library(folder / "library"), tiny_model, [package])
    return Library(folder / "library")


@pytest.fixture(scope="module")
def real(sampled: Library) -> Real:
    return read_real(sampled)


def test_drawn_sets_have_the_sizes_tags_and_categories_of_real_ones(real: Real) -> None:
    drawn = list(draw_sets(real, n=2 * real.n_icons + 5, seed=0))
    assert sum(len(one.names) for one in drawn) == 2 * real.n_icons + 5
    assert len({one.key for one in drawn}) == len(drawn) == 2 * len(real.sets) + 1
    for one in drawn:
        assert len(set(one.names)) == len(one.names)
        assert list(one.origins) == list(range(len(one.names)))
    assert drawn[0].names != drawn[1].names


def test_names_that_nobody_bore_come_with_each_set(real: Real) -> None:
    first, second = list(draw_sets(real, n=2 * real.n_icons, seed=0))[:2]
    is_old = np.isin(second.names, first.names)
    assert 0.3 < is_old.mean() < 0.8


def test_the_same_seed_draws_the_same(real: Real) -> None:
    one, again, other = (next(draw_sets(real, n=500, seed=seed)).names for seed in (0, 0, 1))
    assert one == again != other


def test_a_scan_reads_sets_with_their_tags(real: Real, tmp_path: Path) -> None:
    write_sets(tmp_path, real, n=N_REAL, seed=0)
    [source] = open_tagged(tmp_path)
    records = [record for scanned in source.scan({}) for record in scanned.records or ()]
    [drawn] = draw_sets(real, n=N_REAL, seed=0)
    assert [record.name for record in records] == list(drawn.names)
    assert [list(record.tags) for record in records] == [
        list(filter(None, drawn.of.tags[place].split("\n"))) for place in drawn.origins
    ]
    assert any(record.tags for record in records)
    assert len({record.digest for record in records}) == len(set(drawn.pictures))


def test_what_is_built_has_vectors_among_real_ones_and_answers(real: Real, sampled: Library, tmp_path: Path) -> None:
    place = Place(tmp_path, sampled, 1000)
    (place.source / "json").mkdir(parents=True)  # as a run that was ended leaves it
    steps = [step for stage in BUILDING.values() for step in stage(place).seconds]
    assert {"made: sets", "scan", "plan", "made: vectors", "merge", "merge: Building the index of icons"} <= {*steps}
    assert "arrow" in SearchEngine.open(place.library.root).search("arrow down")[0].name
    _lie_among_real_ones(place.library, real)


@pytest.mark.slow
def test_every_stage_is_measured_once(sampled: Library, tmp_path: Path) -> None:
    arguments = ["bench", "scale", "--icons", "1000", "--out", str(tmp_path), "--json"]
    done = CliRunner().invoke(main, [*arguments, "--library", str(sampled.root)], catch_exceptions=False)
    found = [Measured(**one) for one in json.loads(done.stdout)]
    assert [one.stage for one in found] == ["sets", "scan", "plan", "vectors", "merge", "ask", "serve"]
    assert all(one.n == 1000 and one.seconds and min(one.seconds.values()) > 0 for one in found)
    told: list[str] = []
    again = measure_scale(sampled, tmp_path, [1000], keep=False, progress=lambda title, *_: told.append(title))
    assert (list(again), told) == (found, [])
    assert not (tmp_path / "1000" / "library").exists()
    (tmp_path / "1000" / "ask.json").unlink()
    with pytest.raises(BenchError, match='no library any more, which "ask" needs'):
        list(measure_scale(sampled, tmp_path, [1000], keep=False, progress=lambda *_: None))


@pytest.mark.slow
def test_each_size_is_published_to_a_server_and_asked_there(sampled: Library, tmp_path: Path) -> None:
    """ICONS_TEST_MILVUS_FOLDER names where one was installed."""
    folder = Path(os.environ.get("ICONS_TEST_MILVUS_FOLDER") or tmp_path / "milvus")
    install(folder)
    with running(folder, port=free_port()) as server:
        arguments = ["bench", "scale", "--icons", "1000", "--out", str(tmp_path / "out"), "--publish", server, "--json"]
        done = CliRunner().invoke(main, [*arguments, "--library", str(sampled.root)])
        assert done.exit_code == 0, done.stderr
        published = json.loads(done.stdout)[-1]
        assert published["stage"] == "publish"
        steps = {"publish", "publish: sending", "publish: indexing", "published: open", "published: words"}
        assert steps <= {*published["seconds"]}
        assert len(SearchEngine.open(f"{server}/scale_1000").search("arrow", k=5)) == 5


def _lie_among_real_ones(built: Library, real: Real) -> None:
    folder, every = built.vectors(real.fingerprint), np.arange(1, 900)
    vectors, filled = read_vectors(folder, "images", every, fingerprint=real.fingerprint)
    made = vectors[filled].astype(np.float32)
    assert len(made) > 700
    assert np.allclose(np.linalg.norm(made, axis=1), 1, atol=2e-3)
    nearest = (made @ real.images.astype(np.float32).T).max(axis=1)
    assert 0.8 < np.median(nearest) < 0.9999


def test_a_folder_holds_the_figures_of_one_library(tmp_path: Path) -> None:
    other, out = Library(tmp_path / "other"), tmp_path / "out"
    with pytest.raises(BenchError, match="holds no generation"):
        list(measure_scale(Library(tmp_path / "one"), out, [1000], keep=False, progress=lambda *_: None))
    with pytest.raises(BenchError, match=r"drawn from .*one, generation None; give another --out"):
        list(measure_scale(other, out, [1000], keep=False, progress=lambda *_: None))


def test_a_server_that_is_away_is_said_before_anything_is_built(sampled: Library, tmp_path: Path) -> None:
    arguments = ["bench", "scale", "--icons", "1000", "--out", str(tmp_path), "--library", str(sampled.root)]
    done = CliRunner().invoke(main, [*arguments, "--publish", "milvus://127.0.0.1:9"])
    assert done.exit_code == 2
    [line] = done.stderr.strip().splitlines()
    assert "127.0.0.1:9" in line
    assert not (tmp_path / "1000").exists()


def test_an_exponent_is_that_of_the_curve() -> None:
    assert exponent({10: 5.0, 100: 50.0, 1000: 500.0}) == 1
    assert exponent({10: 7.0, 1000: 7.0}) == 0
    assert exponent({10: 1.0, 20: 4.0}) == 2
    assert exponent({10: 1.0}) is None


def test_a_table_has_a_column_for_each_size_and_leaves_out_what_is_made_up() -> None:
    found = [Measured(n, "merge", {"made: sets": 1, "merge": n / 1000}, {}, n, n) for n in (1000, 2000)]
    time, memory, disk = grids(found)
    assert time.head[1:] == ["1,000", "2,000", "grows as n^"]
    assert [list(row) for row in time.rows] == [["merge", "1.0 s", "2.0 s", "1.00"]]
    assert [row[0] for row in (*memory.rows, *disk.rows)] == ["merge, at most", "library after merge"]


@pytest.mark.slow
def test_a_stage_that_fails_says_which_and_why(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"sets of 1,000 icons failed: .*holds no generation to draw from"):
        list(measure_scale(Library(tmp_path / "none"), tmp_path / "out", [1000], keep=False, progress=lambda *_: None))


def test_a_library_that_is_too_small_to_draw_from_is_refused(build: Build, library: Library, icon_folder: Path) -> None:
    build(icon_folder)
    with pytest.raises(LibraryError, match="too few to draw from"):
        read_real(library)
