"""Does the text tower learn to repeat a teacher?"""

from pathlib import Path

import pytest
import torch
from lessons import TEXTS, cached_answers
from torch import nn

from indexer.errors import SourceError
from indexer.finetune.corpus.lesson import encode_texts, read_material
from indexer.finetune.model.folder import new_model
from indexer.finetune.options import Learning
from indexer.finetune.words.distill import DistillOptions, distill, held_out_cosine, tokenize
from indexer.finetune.words.teacher import teacher_vectors


@pytest.mark.slow
def test_teaching_brings_the_tower_to_its_teacher(tmp_path: Path) -> None:
    cache = cached_answers(tmp_path / "teacher.safetensors")
    torch.manual_seed(0)
    model = new_model()
    answers = teacher_vectors(TEXTS, cache=cache)
    target = torch.from_numpy(answers).float()
    before = held_out_cosine(model, tokenize(TEXTS), target)
    options = DistillOptions(steps=80, batch=16, rate=2e-3, precision="fp32")
    distill(model, TEXTS, answers, n_icon_texts=len(TEXTS), options=options)
    assert held_out_cosine(model, tokenize(TEXTS), target) > max(0.5, before + 0.3)


def test_captions_are_encoded_in_their_own_order() -> None:
    torch.manual_seed(0)
    model = new_model()
    texts = ["a much longer caption than the others", "star", "red house", "star"]
    together = encode_texts(model, tokenize(texts)).float()
    alone = torch.cat([encode_texts(model, tokenize([text])).float() for text in texts])
    assert nn.functional.cosine_similarity(together, alone).min() > 0.999


def test_a_folder_that_is_no_corpus_says_what_makes_one(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"is no corpus; run python -m indexer.finetune corpus"):
        read_material(tmp_path, Learning(), seed=0)
