"""Programs of a desktop: windows with buttons in their title, a dock, a drawing program, a table to calculate with."""

from indexer.screens.page import Page
from indexer.screens.templates.sidebars import sidebar
from indexer.screens.templates.toolbars import tool_row
from indexer.screens.templates.widgets import (
    LARGE,
    SMALL,
    USUAL,
    field,
    icon_button,
    in_shape,
    ink,
    menu,
    often,
    panel,
    px,
    row,
)


def title_bar(page: Page) -> str:
    """The title of a window: dots or icons to close it, words."""
    theme, random = page.theme, page.random
    dots = row(
        "".join(
            f'<span style="width:12px;height:12px;border-radius:50%;background:{colour}"></span>'
            for colour in ("#ff5f57", "#febc2e", "#28c840")
        ),
        gap="8px",
    )
    size = random.choice((10, 12, 14, 16))
    buttons = row(
        "".join(page.icon(size, random.choice((None, theme.muted)), kind=kind) for kind in (None, None, "close")),
        gap="18px",
    )
    words = f'<span style="flex:1;text-align:center;font-size:12px">{page.words(1, 3)}</span>'
    inside = dots + words if often(page, 0.5) else page.icon(16) + words + buttons
    return row(inside, style=f"padding:8px 12px;background:{theme.fill};border-bottom:1px solid {theme.border}")


def desktop(page: Page) -> str:
    """A picture as ground, windows upon it, a dock or a bar of tasks below."""
    theme, random = page.theme, page.random
    windows = "".join(_window(page) for _ in range(random.randrange(1, 3)))
    size = random.choice((24, 28, 32, 40, 48))
    tasks = "".join(
        in_shape(page, size * 0.6) if often(page, 0.35) else page.icon(size) for _ in range(random.randrange(5, 12))
    )
    dock = (
        '<div style="position:absolute;bottom:10px;left:50%;transform:translateX(-50%);'
        f"display:flex;gap:12px;align-items:center;padding:8px 14px;background:{theme.surface}"
        f'e6;border-radius:18px">{tasks}</div>'
    )
    tray = "".join(page.icon(random.choice((14, 16)), theme.text) for _ in range(random.randrange(3, 8)))
    bar = row(
        page.icon(16)
        + f"<b>{page.words(1, 1)}</b>"
        + "".join(f"<span>{page.words(1, 1)}</span>" for _ in range(5))
        + f'<span style="flex:1"></span>{tray}<span>{page.number()}</span>',
        gap="14px",
        style=f"position:absolute;top:0;left:0;right:0;padding:3px 14px;background:{theme.surface}e6;font-size:12px",
    )
    things = "".join(
        (
            '<div style="width:80px;text-align:center;margin-bottom:16px;color:#fff;'
            f'font-size:11px;text-shadow:0 1px 2px #000">{page.icon(random.choice((40, 48)))}<div>'
            f"{page.words(1, 2)}</div></div>"
        )
        for _ in range(random.randrange(2, 6))
    )
    ground = f'<div style="position:absolute;inset:0">{page.photo(page.width, page.height)}</div>'
    return (
        f'<div style="position:relative;height:100vh;overflow:hidden" dir="ltr">{ground}<div '
        f'style="position:absolute;top:40px;right:16px">{things}</div>{windows}{bar}{dock}'
        "</div>"
    )


def _window(page: Page) -> str:
    theme, random = page.theme, page.random
    wide, high = (
        random.randrange(420, max(430, int(page.width * 0.75))),
        random.randrange(280, max(300, int(page.height * 0.7))),
    )
    left, top = random.randrange(10, 200), random.randrange(34, 140)
    size = random.choice((28, 32, 40, 48, 56))
    files = "".join(
        (
            f'<div style="width:{size + 50}px;text-align:center;font-size:12px">'
            f"{page.icon(size, random.choice((None, theme.accent)))}<div>{page.words(1, 2)}</div>"
            "</div>"
        )
        for _ in range(16)
    )
    tools = row(
        icon_button(page, kind="chevron")
        + icon_button(page, kind="chevron")
        + field(page)
        + "".join(icon_button(page) for _ in range(random.randrange(1, 5))),
        style=f"padding:6px 10px;border-bottom:1px solid {theme.border}",
    )
    body = (
        f'<div style="display:flex;height:100%">{sidebar(page, width=160)}<div '
        'style="display:flex;flex-wrap:wrap;gap:12px;padding:14px;align-content:flex-start">'
        f"{files}</div></div>"
    )
    return (
        f'<div style="position:absolute;left:{left}px;top:{top}px;width:{wide}px;height:{high}'
        f"px;background:{theme.ground};border-radius:{theme.radius:g}px;overflow:hidden;"
        f'box-shadow:0 12px 40px #0006">{title_bar(page)}{tools}{body}</div>'
    )


