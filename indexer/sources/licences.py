"""Licences: SPDX ids, what people write instead, what each asks, and the file that lies with a source, recognised.

A rough guide for filters and for what may be learnt from; no legal advice.
"""

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
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
_FILE = re.compile(r"(?:(?:un)?licen[sc]e|copying)(?:\.(?:txt|md|rst))?", re.IGNORECASE)
_SENTENCES = {
    "MIT": r"Permission is hereby granted, free of charge, to any person obtaining a copy",
    "ISC": r"Permission to use, copy, modify, and(?:/or)? distribute this software for any purpose with or without fee",
    "Apache-2.0": r"Apache License\s+Version 2\.0",
    "OFL-1.1": r"SIL OPEN FONT LICENSE Version 1\.1",
    "CC0-1.0": r"CC0 1\.0 Universal",
    "CC-BY-SA-4.0": r"Attribution-ShareAlike 4\.0 International",
    "CC-BY-4.0": r"Attribution 4\.0 International",
    "Unlicense": r"This is free and unencumbered software released into the public domain",
}
"""A sentence that only this licence has; a file with the sentences of two licences is left to its reader."""


def licence_files(names: Iterable[str]) -> list[str]:
    """Take the names in a folder that are those of licence files, in the order in which they are tried."""
    return sorted(filter(_FILE.fullmatch, names))


def read_licence_file(kind: str, location: Path) -> str | None:
    """Read the text of the licence file beside a source's pictures; None where there is none, or it can't be read."""
    if kind == "iconify":  # it would be about the collection, not about the sets in it
        return None
    folder = location.parent if kind == "manifest" or location.is_file() else location
    with suppress(OSError):
        inside = os.path.realpath(folder)
        for name in licence_files(entry.name for entry in folder.iterdir()):
            with suppress(OSError, SourceError, UnicodeDecodeError):
                if text := read_regular(folder / name, limit=MAX_BYTES, inside=inside).decode("utf-8-sig").strip():
                    return text
    return None


def licence_of(text: str) -> str | None:
    """Name the licence that a text is, if it has a sentence that no other has."""
    text = " ".join(text.split())
    named = [spdx for spdx, sentence in _SENTENCES.items() if re.search(sentence, text, re.IGNORECASE)]
    return named[0] if len(named) == 1 else None
