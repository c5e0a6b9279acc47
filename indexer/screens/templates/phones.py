"""Screens of phones: a bar of tabs below, lists, large buttons."""

from indexer.screens.page import Page
from indexer.screens.templates.widgets import (
    LARGE,
    SMALL,
    USUAL,
    chip,
    field,
    heading,
    icon_button,
    in_shape,
    ink,
    often,
    panel,
    px,
    row,
    text,
)


def status_bar(page: Page) -> str:
    """The time, and what the phone says of itself."""
    theme, random = page.theme, page.random
    icons = (
        "".join(page.icon(random.choice((11, 12, 13, 14, 15)), theme.text) for _ in range(random.randrange(2, 5)))
        if often(page, 0.7)
        else ""
    )
    return row(
        f'<b style="flex:1">{random.randrange(1, 24)}:{random.randrange(10, 60)}</b>{icons}<span style="font-size:11px">{random.randrange(5, 100)}%</span>',
        gap="4px",
        style="padding:8px 16px 4px;font-size:13px",
    )


def tab_bar(page: Page) -> str:
    """Tabs at the bottom, an icon each and mostly a word under it."""
    theme, random = page.theme, page.random
    size, n, has_words = random.choice((20, 22, 24, 24, 24, 26, 28)), random.choice((3, 4, 5, 5)), often(page, 0.75)
    chosen, middle = random.randrange(n), often(page, 0.2)
    tabs = []
    for at in range(n):
        colour = theme.accent if at == chosen else theme.muted
        badge = (
            f'<span style="position:absolute;top:-4px;inset-inline-start:60%;line-height:1;display:flex">{page.badge()}</span>'
            if often(page, 0.15)
            else ""
        )
        word = (
            f'<div style="font-size:10px;overflow:hidden;white-space:nowrap">{page.words(1, 1)}</div>'
            if has_words
            else ""
        )
        icon = (
            in_shape(page, size)
            if middle and at == n // 2
            else f'<span style="position:relative;display:inline-block">{page.icon(size, random.choice((None, colour)))}{badge}</span>'
        )
        tabs.append(f'<div style="flex:1;min-width:0;text-align:center;color:{colour}">{icon}{word}</div>')
    return row(
        "".join(tabs),
        gap="0",
        style=f"padding:8px 4px 12px;border-top:1px solid {theme.border};background:{theme.surface}",
    )


def phone_frame(page: Page, inside: str, *, title: str | None = None) -> str:
    """A phone's screen around a list or a page."""
    theme, random = page.theme, page.random
    size = random.choice(LARGE)
    head = row(
        f'{page.icon(size, kind="chevron") if often(page, 0.6) else ""}<b style="flex:1;font-size:1.2em">{title or page.words(1, 2)}</b>'
        + "".join(icon_button(page, size) for _ in range(random.randrange(0, 3))),
        gap="12px",
        style="padding:10px 16px",
    )
    bottom = tab_bar(page) if often(page, 0.75) else ""
    button = (
        f'<div style="position:absolute;bottom:90px;inset-inline-end:16px">{in_shape(page, 24)}</div>'
        if often(page, 0.25)
        else ""
    )
    return f'<div style="height:100vh;display:flex;flex-direction:column;position:relative;background:{theme.ground}">{status_bar(page)}{head}<div style="flex:1;overflow:hidden;padding:0 {px(page, 14)}">{inside}</div>{button}{bottom}</div>'


def phone_tabs(page: Page) -> str:
    """A list or a feed between a head and a bar of tabs."""
    random = page.random
    kind = random.choice((_list_item, _list_item, _post))
    search = field(page) if often(page, 0.5) else ""
    chips = (
        row("".join(chip(page) for _ in range(6)), gap="6px", style="margin:10px 0;overflow:hidden")
        if often(page, 0.4)
        else ""
    )
    return phone_frame(page, search + chips + "".join(kind(page) for _ in range(10)))


def _list_item(page: Page) -> str:
    theme, random = page.theme, page.random
    start = random.choice(
        (
            lambda: page.icon(random.choice(LARGE), ink(page)),
            lambda: in_shape(page, 18),
            lambda: page.avatar(40),
            lambda: page.photo(44, 44),
        )
    )()
    end = random.choice(
        (
            page.number,
            page.switch,
            page.badge,
            lambda: page.icon(random.choice(SMALL), theme.faint, kind="chevron"),
            lambda: icon_button(page),
        )
    )()
    words = f'<div style="flex:1;min-width:0;overflow:hidden"><div style="white-space:nowrap">{page.words(1, 3)}</div><div style="white-space:nowrap;font-size:.85em;color:{theme.muted}">{page.words(3, 6)}</div></div>'
    return row(
        start + words + end, gap="12px", style=f"padding:{px(page, 10)} 0;border-bottom:1px solid {theme.border}"
    )


def _post(page: Page) -> str:
    theme, random = page.theme, page.random
    size = random.choice((*USUAL, *LARGE))
    head = row(
        page.avatar(34)
        + f'<div style="flex:1"><b>{page.name()}</b><div style="font-size:.8em;color:{theme.muted}">{page.number()}</div></div>'
        + icon_button(page, 18, kind="more"),
        gap="10px",
    )
    actions = row(
        "".join(
            row(
                page.icon(size, random.choice((None, theme.muted))) + (page.number() if often(page, 0.6) else ""),
                gap="4px",
            )
            for _ in range(random.randrange(3, 5))
        ),
        gap="20px",
        style="margin-top:8px",
    )
    return panel(
        page,
        head + text(page) + page.photo(page.width - 70, random.randrange(120, 260)) + actions,
        style="margin:10px 0",
    )
