"""Galleries: icons in a grid, parts of a design system, pages of documentation."""

from indexer.screens.page import Page
from indexer.screens.templates.forms import notice
from indexer.screens.templates.sidebars import app_bar, breadcrumb, sidebar
from indexer.screens.templates.tables import pages, table
from indexer.screens.templates.toolbars import tool_row
from indexer.screens.templates.widgets import (
    HUGE,
    LARGE,
    SMALL,
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
    text,
)


def icon_grid(page: Page) -> str:
    """Icons in a grid, with names or without, in cells or bare."""
    theme, random = page.theme, page.random
    size = random.choice((16, 20, 24, 24, 24, 32, 40, 48))
    cell = size + random.choice((10, 20, 30, 50, 80))
    has_names, colour = cell > 70 and often(page, 0.7), random.choice((None, theme.text, theme.muted, theme.accent))
    edge = (
        f"border:1px solid {theme.border};border-radius:{theme.radius:g}px;background:{theme.raised};"
        if often(page, 0.5)
        else ""
    )
    gap = random.choice((0, 4, 8, 12))
    n = int(min(page.width / (cell + gap), 26)) * int(min(page.height / (cell + gap), 12))

    def name() -> str:
        style = f"font-size:10px;margin-top:6px;color:{theme.muted};overflow:hidden;white-space:nowrap"
        return f'<div style="{style}">{page.words(1, 2)}</div>' if has_names else ""

    cells = "".join(
        (
            f'<div style="width:{cell}px;height:{cell}px;{edge}display:flex;flex-direction:column;'
            f'align-items:center;justify-content:center">{page.icon(size, colour)}{name()}</div>'
        )
        for _ in range(n)
    )
    body = (
        f'<div style="padding:{px(page, 16)}">'
        f"{row(field(page, width='300px') + button(page) + chip(page) + chip(page), style='margin-bottom:14px')}"
        f'<div style="display:flex;flex-wrap:wrap;gap:{gap}px">{cells}</div></div>'
    )
    return f'{app_bar(page)}<div style="display:flex">{sidebar(page) if often(page, 0.3) else ""}{body}</div>'


def components(page: Page) -> str:
    """Parts of a design system, a few of each kind in panels."""
    random = page.random
    kinds = (
        _buttons,
        _icon_buttons,
        _chips,
        _fields,
        _notices,
        _sizes,
        _shapes,
        _menus,
        _tools,
        _controls,
        _tabs,
        _pages,
        _badges,
    )
    cards = "".join(
        panel(page, heading(page, 1.1) + random.choice(kinds)(page), style="overflow:hidden")
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


def _menus(page: Page) -> str:
    return menu(page)


def _tools(page: Page) -> str:
    return tool_row(page)


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


def _pages(page: Page) -> str:
    return pages(page)


def _badges(page: Page) -> str:
    return _wrap(
        [page.badge() for _ in range(6)] + [page.avatar(32) for _ in range(4)] + [page.swatch(16) for _ in range(5)]
    )


def documentation(page: Page) -> str:
    """A page of documentation: links at the side, headings, notes, code to copy, a table."""
    theme, random = page.theme, page.random
    kinds = (
        lambda: f"<p>{page.words(25, 70)}.</p>",
        lambda: f"<p>{page.words(25, 70)}.</p>",
        lambda: notice(page),
        lambda: (
            f'<div style="position:relative;background:{theme.surface};border:1px solid '
            f'{theme.border};font-family:{theme.mono};padding:12px;margin:8px 0;white-space:pre">'
            f"{page.words(2, 6)} = {page.sign()}\n{page.words(3, 7)} {page.sign()} {page.number()}"
            '<span style="position:absolute;top:8px;inset-inline-end:8px">'
            f"{page.icon(random.choice(USUAL), theme.muted)}</span></div>"
        ),
        lambda: table(page, 4),
        lambda: row(
            (
                f"<h3 style='margin:12px 0'>{page.words(1, 4)}</h3>"
                f"{page.icon(random.choice(SMALL), theme.faint) if often(page, 0.5) else ''}"
            ),
            gap="6px",
        ),
        lambda: row(
            "".join(
                panel(
                    page,
                    row(
                        page.icon(random.choice(LARGE), theme.accent)
                        + f"<div><b>{page.words(1, 2)}</b>{text(page, 3, 8)}</div>",
                        gap="10px",
                    ),
                    style="flex:1",
                )
                for _ in range(2)
            ),
            gap="12px",
            style="align-items:stretch",
        ),
    )
    body = "".join(random.choice(kinds)() for _ in range(random.randrange(7, 13)))
    link = row(
        f"{page.icon(14)}<span>{page.words(2, 4)}</span>", gap="6px", style=f"color:{theme.accent};margin:12px 0"
    )
    ends = row(
        f"<div>{row(page.icon(14, kind='chevron') + page.words(1, 2))}</div><span "
        f'style="flex:1"></span><div>{row(page.words(1, 2) + page.icon(14, kind="chevron"))}'
        "</div>"
    )
    contents = "".join(f'<div style="color:{theme.muted};margin:5px 0">{page.words(1, 3)}</div>' for _ in range(7))
    right = f'<div style="width:180px;flex:none;padding:20px 0">{contents}</div>' if page.width > 1150 else ""
    return (
        f'{app_bar(page)}<div style="display:flex;gap:26px">'
        f'{sidebar(page, width=230) if page.width > 800 else ""}<div style="flex:1;'
        f'min-width:0;max-width:820px;padding:16px">{breadcrumb(page)}<h1>{page.words(1, 4)}'
        f"</h1>{body}{link}{ends}</div>{right}</div>"
    )
