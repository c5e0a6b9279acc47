"""How does a GPU read memory of the host by itself? Its pages are locked, so that the system never moves them."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch

from indexer.arrays import Pixels


@contextmanager
def page_locked(memory: Pixels, device: torch.device, runtime: Any = None) -> Iterator[str | None]:
    """Lock the pages of some memory for the block; torch takes them as pinned, and copies from them wait for nothing.

    `runtime` is CUDA's. Once for all that is ever put there: it takes longer than a copy of the same size. Where the
    system refuses, the reason is yielded, and copies are waited for.
    """
    runtime = runtime or torch.cuda.cudart()  # type: ignore[no-untyped-call]
    address = memory.ctypes.data
    if error := int(runtime.cudaHostRegister(address, memory.nbytes, 0)):
        _forget_error(device)
        yield f"{memory.nbytes / 1e6:,.0f} MB of pixels can't be page-locked (CUDA error {error})"
        return
    try:
        yield None
    finally:
        if device.type == "cuda":
            torch.cuda.synchronize(device)  # copies that are under way still read it
        runtime.cudaHostUnregister(address)


def _forget_error(device: torch.device) -> None:
    """Take away CUDA's last error, which torch would raise at the next kernel, whatever that has to do with it."""
    with suppress(RuntimeError):
        torch.zeros(1, device=device)
