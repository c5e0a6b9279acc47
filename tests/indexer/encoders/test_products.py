"""fp32 is fp32: nothing is rounded to tf32 while it computes, and what was allowed before is allowed again."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from indexer.bench.trials.knobs import NAIVE, Knobs
from indexer.bench.trials.loop import Loop
from indexer.bench.trials.material import gather, write_files
from indexer.bench.trials.trial import Trial
from indexer.embedding.embed import in_products_of
from indexer.embedding.options import EmbedOptions
from indexer.encoders.checkpoint import ModelChoice
from indexer.encoders.torch_encoder import ImageTower, products_in
from indexer.ranks.distributed import Rank

CUDNN, PRODUCTS = torch.backends.cudnn, torch.backends.cuda.matmul
AS_FOUND = (True, False)
"""As torch has it: cuDNN rounds, matrix products do not."""


def _allowed() -> tuple[bool, bool]:
    return CUDNN.allow_tf32, PRODUCTS.allow_tf32


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[tuple[bool, bool]]]:
    """What was allowed in each forward pass of a picture tower."""
    found: set[tuple[bool, bool]] = set()
    forward = ImageTower.forward

    def watch(tower: ImageTower, pixels: Any) -> Any:
        found.add(_allowed())
        return forward(tower, pixels)

    monkeypatch.setattr(ImageTower, "forward", watch)
    assert _allowed() == AS_FOUND
    yield found
    assert _allowed() == AS_FOUND


@pytest.mark.parametrize(
    ("precision", "inside"),
    [("fp32", (False, False)), ("tf32", (True, True)), ("bf16", AS_FOUND), ("auto", AS_FOUND)],
)
def test_products_are_what_a_precision_is_called(precision: str, inside: tuple[bool, bool]) -> None:
    with pytest.raises(ValueError, match="meanwhile"), products_in(precision):
        assert _allowed() == inside
        raise ValueError("meanwhile")
    assert _allowed() == AS_FOUND


@pytest.mark.parametrize(
    ("precision", "inside"), [("fp32", (False, False)), ("tf32", (True, True)), ("fp64", AS_FOUND)]
)
def test_a_loop_multiplies_as_its_precision_says(
    tiny_model: Path, tmp_path: Path, seen: set[tuple[bool, bool]], precision: Any, inside: tuple[bool, bool]
) -> None:
    material = gather(tmp_path / "material", None, choice=ModelChoice(f"local-dir:{tiny_model}"), n_images=4)
    cores = tuple(sorted(os.sched_getaffinity(0)))[:1]
    knobs = Knobs(path="loop", precision=precision, workers=0)
    Loop(Trial(knobs, material, "cpu", cores, 4), rank=Rank(), device=torch.device("cpu")).run()
    assert seen == {inside}
    write_files(material, n_images=4, workers=0)
    naive = Loop(Trial(NAIVE, material, "cpu", cores, 4), rank=Rank(), device=torch.device("cpu"))
    assert naive.products == "auto", "the script leaves all as torch has it"


@pytest.mark.parametrize(("precision", "inside"), [("fp32", (False, False)), ("bf16", AS_FOUND)])
def test_a_rank_with_a_gpu_embeds_in_fp32_where_that_is_asked_for(precision: Any, inside: tuple[bool, bool]) -> None:
    with in_products_of(torch.device("cuda", 1), EmbedOptions(precision=precision)):
        assert _allowed() == inside
    assert _allowed() == AS_FOUND
