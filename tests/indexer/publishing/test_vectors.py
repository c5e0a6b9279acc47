import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import faiss
import numpy as np
import pytest

from indexer.merging.manifest import KINDS, LEAST_RECALL, RULE, IndexKind, recommended
from indexer.merging.merge import least_scores, share_found, share_right
from indexer.merging.vector_index import VectorIndex, fp32_chunks

SPECS = [
    "IDMap,SQfp16",
    "IDMap,PQ16x4fs,Refine(SQfp16)",
    "IDMap,RaBitQ,Refine(SQfp16)",
    "IDMap,IVF32,PQ16x4fs,Refine(SQfp16)",
]


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(50, 64))
    found = centres[rng.integers(0, 50, 3000)] + 0.6 * rng.normal(size=(3000, 64))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float16)


IDS = np.arange(3000) * 7 + 11


@pytest.fixture(params=SPECS)
def opened(request: pytest.FixtureRequest, vectors: np.ndarray, tmp_path: Path) -> VectorIndex:
    return _opened(request.param, vectors, tmp_path)


def test_an_index_answers_as_a_plain_matrix_product_does(opened: VectorIndex, vectors: np.ndarray) -> None:
    for query in vectors[::300].astype(np.float32):
        expected = IDS[np.argsort(-(vectors.astype(np.float32) @ query), kind="stable")[:10]]
        found = opened.search(query, k=10)
        assert found.ids[0] == expected[0] and set(found.ids.tolist()) == set(expected.tolist())
        assert (np.diff(found.scores) <= 0).all()


