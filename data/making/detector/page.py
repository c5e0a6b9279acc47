"""What does a template make a screen of? A theme, icons of its sets, words, and what is no icon."""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from data.making.detector import negatives, pictures, words
from data.making.detector.icons import IconPool, IconSet, Pen
from data.making.detector.theme import Theme, choose_theme

_USUAL_ICONS = 0.65
"""Share of the icons that most interfaces have; others are drawn from the whole set."""


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


class Page:
    """One screen in the making. All that is drawn by lot comes from `random`."""

    def __init__(self, random: Random, *, pool: IconPool, viewport: Viewport) -> None:
        self.random = random
        self.theme: Theme = choose_theme(random)
        self.language = words.choose_language(random)
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
        """From `low` to `high` words in the screen's language."""
        return words.words(self.random, self.language, self.random.randint(low, high))

    def number(self) -> str:
        """A figure: a count, an amount, a date, a time."""
        return words.number(self.random)

    def name(self) -> str:
        """A person's name."""
        return words.name(self.random)

    def avatar(self, size: float) -> str:
        """A person: initials or a portrait."""
        return negatives.avatar(self.random, self.theme, size)

    def badge(self) -> str:
        """A count, a short word or a dot on a coloured ground."""
        return negatives.badge(self.random, self.theme)

    def control(self) -> str:
        """A check box, radio button, switch, slider, select."""
        return negatives.control(self.random, self.theme)

    def switch(self) -> str:
        """A switch, on or off."""
        return negatives.switch(self.random, self.theme, is_on=self.random.random() < 0.5)

    def sign(self) -> str:
        """A single character of text."""
        return negatives.sign(self.random)

    def key(self) -> str:
        """A key of the keyboard."""
        return negatives.key(self.random, self.theme)

    def short_word(self) -> str:
        """Two letters."""
        return negatives.short_word(self.random)

    def swatch(self, size: float) -> str:
        """A colour to choose."""
        return negatives.swatch(self.random, size)

    def code(self, size: float) -> str:
        """A pattern of squares."""
        return negatives.code(self.random, size)

    def skeleton(self, width: float) -> str:
        """Bars that stand for what is still loading."""
        return negatives.skeleton(self.random, self.theme, width)

    def logo(self) -> str:
        """A wordmark."""
        return negatives.logo(self.random, self.theme, words.words(self.random, "en", 1))

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
        direction = "rtl" if words.is_right_to_left(self.language) else "ltr"
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


Template = Callable[[Page], str]
Templates = Mapping[str, Template]
