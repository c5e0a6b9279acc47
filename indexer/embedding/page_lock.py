"""How does a GPU read memory of the host by itself? Its pages are locked, so that the system never moves them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from indexer.arrays import Pixels
from indexer.errors import EmbedError


@contextmanager
def page_locked(memory: Pixels, device: torch.device, runtime: Any = None) -> Iterator[None]:
    """Lock the pages of some memory for the block; torch takes them as pinned, and copies from them wait for nothing.

    `runtime` is CUDA's. Once for all that is ever put there: it takes longer than a copy of the same size.

    Raises:
        EmbedError: the system does not lock so much.
    """
    runtime = runtime or torch.cuda.cudart()  # type: ignore[no-untyped-call]
    address = memory.ctypes.data
    if error := int(runtime.cudaHostRegister(address, memory.nbytes, 0)):
        raise EmbedError(
            f"{memory.nbytes / 1e6:,.0f} MB of pixels can't be page-locked (CUDA error {error}); "
            "free memory of this machine, or use --devices cpu"
        )
    try:
        yield
    finally:
        if device.type == "cuda":
            torch.cuda.synchronize(device)  # copies that are under way still read it
        runtime.cudaHostUnregister(address)
