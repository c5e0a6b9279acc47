"""Fills templates of screens: HTML files with slots, by Jinja; a file's name is the screen's.

`parts` of a folder hold what several of its screens share, as macros. Lines of a file are joined without the white
space between them, but for those of `<style>`. In a slot, f"..." is put together as in Python.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any, Literal

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template, pass_context
from jinja2.runtime import Context

from data.making.detector.page import Page
from data.making.detector.theme import hsl

Room = Literal["training", "validation", "held-out"]
Templates = Mapping[str, Callable[[Page], str]]
"""What writes the body of each screen of a room, by name."""
ROOT = Path(__file__).with_name("templates")
_FOLDERS = {"training": "learnt", "validation": "learnt", "held-out": "held-out"}
"""Where a room's parts lie; templates of one folder may show each other."""
_OF_RANDOM = ("choice", "choices", "randint", "randrange", "random", "sample", "uniform")
_OF_PAGE = ("icon", "words", "english", "number", "name", "photo", "chart", "street_map")
_STYLE = re.compile(r"(<style>.*?</style>)", re.DOTALL)
_WRITTEN = re.compile(r'(?<!\w)f"([^"]*)"')
_SLOT = re.compile(r"\{([^{}]*)\}")


def templates_of(room: Room) -> Templates:
    """The templates of a room."""
    files = sorted((ROOT / room).glob("*.html"))
    return {file.stem: partial(_fill, _FOLDERS[room], file.name) for file in files}


def _fill(folder: str, file: str, page: Page) -> str:
    environment, parts = _open(folder)
    context = _context(page)
    context |= parts.make_module(context).__dict__
    return environment.get_template(file).render(context)


@cache
def _open(folder: str) -> tuple[Environment, Template]:
    rooms = [ROOT / room for room, own in _FOLDERS.items() if own == folder]
    loader = FunctionLoader(
        lambda file: next((_source(room / file) for room in rooms if (room / file).is_file()), None)
    )
    environment = Environment(loader=loader, undefined=StrictUndefined, finalize=_spelled, autoescape=False)
    environment.filters |= {"g": "{:g}".format, **{f"r{n}": f"{{:.{n}f}}".format for n in range(3)}}
    environment.filters |= {"row": row, "panel": panel, "full_height": full_height, "behind": behind}
    parts = sorted((ROOT / f"{folder}-parts").glob("*.html"))
    return environment, environment.from_string("".join(_source(file) for file in parts))


def _source(file: Path) -> str:
    """A file as Jinja takes it."""
    parts = _STYLE.split(file.read_text("utf-8"))
    joined = (part if part.startswith("<style>") else "".join(map(str.strip, part.split("\n"))) for part in parts)
    return _WRITTEN.sub(_put_together, "".join(joined))


def _put_together(written: re.Match[str]) -> str:
    texts = _SLOT.split(written[1])
    slots = (f"({text})" if at % 2 else f'"{text}"' for at, text in enumerate(texts))
    return f"({' ~ '.join(slots)})"


def _spelled(value: Any) -> Any:
    return f"{value:g}" if isinstance(value, float) else value


class _Worn:
    """The theme that a page wears now."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def __getattr__(self, name: str) -> Any:
        return getattr(self._page.theme, name)


def _context(page: Page) -> dict[str, Any]:
    """What slots may name."""
    random: Random = page.random
    return {
        **{name: getattr(random, name) for name in _OF_RANDOM},
        **{name: getattr(page, name) for name in _OF_PAGE},
        **{"page": page, "theme": _Worn(page), "hsl": hsl, "wrapped": wrapped},
        **{"often": lambda share: random.random() < share, "px": lambda length: _px(page, length)},
        **{function.__name__: function for function in (enumerate, int, list, max, min, zip)},
    }


def _px(page: Page, length: float) -> str:
    """A length of about so many CSS pixels, as dense as the theme is."""
    return f"{length * page.theme.density * page.random.uniform(0.9, 1.1):.1f}px"


def row(inside: str, gap: str = "8px", style: str = "") -> str:
    """Parts beside one another."""
    return f'<div style="display:flex;align-items:center;gap:{gap};{style}">{inside}</div>'


@pass_context
def panel(context: Context, inside: str, style: str = "") -> str:
    """A card."""
    theme = context["theme"]
    return (
        f'<section style="background:{theme.raised};border:{theme.border_width:g}px solid {theme.border};'
        f"border-radius:{theme.radius:g}px;box-shadow:{theme.shadow};padding:{_px(context['page'], 16)};{style}"
        f'">{inside}</section>'
    )


def full_height(columns: str, above: str = "", below: str = "") -> str:
    """Columns that fill a window between its bars."""
    return (
        f'<div style="height:100vh;display:flex;flex-direction:column">{above}<div style="flex:1;display:flex;'
        f'min-height:0">{columns}</div>{below}</div>'
    )


def behind(picture: str) -> str:
    """A picture that lies under all that comes after it."""
    return f'<div style="position:absolute;inset:0">{picture}</div>'


def wrapped(label: str) -> str:
    """A label as an element of its own."""
    return f"<span>{label}</span>" if label else ""
