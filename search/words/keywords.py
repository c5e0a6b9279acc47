"""A keyword query as people write it -> what FTS5 is asked: words that must all be there, prefix*, "a phrase", -word.

Every word is quoted, so nothing that is typed is ever read as FTS5's own syntax.
"""

import re
from dataclasses import dataclass

from indexer.errors import IconsError
from indexer.naming.names import normalise

MOST_WORDS = 32
"""Of one query: each costs a walk through the names that bear it, and one that is only begun through many."""
SHORTEST_PREFIX = 2
"""Letters: of what a single one begins, nearly every name has a word."""

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
    """Read a keyword query; None where it holds no word, only signs. What is written twice counts once.

    Raises:
        IconsError: it only excludes, holds too many words, or begins a word with a single letter.
    """
    wanted: dict[Term, None] = {}
    excluded: dict[Term, None] = {}
    for part in _PART.finditer(text.replace("\0", " ")):
        written = part["word"] if part["phrase"] is None else part["phrase"]
        words = tuple(word for word in normalise(written).split() if any(map(str.isalnum, word)))
        if not words:
            continue
        term = Term(words, is_prefix=bool(part["word"]) and written.endswith("*"))
        if term.is_prefix and len(words[-1]) < SHORTEST_PREFIX:
            raise IconsError(f'"{words[-1]}*" begins a word with one letter; write {SHORTEST_PREFIX} or more before *')
        (excluded if part["minus"] else wanted)[term] = None
    if (n_words := sum(len(term.words) for term in (*wanted, *excluded))) > MOST_WORDS:
        raise IconsError(f"the keyword query holds {n_words:,} words; ask with {MOST_WORDS} or fewer")
    if excluded and not wanted:
        raise IconsError(f'the keyword query "{text}" only excludes; add a word that must be there')
    return Keywords(tuple(wanted), tuple(excluded)) if wanted else None
