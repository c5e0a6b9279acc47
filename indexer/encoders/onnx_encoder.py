"""Pictures and words -> unit vectors on the processor without torch, by the graphs beside a model's weights."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Halves, Ids
from indexer.encoders.graphs import Graphs
from indexer.encoders.tokens import Tokens, clip_tokenizer, rows_by_length
from indexer.encoders.tower import Tower
from indexer.errors import ModelError
from indexer.ranks.devices import HOST


class OnnxEncoder:
    """Does what `torch_encoder.Encoder` does, a few seconds sooner; several threads may ask it at once.

    Attributes: `image_size` in pixels, `dim` of a vector, `precision` of its picture tower.
    """

    device = HOST
    device_type = "cpu"
    out_of_memory = MemoryError
    texts_at_once = 32

    def __init__(self, graphs: Graphs, *, precision: Literal["fp32", "int8"], threads: int) -> None:
        """Open both towers; all calls share `threads`, less one, beside their own.

        Raises:
            ModelError: ONNX Runtime refuses a graph.
        """
        self.checkpoint = graphs.checkpoint
        self.precision = precision
        shape = graphs.facts.shape
        self.image_size, self.dim = shape.image_size, shape.dim
        self._cuts_texts = shape.cuts_texts
        paths = [graphs.path(name) for name in ("text", "image" if precision == "fp32" else "image-int8")]
        try:
            with ThreadPoolExecutor(len(paths)) as opening:
                self._text, self._image = opening.map(partial(Tower, threads=threads), paths)
        except RuntimeError as error:
            folder = self.checkpoint.weights.parent
            raise ModelError(f'a graph in "{folder}" can\'t be opened ({error}); delete "graphs.json" there') from error
        tokens = {"context_length": shape.context_length, "start": shape.start_token, "end": shape.end_token}
        self._tokens = Tokens(clip_tokenizer(), **tokens)

    def take_threads(self, n: int) -> None:
        """All calls share those that it was opened with."""

    def make_room(self) -> None:
        """Nothing is kept that could be given back."""

    def encode_images(self, pixels: NDArray[np.uint8]) -> Halves:
        """Encode uint8 pixels (n, size, size, 3) into unit vectors fp16 (n, dim)."""
        return self._image.run("pixels", pixels).astype(np.float16)

    def encode_texts(self, texts: Sequence[str]) -> Halves:
        """Encode texts into unit vectors fp16 (n, dim), in the order given; longer ones than the context are cut."""
        vectors = np.empty((len(texts), self.dim), dtype=np.float16)
        for rows, encoded in self.encode_text_batches(texts):
            vectors[rows] = encoded
        return vectors

    def encode_text_batches(
        self, texts: Sequence[str], *, batch_size: int | None = None
    ) -> Iterator[tuple[Ids, Halves]]:
        """Yield places of some of the texts, with their unit vectors fp16 (n, dim), until all were encoded.

        Texts of one length go together, in batches that are filled up to one size: so a text has the same vector, bit
        by bit, in any company.
        """
        batch_size = batch_size or self.texts_at_once
        tokens = self._tokens.of(texts)
        lengths = (tokens != 0).sum(axis=1) if self._cuts_texts else np.full(len(tokens), tokens.shape[1])
        for rows in rows_by_length(lengths, at_once=batch_size):
            batch = tokens[rows, : lengths[rows[0]]]
            filling = np.repeat(batch[:1], batch_size - len(rows), axis=0)
            vectors = self._text.run("tokens", np.concatenate([batch, filling]))[: len(rows)]
            yield rows, vectors.astype(np.float16)
