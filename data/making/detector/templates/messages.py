"""Messages: chats, and lists of what is new."""

from data.making.detector.page import Page
from data.making.detector.templates.sidebars import app_bar, sidebar
from data.making.detector.templates.widgets import (
    LARGE,
    SMALL,
    SPACER,
    USUAL,
    badge_over,
    field,
    icon_button,
    in_shape,
    ink,
    often,
    px,
    row,
    signal,
)


def chat(page: Page) -> str:
    """Rooms at the side, bubbles or lines, a field to write into with tools around it."""
    theme, random = page.theme, page.random
    size = random.choice(USUAL)
    rooms = "".join(_room(page, size) for _ in range(int(page.height / 44)))
    side = (
        f'<div style="width:{random.randrange(200, 320)}px;flex:none;background:'
        f"{theme.surface};border-inline-end:1px solid {theme.border};padding:8px;"
        f'overflow:hidden">{field(page)}{rooms}</div>'
    )
    head = _head(page, size)
    kind = random.choice((_bubble, _bubble, _line))
    said = "".join(kind(page, size) for _ in range(random.randrange(6, 14)))
    body = f'<div style="flex:1;overflow:hidden;padding:{px(page, 14)}">{said}</div>'
    main = f'<div style="flex:1;min-width:0;display:flex;flex-direction:column">{head}{body}{composer(page)}</div>'
    return f'<div style="display:flex;height:100vh">{side if page.width > 600 else ""}{main}</div>'


def _head(page: Page, size: float) -> str:
    """Who is talked to, and what can be done with them."""
    theme = page.theme
    return row(
        page.avatar(34)
        + (
            f'<div style="flex:1"><b>{page.name()}</b><div style="font-size:.8em;color:'
            f'{theme.muted}">{page.words(1, 3)}</div></div>'
        )
        + "".join(icon_button(page, size * 1.1) for _ in range(page.random.randrange(2, 5))),
        style=f"padding:10px 16px;border-bottom:1px solid {theme.border}",
    )


def _room(page: Page, size: float) -> str:
    theme, random = page.theme, page.random
    start = random.choice(
        (lambda: page.icon(size * 0.9, theme.muted), lambda: "<span>#</span>", lambda: page.avatar(22))
    )()
    end = (
        page.badge() if often(page, 0.25) else page.icon(random.choice(SMALL), theme.faint) if often(page, 0.15) else ""
    )
    return row(
        (
            f'{start}<span style="flex:1;overflow:hidden;white-space:nowrap">'
            f"{random.choice((page.name(), page.words(1, 2)))}</span>{end}"
        ),
        gap="7px",
        style=(
            f"padding:{px(page, 6)} 8px;border-radius:{theme.radius:g}px;background:"
            f"{theme.soft if often(page, 0.1) else 'transparent'}"
        ),
    )


def _bubble(page: Page, size: float) -> str:
    theme, random = page.theme, page.random
    is_own = often(page, 0.4)
    ground, text = (theme.accent, theme.on_accent) if is_own else (theme.fill, theme.text)
    end = "flex-end" if is_own else "flex-start"
    state = (
        page.icon(random.choice((10, 11, 12, 14)), random.choice((None, theme.accent)), kind="check")
        if is_own and often(page, 0.6)
        else ""
    )
    media = _media(page, size) if often(page, 0.3) else ""
    words = (
        f'<div style="max-width:380px;background:{ground};color:{text};padding:{px(page, 8)} '
        f'{px(page, 12)};border-radius:{max(theme.radius, 8):g}px">{page.words(2, 18)}{media}'
        "</div>"
    )
    when = row(
        f"<span>{random.randrange(24)}:{random.randrange(10, 60)}</span>{state}",
        gap="3px",
        style=f"font-size:10px;color:{theme.muted};justify-content:{end}",
    )
    face = "" if is_own else page.avatar(28)
    return row(f"{face}<div>{words}{when}</div>", style=f"margin:8px 0;align-items:flex-end;justify-content:{end}")


def _media(page: Page, size: float) -> str:
    """A picture, a file to fetch, or nothing after all."""
    kinds = (
        lambda: page.photo(200, 110),
        lambda: row(
            page.icon(size * 1.5)
            + f"<div>{page.words(1, 2)}<div style='font-size:.8em'>{page.number()}</div></div>"
            + page.icon(size),
            gap="10px",
        ),
        lambda: "",
    )
    return page.random.choice(kinds)()


def _line(page: Page, size: float) -> str:
    reactions = _reactions(page) if often(page, 0.35) else ""
    tools = _line_tools(page, size) if often(page, 0.15) else ""
    words = (
        f'<div style="flex:1"><b>{page.name()}</b> <span style="font-size:.8em;color:'
        f'{page.theme.faint}">{page.number()}</span><div>{page.words(5, 30)}</div>{reactions}</div>'
    )
    return f'<div style="position:relative;display:flex;gap:10px;padding:6px 0">{page.avatar(34)}{words}{tools}</div>'


