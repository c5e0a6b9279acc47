"""fp32 is fp32: nothing is rounded to tf32 while it computes, and what was allowed before is allowed again."""

from typing import Any

import pytest
import torch

from indexer.embedding.device import in_products_of
from indexer.embedding.planning import EmbedOptions
from indexer.encoders.torch_encoder import products_in

CUDNN, PRODUCTS = torch.backends.cudnn, torch.backends.cuda.matmul
AS_FOUND = (True, False)
"""As torch has it: cuDNN rounds, matrix products do not."""


def _allowed() -> tuple[bool, bool]:
    return CUDNN.allow_tf32, PRODUCTS.allow_tf32


@pytest.mark.parametrize(("precision", "inside"), [("fp32", (False, False)), ("bf16", AS_FOUND), ("auto", AS_FOUND)])
def test_products_are_what_a_precision_is_called(precision: str, inside: tuple[bool, bool]) -> None:
    with pytest.raises(ValueError, match="meanwhile"), products_in(precision):
        assert _allowed() == inside
        raise ValueError("meanwhile")
    assert _allowed() == AS_FOUND


@pytest.mark.parametrize(("precision", "inside"), [("fp32", (False, False)), ("bf16", AS_FOUND)])
def test_a_rank_with_a_gpu_embeds_in_fp32_where_that_is_asked_for(precision: Any, inside: tuple[bool, bool]) -> None:
    with in_products_of(torch.device("cuda", 1), EmbedOptions(precision=precision)):
        assert _allowed() == inside
    assert _allowed() == AS_FOUND
