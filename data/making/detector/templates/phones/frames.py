"""What is around the screen of a phone's program: the phone's own bar, a head, a bar of tabs."""

from data.making.detector.page import Page
from data.making.detector.templates.widgets import LARGE, badge_at, icon_button, in_shape, often, px, row


def status_bar(page: Page) -> str:
    """The time, and what the phone says of itself."""
    theme, random = page.theme, page.random
    icons = (
        "".join(page.icon(random.choice((11, 12, 13, 14, 15)), theme.text) for _ in range(random.randrange(2, 5)))
        if often(page, 0.7)
        else ""
    )
    return row(
        (
            f'<b style="flex:1">{random.randrange(1, 24)}:{random.randrange(10, 60)}</b>{icons}'
            f'<span style="font-size:11px">{random.randrange(5, 100)}%</span>'
        ),
        gap="4px",
        style="padding:8px 16px 4px;font-size:13px",
    )


def tab_bar(page: Page) -> str:
    """Tabs at the bottom, an icon each and mostly a word under it."""
    theme, random = page.theme, page.random
    size, n, has_words = random.choice((20, 22, 24, 24, 24, 26, 28)), random.choice((3, 4, 5, 5)), often(page, 0.75)
    chosen, in_middle = random.randrange(n), often(page, 0.2)
    tabs = (
        _tab(page, size, is_chosen=at == chosen, is_shaped=in_middle and at == n // 2, has_word=has_words)
        for at in range(n)
    )
    return row(
        "".join(tabs),
        gap="0",
        style=f"padding:8px 4px 12px;border-top:1px solid {theme.border};background:{theme.surface}",
    )


def _tab(page: Page, size: float, *, is_chosen: bool, is_shaped: bool, has_word: bool) -> str:
    colour = page.theme.accent if is_chosen else page.theme.muted
    badge = badge_at(page, "top:-4px;inset-inline-start:60%") if often(page, 0.15) else ""
    word = (
        f'<div style="font-size:10px;overflow:hidden;white-space:nowrap">{page.words(1, 1)}</div>' if has_word else ""
    )
    icon = (
        in_shape(page, size)
        if is_shaped
        else (
            '<span style="position:relative;display:inline-block">'
            f"{page.icon(size, page.random.choice((None, colour)))}{badge}</span>"
        )
    )
    return f'<div style="flex:1;min-width:0;text-align:center;color:{colour}">{icon}{word}</div>'


def phone_frame(page: Page, inside: str, *, title: str | None = None) -> str:
    """A phone's screen around a list or a page."""
    head = _head(page, title)
    bottom = tab_bar(page) if often(page, 0.75) else ""
    button = (
        f'<div style="position:absolute;bottom:90px;inset-inline-end:16px">{in_shape(page, 24)}</div>'
        if often(page, 0.25)
        else ""
    )
    return (
        '<div style="height:100vh;display:flex;flex-direction:column;position:relative;'
        f'background:{page.theme.ground}">{status_bar(page)}{head}<div style="flex:1;'
        f'overflow:hidden;padding:0 {px(page, 14)}">{inside}</div>{button}{bottom}</div>'
    )


def _head(page: Page, title: str | None) -> str:
    size = page.random.choice(LARGE)
    return row(
        (
            f'{page.icon(size, kind="chevron") if often(page, 0.6) else ""}<b style="flex:1;'
            f'font-size:1.2em">{title or page.words(1, 2)}</b>'
        )
        + "".join(icon_button(page, size) for _ in range(page.random.randrange(0, 3))),
        gap="12px",
        style="padding:10px 16px",
    )
