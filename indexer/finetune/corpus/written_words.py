"""What did somebody write of names, words and drawings, to be learnt from beside what icon sets say?

A folder with three files, an entry a line, best first: `keywords.txt` ("trash: bin, rubbish, delete"), names that many
sets draw; `pictures.txt` ("purity: droplet, sparkles"), words that are no icon's name, and what an icon would draw;
`drawings.tsv`, how some icons look: the first 10 digits of a picture's digest, set and name for people, descriptions
between "|". Each may be packed as `.xz`. `data/language/written` is one, and says who wrote it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from indexer.errors import SourceError
from indexer.library.named import PACKED, read_text
from indexer.naming.names import normalise

Lists = Mapping[str, Sequence[str]]
KEYWORDS, PICTURES, DRAWINGS = "keywords.txt", "pictures.txt", "drawings.tsv"
_DIGITS = 10


@dataclass(frozen=True, slots=True)
class WrittenWords:
    """All normalised: names as icons bear them, words as people type them."""

    keywords: Lists = field(default_factory=dict)
    """By name."""
    pictures: Lists = field(default_factory=dict)
    """Names by word."""
    drawings: Lists = field(default_factory=dict)
    """Descriptions by the first digits of a picture's digest."""

    def of_drawing(self, digest: bytes) -> Sequence[str]:
        """How a picture looks; nothing where nobody wrote of it."""
        return self.drawings.get(digest.hex()[:_DIGITS], ())

    def tags_by_name(self) -> Lists:
        """Words by name, from both; keywords twice, since they were written for that name."""
        found: dict[str, list[str]] = defaultdict(list)
        for name, words in self.keywords.items():
            found[name] += [*words, *words]
        for word, names in self.pictures.items():
            for name in names:
                found[name].append(word)
        return dict(found)


def read_written(folder: Path | None) -> WrittenWords:
    """Read the files of a folder; without one nothing is written.

    Raises:
        SourceError: a file is missing, or has a line that is no entry.
    """
    if folder is None:
        return WrittenWords()
    return WrittenWords(_entries(folder / KEYWORDS), _entries(folder / PICTURES), _drawings(folder / DRAWINGS))


def _lines(file: Path) -> Sequence[str]:
    packed = file.with_name(file.name + PACKED)
    if not (file.is_file() or packed.is_file()):
        raise SourceError(f'no "{file}"; give a folder of {KEYWORDS}, {PICTURES} and {DRAWINGS}')
    return read_text(file if file.is_file() else packed).splitlines()


def _drawings(file: Path) -> Lists:
    entries = {}
    for number, line in enumerate(_lines(file), 1):
        digits, *_, descriptions = line.split("\t")
        listed = [spelt for text in descriptions.split("|") if (spelt := normalise(text))]
        if len(digits) != _DIGITS or not listed:
            raise SourceError(f'"{file}", line {number}: "{line}" is no entry; write digest, icon and descriptions')
        entries[digits] = listed
    return entries


def _entries(file: Path) -> Lists:
    entries = {}
    for number, line in enumerate(_lines(file), 1):
        key, _, words = line.partition(": ")
        listed = dict.fromkeys(spelt for word in words.split(", ") if (spelt := normalise(word)))
        if not (normalise(key) and listed):
            raise SourceError(f'"{file}", line {number}: "{line}" is no entry; write "trash: bin, rubbish"')
        entries[normalise(key)] = list(listed)
    return entries
