"""Does an encoder without torch make the vectors that torch makes, and is it taken where it is sooner?"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from conftest import save_tiny_model

from indexer.arrays import Halves
from indexer.encoders import graphs
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.devices import HOST, parse_devices
from indexer.encoders.graphs import MANY, TORCH_PAYS, OnnxEncoder, load_encoder
from indexer.encoders.loaded import sample_names, sample_pixels
from indexer.encoders.stored_graphs import write_graphs
from indexer.encoders.torch_encoder import Encoder, resolve_device
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.process import computes_in_bf16

if TYPE_CHECKING:
    from indexer.encoders.graphs import AnyEncoder

BUNDLED = find_checkpoint(ModelChoice.bundled())


def _least_cosine(ours: Halves, theirs: Halves) -> float:
    first, second = ours.astype(np.float64), theirs.astype(np.float64)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return float(((first * second).sum(axis=1) / lengths).min())


@pytest.fixture(scope="module")
def encoder() -> "AnyEncoder":
    return load_encoder(BUNDLED, device=HOST, precision="fp32", n_images=1)


def test_vectors_of_both_ways_are_interchangeable(encoder: "AnyEncoder") -> None:
    assert isinstance(encoder, OnnxEncoder)
    torchs = Encoder(BUNDLED, device=resolve_device("cpu"), precision="fp32")
    assert (encoder.image_size, encoder.dim, encoder.precision) == (torchs.image_size, torchs.dim, torchs.precision)
    names, pixels = [*sample_names(n=200), "x" * 300, ""], sample_pixels(64, n=64)
    for ours, theirs in (
        (encoder.encode_texts(names), torchs.encode_texts(names)),
        (encoder.encode_images(pixels), torchs.encode_images(pixels)),
    ):
        assert ours.dtype == np.float16
        assert _least_cosine(ours, theirs) > 0.99999


def test_a_name_has_the_same_vector_bit_by_bit_in_any_company(encoder: "AnyEncoder") -> None:
    names = sample_names(n=300)
    together = encoder.encode_texts(names)
    order = np.random.default_rng(1).permutation(len(names))
    assert np.array_equal(encoder.encode_texts([names[place] for place in order]), together[order])
    for place in range(0, 300, 25):
        assert np.array_equal(encoder.encode_texts([names[place]])[0], together[place])


def test_several_threads_ask_it_at_once(encoder: "AnyEncoder") -> None:
    pixels = sample_pixels(64, n=16)
    alone = encoder.encode_images(pixels)
    with ThreadPoolExecutor(4) as threads:
        assert all(np.array_equal(vectors, alone) for vectors in threads.map(encoder.encode_images, [pixels] * 12))


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells")
def test_it_is_told_without_torch_whether_a_processor_computes_in_bf16() -> None:
    assert computes_in_bf16() == torch.cpu._is_avx512_bf16_supported()


@pytest.mark.parametrize("has_bf16", [False, True])
def test_torch_pays_sooner_where_it_computes_in_bf16(monkeypatch: pytest.MonkeyPatch, has_bf16: bool) -> None:
    monkeypatch.setattr(graphs, "computes_in_bf16", lambda: has_bf16)
    monkeypatch.setattr(graphs, "cores_of_rank", lambda: 2)
    least = 2 * TORCH_PAYS["bf16" if has_bf16 else "fp32"]
    kinds = [type(load_encoder(BUNDLED, device=HOST, precision="auto", n_images=n)) for n in (least - 1, least)]
    assert kinds == [OnnxEncoder, Encoder]


@pytest.mark.parametrize(("n_images", "precision"), [(MANY, "fp32"), (10, "bf16")])
def test_torch_is_taken_for_many_pictures_and_other_precisions(n_images: int, precision: str, tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "model", seed=3)
    write_graphs(folder)
    checkpoint = find_checkpoint(ModelChoice(f"local-dir:{folder}"))
    given = {"device": HOST, "precision": precision, "n_images": n_images}
    assert isinstance(load_encoder(checkpoint, **given), Encoder)  # type: ignore[arg-type]
    few = {**given, "precision": "auto", "n_images": 10}
    assert isinstance(load_encoder(checkpoint, **few), OnnxEncoder)  # type: ignore[arg-type]
    (folder / "graphs.json").unlink()
    assert isinstance(load_encoder(checkpoint, **few), Encoder)  # type: ignore[arg-type]


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
