"""Pictures, music and films, with icons upon them."""

from data.making.detector.page import Page
from data.making.detector.templates.sidebars import app_bar, sidebar, under_bar
from data.making.detector.templates.widgets import (
    HUGE,
    LARGE,
    SMALL,
    SPACER,
    USUAL,
    chip,
    full_height,
    heading,
    icon_button,
    often,
    px,
    row,
)


def _over(page: Page, inside: str, place: str) -> str:
    return f'<div style="position:absolute;{place};display:flex;gap:8px;align-items:center;color:#fff">{inside}</div>'


def _on_picture(page: Page, size: float) -> str:
    ground = page.random.choice(("#0008", "#0008", "#fffc", "#000a", "transparent"))
    colour = "#1a1a1a" if ground == "#fffc" else "#fff"
    around = size * page.random.uniform(1.5, 2)
    return (
        '<span style="display:inline-flex;align-items:center;justify-content:center;width:'
        f"{around:.0f}px;height:{around:.0f}px;border-radius:"
        f'{page.random.choice(("50%", "6px"))};background:{ground};color:{colour}">'
        f"{page.icon(size, page.random.choice((None, colour)))}</span>"
    )


def picture(page: Page, width: float, height: float, size: float) -> str:
    """A photograph with icons in its corners or its middle."""
    corners = (
        "top:6px;inset-inline-end:6px",
        "top:6px;inset-inline-start:6px",
        "bottom:6px;inset-inline-end:6px",
        "bottom:6px;inset-inline-start:6px",
    )
    over = "".join(
        _over(page, _on_picture(page, size), place)
        for place in page.random.sample(corners, page.random.choice((0, 1, 1, 2)))
    )
    if often(page, 0.2):
        over += _over(page, _on_picture(page, size * 1.6), "inset:0;justify-content:center")
    return (
        f'<div style="position:relative;overflow:hidden;border-radius:{page.theme.radius:g}px;'
        f'width:{width:g}px;height:{height:g}px;flex:none">{page.photo(width, height)}{over}'
        "</div>"
    )


def picture_grid(page: Page) -> str:
    """A grid of photographs or films, words and small icons below each."""
    random = page.random
    width = random.randrange(130, 330)
    height, size = width * random.choice((0.56, 0.75, 1, 1.3)), random.choice((14, 16, 18, 20, 24))
    cards = "".join(
        f"<div style='width:{width}px'>{picture(page, width, height, size)}{_caption(page)}</div>"
        for _ in range(int(page.width / width * page.height / (height + 50)) + 2)
    )
    filters = row("".join(chip(page) for _ in range(8)), style="padding:10px 0;overflow:hidden")
    body = (
        f'<div style="padding:{px(page, 16)};flex:1;min-width:0">{filters}<div '
        f'style="display:flex;flex-wrap:wrap;gap:{px(page, 14)}">{cards}</div></div>'
    )
    return under_bar(page, body, beside=0.4)


def _caption(page: Page) -> str:
    theme, random = page.theme, page.random
    figures = row(
        "".join(
            row(page.icon(random.choice(SMALL)) + f"<span>{random.randrange(1, 999)}</span>", gap="3px")
            for _ in range(random.randrange(1, 4))
        ),
        gap="10px",
        style=f"color:{theme.muted};font-size:.85em",
    )
    face = page.avatar(28) if often(page, 0.4) else ""
    more = page.icon(random.choice(USUAL), theme.muted, kind="more") if often(page, 0.5) else ""
    return row(
        (
            f'{face}<div style="flex:1;overflow:hidden"><div style="white-space:nowrap;'
            f'overflow:hidden">{page.words(2, 5)}</div>{figures}</div>{more}'
        ),
        style="padding:6px 0",
    )


def player(page: Page) -> str:
    """Music: a list of songs, and a bar with buttons, a line and a volume below."""
    songs = "".join(_song(page, n) for n in range(int(page.height / 52)))
    hero = row(
        page.photo(150, 150)
        + (
            f"<div>{heading(page, 2)}"
            f"{row(icon_button(page, 28) + icon_button(page, 22) + icon_button(page, 22, kind='more'))}"
            "</div>"
        ),
        gap="20px",
        style="margin-bottom:14px",
    )
    body = f'<div style="flex:1;padding:{px(page, 18)};overflow:hidden;min-width:0">{hero}{songs}</div>'
    return full_height(sidebar(page) + body, below=play_bar(page))


def _song(page: Page, n: int) -> str:
    theme, random = page.theme, page.random
    start = page.icon(14, theme.accent) if n == 2 else f'<span style="width:16px;color:{theme.muted}">{n + 1}</span>'
    likes = page.icon(random.choice(USUAL), theme.accent if often(page, 0.3) else theme.faint, kind="star")
    return row(
        (
            f'{start}{page.photo(36, 36)}<div style="flex:1;min-width:0"><div>{page.words(1, 3)}'
            f'</div><span style="color:{theme.muted};font-size:.85em">{page.name()}</span></div>'
            f'{likes}<span style="color:{theme.muted}">{random.randrange(1, 7)}:'
            f"{random.randrange(10, 60)}</span>{page.icon(16, theme.muted, kind='more')}"
        ),
        gap="12px",
        style="padding:5px 0",
    )


