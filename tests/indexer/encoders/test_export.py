from pathlib import Path

import numpy as np
import pytest
import torch

from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.export import export
from indexer.encoders.query_encoder import OnnxQueryEncoder, open_query_encoder, read_facts
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
def encoder(tiny_model: Path) -> Encoder:
    checkpoint = find_checkpoint(ModelChoice(f"local-dir:{tiny_model}"))
    return Encoder(checkpoint, device=torch.device("cpu"), precision="fp32")


@pytest.fixture
def pixels() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)


def _export(encoder: Encoder, folder: Path, pixels: np.ndarray) -> OnnxQueryEncoder:
    export(encoder, folder, choice=ModelChoice("tiny"), texts=TEXTS, pixels=pixels)
    facts = read_facts(folder)
    assert facts.reason is None
    assert (facts.text_parity or 0) > 0.9999
    assert (facts.image_parity or 0) > 0.9999
    opened = open_query_encoder(folder)
    assert isinstance(opened, OnnxQueryEncoder)
    return opened


def test_words_and_pictures_give_the_same_vectors_without_torch(
    encoder: Encoder, tmp_path: Path, pixels: np.ndarray
) -> None:
    query = _export(encoder, tmp_path / "encoder", pixels)
    words = np.stack([query.encode_words(text) for text in TEXTS])
    pictures = np.stack([query.encode_picture(picture) for picture in pixels])
    assert np.abs(words - encoder.encode_texts(TEXTS)).max() < 1e-3
    assert np.abs(pictures - encoder.encode_images(pixels)).max() < 1e-3


def test_the_tokenizer_without_torch_agrees_token_for_token(
    encoder: Encoder, tmp_path: Path, pixels: np.ndarray
) -> None:
    query = _export(encoder, tmp_path / "encoder", pixels)
    for text in TEXTS:
        assert query.tokenize(text).tolist() == encoder.tokenizer([text])[0].tolist(), text


def test_an_encoder_that_does_not_export_is_served_through_torch_and_says_so(
    encoder: Encoder, tiny_model: Path, tmp_path: Path, pixels: np.ndarray
) -> None:
    class Odd:
        """A tokenizer that exists in Python only."""

        context_length = 16

        def __call__(self, texts: list[str]) -> torch.Tensor:
            return tokenizer(texts)

    tokenizer, encoder.tokenizer = encoder.tokenizer, Odd()
    choice = ModelChoice(f"local-dir:{tiny_model}")
    export(encoder, tmp_path / "encoder", choice=choice, texts=TEXTS, pixels=pixels)
    assert read_facts(tmp_path / "encoder").served == "torch"
    with pytest.warns(UserWarning, match="served through torch"):
        query = open_query_encoder(tmp_path / "encoder")
    assert query.encode_words("arrow").shape == (32,)
