"""Which language does a locale speak? "pt-BR", "zh_Hant" and "de-cba7defc.json" are pt, zh and de."""

import re

AUTO = "auto"
"""In place of a code: the language that a set's own words tell."""
NO_LANGUAGES = frozenset(("mul", "und", "zxx"))
"""Codes of ISO 639 that stand for no single language."""
_SAME = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "fil": "tl", "cmn": "zh", "yue": "zh"}
"""What is written nearly alike, or is an older code."""


def language_of(locale: str) -> str:
    """ISO 639 code of a locale, as files and folders are called by it."""
    code = re.split(r"[-_@.]", locale, maxsplit=1)[0].lower()
    return _SAME.get(code, code)
