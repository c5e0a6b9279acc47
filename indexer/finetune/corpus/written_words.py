"""What did somebody write of names and words? Keywords of pictures by their names, and pictures for words without one.

A folder with two files, an entry a line, best first: `keywords.txt` ("trash: bin, rubbish, delete"), names that many
sets draw; `pictures.txt` ("purity: droplet, sparkles"), words that are no icon's name, and what an icon would draw.
`data/language/written` is one, and says who wrote it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from indexer.errors import SourceError
from indexer.naming.names import normalise

Lists = Mapping[str, Sequence[str]]
KEYWORDS, PICTURES = "keywords.txt", "pictures.txt"


@dataclass(frozen=True, slots=True)
class WrittenWords:
    """All normalised: names as icons bear them, words as people type them."""

    keywords: Lists = field(default_factory=dict)
    """By name."""
    pictures: Lists = field(default_factory=dict)
    """Names by word."""

    def told(self) -> Lists:
        """Words by name, from both; keywords twice, since they were written for that name."""
        found: dict[str, list[str]] = defaultdict(list)
        for name, words in self.keywords.items():
            found[name] += [*words, *words]
        for word, names in self.pictures.items():
            for name in names:
                found[name].append(word)
        return dict(found)


def read_written(folder: Path | None) -> WrittenWords:
    """Read the two files of a folder; without one nothing is written.

    Raises:
        SourceError: a file is missing, or has a line that is no entry.
    """
    return WrittenWords(_read(folder / KEYWORDS), _read(folder / PICTURES)) if folder else WrittenWords()


def _read(file: Path) -> Lists:
    if not file.is_file():
        raise SourceError(f'no "{file}"; give the folder of {KEYWORDS} and {PICTURES}')
    entries = {}
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        key, _, words = line.partition(": ")
        listed = dict.fromkeys(spelt for word in words.split(", ") if (spelt := normalise(word)))
        if not (normalise(key) and listed):
            raise SourceError(f'"{file}", line {number}: "{line}" is no entry; write "trash: bin, rubbish"')
        entries[normalise(key)] = list(listed)
    return entries
