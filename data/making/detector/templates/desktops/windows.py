"""A desktop: windows with buttons in their title, a dock or a bar of tasks, what lies on the ground."""

from data.making.detector.page import Page
from data.making.detector.templates.sidebars import sidebar
from data.making.detector.templates.widgets import SPACER, behind, field, icon_button, in_shape, often, row


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
    windows = "".join(_window(page) for _ in range(page.random.randrange(1, 3)))
    dock, bar, things = _dock(page), _bar(page), _things(page)
    ground = behind(page.photo(page.width, page.height))
    return (
        f'<div style="position:relative;height:100vh;overflow:hidden" dir="ltr">{ground}{things}{windows}{bar}{dock}'
        "</div>"
    )


def _dock(page: Page) -> str:
    random = page.random
    size = random.choice((24, 28, 32, 40, 48))
    tasks = "".join(
        in_shape(page, size * 0.6) if often(page, 0.35) else page.icon(size) for _ in range(random.randrange(5, 12))
    )
    return (
        '<div style="position:absolute;bottom:10px;left:50%;transform:translateX(-50%);'
        f"display:flex;gap:12px;align-items:center;padding:8px 14px;background:{page.theme.surface}"
        f'e6;border-radius:18px">{tasks}</div>'
    )


def _bar(page: Page) -> str:
    """The program in front, its menus, signs of the system, the time."""
    theme, random = page.theme, page.random
    tray = "".join(page.icon(random.choice((14, 16)), theme.text) for _ in range(random.randrange(3, 8)))
    return row(
        page.icon(16)
        + f"<b>{page.words(1, 1)}</b>"
        + "".join(f"<span>{page.words(1, 1)}</span>" for _ in range(5))
        + f"{SPACER}{tray}<span>{page.number()}</span>",
        gap="14px",
        style=f"position:absolute;top:0;left:0;right:0;padding:3px 14px;background:{theme.surface}e6;font-size:12px",
    )


def _things(page: Page) -> str:
    """What lies on the desktop itself: large icons with white words."""
    random = page.random
    things = "".join(
        (
            '<div style="width:80px;text-align:center;margin-bottom:16px;color:#fff;'
            f'font-size:11px;text-shadow:0 1px 2px #000">{page.icon(random.choice((40, 48)))}<div>'
            f"{page.words(1, 2)}</div></div>"
        )
        for _ in range(random.randrange(2, 6))
    )
    return f'<div style="position:absolute;top:40px;right:16px">{things}</div>'


def _window(page: Page) -> str:
    theme, random = page.theme, page.random
    wide = random.randrange(420, max(430, int(page.width * 0.75)))
    high = random.randrange(280, max(300, int(page.height * 0.7)))
    left, top = random.randrange(10, 200), random.randrange(34, 140)
    files, tools = _files(page), _address(page)
    body = f'<div style="display:flex;height:100%">{sidebar(page, width=160)}{files}</div>'
    return (
        f'<div style="position:absolute;left:{left}px;top:{top}px;width:{wide}px;height:{high}'
        f"px;background:{theme.ground};border-radius:{theme.radius:g}px;overflow:hidden;"
        f'box-shadow:0 12px 40px #0006">{title_bar(page)}{tools}{body}</div>'
    )


def _files(page: Page) -> str:
    """The files of a folder, a large icon each."""
    size = page.random.choice((28, 32, 40, 48, 56))
    files = "".join(
        (
            f'<div style="width:{size + 50}px;text-align:center;font-size:12px">'
            f"{page.icon(size, page.random.choice((None, page.theme.accent)))}<div>{page.words(1, 2)}</div>"
            "</div>"
        )
        for _ in range(16)
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:12px;padding:14px;align-content:flex-start">{files}</div>'


def _address(page: Page) -> str:
    """Where the folder is, with buttons on both sides."""
    return row(
        icon_button(page, kind="chevron")
        + icon_button(page, kind="chevron")
        + field(page)
        + "".join(icon_button(page) for _ in range(page.random.randrange(1, 5))),
        style=f"padding:6px 10px;border-bottom:1px solid {page.theme.border}",
    )
