"""Does `icons lab bench search` measure what it says, leave the library alone, and say what went wrong?"""

import hashlib
import json
import tempfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from serving import index_icons

from indexer.bench import indexes, search
from indexer.bench.indexes import IndexOptions, measure_indexes, memory_needed, plan_indexes
from indexer.bench.processes import serving
from indexer.bench.report import Report, Row
from indexer.bench.search import Answered, Client, measure_cold, spread, use_page
from indexer.errors import BenchError, IconsError, LibraryError
from indexer.library.folder import Library
from indexer.merging.manifest import FLAT, FP16, KINDS, LEAST_RECALL
from search.cli import main

DIM = 64


def _quiet(title: str, done: int, total: int) -> None:
    assert title and 0 <= done <= total


def _run(library: Library, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["lab", "bench", "search", *arguments, "--library", str(library.root)])


@pytest.fixture(scope="module")
def library_of_few(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Library:
    return index_icons(tmp_path_factory.mktemp("measured"), tiny_model)


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexer.merging.vector_index.cores", lambda: 1)  # small builds wait for threads
    monkeypatch.setattr(search, "ROUND_SECONDS", 0.05)
    monkeypatch.setattr(indexes, "SIZES", (500, 2000, 4000))


@pytest.fixture(scope="module")
def real() -> np.ndarray:
    rng = np.random.default_rng(0)
    found = rng.normal(size=(40, DIM))[rng.integers(0, 40, 1500)] + 0.6 * rng.normal(size=(1500, DIM))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float16)


def test_made_vectors_are_as_near_to_a_real_one_as_its_nearest_neighbour_is(real: np.ndarray, tmp_path: Path) -> None:
    written = indexes.write_vectors(tmp_path / "a.npy", real, n=4000, seed=3, progress=_quiet)
    vectors = np.asarray(written, np.float32)
    assert sorted(map(bytes, written[:1500])) == sorted(map(bytes, real))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=2e-3)
    cosines, made_from = vectors[:1500] @ vectors[:1500].T - 2 * np.eye(1500), vectors[np.arange(1500, 4000) % 1500]
    found = np.einsum("nd,nd->n", vectors[1500:], made_from)
    assert found == pytest.approx(float(np.median(cosines.max(axis=1))), abs=0.03)
    twins = np.repeat(real[:1], 12, axis=0)  # whose differences are nothing
    moved = indexes.perturb(twins, twins, likeness=0.9, seed=(0,)).astype(np.float32)
    assert moved @ real[0].astype(np.float32) == pytest.approx(0.9, abs=2e-3)
    with pytest.raises(LibraryError, match='"9" pictures is too small'):
        indexes.write_vectors(tmp_path / "c.npy", real[:9], n=700, seed=0, progress=_quiet)


