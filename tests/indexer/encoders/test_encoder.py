import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import save_tiny_model

from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.torch_encoder import Encoder, resolve_device, resolve_precision
from indexer.errors import DeviceError, ModelError
from indexer.library.bundled import bundled
from indexer.rendering.render import render

TEXTS = ["arrow", "a much longer name with very many words in it that does not fit", "x", "home outline"]


def _load(folder: Path) -> Encoder:
    return Encoder(find_checkpoint(ModelChoice(f"local-dir:{folder}")), device=torch.device("cpu"), precision="fp32")


def test_texts_cut_to_the_longest_give_the_vectors_of_the_full_context(tiny_encoder: Encoder) -> None:
    with torch.inference_mode():
        full = tiny_encoder.text_tower(tiny_encoder.tokenizer(TEXTS)).numpy()
    assert np.abs(tiny_encoder.encode_texts(TEXTS) - full).max() < 1e-3


def test_pixels_are_normalised_as_open_clips_own_preprocessing_does(tiny_model: Path, tiny_encoder: Encoder) -> None:
    import open_clip
    from PIL import Image

    pixels = np.random.default_rng(0).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    model, _, preprocess = open_clip.create_model_and_transforms(f"local-dir:{tiny_model}")
    with torch.inference_mode():
        batch = torch.stack([preprocess(Image.fromarray(picture)) for picture in pixels])
        expected = model.eval().encode_image(batch, normalize=True).numpy()
    assert np.abs(tiny_encoder.encode_images(pixels) - expected).max() < 2e-3


def test_vectors_are_unit_length_whatever_the_batch(tiny_encoder: Encoder) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (5, 32, 32, 3), dtype=np.uint8)
    together = tiny_encoder.encode_images(pixels)
    alone = np.concatenate([tiny_encoder.encode_images(picture[None]) for picture in pixels])
    assert together.dtype == np.float16
    assert np.abs(together - alone).max() < 1e-3
    assert np.abs(np.linalg.norm(together.astype(np.float32), axis=1) - 1).max() < 2e-3


@pytest.mark.slow
@pytest.mark.parametrize(("precision", "kind"), [("bf16", torch.bfloat16), ("fp16", torch.float16)])
def test_half_weights_give_the_vectors_of_whole_ones(precision: Any, kind: torch.dtype) -> None:
    """With the encoder that ships, on real icons and words; weights are cast once, not for every batch."""
    checkpoint = find_checkpoint(ModelChoice.bundled())
    icons = sorted((bundled("samples/lucide-static") / "icons").glob("*.svg"))[::150]
    pixels = np.stack([render(icon.read_bytes(), size=checkpoint.image_size).pixels for icon in icons])
    found = []
    for each in ("fp32", precision):
        encoder = Encoder(checkpoint, device=torch.device("cpu"), precision=each)
        vectors = encoder.encode_images(pixels), encoder.encode_texts(TEXTS)
        found.append(np.concatenate(vectors).astype(np.float32))
    assert {weight.dtype for weight in encoder.model.parameters()} == {kind}
    convolutions = [it.weight for it in encoder.model.modules() if isinstance(it, torch.nn.Conv2d)]
    assert all(weight.is_contiguous(memory_format=torch.channels_last) for weight in convolutions)
    assert (found[0] * found[1]).sum(axis=1).min() > 0.9995


def test_the_fingerprint_follows_the_weights_not_the_place(tmp_path: Path) -> None:
    first, same, other = (
        find_checkpoint(ModelChoice(f"local-dir:{save_tiny_model(tmp_path / name, seed=seed)}")).fingerprint
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert first == same != other


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (ModelChoice("ViT-B-33"), 'unknown model "ViT-B-33"; near: .*ViT-B-32'),
        (ModelChoice("ViT-B-32"), "add --pretrained FILE"),
        (ModelChoice("ViT-B-32", "/nowhere/weights.pt"), 'no checkpoint at "/nowhere/weights.pt"'),
        (ModelChoice("local-dir:/nowhere"), '"/nowhere" is no open_clip folder'),
        (
            ModelChoice("hf-hub:not a repository"),
            "is not on this machine; `--model hf-hub:not a repository` fetches it, once",
        ),
    ],
)
def test_a_model_that_is_not_there_is_named_with_what_to_do(choice: ModelChoice, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        find_checkpoint(choice)


@pytest.mark.slow
def test_a_built_in_name_takes_a_checkpoint_file(tmp_path: Path) -> None:
    import open_clip

    torch.save(open_clip.create_model("RN50").state_dict(), tmp_path / "weights.pt")
    checkpoint = find_checkpoint(ModelChoice("RN50", str(tmp_path / "weights.pt")))
    encoder = Encoder(checkpoint, device=torch.device("cpu"), precision="fp32")
    assert (encoder.image_size, encoder.dim, encoder.context_length) == (224, 1024, 77)
    assert checkpoint.image_size == 224


def test_weights_of_another_shape_and_those_that_hold_code_are_refused(model: Path) -> None:
    config = (model / "open_clip_config.json").read_text()
    (model / "open_clip_config.json").write_text(config.replace('"embed_dim": 32', '"embed_dim": 16'))
    with pytest.raises(ModelError, match="check that weights and --model belong together"):
        _load(model)
    (model / "open_clip_model.safetensors").unlink()
    (model / "open_clip_pytorch_model.bin").write_bytes(pickle.dumps({"weight": Path("/etc")}))
    with pytest.raises(ModelError, match="does not load"):
        _load(model)


@pytest.mark.skipif(torch.cuda.is_available(), reason="asks for a GPU that is not there")
def test_a_gpu_that_is_not_there_is_an_error() -> None:
    with pytest.raises(DeviceError, match="this machine has 0"):
        resolve_device("cuda:0")


@pytest.mark.slow
def test_a_name_has_the_same_vector_bit_by_bit_in_any_company() -> None:
    """With the encoder that ships: a small one is too small to differ."""
    encoder = Encoder(find_checkpoint(ModelChoice.bundled()), device=torch.device("cpu"), precision="fp32")
    names = [
        f"{first} {second}" for first in ("arrow", "user circle", "file text", "x") for second in ("up", "a b c", "2")
    ]
    together = encoder.encode_texts(names * 9)
    order = np.random.default_rng(1).permutation(len(names))
    assert np.array_equal(encoder.encode_texts([names[place] for place in order]), together[order])
    for name, vector in zip(names, together, strict=False):
        assert np.array_equal(encoder.encode_texts([name])[0], vector)


def test_precision_is_that_of_the_gpu_which_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    """An Ampere card beside a Turing card, which is the current one."""
    capability = {0: (7, 5), 1: (8, 0), 2: (9, 0)}
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability[device.index])
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: False)
    found = [resolve_precision("auto", torch.device("cuda", number)) for number in capability]
    assert found == ["fp16", "bf16", "bf16"]


def test_a_gpu_without_a_number_is_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve_device("cuda") == resolve_device("auto") == torch.device("cuda", 0)
