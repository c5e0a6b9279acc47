"""What is needed? A line a need: blank lines, remarks and the bullets of a list left out."""

import re
from collections.abc import Iterable

from indexer.errors import IconsError
from indexer.naming.printable import printable
from search.query import refuse_broken

MOST_NEEDS = 500
"""Of one list: each is a search, or six where a set is to be chosen."""
LONGEST_NEED = 300
"""Letters."""
_BULLET = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")


def read_needs(lines: Iterable[str]) -> list[str]:
    """Read needs, in their order; one that stands twice is needed twice.

    Raises:
        IconsError: there is none, or there are too many, or one is too long.
    """
    needs = []
    for number, line in enumerate(lines, start=1):
        text = line.strip().removeprefix("\ufeff")
        if not text or text.startswith("#"):
            continue
        need = " ".join(_BULLET.sub("", text, count=1).split() if _BULLET.match(text) else text.split())
        if len(need) > LONGEST_NEED:
            raise IconsError(
                f'need {number:,} has {len(need):,} letters ("{printable(need[:40])} ..."); '
                f"give {LONGEST_NEED} or fewer, a line a need"
            )
        refuse_broken(need)
        needs.append(need)
        if len(needs) > MOST_NEEDS:
            raise IconsError(f"more than {MOST_NEEDS} needs; give them in several lists")
    if not needs:
        raise IconsError('no needs; give them as arguments, or a line each on stdin: icons pick settings "log out"')
    return needs
