"""Lists of a phone: messages, posts, settings, a line or a card each."""

from data.making.detector.page import Page
from data.making.detector.templates.phones.frames import phone_frame
from data.making.detector.templates.widgets import (
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
