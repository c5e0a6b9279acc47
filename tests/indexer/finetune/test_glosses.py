"""Is a word drawn towards what WordNet says it means, and nothing else changed?"""

from pathlib import Path

import numpy as np
import pytest
from lessons import TEXTS, cached_answers

from indexer.finetune.words.glosses import definitions, glossed_vectors
from indexer.finetune.words.teacher import teacher_vectors

DATA = """  1 licence
00000001 06 n 01 wigwam 0 000 | a native hut; "they slept in wigwams"
00000002 06 n 01 tent 0 000 | a portable shelter of canvas
00000003 06 n 01 tent 1 000 | a web of caterpillars
"""
INDEX = """  1 licence
wigwam n 1 0 1 0 00000001
tent n 2 0 2 1 00000002 00000003
"""


@pytest.fixture
def wordnet(tmp_path: Path) -> Path:
    (tmp_path / "dict").mkdir()
    for part in ("noun", "verb", "adj", "adv"):
        (tmp_path / "dict" / f"data.{part}").write_text(DATA if part == "noun" else "")
        (tmp_path / "dict" / f"index.{part}").write_text(INDEX if part == "noun" else "")
    return tmp_path


def test_definitions_are_read_in_wordnets_order_without_examples(wordnet: Path) -> None:
    assert definitions(wordnet) == {
        "wigwam": ["a native hut"],
        "tent": ["a portable shelter of canvas", "a web of caterpillars"],
    }


def test_a_word_is_drawn_towards_its_definitions_and_other_texts_stay(tmp_path: Path) -> None:
    cache = cached_answers(tmp_path / "teacher.safetensors")
    word, first, second, other = TEXTS[:4]
    data = f'00000001 06 n 01 x 0 000 | {first}\n00000002 06 n 01 x 0 000 | {second}; "an example"\n'
    (tmp_path / "dict").mkdir()
    for part in ("noun", "verb", "adj", "adv"):
        (tmp_path / "dict" / f"data.{part}").write_text(data if part == "noun" else "")
        lemma = word.replace(" ", "_")
        index = f"{lemma} n 2 0 2 1 00000001 00000002\n"
        (tmp_path / "dict" / f"index.{part}").write_text(index if part == "noun" else "")
    found = glossed_vectors([word, other], wordnet=tmp_path, cache=cache).astype(np.float32)
    plain = teacher_vectors([word, first, second, other], cache=cache).astype(np.float32)
    meant = plain[0] + (plain[1] + 0.5 * plain[2]) / 1.5
    assert np.abs(found[0] - meant / np.linalg.norm(meant)).max() < 2e-3
    assert np.array_equal(found[1], plain[3])
    assert np.array_equal(glossed_vectors([word], wordnet=None, cache=cache)[0], plain[0].astype(np.float16))
