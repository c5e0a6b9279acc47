"""Does `icons bench search` measure what it says, leave the library alone, and say what it left out?"""

import hashlib
import json
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner, Result
from conftest import Build

from indexer.bench.synthetic.clusters import nearest_likeness, perturb
from indexer.errors import IconsError, LibraryError
from indexer.library.folder import Library
from indexer.publishing.index_kinds import FLAT, FP16, HNSW, KINDS, LEAST_RECALL
from search.bench import indexes, latency
from search.bench.indexes import measure_indexes, memory_needed, plan_indexes
from search.bench.latency import measure_cold
from search.bench.measured import IndexRow, Machine, SearchBench, Spread
from search.bench.options import SearchBenchOptions
from search.bench.run import bench_search
from search.bench.supply import write_vectors
from search.bench.tables import advice
from search.bench.timed_engine import STAGES, WHOLE, TimedEngine
from search.cli import main
from search.engine import SearchEngine

DIM = 64
PLENTY = 10**12


def _quiet(title: str, done: int, total: int) -> None:
    assert title and 0 <= done <= total


@pytest.fixture(scope="module")
def real() -> np.ndarray:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(40, DIM))
    found = centres[rng.integers(0, 40, 1500)] + 0.6 * rng.normal(size=(1500, DIM))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float16)


@pytest.fixture
def opened(build: Build, library: Library, icon_folder: Path) -> Library:
    build(icon_folder)
    return library


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "indexer.publishing.vector_index.cores", lambda: 1
    )  # small builds on a busy machine wait for threads
    monkeypatch.setattr(latency, "ROUND_SECONDS", 0.05)
    monkeypatch.setattr(indexes, "SIZES", (500, 2000, 4000))


def _empty() -> SearchBench:
    return SearchBench("here", 1, 1500, 1500, DIM, 0, "queries", Machine("a processor", 2, 8 * 10**9, "Linux", {}))


def _run(library: Library, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["bench", "search", *arguments, "--library", str(library.root)])


def test_made_vectors_are_as_near_to_a_real_one_as_its_nearest_neighbour_is(real: np.ndarray, tmp_path: Path) -> None:
    supply = write_vectors(tmp_path / "a.npy", real, n=4000, seed=3, progress=_quiet)
    vectors = np.asarray(supply.vectors, np.float32)
    assert (supply.n_real, vectors.shape) == (1500, (4000, DIM))
    assert sorted(map(bytes, supply.vectors[:1500])) == sorted(map(bytes, real))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=2e-3)
    cosines = real.astype(np.float32) @ real.astype(np.float32).T
    np.fill_diagonal(cosines, -1)
    assert supply.likeness == pytest.approx(np.median(cosines.max(axis=1)), abs=0.03)
    made_from = vectors[np.arange(1500, 4000) % 1500]
    assert np.einsum("nd,nd->n", vectors[1500:], made_from) == pytest.approx(supply.likeness, abs=2e-3)
    again = write_vectors(tmp_path / "b.npy", real, n=4000, seed=3, progress=_quiet)
    other = write_vectors(tmp_path / "c.npy", real, n=4000, seed=4, progress=_quiet)
    assert np.array_equal(again.vectors, supply.vectors)
    assert not np.array_equal(other.vectors, supply.vectors)


def test_equal_pictures_can_be_made_others_from(real: np.ndarray) -> None:
    twins = np.repeat(real[:1], 12, axis=0)
    assert nearest_likeness(twins) == 0.999
    moved = perturb(twins, twins, likeness=0.9, seed=(0,)).astype(np.float32)
    assert moved @ real[0].astype(np.float32) == pytest.approx(0.9, abs=2e-3)


def test_fewer_vectors_than_the_library_holds_are_real_ones(real: np.ndarray, tmp_path: Path) -> None:
    supply = write_vectors(tmp_path / "a.npy", real, n=700, seed=0, progress=_quiet)
    assert (supply.n_real, supply.likeness, len(supply.vectors)) == (700, None, 700)
    assert set(map(bytes, supply.vectors)) <= set(map(bytes, real))


def test_a_library_of_a_few_pictures_is_refused(real: np.ndarray, tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match='"9" pictures is too small'):
        write_vectors(tmp_path / "a.npy", real[:9], n=700, seed=0, progress=_quiet)


