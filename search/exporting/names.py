"""How is an icon called where it goes to? By letters, digits and hyphens, each name once, whatever disk or language."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import count

_WORD = re.compile(r"[a-z0-9]+")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST = 100
_RESERVED = frozenset(("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))))
"""What no file may be called on Windows."""


def plain_name(text: str) -> str:
    """Spell a text in small Latin letters, digits and hyphens, beginning with a letter; "icon" where none is left."""
    ascii_text = unicodedata.normalize("NFKD", _HUMPS.sub("-", text)).encode("ascii", "ignore").decode().lower()
    name = "-".join(_WORD.findall(ascii_text))[:_LONGEST].strip("-")
    if not name or name in _RESERVED:
        return f"icon-{name}".strip("-")
    return name if name[0].isalpha() else f"icon-{name}"


def unique_names(icons: Iterable[tuple[str, str]]) -> list[str]:
    """Names for icons of some sets: "lucide-bell"; from the second of a name on with a number, in their order."""
    return unique([plain_name(f"{set_key} {name}") for set_key, name in icons])


def unique(names: Sequence[str], *, between: str = "-") -> list[str]:
    """Number names that were there before; none takes one that another has by itself."""
    own = set(names)
    taken: set[str] = set()
    numbers: defaultdict[str, Iterator[int]] = defaultdict(partial(count, 2))
    found = []
    for name in names:
        free = name
        while free in taken or (free != name and free in own):
            free = f"{name}{between}{next(numbers[name])}"
        taken.add(free)
        found.append(free)
    return found


def pascal_case(name: str) -> str:
    """Spell a plain name as a component: "lucide-bell" becomes LucideBell."""
    return "".join(part[0].upper() + part[1:] for part in name.split("-"))