def drawing_program(page: Page) -> str:
    """A canvas with shapes, tools at the side, layers and properties at the other."""
    theme, random = page.theme, page.random
    size = random.choice(USUAL)
    columns = random.choice((1, 1, 2))
    tools = "".join(
        (
            f'<span style="padding:{px(page, 6)};border-radius:4px;display:inline-flex;background:'
            f'{theme.soft if n == 2 else "transparent"}">{page.icon(size)}</span>'
        )
        for n in range(random.randrange(8, 20))
    )
    left = (
        f'<div style="display:grid;grid-template-columns:repeat({columns},auto);'
        f"align-content:start;gap:2px;padding:4px;background:{theme.surface};"
        f'border-inline-end:1px solid {theme.border}">{tools}{page.swatch(20)}'
        f"{page.swatch(20)}</div>"
    )
    canvas = (
        f'<div style="flex:1;background:{theme.fill};padding:30px;position:relative;'
        'overflow:hidden"><div style="background:#fff;width:520px;height:360px;padding:20px">'
        f"{page.chart(220, 120)}{page.photo(200, 110)}{page.chart(140, 90)}</div>"
        f"{_floating(page, size)}</div>"
    )
    layers = "".join(
        row(
            page.icon(random.choice(SMALL), theme.muted)
            + f'<span style="flex:1">{page.words(1, 2)}</span>'
            + page.icon(random.choice(SMALL), theme.faint)
            + (page.icon(random.choice(SMALL), theme.faint) if often(page, 0.4) else ""),
            gap="6px",
            style=f"padding:4px 8px;padding-inline-start:{random.choice((8, 8, 22))}px;font-size:12px",
        )
        for _ in range(14)
    )
    numbers = "".join(
        (
            f'<div style="display:flex;gap:4px;align-items:center;background:{theme.fill};'
            'padding:3px 6px;font-size:11px;border-radius:3px">'
            f"{page.icon(11, theme.muted) if often(page, 0.5) else random.choice('XYWHR')}<span>"
            f"{random.randrange(0, 999)}</span></div>"
        )
        for _ in range(8)
    )
    align = row("".join(page.icon(size * 0.9, theme.muted) for _ in range(6)), gap="9px", style="padding:8px")
    right = (
        f'<div style="width:{random.randrange(200, 280)}px;flex:none;background:'
        f'{theme.surface};border-inline-start:1px solid {theme.border};overflow:hidden">'
        f'{align}<div style="display:grid;grid-template-columns:1fr 1fr;gap:5px;padding:8px">'
        f"{numbers}</div>{layers}</div>"
    )
    return (
        '<div style="height:100vh;display:flex;flex-direction:column">'
        f'{title_bar(page) if often(page, 0.5) else ""}{tool_row(page)}<div style="flex:1;'
        f'display:flex;min-height:0">{left}{canvas}{right}</div></div>'
    )


def _floating(page: Page, size: float) -> str:
    theme = page.theme
    tools = "".join(page.icon(size, ink(page)) for _ in range(page.random.randrange(4, 8)))
    return row(
        tools,
        gap="12px",
        style=(
            f"position:absolute;bottom:18px;left:40%;background:{theme.raised};padding:8px 12px;"
            f"border-radius:{max(theme.radius, 6):g}px;box-shadow:0 4px 16px #0004"
        ),
    )


