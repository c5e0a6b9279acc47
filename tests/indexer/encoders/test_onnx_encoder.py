"""An encoder without torch makes the vectors that torch makes, in int8 near ones; and is taken where it is sooner."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Silent, disc

from indexer.arrays import Halves
from indexer.embedding.planning import EmbedOptions
from indexer.encoders import graphs
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.devices import HOST, parse_devices
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
from indexer.encoders.torch_encoder import Encoder, resolve_device
from indexer.errors import EmbedError, ModelError
from indexer.library.bundled import bundled
from indexer.library.durable import write_file
from indexer.library.folder import Library
from indexer.library.shards import precisions
from indexer.pipeline import IndexOptions, index
from indexer.process import computes_in_bf16

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
    assert "20 icons: 20 pictures" in said and "the library is sound" in said
    if parse_devices("auto").device == "cpu":
        assert not {"torch", "open_clip", "timm", "transformers", "onnx"} & set(said.split())


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
