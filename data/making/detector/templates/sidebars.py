"""Shells with a bar at the top and one at the side, and an admin panel in one."""

from data.making.detector import theme as themes
from data.making.detector.page import Page
from data.making.detector.templates.widgets import (
    SMALL,
    SPACER,
    USUAL,
    badge_over,
    button,
    chip,
    field,
    full_height,
    heading,
    icon_button,
    ink,
    menu_item,
    often,
    panel,
    px,
    row,
    text,
)


def app_bar(page: Page) -> str:
    """The bar at the top: a logo, a field, actions, a person."""
    theme, random = page.theme, page.random
    side = random.choice(USUAL)
    actions = "".join(icon_button(page, side) for _ in range(random.randrange(1, 6)))
    person = page.avatar(random.choice((24, 28, 32, 36)))
    search = field(page, width=f"{random.randrange(160, 420)}px") if often(page, 0.7) else ""
    burger = icon_button(page, side, kind="menu") if often(page, 0.5) else ""
    who = f"<span>{page.name()}</span>{page.icon(random.choice(SMALL), kind='chevron')}" if often(page, 0.4) else ""
    is_tinted = often(page, 0.25)
    ground, colour = (theme.accent, theme.on_accent) if is_tinted else (theme.surface, theme.text)
    inside = f"{burger}{page.logo()}{search}{SPACER}{actions}{person}{who}"
    style = (
        f"padding:{px(page, 8)} {px(page, 16)};background:{ground};color:{colour};"
        f"border-bottom:1px solid {theme.border};flex:none"
    )
    if is_tinted:
        usual, page.theme = theme, themes.on_ground(theme, theme.accent, theme.on_accent)
        inside = f"{page.logo()}{SPACER}" + "".join(icon_button(page, side, colour=colour) for _ in range(4)) + person
        page.theme = usual
    return row(inside, gap=px(page, 10), style=style)


def sidebar(page: Page, *, width: int | None = None) -> str:
    """Groups of links with an icon each; at times of icons alone, at times dark beside a light page."""
    random, usual = page.random, page.theme
    if often(page, 0.3):
        page.theme = themes.inverted(usual, random)
    theme = page.theme
    size, colour = random.choice(USUAL), ink(page)
    is_rail = width is None and often(page, 0.15)
    groups = "".join(_links(page, size, colour, is_rail=is_rail) for _ in range(random.randrange(1, 4)))
    wide = 60 if is_rail else width or random.randrange(170, 290)
    style = (
        f"width:{wide}px;flex:none;background:{theme.surface};color:{theme.text};"
        f"border-inline-end:1px solid {theme.border};padding:{px(page, 10)} 8px;"
        "overflow:hidden"
    )
    page.theme = usual
    return f'<nav style="{style}">{groups}</nav>'


def _links(page: Page, size: float, colour: str, *, is_rail: bool) -> str:
    """A group of links, mostly under a title."""
    random = page.random
    title = (
        f'<div style="font-size:.8em;color:{page.theme.faint};padding:{px(page, 8)} {px(page, 10)};'
        f'letter-spacing:.04em">{page.words(1, 1)}</div>'
    )
    n, chosen = random.randrange(3, 9), random.randrange(9)
    items = "".join(
        _rail_item(page, size, at == chosen)
        if is_rail
        else menu_item(page, size, is_chosen=at == chosen, colour=random.choice((None, colour)))
        for at in range(n)
    )
    return ("" if is_rail or often(page, 0.3) else title) + items


def _rail_item(page: Page, size: float, is_chosen: bool) -> str:
    theme = page.theme
    ground = theme.soft if is_chosen else "transparent"
    badge = badge_over(page) if often(page, 0.15) else ""
    label = (
        f'<div style="font-size:9px;margin-top:3px;overflow:hidden">{page.words(1, 1)}</div>'
        if often(page, 0.2)
        else ""
    )
    return (
        '<div style="position:relative;padding:9px 0;text-align:center;border-radius:'
        f'{theme.radius:g}px;background:{ground};color:{theme.text}">{page.icon(size * 1.15)}'
        f"{label}{badge}</div>"
    )


def shell(page: Page, inside: str) -> str:
    """A bar at the top, one at the side, and what is inside."""
    head = app_bar(page)
    body = f'<main style="flex:1;padding:{px(page, 20)};overflow:hidden;min-width:0">{inside}</main>'
    side = sidebar(page)
    return full_height(side + body if often(page, 0.85) else body + side, above=head)


def under_bar(page: Page, inside: str, *, beside: float) -> str:
    """A bar at the top, and what is inside; a bar at the side of it with the chance `beside`."""
    head = app_bar(page)
    side = sidebar(page) if often(page, beside) else ""
    return f'{head}<div style="display:flex">{side}{inside}</div>'


def admin_shell(page: Page) -> str:
    """An admin panel: links at the side, cards and a list inside."""
    random = page.random
    top = row(heading(page, 1.5) + SPACER + "".join(button(page) for _ in range(random.randrange(1, 4))))
    crumbs = breadcrumb(page) if often(page, 0.6) else ""
    cards = "".join(_card(page) for _ in range(random.randrange(2, 8)))
    grid = (
        '<div style="display:grid;grid-template-columns:repeat(auto-fill,minmax('
        f'{random.randrange(180, 340)}px,1fr));gap:{px(page, 14)};margin-top:12px">{cards}'
        "</div>"
    )
    return shell(page, crumbs + top + grid)


def breadcrumb(page: Page) -> str:
    """Where one is: words with a chevron or a sign between."""
    theme, random = page.theme, page.random
    size, mark = random.choice(SMALL), random.choice(("icon", "icon", "/", "&gt;"))
    colour = random.choice((theme.faint, theme.muted))
    between = [page.icon(size, colour, kind="chevron") if mark == "icon" else f"<span>{mark}</span>" for _ in range(3)]
    home = page.icon(size * 1.2) if often(page, 0.5) else page.words(1, 1)
    parts = [
        home,
        *(part for mark in between[: random.randrange(1, 4)] for part in (mark, f"<span>{page.words(1, 2)}</span>")),
    ]
    return row("".join(parts), gap="6px", style=f"color:{theme.muted};font-size:.9em;margin-bottom:8px")


def _card(page: Page) -> str:
    random = page.random
    head = row(
        f"{page.icon(random.choice(USUAL), ink(page)) if often(page, 0.6) else ''}<b "
        f'style="flex:1">{page.words(1, 3)}</b>'
        f"{icon_button(page, random.choice(USUAL), kind='more')}"
    )
    middle = random.choice(
        (
            text(page),
            page.chart(160, 60),
            f'<div style="font-size:1.8em">{page.number()}</div>',
            page.skeleton(160),
            row("".join(page.avatar(24) for _ in range(4)), gap="2px"),
        )
    )
    foot = row("".join(chip(page) for _ in range(random.randrange(0, 3))), style="margin-top:8px;overflow:hidden")
    return panel(page, head + middle + foot, style="overflow:hidden")
