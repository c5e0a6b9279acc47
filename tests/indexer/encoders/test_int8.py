"""Is the int8 picture tower near enough to fp32, and taken where a processor has units for it?"""

from pathlib import Path

import numpy as np
import pytest
from conftest import save_tiny_model

from indexer.encoders import loading
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.graphs import find_graphs
from indexer.encoders.int8 import inner_tensors, quantise
from indexer.encoders.loading import load_encoder
from indexer.encoders.onnx_encoder import OnnxEncoder
from indexer.encoders.samples import sample_pixels
from indexer.encoders.stored_graphs import write_graphs
from indexer.errors import ModelError
from indexer.process import has_int8_units
from indexer.ranks.devices import HOST

BUNDLED = find_checkpoint(ModelChoice.bundled())


@pytest.mark.skipif(not has_int8_units(), reason="without units for it sums of bytes overflow")
def test_int8_says_of_bundled_icons_what_fp32_says() -> None:
    pixels = sample_pixels(64, n=200, first=3)  # none of those that its ranges were taken from
    exact, quick = (
        load_encoder(BUNDLED, device=HOST, precision=precision, n_images=1).encode_images(pixels).astype(np.float32)
        for precision in ("fp32", "int8")
    )
    cosines = (exact * quick).sum(axis=1) / np.linalg.norm(exact, axis=1) / np.linalg.norm(quick, axis=1)
    assert cosines.min() > 0.998
    assert cosines.mean() > 0.9995


def test_scales_and_biases_are_all_that_an_int8_graph_holds() -> None:
    graphs = find_graphs(BUNDLED)
    assert graphs is not None
    assert graphs.has_int8
    assert graphs.path("image-int8").stat().st_size < 120_000
    inner = inner_tensors(graphs.path("image").read_bytes())
    assert len(inner) == 23
    with pytest.raises(KeyError):
        quantise(graphs.path("image").read_bytes(), {}, {})


def test_a_tower_that_is_none_of_convolutions_gets_no_int8_graph(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "model", seed=3)
    write_graphs(folder)
    checkpoint = find_checkpoint(ModelChoice(f"local-dir:{folder}"))
    graphs = find_graphs(checkpoint)
    assert graphs is not None
    assert not graphs.has_int8
    with pytest.raises(ModelError, match="is not made for int8"):
        load_encoder(checkpoint, device=HOST, precision="int8", n_images=1)


@pytest.mark.parametrize(("has_units", "precision"), [(True, "int8"), (False, "fp32")])
def test_int8_is_taken_by_itself_where_there_are_units_for_it(
    has_units: bool, precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "has_int8_units", lambda: has_units)
    encoder = load_encoder(BUNDLED, device=HOST, precision="auto", n_images=1)
    assert isinstance(encoder, OnnxEncoder)
    assert encoder.precision == precision
