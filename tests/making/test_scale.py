"""Does `python -m data.making.scale` draw libraries like a real one, measure what it says, and say what went wrong?"""

import json
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import Build, build_library

from data.making.scale import (
    STAGES,
    Place,
    Real,
    bench_scale,
    exponent,
    growth,
    main,
    read_real,
    write_sets,
)
from indexer.bench.report import Row
from indexer.errors import BenchError, LibraryError
from indexer.library.bundled import bundled
from indexer.library.folder import Library

N_REAL = 150


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Library:
    """Some of the bundled samples."""
    folder = tmp_path_factory.mktemp("sampled")
    some = folder / "lucide-static"
    copytree(
        bundled("samples/lucide-static"),
        some,
        ignore=lambda _, names: sorted(name for name in names if name.endswith(".svg"))[N_REAL:],
    )
    build_library(Library(folder / "library"), tiny_model, [some])
    return Library(folder / "library")


def _written(folder: Path, real: Real, *, n: int, seed: int = 0) -> list[list[str]]:
    """Names of each set that is drawn."""
    write_sets(folder, real, n=n, seed=seed)
    sets = [json.loads(file.read_text()) for file in sorted((folder / "json").iterdir())]
    assert [json.loads(file.read_text()).keys() for file in sorted((folder / "beside").iterdir())] == [
        one["icons"].keys() for one in sets
    ]
    return [list(one["icons"]) for one in sets]


def test_drawn_sets_have_the_sizes_and_some_of_the_names_of_real_ones(sampled: Library, tmp_path: Path) -> None:
    real = read_real(sampled)
    n_real = sum(len(one.names) for one in real.sets)
    first, second, rest = _written(tmp_path / "a", real, n=2 * n_real + 5)
    assert (len(set(first)), len(set(second)), len(rest)) == (n_real, n_real, 5)
    assert 0.3 < np.isin(second, first).mean() < 0.8
    assert _written(tmp_path / "b", real, n=50) == _written(tmp_path / "c", real, n=50)
    assert _written(tmp_path / "d", real, n=50, seed=1) != _written(tmp_path / "e", real, n=50)


@pytest.mark.slow
def test_every_stage_is_measured_once(sampled: Library, tmp_path: Path) -> None:
    arguments = ["--icons", "1000", "--out", str(tmp_path), "--json"]
    done = CliRunner().invoke(main, [*arguments, "--library", str(sampled.root)], catch_exceptions=False)
    rows = [Row(**row) for row in json.loads(done.stdout)["rows"]]
    assert {row.name for row in rows if row.runs[0]["1,000"] > 0} >= {
        "scan",
        "scan, nothing new",
        "plan",
        "merge",
        "icons search",
        "words, p95",
        "library",
    }
    said: list[str] = []
    again = bench_scale(sampled, tmp_path, [1000], keep=False, progress=lambda title, *_: said.append(title))
    assert (again.rows, said) == (rows, [])
    (folder,) = tmp_path.glob("1000-*")
    assert sorted(file.stem for file in folder.iterdir()) == sorted(STAGES), "what was built is gone"


def test_a_stage_that_fails_says_why_and_what_is_too_small_is_refused(
    sampled: Library, build: Build, library: Library, icon_folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(LibraryError, match="holds no generation to ask"):
        bench_scale(Library(tmp_path / "none"), tmp_path, [1000], keep=False, progress=lambda *_: None)
    with pytest.raises(BenchError, match="`icons index` failed: "):
        Place(tmp_path / "new", sampled, 1000).measure("merge")
    build(icon_folder)
    with pytest.raises(LibraryError, match="holds 12 icons, too few to draw from; index a larger source"):
        read_real(library)


def test_figures_grow_with_a_power_of_the_size() -> None:
    figures = ({10: 5.0, 100: 50.0, 1000: 500.0}, {10: 7.0, 1000: 7.0}, {10: 1.0, 20: 4.0})
    assert [exponent(of) for of in (*figures, {10: 1.0}, {10: 0.0, 20: 1.0})] == [1, 0, 2, None, None]
    measured = {n: {"merge, s": n / 1000, "merge, memory": 2e9, "library, disk": n * 1e6} for n in (1000, 2000)}
    assert [(row.group, row.name, row.runs[0]) for row in growth(measured)] == [
        ("time, s", "merge", {"1,000": 1.0, "2,000": 2.0, "grows as n^": 1.0}),
        ("memory, GB", "merge", {"1,000": 2.0, "2,000": 2.0, "grows as n^": 0.0}),
        ("disk, GB", "library", {"1,000": 1.0, "2,000": 2.0, "grows as n^": 1.0}),
    ]
