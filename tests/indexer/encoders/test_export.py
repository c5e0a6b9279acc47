from pathlib import Path

import numpy as np
import pytest
import torch

from indexer.encoders.checkpoint import ModelChoice
from indexer.encoders.export import export
from indexer.encoders.query_encoder import open_query_encoder, read_facts
from indexer.encoders.torch_encoder import Encoder

TEXTS = [
    "arrow up",
    "home",
    "what's this?",
    "c++",
    "3d cube",
    "über naïve café",
    "日本",
    "a  b\tc",
    "x" * 200,
    "🎉 party",
]


@pytest.fixture
def pixels() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)


def test_words_and_pictures_give_the_same_vectors_without_torch(
    tiny_encoder: Encoder, tmp_path: Path, pixels: np.ndarray
) -> None:
    export(tiny_encoder, tmp_path / "encoder", choice=ModelChoice("tiny"), texts=TEXTS, pixels=pixels)
    facts, query = read_facts(tmp_path / "encoder"), open_query_encoder(tmp_path / "encoder")
    assert (facts.served, facts.reason) == ("onnx", None)
    assert min(facts.text_parity or 0, facts.image_parity or 0) > 0.9999
    words = np.stack([query.encode_words(text) for text in TEXTS])
    pictures = np.stack([query.encode_picture(picture) for picture in pixels])
    assert np.abs(words - tiny_encoder.encode_texts(TEXTS)).max() < 1e-3
    assert np.abs(pictures - tiny_encoder.encode_images(pixels)).max() < 1e-3


def test_an_encoder_that_does_not_export_is_served_through_torch_and_says_so(
    tiny_encoder: Encoder, tiny_model: Path, tmp_path: Path, pixels: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Odd:
        """A tokenizer that exists in Python only."""

        context_length = 16

        def __call__(self, texts: list[str]) -> torch.Tensor:
            return tokenizer(texts)

    tokenizer = tiny_encoder.tokenizer
    monkeypatch.setattr(tiny_encoder, "tokenizer", Odd())
    choice = ModelChoice(f"local-dir:{tiny_model}")
    export(tiny_encoder, tmp_path / "encoder", choice=choice, texts=TEXTS, pixels=pixels)
    assert read_facts(tmp_path / "encoder").served == "torch"
    with pytest.warns(UserWarning, match="served through torch"):
        query = open_query_encoder(tmp_path / "encoder")
    assert query.encode_words("arrow").shape == (32,)
