"""Screens of phones: a bar of tabs below, lists, large buttons."""

from indexer.screens.page import Page
from indexer.screens.templates.widgets import (
    LARGE,
    SMALL,
    USUAL,
    chip,
    field,
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
    chosen, middle = random.randrange(n), often(page, 0.2)
    tabs = []
    for at in range(n):
        colour = theme.accent if at == chosen else theme.muted
        badge = (
            (
                '<span style="position:absolute;top:-4px;inset-inline-start:60%;line-height:1;'
                f'display:flex">{page.badge()}</span>'
            )
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
            else (
                '<span style="position:relative;display:inline-block">'
                f"{page.icon(size, random.choice((None, colour)))}{badge}</span>"
            )
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
        (
            f'{page.icon(size, kind="chevron") if often(page, 0.6) else ""}<b style="flex:1;'
            f'font-size:1.2em">{title or page.words(1, 2)}</b>'
        )
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
    return (
        '<div style="height:100vh;display:flex;flex-direction:column;position:relative;'
        f'background:{theme.ground}">{status_bar(page)}{head}<div style="flex:1;'
        f'overflow:hidden;padding:0 {px(page, 14)}">{inside}</div>{button}{bottom}</div>'
    )


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
    words = (
        '<div style="flex:1;min-width:0;overflow:hidden"><div style="white-space:nowrap">'
        f'{page.words(1, 3)}</div><div style="white-space:nowrap;font-size:.85em;color:'
        f'{theme.muted}">{page.words(3, 6)}</div></div>'
    )
    return row(
        start + words + end, gap="12px", style=f"padding:{px(page, 10)} 0;border-bottom:1px solid {theme.border}"
    )


def _post(page: Page) -> str:
    theme, random = page.theme, page.random
    size = random.choice((*USUAL, *LARGE))
    head = row(
        page.avatar(34)
        + (
            f'<div style="flex:1"><b>{page.name()}</b><div style="font-size:.8em;color:'
            f'{theme.muted}">{page.number()}</div></div>'
        )
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


def phone_settings(page: Page) -> str:
    """Settings of a phone: groups of lines, an icon in a coloured square each."""
    theme, random = page.theme, page.random
    size, is_square = random.choice((14, 16, 18, 20)), often(page, 0.6)
    groups = []
    for _ in range(random.randrange(2, 5)):
        lines = "".join(_setting(page, size, is_square) for _ in range(random.randrange(2, 6)))
        groups.append(
            f'<div style="background:{theme.raised};border-radius:{max(theme.radius, 8):g}px;'
            f'margin-bottom:16px;overflow:hidden">{lines}</div>'
        )
    return phone_frame(page, field(page) + '<div style="height:12px"></div>' + "".join(groups))


def _setting(page: Page, size: float, is_square: bool) -> str:
    theme, random = page.theme, page.random
    icon = in_shape(page, size) if is_square else page.icon(size * 1.3, random.choice((None, theme.muted)))
    end = random.choice(
        (
            page.switch,
            lambda: row(
                (
                    f'<span style="color:{theme.muted}">{page.words(1, 1)}</span>'
                    f"{page.icon(random.choice(SMALL), theme.faint, kind='chevron')}"
                ),
                gap="4px",
            ),
        )
    )()
    return row(
        f'{icon}<span style="flex:1">{page.words(1, 2)}</span>{end}',
        gap="12px",
        style=f"padding:{px(page, 9)} 12px;border-bottom:1px solid {theme.border}",
    )


def phone_grid(page: Page) -> str:
    """Services or programs in a grid, a large icon each, under a card with a figure."""
    theme, random = page.theme, page.random
    size, columns, look = (
        random.choice((22, 24, 28, 32, 40)),
        random.choice((3, 4, 4)),
        random.choice(("shape", "bare", "tile")),
    )
    cells = []
    for _ in range(columns * random.randrange(2, 6)):
        icon = in_shape(page, size) if look == "shape" else page.icon(size, random.choice((None, theme.accent)))
        badge = (
            (
                '<span style="position:absolute;top:-5px;inset-inline-end:20%;line-height:1;'
                f'display:flex">{page.badge()}</span>'
            )
            if often(page, 0.1)
            else ""
        )
        tile = f"background:{theme.raised};border-radius:{theme.radius:g}px;padding:14px 4px" if look == "tile" else ""
        cells.append(
            '<div style="position:relative;text-align:center;font-size:11px;overflow:hidden;'
            f'{tile}">{icon}{badge}<div style="margin-top:5px">{page.words(1, 1)}</div></div>'
        )
    actions = row(
        "".join(
            (
                '<div style="flex:1;text-align:center;font-size:12px">'
                f"{page.icon(random.choice(LARGE))}<div>{page.words(1, 1)}</div></div>"
            )
            for _ in range(4)
        ),
        style="margin-top:12px",
    )
    card = (
        f'<div style="background:{theme.accent};color:{theme.on_accent};border-radius:'
        f'{max(theme.radius, 10):g}px;padding:16px;margin-bottom:16px"><div>{page.words(1, 3)}'
        f'</div><div style="font-size:2em">{page.number()}</div>'
        f"{actions if often(page, 0.5) else ''}</div>"
    )
    return phone_frame(
        page,
        (card if often(page, 0.7) else field(page))
        + f'<div style="display:grid;grid-template-columns:repeat({columns},1fr);gap:18px 8px">{"".join(cells)}</div>',
    )


def phone_player(page: Page) -> str:
    """A song or a film over the whole phone: a picture, large buttons, small ones around."""
    theme, random = page.theme, page.random
    size = random.choice((24, 28, 32, 36, 40, 48))
    picture = page.photo(page.width - 28, min(page.width - 28, page.height * 0.45))
    head = row(
        (
            f'<div style="flex:1"><b style="font-size:1.3em">{page.words(1, 3)}</b><div '
            f'style="color:{theme.muted}">{page.name()}</div></div>{page.icon(24, kind="star")}'
        ),
        style="margin:16px 0",
    )
    line = (
        f'<div style="height:4px;background:{theme.fill}"><div style="height:4px;width:'
        f'{random.randrange(10, 90)}%;background:{theme.accent}"></div></div>'
    )
    play = (
        f'<span style="width:{size * 2}px;height:{size * 2}px;border-radius:50%;background:'
        f"{theme.accent};color:{theme.on_accent};display:inline-flex;align-items:center;"
        f'justify-content:center">{page.icon(size)}</span>'
    )
    buttons = row(
        page.icon(20, theme.muted) + page.icon(size) + play + page.icon(size) + page.icon(20, theme.muted),
        style="justify-content:space-between;margin:18px 0",
    )
    return phone_frame(page, picture + head + line + buttons)


def phone_feed(page: Page) -> str:
    """A film or a photograph over the whole phone, with a column of icons and counts upon it."""
    random = page.random
    size = random.choice((24, 26, 28, 32, 36))
    column = "".join(
        (
            '<div style="text-align:center;color:#fff;font-size:12px;margin-bottom:16px">'
            f"{page.icon(size, random.choice((None, '#fff')))}<div>{random.randrange(1, 999)}"
            "K</div></div>"
        )
        for _ in range(random.randrange(3, 6))
    )
    words = (
        '<div style="position:absolute;bottom:90px;left:14px;right:90px;color:#fff;'
        f'text-shadow:0 1px 3px #000"><b>@{page.words(1, 1)}</b><div>{page.words(4, 12)}</div>'
        f"{row(page.icon(14) + page.words(1, 3), gap='6px')}</div>"
    )
    ground = f'<div style="position:absolute;inset:0">{page.photo(page.width, page.height)}</div>'
    top = row(
        page.icon(24)
        + f'<span style="flex:1;text-align:center">{page.words(1, 1)} &nbsp; <b>{page.words(1, 1)}</b></span>'
        + page.icon(24, kind="search"),
        style="position:absolute;top:14px;left:14px;right:14px;color:#fff",
    )
    return (
        f'<div style="position:relative;height:100vh;overflow:hidden;direction:ltr">{ground}'
        f'{top}<div style="position:absolute;bottom:100px;right:14px">{column}</div>{words}'
        f'<div style="position:absolute;bottom:0;left:0;right:0">{tab_bar(page)}</div></div>'
    )
