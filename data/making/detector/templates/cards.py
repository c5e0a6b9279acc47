"""Cards: figures with an icon each, and features as marketing shows them."""

from data.making.detector.page import Page
from data.making.detector.templates.sidebars import app_bar, shell
from data.making.detector.templates.tables import table
from data.making.detector.templates.widgets import (
    HUGE,
    LARGE,
    SMALL,
    USUAL,
    button,
    heading,
    icon_button,
    in_shape,
    often,
    panel,
    px,
    row,
    signal,
    text,
)


def stat_cards(page: Page) -> str:
    """A dashboard: cards with a figure, a trend, charts, a table."""
    random = page.random
    stats = "".join(_stat(page) for _ in range(random.randrange(3, 7)))
    grid = (
        f'<div style="display:grid;grid-template-columns:repeat({random.randrange(2, 5)},1fr);'
        f'gap:{px(page, 14)};margin-bottom:14px">{stats}</div>'
    )
    charts = row(
        "".join(_chart(page) for _ in range(random.randrange(1, 4))),
        gap=px(page, 14),
        style="align-items:stretch;margin-bottom:14px",
    )
    parts = [grid, charts, panel(page, heading(page) + table(page, 6))]
    return shell(page, heading(page, 1.5) + "".join(parts))


def _stat(page: Page) -> str:
    theme, random = page.theme, page.random
    colour = signal(page)
    icon = (
        in_shape(page, random.choice(LARGE))
        if often(page, 0.6)
        else page.icon(random.choice(LARGE), random.choice((theme.muted, theme.accent)))
    )
    trend = row(
        (
            f"{page.icon(random.choice(SMALL), colour, kind='arrow')}<span>"
            f"{random.uniform(0, 30):.1f}%</span><span style='color:{theme.muted}'>"
            f"{page.words(1, 2)}</span>"
        ),
        gap=f"{random.choice((2, 3, 4))}px",
        style=f"color:{colour};font-size:.85em",
    )
    words = (
        f'<div style="flex:1"><div style="color:{theme.muted}">{page.words(1, 2)}</div><div '
        f'style="font-size:1.7em;font-weight:700">{page.number()}</div>'
        f"{trend if often(page, 0.75) else ''}</div>"
    )
    side = page.chart(90, 36) if often(page, 0.25) else ""
    return panel(page, row(random.choice((icon + words, words + icon, words, words + icon + side)), gap="14px"))


def _chart(page: Page) -> str:
    random = page.random
    head = row(
        (
            f"<b style='flex:1'>{page.words(1, 3)}</b>"
            f"{button(page, 'outlined') if often(page, 0.4) else ''}"
            f"{icon_button(page, random.choice(USUAL), kind='more')}"
        ),
        style="margin-bottom:10px",
    )
    return panel(
        page, head + page.chart(random.randrange(180, 460), random.randrange(120, 240)), style="flex:1;overflow:hidden"
    )


def feature_grid(page: Page) -> str:
    """A page that sells: a large heading, features with a large icon each, logos of customers."""
    random = page.random
    size, align = random.choice(HUGE), "center" if often(page, 0.5) else "start"
    look = random.choice(("shape", "bare", "bare", "accent"))
    cards = "".join(_feature(page, size, look, align) for _ in range(random.choice((3, 4, 6, 6, 8, 9))))
    grid = (
        f'<div style="display:grid;grid-template-columns:repeat({random.choice((2, 3, 3, 4))}'
        f',1fr);gap:{px(page, 26)};max-width:1100px;margin:24px auto">{cards}</div>'
    )
    hero = _hero(page, align)
    logos = (
        row("".join(page.logo() for _ in range(5)), gap="40px", style="justify-content:center;opacity:.7;margin:20px")
        if often(page, 0.5)
        else ""
    )
    return f'{app_bar(page)}<div style="padding:0 {px(page, 30)}">{hero}{logos}{grid}</div>'


def _feature(page: Page, size: float, look: str, align: str) -> str:
    theme = page.theme
    icon = (
        in_shape(page, size * 0.6) if look == "shape" else page.icon(size, theme.accent if look == "accent" else None)
    )
    more = (
        row(
            page.words(1, 2) + page.icon(page.random.choice(USUAL), kind="arrow"),
            gap="5px",
            style=f"color:{theme.accent};justify-content:{align};margin-top:6px",
        )
        if often(page, 0.3)
        else ""
    )
    inside = (
        f'<div style="text-align:{align}">{icon}<h3 style="margin:10px 0 4px">'
        f"{page.words(1, 3)}</h3>{text(page, 8, 20)}{more}</div>"
    )
    return panel(page, inside) if often(page, 0.6) else inside


def _hero(page: Page, align: str) -> str:
    """A large heading over buttons."""
    return (
        f'<div style="text-align:{align};max-width:1100px;margin:{px(page, 40)} auto 0"><div '
        f'style="font-size:{page.random.randrange(28, 60)}px;line-height:1.15;font-weight:800">'
        f'{page.words(3, 7)}</div>{text(page, 10, 20)}<div style="margin-top:14px">'
        f"{button(page, 'filled')} {button(page, 'outlined')}</div></div>"
    )