def test_every_kind_is_measured_at_every_size_and_nothing_stays_on_disk(
    real: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = _empty()
    queries = (real[:30] + real[30:60]).astype(np.float32)
    measure_indexes(found, real, queries, SearchBenchOptions(vectors=2000), _quiet)
    assert [(row.n_vectors, row.n_real, row.kind) for row in found.rows] == [
        (n, n_real, kind) for n, n_real in ((500, 500), (2000, 1500)) for kind in KINDS
    ]
    assert {row.kind for row in found.rows if row.is_rule} == {"fp16"}
    assert all(row.recall_at_10 >= LEAST_RECALL for row in found.rows)
    assert all(row.recall_at_10 == 1 for row in found.rows if row.kind in ("flat", "fp16"))
    assert all(
        row.n_bytes == pytest.approx(KINDS[row.kind].n_bytes(row.n_vectors, dim=DIM), rel=0.1) for row in found.rows
    )
    assert all(0 < row.query.p50 <= row.query.p95 * 1.001 for row in found.rows)
    assert all(row.query.p95 <= row.query.p99 * 1.001 and row.build_seconds >= 0 for row in found.rows)
    assert [(gap.n_vectors, gap.kind, gap.reason) for gap in found.left_out] == [
        (4000, None, "more than --vectors 2000")
    ]
    assert list(tmp_path.iterdir()) == []


def test_an_index_that_finds_the_wrong_ones_has_a_low_recall(real: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _empty()
    monkeypatch.setattr("indexer.publishing.vector_index.PROBES_PER_ROOT", 0.2)  # one list of 32
    options = SearchBenchOptions(vectors=1500, kinds=("flat", "ivf"))
    measure_indexes(found, real, (real[:30] + real[30:60]).astype(np.float32), options, _quiet)
    flat, ivf = found.at(1500)
    assert flat.recall_at_10 == 1 > LEAST_RECALL > ivf.recall_at_10


def test_what_memory_or_disk_can_not_hold_is_left_out_with_the_reason() -> None:
    needed = memory_needed(FP16, 4000, dim=DIM)
    assert memory_needed(FLAT, 4000, dim=DIM) > 1.1 * needed
    options = SearchBenchOptions(kinds=("fp16", "flat"), vectors=4000)
    plan = plan_indexes(options, dim=DIM, memory=round(1.3 * needed), disk=PLENTY)
    assert [(n, kind.name) for n, kind in plan.steps][-1] == (4000, "fp16")
    assert [(gap.n_vectors, gap.kind) for gap in plan.left_out] == [(4000, "flat")]
    assert "of memory" in plan.left_out[0].reason
    plan = plan_indexes(options, dim=DIM, memory=PLENTY, disk=round(2 * DIM * 4000 * 2.2 / 0.8))
    assert [(gap.n_vectors, gap.kind) for gap in plan.left_out] == [(4000, "flat")]
    assert "TMPDIR" in plan.left_out[0].reason


def test_more_vectors_than_memory_holds_are_refused_if_asked_for_and_left_out_if_not() -> None:
    memory = 2 * memory_needed(HNSW, 2000, dim=DIM)
    message = r'--vectors "9000000": flat would take .* ask for fewer, as --vectors \d+'
    with pytest.raises(IconsError, match=message) as told:
        plan_indexes(SearchBenchOptions(vectors=9_000_000), dim=DIM, memory=memory, disk=PLENTY)
    fewer = int(str(told.value).rpartition(" ")[2])
    assert plan_indexes(SearchBenchOptions(vectors=fewer), dim=DIM, memory=memory, disk=PLENTY).steps
    plan = plan_indexes(SearchBenchOptions(), dim=DIM, memory=memory, disk=PLENTY)
    assert [gap.kind for gap in plan.left_out if gap.n_vectors == 380_000] == list(KINDS)
    assert max(n for n, _ in plan.steps) < 380_000


def test_stages_sum_to_the_whole_query_and_change_no_hit(opened: Library) -> None:
    timed, plain = TimedEngine.open(opened.root), SearchEngine.open(opened.root)
    for query in ("arrow up", "dot", "anything else"):
        hits, seconds = timed.timed_search(query, k=5)
        assert hits == plain.search(query, k=5)
        assert list(seconds) == [*STAGES, WHOLE]
        assert all(value > 0 for value in seconds.values())
        assert sum(seconds[stage] for stage in STAGES) == pytest.approx(seconds[WHOLE])


def test_clients_at_the_same_time_get_the_hits_that_each_gets_alone(opened: Library) -> None:
    engine = SearchEngine.open(opened.root)
    queries = [f"{word} {letter}" for letter in "abcdefghi" for word in ("dot", "arrow", "copy")]
    alone = [engine.search(query, k=5) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            assert list(pool.map(lambda query: engine.search(query, k=5), queries)) == alone


@pytest.mark.slow
def test_a_run_tells_programs_and_people_and_leaves_the_library_as_it_was(opened: Library, tmp_path: Path) -> None:
    before = _digests(opened.root)
    page = tmp_path / "speed.html"
    parts = [part for name in ("warm", "filters", "pictures", "clients", "indexes") for part in ("--only", name)]
    told = _run(
        opened, *parts, "--vectors", "2000", "--kind", "hnsw", "--kind", "fp16", "--json", "--report", str(page)
    )
    assert told.exit_code == 0, told.output
    found = json.loads(told.stdout)
    assert found["cold"] is None
    assert found["machine"]["cores"] >= 1 and "faiss-cpu" in found["machine"]["versions"]
    assert list(found["warm"]["stages"]) == [*STAGES, WHOLE]
    under = {of["filters"]: of["n_icons"] for of in found["filtered"]}
    assert (under["none"], under["set icons"], under["coloured false"], under["animated false"]) == (12, 12, 12, 12)
    assert under["style filled"] == 12
    assert all(of["latency"]["p50"] > 0 and of["n_queries"] > 0 for of in found["filtered"])
    assert [of["told"] for of in found["pictured"]] == ["picture", "more like an icon"]
    assert all(of["latency"]["p50"] > 0 and of["n_queries"] == 12 for of in found["pictured"])
    assert [load["clients"] for load in found["loads"]] == [1, 2, 4, 8, 16]
    assert all(load["queries_per_second"]["value"] > 0 for load in found["loads"])
    assert [(row["n_vectors"], row["n_real"], row["kind"]) for row in found["rows"]] == [
        (n, 11, kind) for n in (500, 2000) for kind in ("fp16", "hnsw")
    ]
    assert found["stopped"] is False
    charts = [ElementTree.fromstring(chart) for chart in re.findall(r"<svg.*?</svg>", page.read_text(), re.DOTALL)]
    titles = [chart.attrib["aria-label"] for chart in charts]
    assert titles == [
        "a warm query: p50, whisker to p99",
        "queries/s",
        "ms a query: p50, band to p99",
        "p50 of a query, in ms",
        "recall@10",
        *2 * ("recall@10 over p50: up and left is better", "built in, s", "size, MB"),
    ]
    assert {"fp16", "hnsw"} <= {text.strip() for text in charts[-1].itertext()}
    assert "NaN" not in page.read_text()
    table = _run(opened, "--only", "indexes", "--vectors", "500", "--kind", "flat")
    assert "index of 500 vectors, 489 of them made from the 11 that the library holds" in table.stdout
    assert "not measured: 2,000 vectors, all kinds: more than --vectors 500" in table.stdout
    assert _digests(opened.root) == before


def _digests(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_ctrl_c_keeps_what_was_measured(opened: Library) -> None:
    def stop(title: str, done: int, total: int) -> None:
        if title.startswith("Building hnsw"):
            raise KeyboardInterrupt

    options = SearchBenchOptions(parts=("indexes",), vectors=500)
    found = bench_search(opened, options, stop)
    assert found.stopped
    assert [row.kind for row in found.rows] == ["flat", "fp16"]


def test_queries_come_from_files_where_given(opened: Library, tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    lines = [json.dumps({"query": f"dot {n}", "kind": "names", "relevant": ["dot-a"]}) for n in range(7)]
    file.write_text("\n".join(lines))
    found = bench_search(opened, SearchBenchOptions(parts=("warm",), queries=[file]), _quiet)
    assert found.queries == f"7 queries: {file}"
    assert found.warm is not None and found.warm.n_queries == 7 * latency.PASSES


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kind", "hsnw"], "'hsnw'"),
        (["--only", "speed"], "'speed'"),
        (["--vectors", "7"], "7 is not in the range"),
        (["--queries", "/nowhere"], "'/nowhere'"),
    ],
)
def test_wrong_options_are_refused(library: Library, arguments: list[str], message: str) -> None:
    told = _run(library, *arguments)
    assert (told.exit_code, message in told.stderr) == (2, True)


def test_too_many_vectors_and_a_report_that_can_not_be_written_are_one_clear_line(opened: Library) -> None:
    told = _run(opened, "--vectors", "1000000000000", "--only", "indexes")
    assert told.exit_code == 2
    assert re.search(
        r'^Error: --vectors "1000000000000": .* ask for fewer, as --vectors \d+$', told.stderr, re.MULTILINE
    )
    told = _run(opened, "--only", "warm", "--report", "/proc/speed.html")
    assert told.exit_code == 2
    assert '"/proc/speed.html" can\'t be written' in told.stderr


def test_no_library_and_one_that_was_never_published_say_what_to_run(library: Library) -> None:
    assert "`icons index SOURCE` builds one" in _run(library).stderr
    library.root.mkdir()
    library.catalog.touch()
    told = _run(library)
    assert (told.exit_code, f'"{library.root}" was never published; `icons index` does it' in told.stderr) == (2, True)


def test_advice_names_what_merge_builds_and_what_is_faster_and_still_right() -> None:
    def row(kind: str, p50: float, recall: float) -> IndexRow:
        return IndexRow(9, 9, kind, "", 1, 1.0, recall, Spread(p50, p50, p50), 9, kind == "fp16")

    rule, hasty, faster = row("fp16", 5, 1.0), row("ivf", 1, 0.9), row("hnsw", 2, 0.99)
    assert [line.split(" (")[0] for line in advice([rule, hasty, faster])] == [
        "* `icons merge` builds fp16",
        "fastest with recall@10 .980 or more: hnsw",
    ]
    assert len(advice([rule, hasty])) == 1
    assert advice([hasty]) == ["no kind reaches recall@10 .980, which `icons merge` asks for"]


@pytest.mark.slow
def test_a_cold_search_is_faster_than_importing_torch(opened: Library) -> None:
    cold = measure_cold(opened, n_runs=1, progress=_quiet)
    assert 0 < cold.search.value < cold.imports.value


def test_a_search_that_fails_from_cold_is_told_with_its_reason(library: Library) -> None:
    with pytest.raises(IconsError, match="failed: Error: no library at"):
        measure_cold(library, n_runs=1, progress=_quiet)
