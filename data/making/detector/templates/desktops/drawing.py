"""A drawing program: a canvas between tools, layers and properties."""

from data.making.detector.page import Page
from data.making.detector.templates.desktops.windows import title_bar
from data.making.detector.templates.toolbars import tool_row
from data.making.detector.templates.widgets import SMALL, USUAL, full_height, ink, often, px, row


def drawing_program(page: Page) -> str:
    """A canvas with shapes, tools at the side, layers and properties at the other."""
    size = page.random.choice(USUAL)
    columns = _tools(page, size) + _canvas(page, size) + _properties(page, size)
    title = title_bar(page) if often(page, 0.5) else ""
    return full_height(columns, above=title + tool_row(page))


def _tools(page: Page, size: float) -> str:
    theme, random = page.theme, page.random
    columns = random.choice((1, 1, 2))
    tools = "".join(
        (
            f'<span style="padding:{px(page, 6)};border-radius:4px;display:inline-flex;background:'
            f'{theme.soft if n == 2 else "transparent"}">{page.icon(size)}</span>'
        )
        for n in range(random.randrange(8, 20))
    )
    return (
        f'<div style="display:grid;grid-template-columns:repeat({columns},auto);'
        f"align-content:start;gap:2px;padding:4px;background:{theme.surface};"
        f'border-inline-end:1px solid {theme.border}">{tools}{page.swatch(20)}'
        f"{page.swatch(20)}</div>"
    )


def _canvas(page: Page, size: float) -> str:
    return (
        f'<div style="flex:1;background:{page.theme.fill};padding:30px;position:relative;'
        'overflow:hidden"><div style="background:#fff;width:520px;height:360px;padding:20px">'
        f"{page.chart(220, 120)}{page.photo(200, 110)}{page.chart(140, 90)}</div>"
        f"{_floating(page, size)}</div>"
    )


def _floating(page: Page, size: float) -> str:
    """Tools that float over the canvas."""
    theme = page.theme
    tools = "".join(page.icon(size, ink(page)) for _ in range(page.random.randrange(4, 8)))
    return row(
        tools,
        gap="12px",
        style=(
            f"position:absolute;bottom:18px;left:40%;background:{theme.raised};padding:8px 12px;"
            f"border-radius:{max(theme.radius, 6):g}px;box-shadow:0 4px 16px #0004"
        ),
    )


def _properties(page: Page, size: float) -> str:
    """What is known of the chosen shape: how it is aligned, numbers, the layers it lies in."""
    theme = page.theme
    layers, numbers = _layers(page), _numbers(page)
    align = row("".join(page.icon(size * 0.9, theme.muted) for _ in range(6)), gap="9px", style="padding:8px")
    return (
        f'<div style="width:{page.random.randrange(200, 280)}px;flex:none;background:'
        f'{theme.surface};border-inline-start:1px solid {theme.border};overflow:hidden">'
        f'{align}<div style="display:grid;grid-template-columns:1fr 1fr;gap:5px;padding:8px">'
        f"{numbers}</div>{layers}</div>"
    )


def _layers(page: Page) -> str:
    theme, random = page.theme, page.random
    return "".join(
        row(
            page.icon(random.choice(SMALL), theme.muted)
            + f'<span style="flex:1">{page.words(1, 2)}</span>'
            + page.icon(random.choice(SMALL), theme.faint)
            + (page.icon(random.choice(SMALL), theme.faint) if often(page, 0.4) else ""),
            gap="6px",
            style=f"padding:4px 8px;padding-inline-start:{random.choice((8, 8, 22))}px;font-size:12px",
        )
        for _ in range(14)
    )


def _numbers(page: Page) -> str:
    theme, random = page.theme, page.random
    return "".join(
        (
            f'<div style="display:flex;gap:4px;align-items:center;background:{theme.fill};'
            'padding:3px 6px;font-size:11px;border-radius:3px">'
            f"{page.icon(11, theme.muted) if often(page, 0.5) else random.choice('XYWHR')}<span>"
            f"{random.randrange(0, 999)}</span></div>"
        )
        for _ in range(8)
    )
