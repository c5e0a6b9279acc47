"""Are ranks, recall and intervals what they are by hand?"""

import json
from pathlib import Path

import numpy as np

from indexer.finetune.retrieval import compare_rankers, figures, first_ranks, read_queries

CORPUS = np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float32)
QUERIES = np.array([[1, 0], [0, 1]], np.float32)


def test_the_rank_is_that_of_the_first_right_answer() -> None:
    assert first_ranks(QUERIES, CORPUS, [[0], [0]]).tolist() == [1, 3]
    assert first_ranks(QUERIES, CORPUS, [[1, 2], [2]]).tolist() == [2, 2]


def test_an_encoder_that_says_the_same_of_everything_finds_nothing_first() -> None:
    assert first_ranks(QUERIES, np.ones((3, 2), np.float32), [[0], [1]]).tolist() == [3, 3]


def test_figures_are_means_over_queries_with_repeatable_intervals() -> None:
    ranks = np.array([1, 2, 7, 60])
    found = figures(ranks, seed=3)
    assert found["R@1"].value == 0.25
    assert found["R@5"].value == 0.5
    assert found["R@10"].value == 0.75
    assert found["MRR@50"].value == round((1 + 1 / 2 + 1 / 7) / 4, 4)
    assert found["R@5"].low < 0.5 < found["R@5"].high
    assert figures(ranks, seed=3) == found


def test_fusion_adds_both_similarities() -> None:
    names = np.array([[0, 1], [1, 0], [0.6, 0.8]], np.float32)
    found = compare_rankers(QUERIES, CORPUS, names, [[2], [2]], picture_weight=0.5)
    assert found["pictures"]["R@1"].value == 0.0
    assert found["fused"]["R@1"].value == 1.0  # 0.6 and 0.8 against 0.5


def test_queries_are_read_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(json.dumps({"query": "delete", "kind": "meaning", "relevant": ["trash", "bin"]}) + "\n\n", "utf-8")
    assert [(query.query, sorted(query.relevant)) for query in read_queries(file)] == [("delete", ["bin", "trash"])]
