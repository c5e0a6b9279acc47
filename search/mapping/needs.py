"""Which icons are to be mapped? Names as people give them: "mdi:home", or "home" of a set that is given beside."""

from collections.abc import Iterable

from indexer.errors import IconsError
from search.mapping.mapped import Name

MOST = 20_000
"""Names of one list."""


def read_names(told: Iterable[str], sets: Iterable[str]) -> list[Name]:
    """Read names, each once; blank lines and those that begin with # say nothing.

    A name without a set is of the first of some sets; without these it is looked for by its words alone.

    Raises:
        IconsError: there are none, too many, or one is of none of the sets.
    """
    keys = list(sets)
    lines = (line.strip() for line in told)
    names = list(dict.fromkeys(_read(line, keys) for line in lines if line and not line.startswith("#")))
    if not names:
        raise IconsError("no name to map; give some, as icons map home --from mdi --to lucide")
    if len(names) > MOST:
        raise IconsError(f"{len(names):,} names to map; give {MOST:,} or fewer")
    return names


def _read(told: str, sets: list[str]) -> Name:
    key, colon, name = told.partition(":")
    if not colon:
        return Name(sets[0] if sets else "", told)
    if sets and key not in sets:
        raise IconsError(f'"{told}" is of "{key}", and --from says "{sets[0]}"; leave --from out')
    return Name(key, name)
