"""What a template makes a screen of: a theme, icons of its sets, words, and what is no icon."""

import shutil
import subprocess
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from data.making.detector import pictures
from data.making.detector.icons import IconPool, IconSet, Pen
from data.making.detector.theme import Theme, choose_theme, inverted, on_ground

_USUAL_ICONS = 0.65
"""Share of the icons that most interfaces have; others are drawn from the whole set."""


_TEXTS = tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text("utf-8"))
_INTERFACES: dict[str, list[str]] = {language: text.split() for language, text in _TEXTS["interfaces"].items()}
_SENTENCES: list[str] = _TEXTS["sentences"].split()
_FIRST_NAMES, _LAST_NAMES = _TEXTS["first_names"].split(), _TEXTS["last_names"].split()
_LATIN = ("en", "de", "fr", "es")
_RIGHT_TO_LEFT = ("ar", "he")


class Viewport(NamedTuple):
    """A window's inside in CSS pixels, and how many pixels of the screen each is wide."""

    width: int
    height: int
    scale: float


_VIEWPORTS = (
    *(
        Viewport(1440, 900, 1),
        Viewport(1280, 800, 1),
        Viewport(1366, 768, 1),
        Viewport(1600, 900, 1),
        Viewport(1024, 768, 1),
    ),
    *(
        Viewport(1536, 864, 1.25),
        Viewport(1280, 720, 1.5),
        Viewport(1200, 800, 1.5),
        Viewport(1180, 760, 2),
        Viewport(1024, 700, 2),
    ),
    *(Viewport(820, 900, 2), Viewport(768, 1024, 1), Viewport(960, 640, 1.25), Viewport(1920, 1000, 1)),
)
_PHONES = (
    Viewport(390, 844, 2),
    Viewport(360, 740, 3),
    Viewport(412, 892, 2),
    Viewport(375, 667, 2),
    Viewport(414, 820, 1.5),
)


def choose_viewport(random: Random, *, is_phone: bool = False) -> Viewport:
    """Draw a window by lot, of a few usual sizes and some pixels more or less."""
    width, height, scale = random.choice(_PHONES if is_phone else _VIEWPORTS)
    return Viewport(width - random.randrange(0, 40), height - random.randrange(0, 80), scale)


@cache
def _has_font(language: str) -> bool:
    """Whether fontconfig knows a font for a language; without one its words would be empty squares."""
    program = shutil.which("fc-list")
    if program is None:
        return language in _LATIN
    return bool(
        subprocess.run([program, f":lang={language}", "family"], capture_output=True, check=False).stdout.strip()
    )


def _choose_language(random: Random) -> str:
    """Draw the language of a screen by lot: mostly English."""
    lot = random.random()
    if lot < 0.6:
        return "en"
    if lot < 0.75:
        return random.choice(_LATIN)
    others = [language for language in _INTERFACES if language not in _LATIN and _has_font(language)]
    return random.choice(others or ["en"])


class Page:
    """One screen in the making. All that is drawn by lot comes from `random`."""

    def __init__(self, random: Random, *, pool: IconPool, viewport: Viewport) -> None:
        self.random = random
        self.theme: Theme = choose_theme(random)
        self.language = _choose_language(random)
        self.width, self.height, self.scale = viewport
        self._sets: list[IconSet] = pool.choose_sets(random)
        self._mechanics = pool.choose_mechanics(random)
        self._pen = Pen(random)

    def icon(self, size: float, colour: str | None = None, *, kind: str | None = None) -> str:
        """An icon of the screen's sets, `size` CSS pixels wide and high, in a colour or that of the text around it.

        `kind`: one that is called so (`icon_pool.KINDS`), such as "chevron", where the set has any.
        """
        first, *others = self._sets
        chosen = others[0] if others and self.random.random() < 0.3 else first
        names = self._names(chosen, kind)
        if not names:
            names = self._names(chosen := self._mechanics, kind) or chosen.usual
        return self._pen.draw(chosen.drawing(self.random.choice(names)), size, colour)

    def _names(self, chosen: IconSet, kind: str | None) -> Sequence[str]:
        if kind is not None:
            return chosen.of_kind(kind)
        return chosen.usual if self.random.random() < _USUAL_ICONS else chosen.names

    def words(self, low: int = 1, high: int = 1) -> str:
        """From `low` to `high` words in the screen's language, the first of them in capitals as the language has it."""
        n, known, language = self.random.randint(low, high), _INTERFACES[self.language], self.language
        first = self.random.choice(known)
        rest = [self.random.choice(_SENTENCES if language == "en" else known).lower() for _ in range(n - 1)]
        return ("" if language in ("zh", "ja") and n < 4 else " ").join((first, *rest))

    def english(self) -> str:
        """A word in English, whatever the screen's language."""
        return self.random.choice(_INTERFACES["en"])

    def name(self) -> str:
        """A person's name."""
        return f"{self.random.choice(_FIRST_NAMES)} {self.random.choice(_LAST_NAMES)}"

    def number(self) -> str:
        """A figure as screens show it: a count, an amount, a share, a date, a time, a size, a version."""
        random = self.random
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

    def wear(self, theme: Theme) -> str:
        """Go on in another theme; nothing is written."""
        self.theme = theme
        return ""

    def wear_inverted(self) -> str:
        """Go on in the other brightness."""
        return self.wear(inverted(self.theme, self.random))

    def wear_accent(self) -> Theme:
        """Go on upon a ground of the accent; the theme that was worn before."""
        usual = self.theme
        self.wear(on_ground(usual, usual.accent, usual.on_accent))
        return usual

    def photo(self, width: float, height: float) -> str:
        """A photograph."""
        return pictures.photo(self.random, width, height)

    def chart(self, width: float, height: float) -> str:
        """A chart."""
        return pictures.chart(self.random, self.theme, width, height)

    def street_map(self, width: float, height: float) -> str:
        """A map."""
        return pictures.street_map(self.random, self.theme, width, height)

    def document(self, body: str) -> str:
        """The whole HTML around a template's body."""
        theme = self.theme
        direction = "rtl" if self.language in _RIGHT_TO_LEFT else "ltr"
        style = (
            "*,*::before,*::after{box-sizing:border-box;animation:none!important;transition:none!important}"
            f"html,body{{margin:0;height:100%;overflow:hidden;background:{theme.ground};color:{theme.text};"
            f"font:{theme.font_size}px/1.45 {theme.font};caret-color:transparent}}"
            "button,input,select,textarea{font:inherit;color:inherit}"
        )
        head = f"<meta charset=utf-8><style>{style}</style>{self._pen.head()}"
        return (
            f'<!doctype html><html lang="{self.language}" dir="{direction}"><head>{head}</head>'
            f"<body>{self._pen.sprite()}{body}</body></html>"
        )
