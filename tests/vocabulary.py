"""CLIP's vocabulary, which nearly every test reads: one process reads it once, which is half of what a search takes."""

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tokenizers


class _ReadOnce:
    """`tokenizers.Tokenizer` that reads files of one content once; nothing changes a tokenizer that was read."""

    _known: dict[bytes, tokenizers.Tokenizer] = {}  # noqa: RUF012
    _original = tokenizers.Tokenizer

    def __new__(cls, *given: Any) -> Any:
        return cls._original(*given)

    @classmethod
    def from_file(cls, path: str) -> tokenizers.Tokenizer:
        digest = hashlib.sha256(Path(path).read_bytes()).digest() if Path(path).is_file() else b""
        if digest not in cls._known:
            cls._known[digest] = cls._original.from_file(path)
        return cls._known[digest]


@contextmanager
def read_once() -> Iterator[None]:
    """Share what is read of vocabularies until the block ends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokenizers, "Tokenizer", _ReadOnce)
        if factory := sys.modules.get("open_clip.factory"):
            patch.setattr(factory, "SimpleTokenizer", cache(factory.SimpleTokenizer))
        yield
