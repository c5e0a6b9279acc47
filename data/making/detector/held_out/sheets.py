"""How does a screen to measure on get its colours? A style sheet over the variables of its theme."""

from collections.abc import Callable

from data.making.detector.page import Page

_RESET = """
* { box-sizing: border-box; margin: 0 }
body { background: var(--ground); color: var(--text); overflow: hidden; line-height: 1.4 }
"""


def sheet(page: Page, css: str) -> str:
    """The `<style>` of a screen: colours of its theme as variables, then `css`, which uses them."""
    theme = page.theme
    colours = ("ground", "surface", "text", "muted", "border", "accent", "on_accent")
    variables = "".join(f"--{name}: {getattr(theme, name)}; " for name in colours)
    return f"<style>:root {{ {variables} }} {_RESET} {css}</style>"


def repeated(times: int, make: Callable[[], str]) -> str:
    """Markup of `times` things, each made by itself, so that each has words and icons of its own."""
    return "".join(make() for _ in range(times))


def sometimes(page: Page, chance: float, make: Callable[[], str]) -> str:
    """Markup of a thing that is there with this chance, else nothing."""
    return make() if page.random.random() < chance else ""


def one_of(page: Page, *makes: Callable[[], str]) -> str:
    """Markup of one of several things, by lot."""
    return page.random.choice(makes)()
