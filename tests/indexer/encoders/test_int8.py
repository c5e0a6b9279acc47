"""Is the int8 picture tower near enough to fp32, and never mixed with it?"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Silent, disc

from indexer.embedding.planning import EmbedOptions
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.devices import HOST
from indexer.encoders.graphs import find_graphs, load_encoder
from indexer.encoders.int8 import Quantising
from indexer.encoders.loaded import sample_pixels
from indexer.errors import EmbedError, ModelError
from indexer.library.folder import Library
from indexer.library.shards import precisions
from indexer.pipeline import IndexOptions, index

BUNDLED = find_checkpoint(ModelChoice.bundled())


def test_int8_says_of_bundled_icons_what_fp32_says() -> None:
    pixels = sample_pixels(64, n=100, first=3)  # none of those that its ranges were taken from
    exact, quick = (
        load_encoder(BUNDLED, device=HOST, precision=precision, n_images=1).encode_images(pixels).astype(np.float32)
        for precision in ("fp32", "int8")
    )
    cosines = (exact * quick).sum(axis=1) / np.linalg.norm(exact, axis=1) / np.linalg.norm(quick, axis=1)
    assert cosines.min() > 0.997
    assert cosines.mean() > 0.999


def test_scales_and_biases_are_all_that_an_int8_graph_holds() -> None:
    graphs = find_graphs(BUNDLED)
    assert graphs is not None
    assert graphs.has_int8
    assert graphs.path("image-int8").stat().st_size < 120_000
    quantising = Quantising(graphs.path("image").read_bytes(), {}, {}, {})
    assert (len(quantising.inner()), len(quantising.convolved())) == (25, 14)


def test_a_tower_that_is_none_of_convolutions_gets_no_int8_graph(graphed_model: Path) -> None:
    checkpoint = find_checkpoint(ModelChoice(f"local-dir:{graphed_model}"))
    graphs = find_graphs(checkpoint)
    assert graphs is not None
    assert not graphs.has_int8
    with pytest.raises(ModelError, match="can't be embedded in int8"):
        load_encoder(checkpoint, device=HOST, precision="int8", n_images=1)


def _draw(folder: Path, names: str) -> Path:
    folder.mkdir(exist_ok=True)
    for number, name in enumerate(names):
        (folder / f"{name}.svg").write_text(disc(4 + 2 * number, 12))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("begins", "other"), [("int8", "fp32"), ("auto", "int8")])
def test_a_library_goes_on_as_it_began(begins: Any, other: Any, library: Library, tmp_path: Path) -> None:
    def build(names: str, *, precision: Any) -> set[str]:
        how = EmbedOptions(workers=0, precision=precision)
        sources = [_draw(tmp_path / "icons", names)]
        index(library, IndexOptions(sources=sources, devices="cpu", embed=how), Silent())
        return precisions(library.vectors(BUNDLED.fingerprint))

    held = {"int8" if begins == "int8" else "fp32"}
    assert build("ab", precision=begins) == held
    assert build("abcd", precision="auto") == held
    with pytest.raises(EmbedError, match="which is never mixed with"):
        build("abcdef", precision=other)


def test_a_gpu_that_is_named_refuses_int8(library: Library, tmp_path: Path) -> None:
    how = EmbedOptions(workers=0, precision="int8")
    options = IndexOptions(sources=[_draw(tmp_path / "icons", "a")], devices="1", embed=how)
    with pytest.raises(EmbedError, match="in int8 on processors alone; give --devices cpu"):
        index(library, options, Silent())
