"""What torch makes of pictures and words, and which model, device and precision that takes."""

import pickle
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from conftest import save_tiny_model
from torch import nn

from indexer.embedding.device import in_products_of
from indexer.embedding.planning import EmbedOptions
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.devices import context_opening
from indexer.encoders.graphs import sample_pixels
from indexer.encoders.torch_encoder import (
    Encoder,
    SmallMap,
    multiply_small_maps,
    products_in,
    resolve_device,
    resolve_precision,
)
from indexer.errors import ModelError

TEXTS = ["arrow", "a much longer name with very many words in it that does not fit", "x", "home outline"]


def _load(folder: Path) -> Encoder:
    return Encoder(find_checkpoint(ModelChoice(f"local-dir:{folder}")), device=torch.device("cpu"), precision="fp32")


def test_texts_cut_to_the_longest_give_the_vectors_of_the_full_context(tiny_encoder: Encoder) -> None:
    with torch.inference_mode():
        full = tiny_encoder.text_tower(tiny_encoder.tokenizer(TEXTS)).numpy()
    assert np.abs(tiny_encoder.encode_texts(TEXTS) - full).max() < 1e-3


def test_pixels_are_normalised_as_open_clips_own_preprocessing_does(tiny_model: Path, tiny_encoder: Encoder) -> None:
    from PIL import Image

    pixels = np.random.default_rng(0).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    model, _, preprocess = open_clip.create_model_and_transforms(f"local-dir:{tiny_model}")
    with torch.inference_mode():
        batch = torch.stack([preprocess(Image.fromarray(picture)) for picture in pixels])
        expected = model.eval().encode_image(batch, normalize=True).numpy()
    assert np.abs(tiny_encoder.encode_images(pixels) - expected).max() < 2e-3


@pytest.mark.slow
def test_half_weights_give_the_vectors_of_whole_ones() -> None:
    """With the encoder that ships, on real icons and words; weights are cast once, not for every batch."""
    found = []
    for precision in ("fp32", "bf16"):
        encoder = Encoder(find_checkpoint(ModelChoice.bundled()), device=torch.device("cpu"), precision=precision)
        vectors = encoder.encode_images(sample_pixels(encoder.image_size, n=16)), encoder.encode_texts(TEXTS)
        found.append(np.concatenate(vectors).astype(np.float32))
    assert {weight.dtype for weight in encoder.model.parameters()} == {torch.bfloat16}
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


def test_precision_is_that_of_the_gpu_which_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    """An Ampere card beside a Turing card, which is the current one."""
    capability = {0: (7, 5), 1: (8, 0), 2: (9, 0)}
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability[device.index])
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: False)
    assert [resolve_precision("auto", torch.device("cuda", it)) for it in capability] == ["fp16", "bf16", "bf16"]


def test_a_context_opens_beside_what_is_imported_and_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, loaded = Event(), Event()
    monkeypatch.setattr(torch, "zeros", lambda *_, device: [begun.set(), loaded.wait(10)][1] or pytest.fail("in turn"))
    with context_opening(torch.device("cuda", 0)):
        assert begun.wait(10)
        loaded.set()


def test_a_gpu_without_a_number_is_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve_device("cuda") == resolve_device("auto") == torch.device("cuda", 0)


def _tower(*, bias: bool = True) -> nn.Sequential:
    torch.manual_seed(0)
    return (
        nn.Sequential(
            nn.Conv2d(3, 5, 3, stride=2, padding=1, bias=bias),  # 8 x 8 -> 4 x 4
            nn.Conv2d(5, 7, 3, padding=1, bias=bias),
            nn.Conv2d(7, 9, 3, stride=2, padding=1, bias=bias),  # -> 2 x 2
            nn.Conv2d(9, 4, 3, padding=1, bias=bias),
        )
        .double()
        .eval()
    )


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(1, 3, 8, 8), (3, 3, 8, 8), (2, 3, 12, 16)])
def test_convolutions_over_small_maps_give_what_they_gave_before(bias: bool, shape: tuple[int, ...]) -> None:
    tower, images = _tower(bias=bias), torch.randn(*shape, dtype=torch.float64)
    with torch.inference_mode():
        before = tower(images)
        multiply_small_maps(tower)
        assert all(isinstance(layer, SmallMap) for layer in tower)
        assert (tower(images) - before).abs().max() < 1e-12


def test_what_has_no_small_map_to_convolve_stays_as_it_is() -> None:
    tower = nn.Sequential(
        nn.Conv2d(3, 3, 3, stride=3, padding=1),
        nn.Conv2d(3, 3, 1),
        nn.Conv2d(3, 3, 3, padding=1, groups=3),
        nn.Conv2d(3, 3, 3, padding=2, dilation=2),
        nn.Conv2d(3, 3, 3, padding=1, padding_mode="reflect"),
        nn.Conv2d(3, 3, (1, 3), padding=(0, 1)),
    )
    multiply_small_maps(tower)
    assert not any(isinstance(layer, SmallMap) for layer in tower)


def test_an_exported_tower_holds_the_convolutions_alone(tmp_path: Path) -> None:
    import onnx

    tower = _tower()
    multiply_small_maps(tower)
    with pytest.warns(DeprecationWarning):
        torch.onnx.export(tower, (torch.zeros(2, 3, 8, 8, dtype=torch.float64),), tmp_path / "tower.onnx", dynamo=False)
    assert [node.op_type for node in onnx.load(tmp_path / "tower.onnx").graph.node] == ["Conv"] * 4


AS_FOUND = (True, False)


def _allowed() -> tuple[bool, bool]:
    return torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32


@pytest.mark.parametrize(("precision", "inside"), [("fp32", (False, False)), ("bf16", AS_FOUND), ("auto", AS_FOUND)])
def test_products_are_what_a_precision_is_called(precision: Any, inside: tuple[bool, bool]) -> None:
    """Also those of a rank with a GPU."""
    for block in (products_in(precision), in_products_of(torch.device("cuda", 1), EmbedOptions(precision=precision))):
        with pytest.raises(ValueError, match="meanwhile"), block:
            assert _allowed() == inside
            raise ValueError("meanwhile")
        assert _allowed() == AS_FOUND
