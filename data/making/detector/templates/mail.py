"""Mail: folders, letters with stars and clips, one of them open."""

from data.making.detector.page import Page
from data.making.detector.templates.sidebars import app_bar, sidebar
from data.making.detector.templates.widgets import SMALL, SPACER, USUAL, button, chip, often, px, row


def mail(page: Page) -> str:
    """Folders, a list of letters with stars and clips, perhaps a letter beside it."""
    theme, random = page.theme, page.random
    size, colour = random.choice(USUAL), random.choice((theme.muted, theme.faint, None))
    tools = row(
        "".join(page.icon(size, theme.muted) for _ in range(random.randrange(4, 10)))
        + f'{SPACER}<span style="color:{theme.muted}">1-50 / {page.number()}</span>'
        + page.icon(size, kind="chevron"),
        gap=px(page, 16),
        style=f"padding:{px(page, 9)} 14px;border-bottom:1px solid {theme.border}",
    )
    letters = "".join(_letter(page, size, colour) for _ in range(int(page.height / 34)))
    beside = (
        (
            f'<div style="flex:1;padding:18px;border-inline-start:1px solid {theme.border};'
            f'overflow:hidden">{_open_letter(page, size)}</div>'
        )
        if page.width > 1100 and often(page, 0.5)
        else ""
    )
    return (
        f'<div style="display:flex;flex-direction:column;height:100vh">{app_bar(page)}<div '
        f'style="flex:1;display:flex;min-height:0">{sidebar(page)}<div style="flex:1;'
        f'min-width:0;overflow:hidden">{tools}{letters}</div>{beside}</div></div>'
    )


def _letter(page: Page, size: float, colour: str | None) -> str:
    theme, random = page.theme, page.random
    is_new = often(page, 0.3)
    clip = page.icon(random.choice(SMALL), theme.muted) if often(page, 0.25) else ""
    start = (
        '<input type=checkbox style="margin:0;flex:none;color-scheme:'
        f'{"dark" if theme.is_dark else "light"}">'
        f"{page.icon(size, theme.warning if often(page, 0.2) else colour, kind='star')}"
    )
    words = (
        '<span style="width:130px;flex:none;overflow:hidden;white-space:nowrap;font-weight:'
        f'{700 if is_new else 400}">{page.name()}</span><span style="flex:1;overflow:hidden;'
        f'white-space:nowrap"><b style="font-weight:{700 if is_new else 400}">'
        f'{page.words(2, 5)}</b> <span style="color:{theme.muted}">{page.words(4, 12)}</span>'
        "</span>"
    )
    end = (
        "".join(page.icon(size, theme.muted) for _ in range(3))
        if often(page, 0.08)
        else f'<span style="font-size:.85em">{random.randrange(24)}:{random.randrange(10, 60)}</span>'
    )
    tag = chip(page) if often(page, 0.15) else ""
    return row(
        start + words + tag + clip + end,
        gap="9px",
        style=(
            f"padding:{px(page, 6)} 14px;border-bottom:1px solid {theme.border};background:"
            f"{theme.surface if is_new else 'transparent'}"
        ),
    )


def _open_letter(page: Page, size: float) -> str:
    theme = page.theme
    head = row(
        page.avatar(40)
        + f"<div style='flex:1'><b>{page.name()}</b><div style='color:{theme.muted}'>{page.words(2, 4)}</div></div>"
        + "".join(page.icon(size, theme.muted) for _ in range(3)),
        gap="12px",
    )
    file = row(
        page.icon(24, theme.danger)
        + (
            f"<div style='flex:1'>{page.words(1, 2)}<div style='color:{theme.muted};"
            f"font-size:.85em'>{page.number()}</div></div>"
        )
        + page.icon(size),
        gap="10px",
        style=f"border:1px solid {theme.border};padding:8px;width:240px;margin:12px 0;border-radius:{theme.radius:g}px",
    )
    return (
        f"<h2>{page.words(3, 6)}</h2>{head}<p>{page.words(30, 60)}.</p><p>{page.words(30, 60)}"
        f".</p>{file}{row(button(page, 'outlined') + button(page, 'outlined'))}"
    )
