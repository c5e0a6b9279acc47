"""Maps: signs upon streets, buttons at the edges, a list of places."""

from data.making.detector.page import Page
from data.making.detector.templates.shops import stars
from data.making.detector.templates.widgets import (
    LARGE,
    SMALL,
    USUAL,
    behind,
    chip,
    field,
    heading,
    icon_button,
    in_shape,
    often,
    panel,
    row,
    signal,
)


def street_map(page: Page) -> str:
    """A map with signs and tools, places at the side."""
    random = page.random
    ground = behind(page.street_map(page.width, page.height))
    pins = "".join(_pin(page) for _ in range(random.randrange(4, 22)))
    zoom, chips = _zoom(page), _chips(page)
    places = "".join(_place(page) for _ in range(random.randrange(3, 7)))
    side = (
        (
            '<div style="position:absolute;top:12px;inset-inline-start:12px;width:350px;'
            'max-height:90%;overflow:hidden">'
            f"{panel(page, field(page) + heading(page, 1.1) + places)}</div>"
        )
        if page.width > 600
        else f'<div style="position:absolute;top:12px;left:12px;right:12px">{field(page)}</div>'
    )
    names = "".join(_name(page) for _ in range(16))
    return (
        f'<div style="position:relative;height:100vh;overflow:hidden">{ground}{names}{pins}'
        f"{side}{chips if page.width > 900 else ''}{zoom}</div>"
    )


def _zoom(page: Page) -> str:
    """Buttons at the edge."""
    theme, size = page.theme, page.random.choice(USUAL)
    return (
        '<div style="position:absolute;bottom:30px;inset-inline-end:14px;background:'
        f"{theme.raised};border-radius:{theme.radius:g}px;box-shadow:0 2px 8px #0004;"
        'display:flex;flex-direction:column;gap:8px;padding:8px">'
        f"{page.icon(size, theme.text, kind='add')}{page.icon(size, theme.text)}"
        f"{page.icon(size, theme.text)}</div>"
    )


def _chips(page: Page) -> str:
    """Kinds of places to choose among."""
    random = page.random
    return row(
        "".join(
            (
                '<span style="display:inline-flex;gap:5px;align-items:center;background:'
                f"{page.theme.raised};padding:6px 11px;border-radius:99px;box-shadow:0 1px 4px #0003;"
                f'white-space:nowrap">{page.icon(random.choice(SMALL))}{page.words(1, 1)}</span>'
            )
            for _ in range(random.randrange(3, 7))
        ),
        style="position:absolute;top:16px;inset-inline-start:380px",
    )


def _name(page: Page) -> str:
    """What the map calls a place."""
    random = page.random
    return (
        f'<span style="position:absolute;left:{random.randrange(100)}%;top:'
        f"{random.randrange(100)}%;font-size:11px;color:{'#9ab' if page.theme.is_dark else '#566'}"
        f'">{page.words(1, 2)}</span>'
    )


def _pin(page: Page) -> str:
    random = page.random
    place = f"position:absolute;left:{random.randrange(2, 98)}%;top:{random.randrange(2, 95)}%;"
    size = random.choice((10, 11, 12, 14, 16, 20))
    lot = random.random()
    if lot < 0.45:
        return f'<span style="{place}">{in_shape(page, size)}</span>'
    if lot < 0.75:
        return f'<span style="{place}">{page.icon(size * 1.8, signal(page))}</span>'
    if lot < 0.9:
        return (
            f'<span style="{place}width:{size}px;height:{size}px;border-radius:50%;background:'
            f'{page.theme.accent};border:2px solid #fff"></span>'
        )
    return (
        f'<span style="{place}background:#fff;color:#111;border-radius:99px;padding:3px 8px;'
        f'font-weight:700">${random.randrange(20, 400)}</span>'
    )


def _place(page: Page) -> str:
    theme, random = page.theme, page.random
    details = row(
        (
            f"{page.icon(random.choice(SMALL), theme.muted)}<span>{page.number()}</span>"
            f"{page.icon(random.choice(SMALL), theme.muted)}<span>{random.randrange(1, 40)} "
            "min</span>"
        ),
        gap="4px",
        style=f"color:{theme.muted};font-size:.85em",
    )
    tools = (
        row("".join(icon_button(page, random.choice((*USUAL, *LARGE))) for _ in range(3))) if often(page, 0.3) else ""
    )
    return row(
        (
            f'<div style="flex:1"><b>{page.words(1, 3)}</b>{stars(page, 12)}{details}{tools}</div>'
            f"{page.photo(70, 70) if often(page, 0.6) else chip(page)}"
        ),
        gap="12px",
        style=f"padding:9px 0;border-bottom:1px solid {theme.border}",
    )