def play_bar(page: Page) -> str:
    """What plays, with its buttons."""
    theme = page.theme
    size = page.random.choice((16, 18, 20, 22, 24))
    middle = _play_buttons(page, size)
    end = row(
        "".join(page.icon(size * 0.8, theme.muted) for _ in range(page.random.randrange(2, 5)))
        + f'<div style="width:70px;height:4px;background:{theme.accent};border-radius:4px"></div>',
        gap="12px",
    )
    start = row(
        page.photo(44, 44)
        + (
            f"<div><b>{page.words(1, 2)}</b><div style='color:{theme.muted}'>{page.name()}</div>"
            f"</div>{page.icon(16, kind='star')}"
        )
    )
    return row(
        f'<div style="width:240px">{start}</div><div style="flex:1">{middle}</div>{end}',
        gap="20px",
        style=f"padding:10px 16px;background:{theme.surface};border-top:1px solid {theme.border}",
    )


def _play_buttons(page: Page, size: float) -> str:
    """Buttons around a large one, over a line that says how much has been played."""
    theme, random = page.theme, page.random
    share = random.randrange(5, 95)
    line = (
        f'<div style="height:4px;width:100%;background:{theme.fill};border-radius:4px"><div '
        f'style="width:{share}%;height:4px;background:{theme.accent};border-radius:4px"></div>'
        "</div>"
    )
    play = (
        f'<span style="display:inline-flex;width:{size * 1.8:.0f}px;height:{size * 1.8:.0f}px;'
        f"border-radius:50%;background:{theme.text};color:{theme.ground};align-items:center;"
        f'justify-content:center">{page.icon(size)}</span>'
    )
    before = page.icon(size * 0.8, theme.muted) + page.icon(size)
    after = page.icon(size) + page.icon(size * 0.8, theme.muted)
    buttons = row(before + play + after, gap=f"{size}px", style="justify-content:center")
    times = row(
        (
            f"<span>0:{random.randrange(10, 60)}</span>{line}<span>{random.randrange(2, 9)}:"
            f"{random.randrange(10, 60)}</span>"
        ),
        style="font-size:11px;margin-top:6px",
    )
    return buttons + times


def film(page: Page) -> str:
    """A film with its tools upon it, and others beside it."""
    width = page.width * page.random.uniform(0.55, 0.95)
    screen, pills = _screen(page, width), _pills(page)
    others = "".join(row(picture(page, 150, 84, 14) + _caption(page), style="margin-bottom:8px") for _ in range(8))
    return (
        f'{app_bar(page)}<div style="display:flex;gap:18px;padding:14px"><div style="width:'
        f'{width:.0f}px;flex:none">{screen}{heading(page, 1.4)}{pills}<p>{page.words(20, 60)}'
        f'</p></div><div style="min-width:0">{others}</div></div>'
    )


def _screen(page: Page, width: float) -> str:
    """The film itself, with a line and tools upon it."""
    height, size = min(width * 0.56, page.height * 0.7), page.random.choice((16, 18, 20, 22, 24, 28))
    shade = '<div style="position:absolute;inset:60% 0 0 0;background:linear-gradient(transparent,#000c)"></div>'
    tools = _film_tools(page, size)
    middle = (
        (
            '<div style="position:absolute;inset:0;display:flex;align-items:center;'
            f'justify-content:center;color:#fff">{page.icon(page.random.choice(HUGE))}</div>'
        )
        if often(page, 0.5)
        else ""
    )
    line = (
        f'<div style="position:absolute;bottom:{size + 22}px;left:12px;right:12px;height:4px;'
        f'background:#fff5"><div style="width:40%;height:4px;background:{page.theme.accent}"></div>'
        "</div>"
    )
    return (
        f'<div style="position:relative;width:{width:.0f}px;height:{height:.0f}px;flex:none;'
        f'overflow:hidden">{page.photo(width, height)}{shade}{middle}{line}'
        f"{_over(page, tools, 'bottom:10px;left:14px;right:14px')}</div>"
    )


def _film_tools(page: Page, size: float) -> str:
    random = page.random
    return (
        "".join(page.icon(size, random.choice((None, "#fff"))) for _ in range(3))
        + f'<span style="font-size:12px">1:{random.randrange(10, 60)} / {random.randrange(2, 59)}:07</span>{SPACER}'
        + "".join(page.icon(size) for _ in range(random.randrange(2, 6)))
    )


def _pills(page: Page) -> str:
    """Who made the film, and what can be done with it."""
    size = page.random.choice((*USUAL, *LARGE))
    return row(
        page.avatar(40) + f"<b style='flex:1'>{page.name()}</b>" + "".join(_pill(page, size) for _ in range(4)),
        style="margin:12px 0",
    )


def _pill(page: Page, size: float) -> str:
    return (
        f'<span style="display:inline-flex;gap:6px;align-items:center;background:{page.theme.fill};'
        f'padding:6px 12px;border-radius:99px">{page.icon(size)}'
        f"{page.random.choice((page.number(), page.words(1, 1)))}</span>"
    )