def spreadsheet(page: Page) -> str:
    """A table to calculate with: tools above, cells full of figures, leaves below."""
    theme, random = page.theme, page.random
    n = int(page.width / 90)
    heads = "".join(
        (
            f'<td style="background:{theme.surface};text-align:center;color:{theme.muted}">'
            f"{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[at % 26]}"
            f"{page.icon(9, theme.faint, kind='chevron') if often(page, 0.15) else ''}</td>"
        )
        for at in range(n)
    )
    rows = "".join(
        f'<tr><td style="background:{theme.surface};color:{theme.muted};width:34px">{line + 1}</td>'
        + "".join(
            f"<td>{random.choice((page.number, page.number, lambda: page.words(1, 1), lambda: '', page.sign))()}</td>"
            for _ in range(n)
        )
        + "</tr>"
        for line in range(int(page.height / 22))
    )
    style = (
        f"<style>.cells td{{border:1px solid {theme.border};padding:1px 5px;height:22px;"
        "overflow:hidden;white-space:nowrap;max-width:90px;font-size:12px}</style>"
    )
    line = row(
        (
            f'<span style="width:60px">B{random.randrange(1, 40)}</span>'
            f"{page.icon(14, theme.muted)}{page.icon(14, theme.muted)}<i>fx</i><span "
            f'style="flex:1;border:1px solid {theme.border};padding:2px 6px">=SUM(B2:B9)*'
            f"{random.randrange(9)}</span>"
        ),
        style="padding:4px 8px;font-size:12px",
    )
    leaves = row(
        page.icon(14, kind="add")
        + "".join(
            row(
                page.words(1, 1) + page.icon(10, kind="chevron"),
                gap="4px",
                style=f"padding:4px 10px;background:{theme.surface}",
            )
            for _ in range(4)
        ),
        style=f"position:fixed;bottom:0;left:0;right:0;padding:4px 8px;background:{theme.ground};font-size:12px",
    )
    extra = f'<div style="position:absolute;top:160px;left:320px">{menu(page)}</div>' if often(page, 0.3) else ""
    return (
        f"{style}{tool_row(page)}{tool_row(page) if often(page, 0.5) else ''}{line}<table "
        f'class="cells" dir="ltr" style="border-collapse:collapse"><tr><td></td>{heads}</tr>'
        f"{rows}</table>{leaves}{extra}{panel(page, '', style='display:none')}"
    )


def browser_window(page: Page) -> str:
    """A browser's own bars over a page of links."""
    theme, random = page.theme, page.random
    size = random.choice((14, 16, 18))
    tabs = row(
        "".join(
            row(
                (
                    f'{page.icon(14)}<span style="flex:1;overflow:hidden;white-space:nowrap">'
                    f"{page.words(1, 3)}</span>"
                    f"{page.icon(random.choice((8, 10, 12)), theme.muted, kind='close')}"
                ),
                gap="6px",
                style=(
                    f"width:170px;padding:7px 10px;background:{theme.ground if n == 1 else 'transparent'};"
                    "border-radius:8px 8px 0 0"
                ),
            )
            for n in range(4)
        )
        + page.icon(14, kind="add"),
        gap="2px",
        style=f"padding:6px 10px 0;background:{theme.fill};font-size:12px",
    )
    marks = row(
        "".join(row(page.icon(random.choice((14, 16))) + page.words(1, 1), gap="4px") for _ in range(7)),
        gap="16px",
        style="padding:4px 12px;font-size:12px",
    )
    address = row(
        "".join(page.icon(size, theme.muted, kind=kind) for kind in ("arrow", "arrow", None))
        + field(page)
        + "".join(page.icon(size, theme.muted) for _ in range(random.randrange(2, 6)))
        + page.avatar(24)
        + page.icon(size, kind="more"),
        gap="12px",
        style="padding:6px 12px",
    )
    cards = "".join(
        (
            f'<div style="width:112px;text-align:center">{in_shape(page, random.choice(LARGE))}'
            f'<div style="font-size:12px;margin-top:6px">{page.words(1, 2)}</div></div>'
        )
        for _ in range(10)
    )
    body = (
        f'<div style="text-align:center;padding:40px">{page.logo()}<div style="width:480px;'
        f'margin:20px auto">{field(page)}</div><div style="display:flex;flex-wrap:wrap;'
        f'gap:14px;width:640px;margin:0 auto">{cards}</div></div>'
    )
    return f"{tabs}{address}{marks if often(page, 0.6) else ''}{body}"
