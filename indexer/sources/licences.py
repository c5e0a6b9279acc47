"""Licences: SPDX ids, what people write instead, what each asks, and the file that lies with a source.

A rough guide for filters and for what may be learnt from; no legal advice.
"""

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

from indexer.errors import SourceError
from indexer.sources.records import read_regular

Family = Literal[
    "permissive", "attribution", "share-alike", "copyleft", "non-commercial", "no-derivatives", "withheld", "unknown"
]
FAMILIES: tuple[Family, ...] = get_args(Family)
"""Freest first: free to use (MIT, CC0); naming the author (CC-BY); what is made of it stays under the
licence (CC-BY-SA, OFL, MPL); and so does what it is built into (GPL); not for business; not to be changed; no rights
at all. Last, a text that says nothing to this program, or none."""

TERMS: Mapping[Family, str] = {
    "permissive": "Free to use, also commercially. Keep the licence text.",
    "attribution": "Free to use, also commercially, if you credit the author.",
    "share-alike": "Free to use with credit; what you change stays under the same licence.",
    "copyleft": "What you build with it may have to carry the same licence.",
    "non-commercial": "Not for commercial use.",
    "no-derivatives": "Free to use as it is; it must not be changed.",
    "withheld": "The author gives no rights. Ask before you use it.",
    "unknown": "No licence is known to us. Ask the author before you use it.",
}
"""What each family asks for, in a sentence for whoever is about to use an icon."""

# The first that matches names the family. Spaces stand for any of the signs between the parts of an id.
_FAMILIES: tuple[tuple[Family, str], ...] = (
    ("withheld", r"no licen|proprietary|unlicensed|all rights reserved"),
    ("copyleft", r"gpl|gfdl|gnu"),
    ("non-commercial", r"\bnc\b|non commercial|noncommercial"),
    ("no-derivatives", r"\bnd\b|no ?deriv"),
    ("share-alike", r"\bsa\b|share ?alike|\bofl\b|open font|\bmpl\b|mozilla|\bepl\b|eclipse|\bcddl\b|\beupl\b"),
    ("permissive", r"\bcc0\b|public domain|\bcc pddc\b|\bunlicense\b|\b0bsd\b|\bpd\b"),
    ("attribution", r"\bcc by\b|creative commons attribution|\bcc attribution\b"),
    ("permissive", r"\b(?:mit|x11|expat|apache|bsd|isc|zlib|wtfpl|bsl 1|boost|blueoak|w3c)\b"),
)
_PATTERNS = tuple((family, re.compile(pattern)) for family, pattern in _FAMILIES)
_SIGNS = re.compile(r"[^a-z0-9]+")


@lru_cache(maxsize=1024)
def family(licence: str | None) -> Family:
    """Tell the family of a licence: an SPDX id or expression, a licence's name, or what a package says instead.

    Of several licences at once the strictest part counts.
    """
    text = _SIGNS.sub(" ", (licence or "").lower())
    return next((name for name, pattern in _PATTERNS if pattern.search(text)), "unknown")


_CREDIT = re.compile(r"\bby\b|attribution")


def needs_credit(licence: str | None) -> bool:
    """Tell whether whoever uses an icon has to name its author where it is seen, as Creative Commons BY asks."""
    return _CREDIT.search(_SIGNS.sub(" ", (licence or "").lower())) is not None


MAX_BYTES = 200_000
"""The GPL has 35 kB."""
_STEMS = ("license", "licence", "copying", "unlicense")
_SUFFIXES = ("", ".txt", ".md", ".rst")
_OF_OTHERS = ("iconify",)
"""Kinds of sources whose licence file would be about the collection, not about the sets in it."""


def read_licence_file(kind: str, location: Path) -> str | None:
    """Read the text of the licence file beside a source's pictures; None where there is none, or it can't be read."""
    folder = location.parent if kind == "manifest" or location.is_file() else location
    if kind in _OF_OTHERS:
        return None
    try:
        inside = os.path.realpath(folder)
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return None
    for name in names:
        stem, suffix = os.path.splitext(name.lower())  # noqa: PTH122 - of a name alone
        if stem not in _STEMS or suffix not in _SUFFIXES:
            continue
        try:
            text = read_regular(folder / name, limit=MAX_BYTES, inside=inside).decode("utf-8-sig").strip()
        except (OSError, SourceError, UnicodeDecodeError):
            continue
        if text:
            return text
    return None