def test_every_kind_is_measured_at_every_size_and_nothing_stays_on_disk(
    real: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    report, queries = Report(command="", main="p50, ms"), (real[:30] + real[30:60]).astype(np.float32)
    measure_indexes(report, real, queries, IndexOptions(most=2000), _quiet)
    sizes = {"index of 500 vectors": 500, "index of 2,000 vectors, 500 of them made": 2000}
    assert [(row.group, row.name.removesuffix(" *")) for row in report.rows] == [
        (group, kind) for group in sizes for kind in KINDS
    ]
    for row in report.rows:
        (run,), kind = row.runs, row.setting["kind"]
        assert run["recall@10"] >= (1 if kind in ("flat", "fp16") else LEAST_RECALL)
        assert run["MB"] == pytest.approx(KINDS[kind].n_bytes(sizes[row.group], dim=DIM) / 1e6, rel=0.1)
        assert 0 < run["p50, ms"] <= run["p95, ms"]
    assert list(tmp_path.iterdir()) == []


def test_what_memory_can_not_hold_is_left_out_or_refused_where_it_was_asked_for() -> None:
    options, free = IndexOptions(kinds=("fp16", "flat"), most=4000), round(1.3 * memory_needed(FP16, 4000, dim=DIM))
    assert memory_needed(FLAT, 4000, dim=DIM) > indexes.USED_SHARE * free
    steps, refused = plan_indexes(options, dim=DIM, free=free)
    assert [(n, kind.name) for n, kind in steps][-1] == (4000, "fp16")
    assert [line.partition(" would")[0] for line in refused] == ["not measured: 4,000 vectors, flat"]
    with pytest.raises(IconsError, match=r'--vectors "9000000": flat would take .* are free; ask for fewer'):
        plan_indexes(IndexOptions(kinds=("flat",), most=9_000_000), dim=DIM, free=free)


def test_quantiles_are_those_of_the_times() -> None:
    answers = [Answered("words", 200, seconds / 1000, seconds / 2000) for seconds in range(1, 102)]
    assert spread(answers) == {
        "requests": 101,
        "p50, ms": 51.0,
        "p95, ms": 96.0,
        "p99, ms": 100.0,
        "reported p50, ms": 25.5,
    }
    assert spread([]) == {"requests": 0}


@pytest.mark.slow
def test_one_who_uses_the_page_asks_in_every_way_and_what_fails_is_counted(library_of_few: Library) -> None:
    with serving(str(library_of_few.root)) as server, closing(Client(server)) as client:
        for _ in use_page(client, ["dot a", "arrow up"]):
            if client.answers[-1].kind == "filtered":
                break
        assert {one.status for one in client.answers} == {200}
        assert {one.kind for one in client.answers} == {"words", "svg", "show", "similar", "png", "picture", "filtered"}
        assert client.ask("words", "/api/v1/search?keyword=1") == b""
        server.process.kill()
        server.process.wait()
        assert (client.ask("words", "/health"), [one.status for one in client.answers[-2:]]) == (b"", [400, 0])


@pytest.mark.slow
def test_a_run_tells_programs_and_people_and_leaves_the_library_as_it_was(
    library_of_few: Library, tmp_path: Path
) -> None:
    before = _digests(library_of_few.root)
    names = ("warm", "filters", "pictures", "clients", "page", "indexes")
    parts = [part for name in names for part in ("--only", name)]
    few = ["--vectors", "500", "--kind", "fp16", "--clients", "2", "--seconds", "3"]
    done = _run(library_of_few, *parts, *few, "--json", "--out", str(tmp_path))
    assert done.exit_code == 0, done.output
    told = [Row(**row) for row in json.loads(done.stdout)["rows"]]
    rows = {group: {row.name: row for row in told if row.group == group} for group in [row.group for row in told]}
    assert list(rows) == [*names[:-1], "index of 500 vectors, 485 of them made"]
    assert rows["warm"].keys() | rows["pictures"].keys() == {
        *("10 hits", "50 hits with counts", "a picture", "more like an icon"),
    }
    assert {"none", "set icons", "style filled"} <= set(rows["filters"])
    assert len(rows["clients"]["200 at once"].runs) == search.ROUNDS
    assert {"words", "svg", "server memory"} <= set(rows["page"])
    assert not [row for of in rows.values() for row in of.values() if row.error]
    assert "<svg" in (tmp_path / "report.html").read_text() and _digests(library_of_few.root) == before


def _digests(folder: Path) -> dict[str, str]:
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


def test_queries_come_from_files_where_these_are_named(library_of_few: Library, tmp_path: Path) -> None:
    (file := tmp_path / "q.jsonl").write_text("\n".join(json.dumps({"query": f"dot {n}"}) for n in range(7)))
    assert sorted(search.choose_texts(library_of_few, [file])) == [f"dot {n}" for n in range(7)]
    assert {"dot a", "arrow up"} < set(search.choose_texts(library_of_few))


def test_what_does_not_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="`icons search` failed: no library at"):
        measure_cold(Library(tmp_path / "none"), n_runs=1)
    with pytest.raises(BenchError, match="did not start: Error: no library at"), serving(str(tmp_path / "none")):
        pass
    assert "`icons index SOURCE` builds one" in _run(Library(tmp_path / "none")).stderr
