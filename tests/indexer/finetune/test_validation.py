"""Are rankers compared as a search ranks?"""

import numpy as np

from indexer.finetune.run.validation import compare_rankers, to_plain

CORPUS = np.array([[1, 0], [0, 1], [0.707, 0.707]], np.float32)
QUERIES = np.array([[1, 0], [0, 1]], np.float32)


def test_fusion_adds_both_similarities() -> None:
    names = np.array([[0, 1], [1, 0], [0.707, 0.707]], np.float32)
    found = compare_rankers(QUERIES, CORPUS, names, [[2], [2]])
    assert found["pictures"]["R@1"].value == 0.0
    assert found["fused"]["R@1"].value == 1.0  # 0.707 against the weight of the picture, or of the name
    fused = found["fused"]["R@1"]
    assert to_plain(found)["fused"]["R@1"] == [fused.value, fused.low, fused.high]
