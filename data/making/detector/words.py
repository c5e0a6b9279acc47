"""Which words stand on a screen? Those of interfaces, in several scripts, and names of people and things."""

import functools
import shutil
import subprocess
from random import Random

from data.making.detector.vocabulary import FIRST_NAMES, INTERFACES, LAST_NAMES, SENTENCES

_LATIN = ("en", "de", "fr", "es")
_INTERFACES = {language: text.split() for language, text in INTERFACES.items()}
_SENTENCES, _FIRST_NAMES, _LAST_NAMES = (text.split() for text in (SENTENCES, FIRST_NAMES, LAST_NAMES))


@functools.cache
def has_font(language: str) -> bool:
    """Whether fontconfig knows a font for a language; without one its words would be empty squares."""
    program = shutil.which("fc-list")
    if program is None:
        return language in _LATIN
    return bool(
        subprocess.run([program, f":lang={language}", "family"], capture_output=True, check=False).stdout.strip()
    )


def choose_language(random: Random) -> str:
    """Draw the language of a screen by lot: mostly English."""
    lot = random.random()
    if lot < 0.6:
        return "en"
    if lot < 0.75:
        return random.choice(_LATIN)
    others = [language for language in _INTERFACES if language not in _LATIN and has_font(language)]
    return random.choice(others or ["en"])


def words(random: Random, language: str, n: int) -> str:
    """So many words of an interface, the first of them in capitals as the language has it."""
    known = _INTERFACES[language]
    first = random.choice(known)
    rest = [random.choice(_SENTENCES if language == "en" else known).lower() for _ in range(n - 1)]
    return ("" if language in ("zh", "ja") and n < 4 else " ").join((first, *rest))


def is_right_to_left(language: str) -> bool:
    """Whether a screen in this language runs from right to left."""
    return language in ("ar", "he")


def name(random: Random) -> str:
    """A person's name."""
    return f"{random.choice(_FIRST_NAMES)} {random.choice(_LAST_NAMES)}"


def number(random: Random) -> str:
    """A figure as screens show it: a count, an amount, a share, a date, a time, a size, a version."""
    return random.choice(
        (
            f"{random.randrange(100)}",
            f"{random.randrange(10_000):,}",
            f"${random.uniform(1, 9999):,.2f}",
            f"{random.uniform(1, 999):.1f} €",
            f"{random.uniform(0, 100):.1f}%",
            f"+{random.randrange(1, 60)}%",
            f"{random.randrange(1, 29)}.{random.randrange(1, 13)}.2026",
            f"2026-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}",
            f"{random.randrange(24)}:{random.randrange(60):02}",
            f"{random.uniform(0.1, 900):.1f} {random.choice(('KB', 'MB', 'GB', 'ms', 'k', 'M'))}",
            f"v{random.randrange(9)}.{random.randrange(20)}.{random.randrange(9)}",
            f"#{random.randrange(1000, 99999)}",
            f"{random.randrange(1, 60)}m ago",
        )
    )
