"""Does an encoder without torch make the vectors that torch makes, and is it taken where it is sooner?"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from indexer.arrays import Halves
from indexer.encoders import graphs
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.devices import HOST, parse_devices
from indexer.encoders.graphs import TORCH_PAYS, OnnxEncoder, load_encoder
from indexer.encoders.loaded import sample_names, sample_pixels
from indexer.encoders.torch_encoder import Encoder, resolve_device
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.process import computes_in_bf16

if TYPE_CHECKING:
    from indexer.encoders.loaded import LoadedEncoder

BUNDLED = find_checkpoint(ModelChoice.bundled())


def _least_cosine(ours: Halves, theirs: Halves) -> float:
    first, second = ours.astype(np.float64), theirs.astype(np.float64)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return float(((first * second).sum(axis=1) / lengths).min())


@pytest.fixture(scope="module")
def encoder() -> "LoadedEncoder":
    return load_encoder(BUNDLED, device=HOST, precision="fp32", n_images=1)


def test_vectors_of_both_ways_are_interchangeable(encoder: "LoadedEncoder") -> None:
    assert isinstance(encoder, OnnxEncoder)
    torchs = Encoder(BUNDLED, device=resolve_device("cpu"), precision="fp32")
    assert (encoder.image_size, encoder.dim, encoder.precision) == (torchs.image_size, torchs.dim, torchs.precision)
    names, pixels = [*sample_names(n=64), "x" * 300, ""], sample_pixels(64, n=32)
    for ours, theirs in (
        (encoder.encode_texts(names), torchs.encode_texts(names)),
        (encoder.encode_images(pixels), torchs.encode_images(pixels)),
    ):
        assert ours.dtype == np.float16
        assert _least_cosine(ours, theirs) > 0.99999


def test_a_name_has_the_same_vector_bit_by_bit_in_any_company(encoder: "LoadedEncoder") -> None:
    names = sample_names(n=100)
    together = encoder.encode_texts(names)
    order = np.random.default_rng(1).permutation(len(names))
    assert np.array_equal(encoder.encode_texts([names[place] for place in order]), together[order])
    for place in range(0, 100, 10):
        assert np.array_equal(encoder.encode_texts([names[place]])[0], together[place])


def test_several_threads_ask_it_at_once(encoder: "LoadedEncoder") -> None:
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
    assert [kind("auto", n) for n in (pays - 1, pays)] == [OnnxEncoder, Encoder]
    assert kind("bf16", 10) is Encoder
    (model / "graphs.json").unlink()
    assert kind("auto", 10) is Encoder


@pytest.mark.slow
def test_a_small_library_is_built_and_examined_without_torch(tmp_path: Path) -> None:
    """Scan, embedding, merge, and the doctor's sample; the model's weights are linked, nothing is exported."""
    icons = tmp_path / "icons"
    icons.mkdir()
    for path in sorted((bundled("samples") / "lucide-static").rglob("*.svg"))[:20]:
        (icons / path.name).write_bytes(path.read_bytes())
    code = (
        "import sys; from click.testing import CliRunner; from search.cli import main;"
        f"told = [CliRunner().invoke(main, [*words, '--library', {str(tmp_path / 'library')!r}]) "
        f"for words in (['index', {str(icons)!r}], ['doctor'])];"
        "print(*(one.output for one in told));"
        "assert [one.exit_code for one in told] == [0, 0];"
        "print('IMPORTED', *sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONWARNINGS": ""},
    )
    said, _, imported = done.stdout.partition("IMPORTED")
    assert "20 icons: 20 pictures" in said
    assert "the library is sound" in said
    if parse_devices("auto").device == "cpu":
        assert not {"torch", "open_clip", "timm", "transformers", "onnx"} & set(imported.split())
    library = Library(tmp_path / "library")
    assert (library.encoder(BUNDLED.fingerprint) / BUNDLED.weights.name).is_file()
