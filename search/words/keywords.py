"""A keyword query as people write it -> what FTS5 is asked: words that must all be there, prefix*, "a phrase", -word.

Every word is quoted, so nothing that is typed is ever read as FTS5's own syntax.
"""

import re
from collections.abc import Sequence

from indexer.errors import IconsError
from indexer.naming.names import normalise

MOST_WORDS = 32
"""Of one query: each costs a walk through the names that bear it, and one that is only begun through many."""
SHORTEST_PREFIX = 2
"""Letters: of what a single one begins, nearly every name has a word."""

_PART = re.compile(r'(?P<minus>-?)(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')


def read_keywords(text: str) -> str | None:
    """Spell a keyword query for FTS5's MATCH; None where it holds only signs. What is written twice counts once.

    Raises:
        IconsError: it only excludes, holds too many words, or begins a word with a single letter.
    """
    wanted: dict[str, int] = {}
    excluded: dict[str, int] = {}
    """Terms, each with the number of its words."""
    for part in _PART.finditer(text.replace("\0", " ")):
        written = part["word"] if part["phrase"] is None else part["phrase"]
        words = [word for word in normalise(written).split() if any(map(str.isalnum, word))]
        if words:
            is_prefix = bool(part["word"]) and written.endswith("*")
            (excluded if part["minus"] else wanted)[_term(words, is_prefix=is_prefix)] = len(words)
    if (n_words := sum((*wanted.values(), *excluded.values()))) > MOST_WORDS:
        raise IconsError(f"the keyword query holds {n_words:,} words; ask with {MOST_WORDS} or fewer")
    if excluded and not wanted:
        raise IconsError(f'the keyword query "{text}" only excludes; add a word that must be there')
    return " AND ".join(wanted) + "".join(f" NOT {term}" for term in excluded) or None


def _term(words: Sequence[str], *, is_prefix: bool) -> str:
    """Spell words in a row for FTS5, the last of them perhaps only begun."""
    if is_prefix and len(words[-1]) < SHORTEST_PREFIX:
        raise IconsError(f'"{words[-1]}*" begins a word with one letter; write {SHORTEST_PREFIX} or more before *')
    quoted = '"' + " ".join(words).replace('"', '""') + '"'
    return f"{quoted} *" if is_prefix else quoted