def _reactions(page: Page) -> str:
    random = page.random
    return row(
        "".join(
            (
                '<span style="display:inline-flex;align-items:center;gap:3px;border:1px solid '
                f'{page.theme.border};border-radius:99px;padding:1px 7px;font-size:11px">{page.icon(12)}'
                f"{random.randrange(1, 30)}</span>"
            )
            for _ in range(random.randrange(1, 4))
        ),
        gap="4px",
        style="margin-top:4px",
    )


def _line_tools(page: Page, size: float) -> str:
    theme = page.theme
    return row(
        "".join(page.icon(size * 0.9, theme.muted) for _ in range(4)),
        gap="8px",
        style=(
            f"position:absolute;top:-8px;inset-inline-end:12px;background:{theme.raised};"
            f"border:1px solid {theme.border};padding:4px 8px;border-radius:6px"
        ),
    )


def composer(page: Page) -> str:
    """A field to write a message into, with tools on one line or two."""
    theme, random = page.theme, page.random
    size, colour = random.choice((*USUAL, *LARGE)), ink(page)
    tools = [page.icon(size, colour) for _ in range(random.randrange(2, 8))]
    send = in_shape(page, size) if often(page, 0.5) else page.icon(size, theme.accent)
    hint = f'<span style="flex:1;color:{theme.faint}">{page.words(2, 4)}</span>'
    gap = f"{random.choice((6, 10, 14, 18))}px"
    inside = (
        f"<div style='margin-bottom:10px'>{hint}</div>" + row("".join(tools) + SPACER + send, gap=gap)
        if often(page, 0.4)
        else row(tools[0] + hint + "".join(tools[1:3]) + send, gap=gap)
    )
    return (
        f'<div style="margin:10px 14px;padding:{px(page, 10)} {px(page, 12)};border:1px solid '
        f"{theme.border};border-radius:{random.choice((theme.radius, 24)):g}px;background:"
        f'{theme.surface}">{inside}</div>'
    )


def notices(page: Page) -> str:
    """What is new: an icon, or a person with a small icon at the corner, words, a time."""
    theme, random = page.theme, page.random
    lines = "".join(_news(page) for _ in range(random.randrange(6, 14)))
    tabs = _tabs(page)
    head = row(
        f'<b style="flex:1;font-size:1.2em">{page.words(1, 2)}</b>' + icon_button(page) + icon_button(page),
        style="margin-bottom:6px",
    )
    card = (
        f'<div style="width:{random.randrange(340, 640)}px;margin:14px auto;background:'
        f"{theme.raised};border:1px solid {theme.border};border-radius:{theme.radius:g}px;"
        f'box-shadow:0 8px 30px #0003;padding:14px">{head}{tabs}{lines}</div>'
    )
    return f'{app_bar(page)}<div style="display:flex">{sidebar(page) if page.width > 900 else ""}{card}</div>'


def _tabs(page: Page) -> str:
    theme = page.theme
    return row(
        "".join(
            (
                '<span style="padding:8px;border-bottom:2px solid '
                f'{theme.accent if n == 0 else "transparent"}">{page.words(1, 1)} '
                f"{page.badge() if often(page, 0.3) else ''}</span>"
            )
            for n in range(3)
        )
    )


def _news(page: Page) -> str:
    theme, random = page.theme, page.random
    colour = signal(page)
    corner = _corner(page, colour)
    start = random.choice(
        (
            lambda: f'<span style="position:relative;flex:none">{page.avatar(36)}{corner}</span>',
            lambda: in_shape(page, 17),
            lambda: page.icon(random.choice(USUAL), colour),
        )
    )()
    when = page.number()
    if often(page, 0.4):
        when = row(page.icon(random.choice((10, 11, 12))) + when, gap="3px")
    words = (
        f'<div style="flex:1"><b>{page.name()}</b> {page.words(3, 9)}<div '
        f'style="font-size:.85em;color:{theme.muted}">'
        f"{when}</div></div>"
    )
    end = random.choice((page.icon(14, theme.faint, kind="close"), page.badge(), "", ""))
    extra = badge_over(page) if often(page, 0.1) else ""
    style = f"padding:{px(page, 9)} 4px;border-bottom:1px solid {theme.border}"
    return f'<div style="position:relative">{row(start + words + end, gap="12px", style=style)}{extra}</div>'


def _corner(page: Page, colour: str) -> str:
    """What happened, as a small icon at the corner of who did it."""
    return (
        '<span style="position:absolute;bottom:-3px;inset-inline-end:-3px;width:16px;'
        f"height:16px;border-radius:50%;background:{colour};display:flex;align-items:center;"
        f'justify-content:center">{page.icon(page.random.choice((9, 10, 11)), "#fff")}</span>'
    )
