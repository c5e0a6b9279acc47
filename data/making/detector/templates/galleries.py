"""Galleries: icons in a grid, parts of a design system."""

from collections.abc import Sequence

from data.making.detector.page import Page, Template
from data.making.detector.templates.forms import notice
from data.making.detector.templates.sidebars import app_bar, sidebar, under_bar
from data.making.detector.templates.tables import pages
from data.making.detector.templates.toolbars import tool_row
from data.making.detector.templates.widgets import (
    HUGE,
    LARGE,
    USUAL,
    button,
    chip,
    field,
    heading,
    icon_button,
    in_shape,
    ink,
    menu,
    often,
    panel,
    px,
    row,
)


def icon_grid(page: Page) -> str:
    """Icons in a grid, with names or without, in cells or bare."""
    theme, random = page.theme, page.random
    size = random.choice((16, 20, 24, 24, 24, 32, 40, 48))
    side = size + random.choice((10, 20, 30, 50, 80))
    has_names, colour = side > 70 and often(page, 0.7), random.choice((None, theme.text, theme.muted, theme.accent))
    edge = (
        f"border:1px solid {theme.border};border-radius:{theme.radius:g}px;background:{theme.raised};"
        if often(page, 0.5)
        else ""
    )
    gap = random.choice((0, 4, 8, 12))
    n = int(min(page.width / (side + gap), 26)) * int(min(page.height / (side + gap), 12))
    style = (
        f"width:{side}px;height:{side}px;{edge}display:flex;flex-direction:column;"
        "align-items:center;justify-content:center"
    )
    cells = "".join(
        f'<div style="{style}">{page.icon(size, colour)}{_name(page) if has_names else ""}</div>' for _ in range(n)
    )
    body = (
        f'<div style="padding:{px(page, 16)}">'
        f"{row(field(page, width='300px') + button(page) + chip(page) + chip(page), style='margin-bottom:14px')}"
        f'<div style="display:flex;flex-wrap:wrap;gap:{gap}px">{cells}</div></div>'
    )
    return under_bar(page, body, beside=0.3)


def _name(page: Page) -> str:
    style = f"font-size:10px;margin-top:6px;color:{page.theme.muted};overflow:hidden;white-space:nowrap"
    return f'<div style="{style}">{page.words(1, 2)}</div>'


def components(page: Page) -> str:
    """Parts of a design system, a few of each kind in panels."""
    random = page.random
    cards = "".join(
        panel(page, heading(page, 1.1) + random.choice(_PARTS)(page), style="overflow:hidden")
        for _ in range(random.randrange(8, 18))
    )
    columns = max(1, int(page.width / random.randrange(360, 600)))
    grid = f'<div style="columns:{columns};column-gap:16px">{cards}</div>'
    return (
        f'{app_bar(page) if often(page, 0.6) else ""}<div style="display:flex">'
        f'{sidebar(page) if often(page, 0.5) else ""}<div style="flex:1;min-width:0;padding:'
        f'{px(page, 18)}">{heading(page, 1.8)}{grid}</div></div>'
    )


def _wrap(parts: list[str], gap: int = 10) -> str:
    return f'<div style="display:flex;flex-wrap:wrap;align-items:center;gap:{gap}px">{"".join(parts)}</div>'


def _buttons(page: Page) -> str:
    look = page.random.choice((None, "filled", "outlined", "tinted", "bare"))
    return _wrap([button(page, look) for _ in range(page.random.randrange(4, 10))])


def _icon_buttons(page: Page) -> str:
    size = page.random.choice((*USUAL, *LARGE))
    return _wrap([icon_button(page, size) for _ in range(page.random.randrange(5, 14))])


def _chips(page: Page) -> str:
    return _wrap([chip(page) for _ in range(page.random.randrange(5, 16))], 6)


def _fields(page: Page) -> str:
    return "".join(f'<div style="margin-bottom:8px">{field(page)}</div>' for _ in range(page.random.randrange(2, 5)))


def _notices(page: Page) -> str:
    return "".join(notice(page) for _ in range(page.random.randrange(2, 5)))


def _sizes(page: Page) -> str:
    return _wrap([page.icon(size, ink(page)) for size in (8, 10, 12, 14, 16, 20, 24, 32, 48)], 14)


def _shapes(page: Page) -> str:
    return _wrap(
        [in_shape(page, page.random.choice((*USUAL, *LARGE, *HUGE[:3]))) for _ in range(page.random.randrange(4, 9))]
    )


def _controls(page: Page) -> str:
    return _wrap([page.control() for _ in range(page.random.randrange(5, 14))]) + _wrap(
        [page.switch(), page.switch(), page.key(), page.key()]
    )


def _tabs(page: Page) -> str:
    theme, size = page.theme, page.random.choice((*USUAL, *LARGE))
    return row(
        "".join(
            row(
                f"{page.icon(size)}<span>{page.words(1, 1)}</span>",
                gap="6px",
                style=(
                    f"padding:8px 12px;border-bottom:2px solid {theme.accent if n == 1 else 'transparent'}"
                    f";color:{theme.accent if n == 1 else theme.muted}"
                ),
            )
            for n in range(4)
        ),
        gap="0",
    )


def _badges(page: Page) -> str:
    return _wrap(
        [page.badge() for _ in range(6)] + [page.avatar(32) for _ in range(4)] + [page.swatch(16) for _ in range(5)]
    )


_PARTS: Sequence[Template] = (
    _buttons,
    _icon_buttons,
    _chips,
    _fields,
    _notices,
    _sizes,
    _shapes,
    menu,
    tool_row,
    _controls,
    _tabs,
    pages,
    _badges,
)
