"""Songs, films and photographs that fill a phone."""

from data.making.detector.page import Page
from data.making.detector.templates.phones.frames import phone_frame, tab_bar
from data.making.detector.templates.widgets import behind, row


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
    ground = behind(page.photo(page.width, page.height))
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
