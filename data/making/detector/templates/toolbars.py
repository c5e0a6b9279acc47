"""Tool bars: editors of text and of pictures."""

from data.making.detector.page import Page
from data.making.detector.templates.widgets import (
    SMALL,
    SPACER,
    USUAL,
    button,
    icon_button,
    menu,
    often,
    panel,
    px,
    row,
    text,
)


def text_editor(page: Page) -> str:
    """A document under rows of tools, with text that is bold or coloured beside them."""
    theme, random = page.theme, page.random
    title = row(
        page.icon(random.choice((20, 24, 28, 32)), theme.accent)
        + f"<b>{page.words(1, 3)}</b>"
        + page.icon(14, kind="star")
        + SPACER
        + button(page, "filled")
        + page.avatar(30),
        style="padding:8px 14px",
    )
    words = row(
        "".join(f"<span>{page.words(1, 1)}</span>" for _ in range(6)),
        gap="16px",
        style=f"padding:2px 16px;color:{theme.muted}",
    )
    tools = "".join(tool_row(page) for _ in range(random.randrange(1, 3)))
    side = f'<div style="padding:10px">{menu(page)}</div>' if often(page, 0.3) else ""
    sheet = panel(page, _prose(page), style=f"width:{random.randrange(480, 760)}px;margin:18px auto;min-height:600px")
    return (
        f'{title}{words}{tools}<div style="display:flex;background:{theme.surface}"><div '
        f'style="flex:1">{sheet}</div>{side}</div>'
    )


def tool_row(page: Page) -> str:
    """Groups of tools with lines between, lists to choose from, signs and colours among them."""
    theme, random = page.theme, page.random
    size, gap = random.choice(USUAL), random.choice((0, 2, 4, 6, 8))
    colour = random.choice((theme.text, theme.muted, theme.text, None))
    line = f'<span style="width:1px;align-self:stretch;background:{theme.fill};margin:2px 5px"></span>'
    groups = []
    for _ in range(random.randrange(3, 9)):
        tools = "".join(_tool(page, size, colour) for _ in range(random.randrange(2, 6)))
        groups.append(tools)
    style = (
        f"padding:{px(page, 5)} {px(page, 12)};background:{theme.surface};border-bottom:1px "
        f"solid {theme.border};overflow:hidden"
    )
    return row(line.join(groups), gap=f"{gap}px", style=style)


def _tool(page: Page, size: float, colour: str | None) -> str:
    random, theme = page.random, page.theme
    lot = random.random()
    if lot < 0.74:
        chosen = f"background:{theme.soft};" if random.random() < 0.1 else ""
        arrow = page.icon(random.choice((8, 9, 10, 12)), theme.muted, kind="chevron") if random.random() < 0.15 else ""
        pad = random.choice((2, 3, 4, 5, 6, 7))
        return (
            f'<span style="display:inline-flex;align-items:center;padding:{pad}px;border-radius:'
            f'{theme.radius / 2:g}px;{chosen}color:{theme.text}">{page.icon(size, colour)}{arrow}'
            "</span>"
        )
    if lot < 0.82:
        return row(
            f"<span>{page.words(1, 1)}</span>{page.icon(random.choice(SMALL), kind='chevron')}",
            gap="4px",
            style=f"padding:2px 6px;border:1px solid {theme.border};border-radius:{theme.radius / 2:g}px",
        )
    if lot < 0.9:
        letter = random.choice(("<b>B</b>", "<i>I</i>", "<u>U</u>", "<s>S</s>", "12", "Aa", "H1", "100%"))
        return f'<span style="padding:2px 6px;font-size:{size * 0.9:.0f}px">{letter}</span>'
    return page.swatch(size) if lot < 0.95 else icon_button(page, size)


def _prose(page: Page) -> str:
    parts = [f'<h2 style="margin:0 0 8px">{page.words(2, 5)}</h2>']
    for _ in range(page.random.randrange(3, 7)):
        parts.append(f'<p style="margin:0 0 10px">{page.words(20, 60)}.</p>')
    return "".join(parts) + (page.photo(320, 160) if often(page, 0.4) else text(page))
