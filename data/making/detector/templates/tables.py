"""Tables of data: heads that sort, rows with a state and actions, pages below."""

from data.making.detector.page import Page
from data.making.detector.templates.sidebars import app_bar, shell
from data.making.detector.templates.widgets import (
    SMALL,
    SPACER,
    USUAL,
    button,
    chip,
    field,
    heading,
    icon_button,
    often,
    px,
    row,
    signal,
)


def data_table(page: Page) -> str:
    """A table with tools above it and pages below."""
    random = page.random
    tools = row(
        field(page, width="240px")
        + "".join(button(page) for _ in range(random.randrange(1, 4)))
        + SPACER
        + "".join(icon_button(page) for _ in range(random.randrange(0, 4))),
        style="margin:10px 0",
    )
    inside = heading(page, 1.5) + tools + table(page) + pages(page)
    return (
        shell(page, inside)
        if often(page, 0.5)
        else app_bar(page) + f'<div style="padding:{px(page, 20)}">{inside}</div>'
    )


def table(page: Page, n: int | None = None) -> str:
    """The table itself: a few kinds of columns, the same in every row."""
    theme, random = page.theme, page.random
    columns = random.choices((_words, _figure, _person, _state, _signed, _bar, _tags, _sign), k=random.randrange(3, 7))
    size, kinds = random.choice(USUAL), random.choice((1, 2, 3, 4))
    head_icon = random.choice(SMALL)
    heads = "".join(_head(page, head_icon) for _ in columns)
    style = (
        f"padding:{px(page, 8)} {px(page, 10)};border-bottom:{max(theme.border_width, 0.5):g}px solid {theme.border};"
        "text-align:start;white-space:nowrap"
    )
    check = _check(page, style) if often(page, 0.5) else ""
    colour = random.choice((theme.muted, theme.text, theme.faint, theme.accent, None))
    rows = []
    for at in range(n or random.randrange(5, 22)):
        actions = "".join(page.icon(size, colour, kind="more" if kinds == 1 else None) for _ in range(kinds))
        cells = "".join(f'<td style="{style}">{column(page)}</td>' for column in columns)
        last = row(actions, gap=f"{random.choice((4, 8, 12))}px", style="justify-content:flex-end")
        ground = theme.surface if at % 2 and theme.kind != "contrast" else "transparent"
        rows.append(f'<tr style="background:{ground}">{check}{cells}<td style="{style}">{last}</td></tr>')
    top = (
        f'<tr style="background:{theme.surface};font-size:.9em;color:{theme.muted}">'
        f"{'<th></th>' if check else ''}{heads}<th></th></tr>"
    )
    return f'<table style="width:100%;border-collapse:collapse">{top}{"".join(rows)}</table>'


def _check(page: Page, style: str) -> str:
    """A cell with a box to tick."""
    scheme = "dark" if page.theme.is_dark else "light"
    return f'<td style="{style}"><input type=checkbox style="margin:0;color-scheme:{scheme}"></td>'


def _head(page: Page, size: float) -> str:
    random = page.random
    mark = page.icon(size, page.theme.faint, kind="arrow") if often(page, 0.5) else ""
    before = page.icon(size) if often(page, 0.12) else ""
    return (
        f'<th style="padding:8px 10px;text-align:start;font-weight:{random.choice((400, 600))}'
        f'">{row(before + page.words(1, 1) + mark, gap="4px")}</th>'
    )


def _words(page: Page) -> str:
    return page.words(1, 3)


def _figure(page: Page) -> str:
    return f'<span style="color:{page.theme.muted}">{page.number()}</span>'


def _person(page: Page) -> str:
    return row(page.avatar(page.random.choice((20, 24, 28))) + page.name())


def _state(page: Page) -> str:
    colour, random = signal(page), page.random
    mark = (
        page.icon(random.choice(SMALL), random.choice((colour, None)))
        if often(page, 0.6)
        else f'<span style="width:8px;height:8px;border-radius:50%;background:{colour}"></span>'
    )
    ground = f"background:{colour}22;padding:2px 8px;border-radius:99px" if often(page, 0.5) else ""
    return (
        f'<span style="display:inline-flex;align-items:center;gap:4px;color:{colour};{ground}'
        f'">{mark}{page.words(1, 1)}</span>'
    )


def _signed(page: Page) -> str:
    return row(
        page.icon(page.random.choice(USUAL), page.random.choice((None, page.theme.muted))) + page.words(1, 2),
        gap=f"{page.random.choice((3, 4, 6))}px",
    )


def _bar(page: Page) -> str:
    share = page.random.randrange(5, 100)
    return (
        f'<div style="width:90px;height:6px;border-radius:9px;background:{page.theme.fill}">'
        f'<div style="width:{share}%;height:6px;border-radius:9px;background:'
        f'{page.theme.accent}"></div></div>'
    )


def _tags(page: Page) -> str:
    return row("".join(chip(page) for _ in range(page.random.randrange(1, 3))), gap="4px")


def _sign(page: Page) -> str:
    return page.random.choice((page.sign(), page.short_word(), page.key(), page.switch(), page.swatch(14)))


def pages(page: Page) -> str:
    """Numbers of pages, with arrows at both ends."""
    theme, random = page.theme, page.random
    size, side = random.choice(USUAL), random.choice((24, 28, 32, 36))
    style = (
        f"width:{side}px;height:{side}px;display:inline-flex;align-items:center;"
        f"justify-content:center;border:{theme.border_width:g}px solid {theme.border};"
        f"border-radius:{theme.radius:g}px"
    )
    arrows = [f'<span style="{style}">{page.icon(size, kind="chevron")}</span>' for _ in range(2)]
    at = random.randrange(5)
    numbers = [
        (
            f'<span style="{style};'
            f'{f"background:{theme.accent};color:{theme.on_accent}" if n == at else ""}">{n + 1}'
            "</span>"
        )
        for n in range(5)
    ]
    return row(
        (
            f'<span style="flex:1;color:{theme.muted}">{page.words(2, 4)} {page.number()}</span>'
            f"{arrows[0]}{''.join(numbers)}<span>…</span>{arrows[1]}"
        ),
        gap="4px",
        style="margin-top:12px",
    )
