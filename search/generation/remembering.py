"""What was asked a moment ago? An encoder that keeps its last vectors: a page asks for hits, then for more of them."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from hashlib import blake2b
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats
from indexer.encoders.query_encoder import QueryEncoder

N_KEPT = 64
"""Vectors; a query has one for its words, one for its picture, and one for each thing that it steers away from."""


class RememberingEncoder(QueryEncoder):
    """Another encoder, whose last vectors are kept. Many threads may ask at once."""

    def __init__(self, encoder: QueryEncoder) -> None:
        self.encoder = encoder
        self.image_size = encoder.image_size
        self._kept: OrderedDict[Hashable, Floats] = OrderedDict()
        self._changing = Lock()

    def has_token(self, word: str) -> bool:
        """Tell whether a word is so usual that the encoder reads it as one piece."""
        return self.encoder.has_token(word)

    def whole_words(self) -> list[str]:
        """List the words that are so usual that the encoder reads each as one piece."""
        return self.encoder.whole_words()

    def encode_many_words(self, texts: Sequence[str]) -> Floats:
        """Encode several texts of normalised words, (n, dim); those that are not kept in one go."""
        return self._vectors(texts, lambda new: self.encoder.encode_many_words([texts[place] for place in new]))

    def encode_many_pictures(self, pixels: NDArray[np.uint8]) -> Floats:
        """Encode uint8 pixels (n, size, size, 3), (n, dim); those that are not kept in one go."""
        digests = [blake2b(picture.tobytes(), digest_size=16).digest() for picture in pixels]
        return self._vectors(digests, lambda new: self.encoder.encode_many_pictures(pixels[new]))

    def _vectors(self, keys: Sequence[Hashable], encode: Callable[[list[int]], Floats]) -> Floats:
        """The vectors of some keys, (n, dim); `encode` makes those at some places."""
        with self._changing:
            found = {key: self._kept[key] for key in keys if key in self._kept}
        if new := [place for place, key in enumerate(keys) if key not in found]:
            found.update(zip((keys[place] for place in new), encode(new), strict=True))
        with self._changing:
            for key in keys:
                self._kept[key] = found[key]
                self._kept.move_to_end(key)
            while len(self._kept) > N_KEPT:
                self._kept.popitem(last=False)
        return np.stack([found[key] for key in keys])


def forgetful(encoder: QueryEncoder) -> QueryEncoder:
    """The encoder that makes the vectors: whoever measures it asks it each time."""
    return encoder.encoder if isinstance(encoder, RememberingEncoder) else encoder
