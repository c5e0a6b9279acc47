"""Encoders: open_clip models and their ONNX towers say the same."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from conftest import Silent, disc, save_tiny_model
from torch import nn

from indexer.arrays import Halves
from indexer.embedding.device import in_products_of
from indexer.embedding.planning import EmbedOptions
from indexer.encoders import graphs
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.devices import HOST, Gpus, context_opening, parse_devices
from indexer.encoders.graphs import (
    TORCH_PAYS,
    LoadedEncoder,
    OnnxEncoder,
    find_graphs,
    load_encoder,
    sample_names,
    sample_pixels,
)
from indexer.encoders.int8 import Quantising
from indexer.encoders.torch_encoder import (
    Encoder,
    SmallMap,
    multiply_small_maps,
    products_in,
    resolve_device,
    resolve_precision,
)
from indexer.errors import DeviceError, EmbedError, ModelError
from indexer.library.bundled import bundled
from indexer.library.durable import write_file
from indexer.library.folder import Library
from indexer.library.shards import precisions
from indexer.pipeline import IndexOptions, index
from indexer.process import computes_in_bf16

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
    assert (encoder.image_size, encoder.dim) == (224, 1024)
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


def test_a_gpu_without_a_number_is_the_first_and_one_that_torch_can_not_use_is_told_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve_device("cuda") == resolve_device("auto") == torch.device("cuda", 0)
    monkeypatch.setattr("indexer.encoders.torch_encoder.find_gpus", lambda: Gpus(3, why='GPU "2" is lost'))
    with pytest.raises(DeviceError, match=r'no GPU "cuda:2": torch can use 2 \(GPU "2" is lost\); --devices cpu'):
        resolve_device("cuda:2")


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


BUNDLED = find_checkpoint(ModelChoice.bundled())


def _least_cosine(ours: Halves, theirs: Halves) -> float:
    first, second = ours.astype(np.float64), theirs.astype(np.float64)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return float(((first * second).sum(axis=1) / lengths).min())


@pytest.fixture(scope="module")
def encoder() -> LoadedEncoder:
    return load_encoder(BUNDLED, device=HOST, precision="fp32", n_images=1)


def test_vectors_of_both_ways_are_interchangeable(encoder: LoadedEncoder) -> None:
    assert isinstance(encoder, OnnxEncoder)
    torchs = Encoder(BUNDLED, device=resolve_device("cpu"), precision="fp32")
    assert (encoder.image_size, encoder.dim, encoder.precision) == (torchs.image_size, torchs.dim, torchs.precision)
    names, pixels = [*sample_names(n=64), "x" * 300, ""], sample_pixels(64, n=32)
    for ours, theirs in (
        (encoder.encode_texts(names), torchs.encode_texts(names)),
        (encoder.encode_images(pixels), torchs.encode_images(pixels)),
    ):
        assert ours.dtype == np.float16 and _least_cosine(ours, theirs) > 0.99999


@pytest.mark.parametrize("n_images", [1, pytest.param(1 << 40, marks=pytest.mark.slow)], ids=["graphs", "torch"])
def test_a_name_has_the_same_vector_bit_by_bit_in_any_company(n_images: int) -> None:
    """With the encoder that ships: a small one is too small to differ."""
    names, encoder = sample_names(n=100), load_encoder(BUNDLED, device=HOST, precision="fp32", n_images=n_images)
    together, order = encoder.encode_texts(names), np.random.default_rng(1).permutation(len(names))
    assert np.array_equal(encoder.encode_texts([names[place] for place in order]), together[order])
    alone = [encoder.encode_texts([name])[0] for name in names[::10]]
    assert np.array_equal(alone, together[::10])


def test_several_threads_ask_it_at_once(encoder: LoadedEncoder) -> None:
    pixels = sample_pixels(64, n=16)
    alone = encoder.encode_images(pixels)
    with ThreadPoolExecutor(4) as threads:
        assert all(np.array_equal(vectors, alone) for vectors in threads.map(encoder.encode_images, [pixels] * 12))


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells")
def test_it_is_told_without_torch_whether_a_processor_computes_in_bf16() -> None:
    assert computes_in_bf16() == torch.cpu._is_avx512_bf16_supported()


@pytest.mark.parametrize("has_bf16", [False, True])
def test_torch_is_taken_for_many_pictures_and_other_precisions(
    model: Path, has_bf16: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphs, "computes_in_bf16", lambda: has_bf16)
    monkeypatch.setattr(graphs, "cores_of_rank", lambda: 2)
    checkpoint, least = find_checkpoint(ModelChoice(f"local-dir:{model}")), 2 * TORCH_PAYS["fp32"]

    def kind(precision: Any, n_images: int) -> type:
        return type(load_encoder(checkpoint, device=HOST, precision=precision, n_images=n_images))

    assert [kind("fp32", n) for n in (least - 1, least)] == [OnnxEncoder, Encoder]
    pays = 2 * TORCH_PAYS["bf16" if has_bf16 else "fp32"]
    assert [kind("auto", n) for n in (pays - 1, pays)] == [OnnxEncoder, Encoder] and kind("bf16", 10) is Encoder
    (model / "graphs.json").unlink()
    assert kind("auto", 10) is Encoder


@pytest.mark.slow
def test_a_small_library_is_built_and_examined_without_torch(tmp_path: Path) -> None:
    """Scan, embedding, merge, and the doctor's sample; the model's graphs are taken, nothing is exported."""
    for path in sorted((bundled("samples") / "lucide-static").rglob("*.svg"))[:20]:
        write_file(tmp_path / "icons" / path.name, path.read_bytes())
    code = (
        "import sys; from click.testing import CliRunner; from search.cli import main;"
        f"told = [CliRunner().invoke(main, [*words, '--library', {str(tmp_path / 'library')!r}]) "
        f"for words in (['index', {str(tmp_path / 'icons')!r}], ['doctor'])];"
        "print(*(one.output for one in told));"
        "assert [one.exit_code for one in told] == [0, 0];"
        "print('IMPORTED', *sorted(sys.modules))"
    )
    environment = os.environ | {"PYTHONWARNINGS": ""}
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    ).stdout
    told, _, imported = said.partition("IMPORTED")  # what is told names the version of torch
    assert "20 icons: 20 pictures" in told and "the library is sound" in told
    if parse_devices("auto").device == "cpu":
        assert not {"torch", "open_clip", "timm", "transformers", "onnx"} & set(imported.split())


def test_int8_says_of_bundled_icons_what_fp32_says() -> None:
    pixels = sample_pixels(64, n=100, first=3)  # none of those that its ranges were taken from
    exact, quick = (
        load_encoder(BUNDLED, device=HOST, precision=precision, n_images=1).encode_images(pixels).astype(np.float32)
        for precision in ("fp32", "int8")
    )
    assert (exact * quick).sum(axis=1).min() > 0.997 and (exact * quick).sum(axis=1).mean() > 0.999


def test_scales_and_biases_are_all_that_an_int8_graph_holds() -> None:
    found = find_graphs(BUNDLED)
    assert found is not None and found.path("image-int8").stat().st_size < 120_000
    quantising = Quantising(found.path("image").read_bytes(), {}, {}, {})
    assert (len(quantising.inner()), len(quantising.convolved())) == (25, 14)


def test_a_tower_that_is_none_of_convolutions_gets_no_int8_graph(graphed_model: Path) -> None:
    checkpoint = find_checkpoint(ModelChoice(f"local-dir:{graphed_model}"))
    with pytest.raises(ModelError, match="can't be embedded in int8"):
        load_encoder(checkpoint, device=HOST, precision="int8", n_images=1)


def _draw(folder: Path, names: str) -> Path:
    for number, name in enumerate(names):
        write_file(folder / f"{name}.svg", disc(4 + 2 * number, 12).encode())
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("begins", "other"), [("int8", "fp32"), ("auto", "int8")])
def test_a_library_goes_on_as_it_began(begins: Any, other: Any, library: Library, tmp_path: Path) -> None:
    def build(names: str, *, precision: Any) -> set[str]:
        how, sources = EmbedOptions(workers=0, precision=precision), [_draw(tmp_path / "icons", names)]
        index(library, IndexOptions(sources=sources, devices="cpu", embed=how), Silent())
        return precisions(library.vectors(BUNDLED.fingerprint))

    held = {"int8" if begins == "int8" else "fp32"}
    assert (build("ab", precision=begins), build("abcd", precision="auto")) == (held, held)
    with pytest.raises(EmbedError, match="which is never mixed with"):
        build("abcdef", precision=other)


def test_a_gpu_that_is_named_refuses_int8(library: Library, tmp_path: Path) -> None:
    how = {"devices": "1", "embed": EmbedOptions(workers=0, precision="int8")}
    with pytest.raises(EmbedError, match="in int8 on processors alone; give --devices cpu"):
        index(library, IndexOptions(sources=[_draw(tmp_path / "icons", "a")], **how), Silent())
