"""Work on code: lists of tasks, changes line by line, runs of checks."""

from data.making.detector.page import Page
from data.making.detector.templates.messages import composer
from data.making.detector.templates.sidebars import app_bar
from data.making.detector.templates.widgets import (
    SMALL,
    SPACER,
    button,
    chip,
    heading,
    icon_button,
    in_shape,
    often,
    panel,
    px,
    row,
    signal,
)


def task_list(page: Page) -> str:
    """A list of tasks or changes: a state, words, tags, persons, counts beside small icons."""
    theme, random = page.theme, page.random
    size = random.choice((12, 14, 16, 16, 18))
    tabs = _tabs(page, size)
    heads = row(
        row(page.icon(size) + f"<b>{random.randrange(99)}</b> {page.words(1, 1)}", gap="5px")
        + row(page.icon(size, theme.muted, kind="check") + page.words(1, 1), gap="5px")
        + SPACER
        + "".join(
            row(page.words(1, 1) + page.icon(random.choice((8, 10, 12)), kind="chevron"), gap="4px") for _ in range(4)
        ),
        gap="16px",
        style=f"padding:{px(page, 10)} 14px;background:{theme.surface}",
    )
    lines = "".join(_task(page, size) for _ in range(int(page.height / 60)))
    return (
        f'{app_bar(page)}{tabs}<div style="padding:{px(page, 16)}"><div style="border:1px '
        f'solid {theme.border};border-radius:{theme.radius:g}px;overflow:hidden">{heads}'
        f"{lines}</div></div>"
    )


def _tabs(page: Page, size: float) -> str:
    theme = page.theme
    return row(
        "".join(
            row(
                (
                    f"{page.icon(size, theme.muted)}<span>{page.words(1, 1)}</span>"
                    f"{page.badge() if often(page, 0.4) else ''}"
                ),
                gap="6px",
                style=f"padding:9px 4px;border-bottom:2px solid {theme.accent if n == 1 else 'transparent'}",
            )
            for n in range(7)
        ),
        gap="18px",
        style=f"padding:0 16px;border-bottom:1px solid {theme.border};overflow:hidden",
    )


def _task(page: Page, size: float) -> str:
    theme, random = page.theme, page.random
    tags = "".join(chip(page) for _ in range(random.choice((0, 0, 1, 2))))
    counts = "".join(
        row(
            page.icon(size * random.choice((0.8, 1)), theme.muted) + str(random.randrange(1, 60)),
            gap=f"{random.choice((2, 3, 4))}px",
        )
        for _ in range(random.choice((0, 1, 2)))
    )
    words = (
        '<div style="flex:1;min-width:0"><div>'
        f"{row(f'<b>{page.words(3, 8)}</b>{tags}', style='overflow:hidden;white-space:nowrap')}"
        f'</div><div style="font-size:.85em;color:{theme.muted}">#{random.randrange(9999)} '
        f"{page.words(2, 5)} {page.icon(size * 0.8, signal(page)) if often(page, 0.3) else ''}"
        "</div></div>"
    )
    return row(
        page.icon(size, signal(page)) + words + page.avatar(20) + counts,
        gap="10px",
        style=f"padding:{px(page, 8)} 14px;border-top:1px solid {theme.border}",
    )


def changes(page: Page) -> str:
    """A change of code: files with chevrons, lines with signs, talk, and checks that passed or failed."""
    size = page.random.choice((12, 14, 16))
    files = "".join(_file(page, size) for _ in range(page.random.randrange(2, 4)))
    merge = _merge(page, size)
    facts = "".join(_fact(page, size) for _ in range(6))
    side = f'<div style="width:230px;flex:none">{facts}</div>' if page.width > 900 else ""
    return (
        f'{app_bar(page)}{_tabs(page, size)}<div style="display:flex;gap:20px;padding:16px">'
        f'<div style="flex:1;min-width:0">{heading(page, 1.5)}{files}{merge}{composer(page)}'
        f"</div>{side}</div>"
    )


def _merge(page: Page, size: float) -> str:
    """Checks that passed or failed, and buttons to take the change in."""
    checks = "".join(_check(page, size) for _ in range(page.random.randrange(3, 8)))
    return panel(
        page,
        row(in_shape(page, 18) + heading(page, 1.1))
        + checks
        + row(button(page, "filled") + button(page), style="margin-top:10px"),
    )


def _check(page: Page, size: float) -> str:
    theme = page.theme
    return row(
        page.icon(size, signal(page), kind=page.random.choice(("check", "close", None)))
        + (
            f'<span style="flex:1">{page.words(2, 4)}</span><span style="color:{theme.muted}">'
            f"{page.number()}</span>{page.icon(size, theme.faint, kind='more')}"
        ),
        style=f"padding:{px(page, 7)} 0;border-bottom:1px solid {theme.border}",
    )


def _fact(page: Page, size: float) -> str:
    """What is known of a change, under a title: persons, tags, words."""
    theme = page.theme
    return (
        f'<div style="padding:10px 0;border-bottom:1px solid {theme.border}">'
        f"{row(f'<b style=flex:1>{page.words(1, 1)}</b>{page.icon(size, theme.muted)}')}<div>"
        f"{page.random.choice((page.avatar(20) + page.name(), chip(page), page.words(1, 2)))}</div>"
        "</div>"
    )


def _file(page: Page, size: float) -> str:
    theme, random = page.theme, page.random
    head = row(
        (
            f"{page.icon(random.choice(SMALL), theme.muted, kind='chevron')}<span "
            f'style="font-family:{theme.mono};flex:1">src/{page.words(1, 1)}.ts</span>'
            f'{page.icon(size, theme.muted)}<span style="color:{theme.success}">+'
            f'{random.randrange(99)}</span><span style="color:{theme.danger}">-'
            f"{random.randrange(99)}</span>{icon_button(page, size, kind='more')}"
        ),
        style=f"padding:6px 10px;background:{theme.surface};border-bottom:1px solid {theme.border}",
    )
    lines = []
    for n in range(random.randrange(5, 12)):
        sign, ground = random.choice(
            ((" ", "transparent"), (" ", "transparent"), ("+", theme.success + "22"), ("-", theme.danger + "22"))
        )
        lines.append(
            f'<div style="background:{ground};white-space:pre"><span style="display:inline-block;'
            f'width:36px;text-align:end;color:{theme.faint}">{n + 10} </span> {sign} '
            f"{page.words(2, 8)};</div>"
        )
    return (
        f'<div style="border:1px solid {theme.border};border-radius:{theme.radius:g}px;'
        f'margin-bottom:12px;overflow:hidden">{head}<div style="font:12px/20px {theme.mono};'
        f'direction:ltr">{"".join(lines)}</div></div>'
    )
