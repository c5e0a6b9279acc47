"""Writes the file that `indexer.languages.dictionary` reads, and groups English words by their sound."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from indexer.languages.dictionary import BASE, FIRST_DIGIT, FORMAT, HEAVIEST, MAGIC, Meaning
from indexer.languages.letters import LEAST_CLASSES, MARK, consonants, ways_to_say
from indexer.library.named import write_result

_BLOCK_BYTES = 16_384
"""Of lines, before deflate: each look-up opens one block or two."""
SOUNDS = "zxx"
"""Code under which a dictionary holds English words by their consonants."""
MOST_WORDS = 24
"""Of the same consonants."""


def write_dictionary(path: Path, keys: Mapping[str, Sequence[Meaning]], *, names: Mapping[str, str]) -> None:
    """Write a dictionary; `names` are the English names of its languages, in the order in which they count.

    Raises:
        ValueError: it has more terms or languages than the format holds.
    """
    numbers = {code: number for number, code in enumerate(names)}
    terms = _terms_by_use(keys.values())
    if len(terms) > BASE**2 or len(numbers) > BASE:
        raise ValueError(f"{len(terms):,} terms in {len(numbers)} languages; {BASE**2:,} and {BASE} fit")
    lines = sorted(key.encode() + b"\t" + _spelled(meanings, numbers, terms) for key, meanings in keys.items())
    blocks = list(_in_blocks(lines))
    common = _common_of(blocks)
    packed = [_deflate(b"\n".join(block), common) for block in blocks]
    ends = np.cumsum([len(block) for block in packed]).astype("<u4").tobytes()
    firsts = b"\n".join(block[0].partition(b"\t")[0] for block in blocks)
    sections = [zlib.compress(part, 9) for part in ("\n".join(terms).encode(), firsts, ends, common)]
    header = json.dumps(
        {"format": FORMAT, "languages": dict(names), "sections": [len(section) for section in sections]},
        ensure_ascii=False,
    ).encode()
    write_result(path, b"".join([MAGIC, len(header).to_bytes(4, "little"), header, *sections, *packed]), option="--out")


def _terms_by_use(meanings: Iterable[Sequence[Meaning]]) -> dict[str, int]:
    """Number the terms, those that are used most first: small numbers repeat, which deflate likes."""
    uses: dict[str, int] = {}
    for groups in meanings:
        for group in groups:
            for term, _ in group.terms:
                uses[term] = uses.get(term, 0) + 1
    order = sorted(uses, key=lambda term: (-uses[term], term))
    return {term: number for number, term in enumerate(order)}


def _spelled(meanings: Sequence[Meaning], numbers: Mapping[str, int], terms: Mapping[str, int]) -> bytes:
    digits: list[int] = []
    for meaning in meanings:
        digits += [len(meaning.languages), *sorted(numbers[code] for code in meaning.languages)]
        digits.append(len(meaning.terms))
        for term, weight in meaning.terms:
            digits += [*divmod(terms[term], BASE), max(1, round(HEAVIEST * weight))]
    return bytes(digit + FIRST_DIGIT for digit in digits)


def _in_blocks(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    block: list[bytes] = []
    size = 0
    for line in lines:
        block.append(line)
        size += len(line) + 1
        if size >= _BLOCK_BYTES:
            yield block
            block, size = [], 0
    if block:
        yield block


def _common_of(blocks: Sequence[Sequence[bytes]]) -> bytes:
    """What deflate may point back to from the first byte of a block on: some lines from all over the file."""
    chosen = blocks[:: max(1, len(blocks) // 32)]
    return b"\n".join(line for block in chosen for line in block[:20])[-32_768:]


def _deflate(content: bytes, common: bytes) -> bytes:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15, zdict=common)
    return deflate.compress(content) + deflate.flush()


def keys_of_english(word: str) -> set[str]:
    """Keys of an English word."""
    return {MARK + classes for way in ways_to_say(word) if len(classes := consonants(way)) >= LEAST_CLASSES}


def group_by_sound(words: Iterable[str]) -> Mapping[str, list[str]]:
    """Group English words, the most used first, by their keys."""
    found: dict[str, list[str]] = {}
    for word in words:
        for key in keys_of_english(word):
            if len(held := found.setdefault(key, [])) < MOST_WORDS:
                held.append(word)
    return found
