"""The values of each kind (set, style, licence, category, tag) and which one is meant; which sets come first."""

import re
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from indexer.errors import IconsError, UnknownSetError, explain_unreadable
from indexer.merging.facets import NONE, compared, reading
from indexer.sources.records import FAMILIES, family
from search.words.codes import SetNames

_NEAR = 5
_ALIKE = 70
"""Of 100: "thick" is not "thin"."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Labels:
    """All values of one kind; the code of a label is its place."""

    kind: str
    values: Sequence[str]
    titles: Sequence[str]
    n: NDArray[np.int64]
    """Icons of the whole library that bear each."""

    @classmethod
    def read(cls, path: Path, kind: str) -> Self:
        """Read the values of a kind from a generation's catalog.

        Raises:
            LibraryError: it can't be read.
        """
        query = "SELECT value, title, n FROM labels WHERE kind = ? ORDER BY code"
        failing = explain_unreadable(f'"{path}"', "`icons index` builds a new generation", damages=sqlite3.Error)
        with failing, reading(path) as connection:
            rows = connection.execute(query, (kind,)).fetchall()
        values, titles, n = zip(*rows, strict=True) if rows else ((), (), ())
        return cls(kind, values, titles, np.array(n, np.int64))

    def meant(self, asked: Iterable[str]) -> list[int]:
        """Codes of the labels that are asked for, case aside; of a family of licences all that belong to it.

        Icons that state no licence (NONE) belong to the unknown family.

        Raises:
            IconsError: a value is unknown here; the message names near ones.
        """
        return [code for value in asked for code in self._meant(value)]

    def called(self, names: Iterable[str]) -> list[str]:
        """Labels that are meant, each once; raises as `meant` does."""
        return list(dict.fromkeys(self.values[code] for code in self.meant(names)))

    def in_code(self, name: str) -> list[str]:
        """Keys of the sets that code means by a name."""
        return [self.values[code] for code in self.set_names.with_key(name) or ()]

    def _meant(self, value: str) -> list[int]:
        folded = compared(self.kind, value)
        if self.kind == "licence" and folded in FAMILIES:
            stated = [code for code, licence in enumerate(self.values) if family(licence) == folded]
            return [*stated, NONE] if family(None) == folded else stated
        if self.kind == "set" and (meant := self.set_names.meant(value)):
            return list(meant)
        if folded not in self._codes:
            most = [self.values[code] for code in np.argsort(-self.n, kind="stable")[:_NEAR]]
            message = unknown(self.kind, value, self._near(folded), most=most)
            raise UnknownSetError(message, name=value) if self.kind == "set" else IconsError(message)
        return self._codes[folded]

    def _near(self, folded: str) -> list[str]:
        """Values that are spelt much like one that is none, or have a word in their title that is."""
        from rapidfuzz import fuzz, process

        known: dict[str, list[str]] = {family: [family] for family in (FAMILIES if self.kind == "licence" else ())}
        for value, title in zip(self.values, self.titles, strict=True):
            for said in {compared(self.kind, value), title.lower(), *_WORD.findall(f"{value} {title}".lower())}:
                known.setdefault(said, []).append(value)
        near = process.extract(folded, list(known), scorer=fuzz.ratio, score_cutoff=_ALIKE, limit=_NEAR)
        return list(dict.fromkeys(value for said, *_ in near for value in known[said]))[:_NEAR]

    @cached_property
    def set_names(self) -> SetNames:
        """What the values are called beside their keys, where they are sets."""
        return SetNames(self.values, self.titles)

    @cached_property
    def first_alike(self) -> NDArray[np.int64]:
        """For each label the first one that is the same, case aside: who filters by one of them means all."""
        firsts = np.arange(len(self.values))
        for codes in self._codes.values():
            firsts[codes] = codes[0]
        return firsts

    @cached_property
    def _codes(self) -> dict[str, list[int]]:
        """Codes by folded value: of two licences that differ in case only, both."""
        codes: dict[str, list[int]] = {}
        for code, value in enumerate(self.values):
            codes.setdefault(compared(self.kind, value), []).append(code)
        return codes


def unknown(kind: str, value: object, near: Sequence[object], *, most: Sequence[str] = ()) -> str:
    """Say that a value is none of a kind's, and which near ones are, else which most icons have."""
    said = f"; near: {', '.join(map(str, near))}" if near else f"; the most frequent are {', '.join(most)}"
    return f'no {kind} "{value}" in this library{said if near or most else ": no icon of it states one"}'
