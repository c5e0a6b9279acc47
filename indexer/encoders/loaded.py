"""What does every loaded encoder do, whatever library it computes with? No torch here."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, Protocol

from indexer.arrays import Halves, Ids, Pixels

AnyPrecision = Literal["auto", "fp32", "bf16", "fp16", "int8"]
"""In what an encoder computes; int8 without torch."""


class LoadedEncoder(Protocol):
    """Turns pictures and words into unit vectors; its methods may be called by several threads at once."""

    image_size: int
    """Side of a picture in pixels."""
    dim: int
    precision: Any
    """As it was resolved."""
    texts_at_once: int
    """Names of a batch; another number gives other last digits."""

    @property
    def out_of_memory(self) -> type[Exception]:
        """What is raised where there is no room for a batch."""

    def make_room(self) -> None:
        """Give back what is kept for later, after that was raised."""

    def take_threads(self, n: int) -> None:
        """Compute with so many threads in what the calling thread asks for."""

    def encode_images(self, pixels: Pixels) -> Halves:
        """Encode pictures (n, size, size, 3), (n, dim)."""

    def encode_text_batches(
        self, texts: Sequence[str], *, batch_size: int | None = None
    ) -> Iterator[tuple[Ids, Halves]]:
        """Yield places of some of the texts with their vectors, until all were encoded."""


_NO_ROOM = ("out of memory", "_ALLOC_FAILED", "allocate memory", "bad_alloc", "start new thread", "create a primitive")
"""What CUDA and its libraries, torch, the system, C++, Python and oneDNN say, which have no class for it."""


def is_no_room(error: BaseException) -> bool:
    """Whether a device, or this process, had no room."""
    is_of_class = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"  # torch's own
    return is_of_class or any(said in str(error) for said in _NO_ROOM)
