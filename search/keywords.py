"""A keyword query as people write it -> what FTS5 is asked: words that must all be there, prefix*, "a phrase", -word.

Every word is quoted, so nothing that is typed is ever read as FTS5's own syntax.
"""

import re
from dataclasses import dataclass

from indexer.errors import IconsError
from indexer.naming import normalise

_PART = re.compile(r'(?P<minus>-?)(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')


@dataclass(frozen=True, slots=True)
class Term:
    """Words in a row, the last of them perhaps only begun."""

    words: tuple[str, ...]
    is_prefix: bool = False

    def spelled(self) -> str:
        """Spell it for FTS5."""
        quoted = '"' + " ".join(self.words).replace('"', '""') + '"'
        return f"{quoted} *" if self.is_prefix else quoted


@dataclass(frozen=True, slots=True)
class Keywords:
    """What must be there, and what must not."""

    wanted: tuple[Term, ...]
    excluded: tuple[Term, ...]

    def match(self) -> str:
        """Spell the query for FTS5's MATCH."""
        query = " AND ".join(term.spelled() for term in self.wanted)
        return query + "".join(f" NOT {term.spelled()}" for term in self.excluded)


def read_keywords(text: str) -> Keywords | None:
    """Read a keyword query; None where it holds no word, only signs.

    Raises:
        IconsError: it only excludes.
    """
    wanted: list[Term] = []
    excluded: list[Term] = []
    for part in _PART.finditer(text.replace("\0", " ")):
        written = part["word"] if part["phrase"] is None else part["phrase"]
        words = tuple(word for word in normalise(written).split() if any(map(str.isalnum, word)))
        if not words:
            continue
        (excluded if part["minus"] else wanted).append(
            Term(words, is_prefix=bool(part["word"]) and written.endswith("*"))
        )
    if excluded and not wanted:
        raise IconsError(f'the keyword query "{text}" only excludes; add a word that must be there')
    return Keywords(tuple(wanted), tuple(excluded)) if wanted else None
