"""Which language does a locale speak? "pt-BR", "zh_Hant" and "de-cba7defc.json" are pt, zh and de."""

import re

AUTO = "auto"
"""In place of a code: the language that a set's own words tell."""
NO_LANGUAGES = frozenset(("mul", "und", "zxx"))
"""Codes of ISO 639 that stand for no single language."""
_SAME = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "fil": "tl", "cmn": "zh", "yue": "zh"}
"""What is written nearly alike, or is an older code."""
_LOCALE = re.compile(r"[a-z]{2,3}(?:[-_@.][a-z0-9]+)*", re.IGNORECASE)
_LONGEST = 35
"""Letters that are to be kept of a language tag (RFC 5646, section 4.4.1)."""


def is_locale(text: str) -> bool:
    """Tell whether a text is spelt as locales are: "de", "pt-BR", "zh_Hant_TW.UTF-8"; such a language need not be."""
    return len(text) <= _LONGEST and _LOCALE.fullmatch(text) is not None


def language_of(locale: str) -> str:
    """ISO 639 code of a locale, as files and folders are called by it."""
    code = re.split(r"[-_@.]", locale, maxsplit=1)[0].lower()
    return _SAME.get(code, code)
