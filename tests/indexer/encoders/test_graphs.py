"""Do the graphs beside a model's weights say what torch says, and does a library take them without torch?"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import save_tiny_model

from indexer.encoders.checkpoint import Checkpoint, ModelChoice, find_checkpoint
from indexer.encoders.export import export, values_of_bytes, write_graphs
from indexer.encoders.graphs import carry, find_graphs, sample_pixels
from indexer.encoders.query_encoder import OnnxQueryEncoder, Shape, clip_tokenizer, open_query_encoder, read_facts
from indexer.encoders.torch_encoder import Encoder
from indexer.errors import ModelError

WEIGHTS = "open_clip_model.safetensors"
TEXTS = ["arrow", "a b c d e f g h i j k l m n o p q r s t u v w", "home outline", "c++", "日本", "", "x" * 200]
TEXTS += ["what's this?", "über naïve café", "a  b\tc", "🎉 party", "3d cube"]


def _checkpoint(folder: Path) -> Checkpoint:
    return find_checkpoint(ModelChoice(f"local-dir:{folder}"))


def _load(folder: Path) -> Encoder:
    return Encoder(_checkpoint(folder), device=torch.device("cpu"), precision="fp32")


def _carried(folder: Path, into: Path) -> OnnxQueryEncoder:
    graphs = find_graphs(_checkpoint(folder))
    assert graphs is not None
    carry(graphs, into, choice=ModelChoice(f"local-dir:{folder}"))
    opened = open_query_encoder(into)
    assert isinstance(opened, OnnxQueryEncoder)
    return opened


def _least_cosines(encoder: Encoder, query: OnnxQueryEncoder) -> tuple[float, float]:
    """Of words, asked one by one, with those of torch in the full context; and of pictures."""
    with torch.inference_mode():
        words, pixels = encoder.text_tower(encoder.tokenizer(TEXTS)).numpy(), sample_pixels(encoder.image_size)
        pictures = encoder.image_tower(torch.from_numpy(pixels)).numpy()
    asked = np.concatenate([query.encode_many_words([text]) for text in TEXTS])
    return float((words * asked).sum(1).min()), float((pictures * query.encode_many_pictures(pixels)).sum(1).min())


def test_the_bundled_model_keeps_its_fingerprint() -> None:
    """Another one has every library embedded anew: that is for other vectors alone."""
    assert find_checkpoint(ModelChoice.bundled()).fingerprint == "3608ea71d4a3f0b6"


def test_graphs_beside_other_weights_say_the_same(model: Path, tmp_path: Path) -> None:
    query = _carried(model, tmp_path / "encoder")
    assert min(_least_cosines(_load(model), query)) > 0.9999


def test_a_library_takes_graphs_and_weights_that_are_its_own(model: Path, tmp_path: Path) -> None:
    (model / WEIGHTS).chmod(0o444)
    query = _carried(model, tmp_path / "encoder")
    words, facts = query.encode_many_words(["arrow"]), read_facts(tmp_path / "encoder")
    own = tmp_path / "encoder" / WEIGHTS
    assert sorted(facts.files or ()) == ["image.onnx", WEIGHTS, "text.onnx", "tokenizer.json"]
    assert facts.fingerprint == _checkpoint(model).fingerprint and own.stat().st_mode & 0o200
    own.write_bytes(b"another backup")  # as `cp` writes into what is there
    own.chmod(0o600)
    assert find_graphs(_checkpoint(model)) is not None and (model / WEIGHTS).stat().st_mode & 0o777 == 0o444
    assert np.array_equal(_carried(model, tmp_path / "again").encode_many_words(["arrow"]), words)
    shutil.rmtree(model)
    assert open_query_encoder(tmp_path / "again").encode_many_words(["arrow"]).shape == (1, 32)


def test_graphs_of_other_weights_or_with_another_byte_are_none(model: Path, tmp_path: Path) -> None:
    changed = shutil.copytree(model, tmp_path / "changed")
    shutil.copy(save_tiny_model(tmp_path / "other", seed=4) / WEIGHTS, changed / WEIGHTS)
    assert find_graphs(_checkpoint(changed)) is None
    graph = model / "image.onnx"
    graph.write_bytes(graph.read_bytes()[:-1] + b"\0")
    assert find_graphs(_checkpoint(model)) is None
    (model / "graphs.json").write_text(json.dumps({"weights": ""}))
    assert find_graphs(_checkpoint(model)) is None


def test_weights_in_a_pickle_get_no_graphs(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "model", seed=3)
    (folder / WEIGHTS).rename(folder / "open_clip_pytorch_model.bin")
    with pytest.raises(ModelError, match=r"gets no graphs .*have no place"):
        write_graphs(folder)
    assert not (folder / "graphs.json").exists()


def test_the_tokenizer_is_open_clips_own() -> None:
    from open_clip.tokenizer import SimpleTokenizer

    shape = Shape(dim=1, image_size=1, context_length=24, start_token=49406, end_token=49407)
    assert np.array_equal(shape.tokens(clip_tokenizer(), TEXTS), SimpleTokenizer(context_length=24)(TEXTS).numpy())


def test_each_byte_of_an_eight_bit_number_is_read_as_its_format_has_it() -> None:
    values = values_of_bytes()
    assert values[[0x00, 0x01, 0x08, 0x38, 0x7E, 0xFE]].tolist() == [0, 2**-9, 2**-6, 1, 448, -448]
    assert np.flatnonzero(np.isnan(values)).tolist() == [0x7F, 0xFF]


PIXELS = np.random.default_rng(0).integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)


def test_words_and_pictures_give_the_same_vectors_without_torch(tiny_encoder: Encoder, tmp_path: Path) -> None:
    export(tiny_encoder, tmp_path / "encoder", choice=ModelChoice("tiny"), texts=TEXTS, pixels=PIXELS)
    facts, query = read_facts(tmp_path / "encoder"), open_query_encoder(tmp_path / "encoder")
    assert (facts.served, facts.reason) == ("onnx", None)
    assert min(facts.text_parity or 0, facts.image_parity or 0) > 0.9999
    assert np.abs(query.encode_many_words(TEXTS) - tiny_encoder.encode_texts(TEXTS)).max() < 1e-3
    assert np.abs(query.encode_picture(PIXELS[0]) - tiny_encoder.encode_images(PIXELS[:1])).max() < 1e-3


def test_an_encoder_that_does_not_export_is_served_through_torch_and_says_so(
    tiny_encoder: Encoder, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Odd:
        """A tokenizer that exists in Python only."""

        context_length = 16

        def __call__(self, texts: list[str]) -> torch.Tensor:
            return torch.ones(len(texts), 16, dtype=torch.long)

    monkeypatch.setattr(tiny_encoder, "tokenizer", Odd())
    choice = ModelChoice(f"local-dir:{tiny_model}")
    export(tiny_encoder, tmp_path / "encoder", choice=choice, texts=TEXTS, pixels=PIXELS)
    with pytest.warns(UserWarning, match="served through torch"):
        query = open_query_encoder(tmp_path / "encoder")
    assert query.encode_many_words(["arrow"]).shape == (1, 32)
