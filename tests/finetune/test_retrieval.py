"""Are rankers compared on what a query file asks?"""

import json
from pathlib import Path

import numpy as np

from indexer.finetune.retrieval import compare_rankers, read_queries

CORPUS = np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float32)
QUERIES = np.array([[1, 0], [0, 1]], np.float32)


def test_fusion_adds_both_similarities() -> None:
    names = np.array([[0, 1], [1, 0], [0.6, 0.8]], np.float32)
    found = compare_rankers(QUERIES, CORPUS, names, [[2], [2]], picture_weight=0.5)
    assert found["pictures"]["R@1"].value == 0.0
    assert found["fused"]["R@1"].value == 1.0  # 0.6 and 0.8 against 0.5


def test_queries_are_read_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(json.dumps({"query": "delete", "kind": "meaning", "relevant": ["trash", "bin"]}) + "\n\n", "utf-8")
    assert [(query.query, sorted(query.relevant)) for query in read_queries(file)] == [("delete", ["bin", "trash"])]
