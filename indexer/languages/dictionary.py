"""Meanings of words in English: a file of which a query reads a few kilobytes.

`data/language/dictionary.bin`: keys of all languages in one order, as `fold` spells them, in blocks of deflate that are
opened when they are asked for. `data/making/language/writing.py` writes it.

    magic, 8 bytes | length of the header, 4 bytes | header in JSON | sections, as long as the header says | blocks

A block is lines "key TAB groups" in ascending order. A group says what some languages mean by a key: how many
languages, each one's number, how many terms, and for each two digits of its number and its weight, 1 to 15. A digit is
a byte of 16 or more, so that none is a line's end.
"""

import json
import mmap
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from itertools import chain, dropwhile, islice, takewhile
from pathlib import Path
from typing import Self

import numpy as np

from indexer.errors import LibraryError
from indexer.library.bundled import bundled

MAGIC, FORMAT = b"ICONWORD", 1
HEAVIEST = 15
"""Weight of a key's first term."""
ENGLISH, ANY = "en", "mul"
"""Codes of English, and of words whose language nobody has said."""
BASE, FIRST_DIGIT = 240, 16


@dataclass(frozen=True, slots=True)
class Meaning:
    """What some languages mean by a key."""

    languages: frozenset[str]
    """ISO 639 codes."""
    terms: tuple[tuple[str, float], ...]
    """English words or phrases, the likeliest first, with weights from 1 down; none for a word of English itself."""


class Dictionary:
    """Keys and their meanings, on disk; safe for any number of threads."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:  # an empty one can't be mapped
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if path.stat().st_size else b""
        if self._bytes[: len(MAGIC)] != MAGIC:
            raise LibraryError(f'"{path}" is no dictionary; install icons anew')
        try:
            self._open()
        except (ValueError, KeyError, zlib.error) as error:
            raise LibraryError(f'"{path}" is damaged ({error}); install icons anew') from error

    def _open(self) -> None:
        """Read what stands before the blocks.

        Raises:
            ValueError: the file is of another format, or not whole.
        """
        begin = len(MAGIC) + 4
        end = begin + int.from_bytes(self._bytes[len(MAGIC) : begin], "little")
        header = json.loads(self._bytes[begin:end])
        if header["format"] != FORMAT:
            raise ValueError(f'format "{header["format"]}", this program reads "{FORMAT}"')
        self.languages: Mapping[str, str] = header["languages"]
        """ISO 639 code -> English name, those with most keys first."""
        self._codes = list(self.languages)
        sections = []
        for length in header["sections"]:
            sections.append(zlib.decompress(self._bytes[end : end + length]))
            end += length
        terms, firsts, ends, self._common = sections
        self._terms = terms.decode().split("\n")
        self._firsts = firsts.split(b"\n")
        self._ends = [end, *(end + np.frombuffer(ends, "<u4")).tolist()]
        if self._ends[-1] != len(self._bytes):
            raise ValueError(f"{len(self._bytes)} of {self._ends[-1]} bytes")
        self._block = lru_cache(maxsize=256)(self._read_block)
        self.meanings: Callable[[str], tuple[Meaning, ...]] = lru_cache(maxsize=1024)(self._look_up)
        """All meanings of a folded key; none where no language has it."""

    @cached_property
    def digest(self) -> str:
        """What tells it from any other dictionary."""
        return blake2b(self._bytes, digest_size=8).hexdigest()

    def _look_up(self, key: str) -> tuple[Meaning, ...]:
        start = key.encode() + b"\t"
        lines = self._block(self._block_of(start))
        place = bisect_left(lines, start)
        found = (line[len(start) :] for line in lines[place : place + 1] if line.startswith(start))
        return tuple(meaning for line in found for meaning in self._groups(line))

    def beginning(self, start: str) -> Iterator[str]:
        """All keys that begin so, in their order."""
        first = start.encode()
        lines = chain.from_iterable(map(self._block, range(self._block_of(first + b"\t"), len(self._firsts))))
        begun = takewhile(lambda line: line.startswith(first), dropwhile(lambda line: line < first, lines))
        return (line.partition(b"\t")[0].decode() for line in begun)

    def _block_of(self, start: bytes) -> int:
        return max(0, bisect_right(self._firsts, start[:-1]) - 1)

    def _read_block(self, number: int) -> list[bytes]:
        packed = self._bytes[self._ends[number] : self._ends[number + 1]]
        return zlib.decompressobj(-15, zdict=self._common).decompress(packed).split(b"\n")

    def _groups(self, line: bytes) -> Iterator[Meaning]:
        digits = (byte - FIRST_DIGIT for byte in line)
        for n_languages in digits:
            languages = frozenset(self._codes[number] for number in islice(digits, n_languages))
            terms = islice(digits, 3 * next(digits))
            read = (
                (self._terms[high * BASE + low], weight / HEAVIEST)
                for high, low, weight in zip(*[terms] * 3, strict=True)
            )
            yield Meaning(languages, tuple(read))

    @classmethod
    @cache
    def bundled(cls, name: str = "dictionary") -> Self:
        """The dictionary that comes with `icons`, or its names of icons by what other sets call them: "synonyms"."""
        return cls(bundled("language") / f"{name}.bin")
