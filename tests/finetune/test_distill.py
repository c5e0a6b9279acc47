"""Does the text tower learn to repeat a teacher?"""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file
from torch import nn

from indexer.errors import SourceError
from indexer.finetune.corpus.lesson import encode_texts, read_material
from indexer.finetune.model.folder import new_model
from indexer.finetune.options import Learning
from indexer.finetune.words.distill import DistillOptions, distill, held_out_cosine, tokenize
from indexer.finetune.words.teacher import teacher_vectors

TEXTS = [
    f"{colour} {shape}" for colour in ("red", "green", "blue", "black") for shape in ("house", "arrow", "star", "cup")
]


def cached_answers(file: Path) -> Path:
    """Answers of a teacher for whom a text is the sum of its words."""
    generator = np.random.default_rng(0)
    word = {word: generator.normal(size=384) for text in TEXTS for word in text.split()}
    vectors = np.stack([sum(word[part] for part in text.split()) for text in TEXTS])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    spelled = np.frombuffer(json.dumps(TEXTS).encode(), np.uint8)
    save_file({"texts": spelled, "vectors": vectors.astype(np.float16)}, file)
    return file


@pytest.mark.slow
def test_teaching_brings_the_tower_to_its_teacher(tmp_path: Path) -> None:
    cache = cached_answers(tmp_path / "teacher.safetensors")
    torch.manual_seed(0)
    model = new_model()
    target = torch.from_numpy(teacher_vectors(TEXTS, cache=cache)).float()
    before = held_out_cosine(model, tokenize(TEXTS), target)
    options = DistillOptions(steps=80, batch=16, rate=2e-3, precision="fp32")
    distill(model, TEXTS, n_icon_texts=len(TEXTS), cache=cache, options=options)
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