def test_everything_is_compared_exactly_and_the_nearest_bound_the_others(
    opened: VectorIndex, vectors: np.ndarray
) -> None:
    exact = vectors.astype(np.float32) @ vectors[3].astype(np.float32)
    whole = opened.everything(vectors[3].astype(np.float32))
    assert whole.ids.tolist() == IDS.tolist() and whole.beyond == -np.inf
    assert np.abs(whole.scores - exact).max() < 1e-3
    found = opened.search(vectors[3].astype(np.float32), k=64)
    beyond = exact[~np.isin(IDS, found.ids)]
    assert beyond.max() <= found.beyond + 1e-3
    assert opened.search(vectors[3].astype(np.float32), k=3, only=IDS[:3]).beyond == -np.inf
    bounds = [opened.search(vectors[3].astype(np.float32), k=n - 1, only=IDS[:n]).beyond for n in range(1800, 2000)]
    # All but the furthest are asked for, which codes take for another one.
    assert bounds == pytest.approx([np.partition(exact[:n], 1)[1] for n in range(1800, 2000)], abs=1e-3)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_answers_under_a_filter_exactly_where_it_leaves_few(
    kind: IndexKind, vectors: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.merging.vector_index.cores", lambda: 1)
    opened = _opened(kind, vectors, tmp_path)
    for n in (1, 9, 11, 400, 2999, 3000):
        assert _right_under_a_filter(opened, vectors, n=n) == 1
    monkeypatch.setattr("indexer.merging.vector_index.EXACT_AMONG", 10)
    for n in (11, 400, 2999, 3000):
        assert _right_under_a_filter(opened, vectors, n=n) >= LEAST_RECALL


def test_product_codes_answer_where_a_filter_takes_all_that_is_near(
    vectors: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.merging.vector_index.EXACT_AMONG", 10)
    monkeypatch.setattr("indexer.merging.vector_index.REFINED", 300)
    opened = _opened(KINDS["pq"], vectors, tmp_path)
    query = vectors[0].astype(np.float32)
    furthest = np.sort(np.argsort(vectors.astype(np.float32) @ query)[:1500])
    expected = np.sort(vectors[furthest].astype(np.float32) @ query)[::-1][:10]
    assert opened.search(query, k=10, only=IDS[furthest]).scores == pytest.approx(expected, abs=1e-3)


def _opened(kind: IndexKind | str, vectors: np.ndarray, folder: Path, asked: np.ndarray | None = None) -> VectorIndex:
    spec, path = kind if isinstance(kind, str) else kind.spec(len(vectors), dim=64), folder / "index.faiss"
    VectorIndex.build(IDS, fp32_chunks(vectors), dim=64, spec=spec, asked=asked).save(path, fp32_chunks(vectors))
    return VectorIndex.open(path, spec=spec)


def _right_under_a_filter(opened: VectorIndex, vectors: np.ndarray, *, n: int) -> float:
    """Share of the first ten that a plain matrix product over some `n` vectors gives too."""
    rows = np.sort(np.random.default_rng(n).choice(len(vectors), n, replace=False))
    only, shares = IDS[rows], list[float]()
    for query in vectors[:20].astype(np.float32):
        expected = np.sort(vectors[rows].astype(np.float32) @ query)[::-1][:10]
        found = opened.search(query, k=10, only=only)  # from the second time on these stand side by side
        assert np.isin(found.ids, IDS[rows]).all()
        assert (np.diff(found.scores) <= 0).all()
        shares.append(share_right(found, expected[-1], k=len(expected)))
    return float(np.mean(shares))


def test_no_hit_is_padded_and_no_id_is_made_up(opened: VectorIndex, vectors: np.ndarray) -> None:
    assert len(opened.search(vectors[0].astype(np.float32), k=10_000).ids) == 3000
    assert len(opened.search(vectors[0].astype(np.float32), k=5, only=IDS[:0]).ids) == 0
    only = np.array([1, IDS[4], IDS[4] + 1, IDS[-1] + 70])
    assert opened.search(vectors[1].astype(np.float32), k=10, only=only).ids.tolist() == [IDS[4]]


def test_stored_vectors_come_back_by_id(opened: VectorIndex, vectors: np.ndarray) -> None:
    assert np.array_equal(opened.reconstruct(IDS[[5, 2]]), vectors[[5, 2]].astype(np.float32))
    for unknown in (IDS[5] + 1, IDS[-1] + 1):
        with pytest.raises(KeyError):
            opened.reconstruct(np.array([unknown]))


def test_faiss_computes_with_what_the_processor_has() -> None:
    """OpenBLAS names the code that it takes; that of a "Prescott" is for a processor of which it knows nothing."""
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    told = subprocess.run(
        [sys.executable, "-c", "import os; from indexer.merging import vector_index; print(*os.environ)"],
        env=environment | {"OPENBLAS_VERBOSE": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "OPENBLAS_CORETYPE" not in told.stdout.split()
    flags = Path("/proc/cpuinfo").read_text("utf-8").split() if sys.platform == "linux" else []
    if "avx2" in flags and "fma" in flags:
        assert "Prescott" not in told.stdout + told.stderr


def test_a_query_takes_one_thread_whichever_thread_asks(opened: VectorIndex, vectors: np.ndarray) -> None:
    with ThreadPoolExecutor(1, initializer=faiss.omp_set_num_threads, initargs=(3,)) as thread:
        thread.submit(opened.search, vectors[0].astype(np.float32), k=5).result()
        assert thread.submit(faiss.omp_get_max_threads).result() == 1


def test_repeated_ids_and_values_that_are_no_numbers_are_refused(vectors: np.ndarray) -> None:
    with pytest.raises(ValueError, match="ids repeat"):
        VectorIndex.build(np.zeros(3000, np.int64), fp32_chunks(vectors), dim=64, spec=SPECS[0])
    broken = vectors.copy()
    broken[7, 3] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        VectorIndex.build(IDS, fp32_chunks(broken), dim=64, spec=SPECS[0])


def test_large_libraries_get_the_index_that_reads_less() -> None:
    chosen = [recommended(n).spec(n, dim=64) for n in (1, 50_000, 50_001, 2_000_000, 2_000_001)]
    assert chosen == [SPECS[0], SPECS[0], SPECS[1], SPECS[1], "IDMap,IVF1024,PQ16x4fs,Refine(SQfp16)"]
    assert sorted(RULE, key=lambda step: step[0]) == list(RULE)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_finds_what_exact_search_finds_and_is_as_large_as_it_says(
    kind: IndexKind, vectors: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "indexer.merging.vector_index.cores", lambda: 1
    )  # small builds on a busy machine wait for threads
    opened = _opened(kind, vectors, tmp_path)
    queries = (vectors[:40] + vectors[40:80]).astype(np.float32)
    assert share_found(opened, queries, least_scores(fp32_chunks(vectors), queries, k=10), k=10) >= LEAST_RECALL
    assert kind.n_bytes(3000, dim=64) == pytest.approx((tmp_path / "index.faiss").stat().st_size, rel=0.1)


def test_lists_that_hold_too_few_of_what_a_filter_leaves_cost_no_hit(
    vectors: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.merging.vector_index.EXACT_AMONG", 10)
    built = _opened("IDMap,IVF128,PQ16x4fs,Refine(SQfp16)", vectors, tmp_path)
    query = vectors[0].astype(np.float32)
    furthest = np.sort(np.argsort(vectors.astype(np.float32) @ query)[:40])
    expected = np.sort(vectors[furthest].astype(np.float32) @ query)[::-1][:20]
    assert built.search(query, k=20, only=IDS[furthest]).scores == pytest.approx(expected, abs=1e-3)


def test_lists_lie_around_what_is_asked(vectors: np.ndarray, tmp_path: Path) -> None:
    asked = -vectors[:1500].astype(np.float32)
    built = _opened(SPECS[3], vectors, tmp_path, asked)
    lists = faiss.extract_index_ivf(built._index)
    middles = lists.quantizer.reconstruct_n(0, 32)
    assert (middles @ asked.T).max(axis=0).mean() > 0.5 > (middles @ -asked.T).max(axis=0).mean()
    assert built.search(vectors[3].astype(np.float32), k=1).ids.tolist() == [IDS[3]]


def test_as_few_lists_are_read_as_find_enough_and_the_file_keeps_it(vectors: np.ndarray, tmp_path: Path) -> None:
    spec = "IDMap,IVF128,PQ16x4fs,Refine(SQfp16)"
    path, built = tmp_path / "index.faiss", _opened(spec, vectors, tmp_path)
    queries = (vectors[:40] + vectors[40:80]).astype(np.float32)
    least = least_scores(fp32_chunks(vectors), queries, k=10)
    found = partial(share_found, queries=queries, least=least, k=10)
    read = []
    for enough in (0.1, 0.999, 1.1):
        built.choose_probes(path, found, enough=enough)
        read.append(faiss.extract_index_ivf(VectorIndex.open(path, spec=spec)._index).nprobe)
    assert read[0] == 16 <= read[1] <= read[2] == 48
    built.choose_probes(path, found, enough=0.9)
    assert found(VectorIndex.open(path, spec=spec)) == found(built) >= 0.9


def test_whole_vectors_that_go_past_memory_lie_in_the_file_where_faiss_puts_them(
    opened: VectorIndex, tmp_path: Path
) -> None:
    faiss.write_index(faiss.read_index(str(tmp_path / "index.faiss")), str(tmp_path / "again"))
    assert (tmp_path / "again").read_bytes() == (tmp_path / "index.faiss").read_bytes()


def test_many_queries_at_once_are_answered_as_one_by_one(opened: VectorIndex, vectors: np.ndarray) -> None:
    queries = vectors[::150].astype(np.float32)
    for query, found in zip(queries, opened.search_many(queries, k=10), strict=True):
        alone = opened.search(query, k=10)
        assert found.ids.tolist() == alone.ids.tolist()
        assert found.scores == pytest.approx(alone.scores, abs=1e-4)
    assert [len(found.ids) for found in opened.search_many(queries[:2], k=9_999)] == [3000, 3000]
    assert opened.search_many(queries[:0], k=3) == []
