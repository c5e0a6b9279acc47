"""Plans: calendars, boards of cards, lines of time."""

from data.making.detector.page import Page
from data.making.detector.templates.sidebars import app_bar, sidebar, under_bar
from data.making.detector.templates.widgets import (
    SMALL,
    SPACER,
    USUAL,
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


def calendar(page: Page) -> str:
    """A month or a week: days with numbers, coloured events with a small icon at times."""
    theme, random = page.theme, page.random
    size = random.choice(USUAL)
    arrows = page.icon(size, kind="chevron") + page.icon(size, kind="chevron")
    tools = row(
        button(page, "outlined")
        + arrows
        + heading(page, 1.4)
        + SPACER
        + icon_button(page)
        + icon_button(page)
        + button(page, "filled"),
        gap="12px",
        style="padding:12px 0",
    )
    days = "".join(
        f'<div style="padding:6px;color:{theme.muted};font-size:.85em">{page.words(1, 1)}</div>' for _ in range(7)
    )
    cells = "".join(_day(page, n) for n in range(35))
    grid = (
        '<div style="display:grid;grid-template-columns:repeat(7,1fr);border-top:1px solid '
        f'{theme.border}">{days}{cells}</div>'
    )
    side = sidebar(page) if often(page, 0.6) else ""
    return (
        f'{app_bar(page) if often(page, 0.6) else ""}<div style="display:flex">{side}<div '
        f'style="flex:1;padding:0 {px(page, 16)};min-width:0">{tools}{grid}</div></div>'
    )


def _day(page: Page, n: int) -> str:
    theme, random = page.theme, page.random
    mark = f"background:{theme.accent};color:{theme.on_accent};border-radius:50%" if n == 16 else ""
    number = (
        '<span style="display:inline-flex;width:22px;height:22px;align-items:center;'
        f'justify-content:center;{mark}">{n % 31 + 1}</span>'
    )
    events = "".join(_event(page) for _ in range(random.choice((0, 0, 1, 1, 2, 3))))
    return (
        f'<div style="min-height:{page.height / 7:.0f}px;border:.5px solid {theme.border};'
        f'padding:3px;overflow:hidden">{number}{events}</div>'
    )


def _event(page: Page) -> str:
    colour, random = signal(page), page.random
    ground, text = random.choice(((colour, "#fff"), (colour + "2a", page.theme.text), ("transparent", page.theme.text)))
    icon = (
        page.icon(random.choice((9, 10, 11, 12, 12)), random.choice((None, text)))
        if often(page, 0.45)
        else random.choice(
            ("", f'<span style="width:7px;height:7px;border-radius:50%;background:{colour};flex:none"></span>')
        )
    )
    return row(
        f"{icon}<span>{page.words(1, 2)}</span>",
        gap="3px",
        style=(
            f"font-size:11px;background:{ground};color:{text};padding:1px 5px;border-radius:3px;"
            "margin-top:2px;white-space:nowrap;overflow:hidden"
        ),
    )


def board(page: Page) -> str:
    """Columns of cards, each with tags, counts beside small icons, persons."""
    random = page.random
    size = random.choice((*SMALL, *USUAL))
    columns = "".join(_column(page, size) for _ in range(max(2, int(page.width / random.randrange(230, 330)))))
    tools = row(
        heading(page, 1.4)
        + "".join(page.avatar(26) for _ in range(4))
        + SPACER
        + button(page, "outlined")
        + button(page, "filled"),
        style="padding:12px 0",
    )
    inside = (
        f'<div style="flex:1;padding:0 14px;min-width:0">{tools}<div style="display:flex;'
        f'gap:12px;align-items:flex-start">{columns}</div></div>'
    )
    return under_bar(page, inside, beside=0.4)


def _column(page: Page, size: float) -> str:
    """Cards under a title with a count."""
    theme, random = page.theme, page.random
    head = row(
        (
            f"{page.icon(size, signal(page)) if often(page, 0.4) else page.swatch(9)}<b>"
            f'{page.words(1, 2)}</b><span style="color:{theme.muted}">{random.randrange(1, 30)}'
            f"</span>{SPACER}{page.icon(size, theme.muted, kind='add')}"
            f"{page.icon(size, theme.muted, kind='more')}"
        ),
        style="margin-bottom:8px",
    )
    cards = "".join(_task(page, size) for _ in range(random.randrange(2, 7)))
    add = row(page.icon(size, kind="add") + page.words(1, 2), style=f"color:{theme.muted};padding:6px")
    return (
        f'<div style="flex:1;min-width:0;background:{theme.surface};padding:{px(page, 9)};'
        f'border-radius:{theme.radius:g}px">{head}{cards}{add}</div>'
    )


def _task(page: Page, size: float) -> str:
    theme, random = page.theme, page.random
    tags = row(
        "".join(chip(page) for _ in range(random.randrange(0, 3))), gap="4px", style="margin-bottom:5px;overflow:hidden"
    )
    cover = page.photo(220, 70) if often(page, 0.12) else ""
    marks = "".join(
        row(
            page.icon(size * 0.9, random.choice((None, theme.muted))) + f"<span>{random.randrange(1, 30)}</span>",
            gap=f"{random.choice((1, 2, 3, 4))}px",
        )
        for _ in range(random.randrange(1, 4))
    )
    first = page.icon(size, signal(page)) if often(page, 0.5) else ""
    foot = row(
        (
            f'{first}<span style="font-size:11px">{page.random.choice(("ENG", "UX", "API"))}-'
            f"{random.randrange(1, 999)}</span>{marks}{SPACER}"
            f"{page.avatar(22)}"
        ),
        gap="8px",
        style=f"color:{theme.muted};font-size:12px;margin-top:7px;overflow:hidden",
    )
    return panel(
        page, f"{cover}{tags}<div>{page.words(2, 8)}</div>{foot}", style=f"padding:{px(page, 9)};margin-bottom:8px"
    )


def timeline(page: Page) -> str:
    """Steps one after another, across and down: icons in circles, joined by lines."""
    theme, random = page.theme, page.random
    size, n = random.choice((12, 14, 16, 16, 20)), random.randrange(3, 6)
    steps = [_step(page, size, at, random.randrange(n)) for at in range(n)]
    line = f'<span style="flex:1;height:2px;background:{theme.fill}"></span>'
    across = row(line.join(steps), gap="10px", style=f"padding:{px(page, 20)}")
    events = "".join(_past(page, size) for _ in range(random.randrange(5, 10)))
    down = panel(page, heading(page) + events, style=f"max-width:{random.randrange(420, 800)}px;margin:0 20px")
    return under_bar(page, f'<div style="flex:1">{across}{down}</div>', beside=0.4)


def _step(page: Page, size: float, at: int, now: int) -> str:
    theme = page.theme
    side = size * 2
    ground, text = (theme.accent, theme.on_accent) if at <= now else (theme.fill, theme.muted)
    inside = page.icon(size, kind="check") if at < now else random_icon_or_number(page, size, at)
    return row(
        (
            f'<span style="width:{side:g}px;height:{side:g}px;flex:none;border-radius:50%;'
            f"background:{ground};color:{text};display:inline-flex;align-items:center;"
            f'justify-content:center">{inside}</span><span>{page.words(1, 2)}</span>'
        ),
        gap="8px",
    )


def random_icon_or_number(page: Page, size: float, at: int) -> str:
    """A step's number, or an icon for it."""
    return page.icon(size) if often(page, 0.4) else str(at + 1)


def _past(page: Page, size: float) -> str:
    theme = page.theme
    mark = in_shape(page, size) if often(page, 0.6) else page.icon(size * 1.2, signal(page))
    line = f'<div style="width:2px;flex:1;background:{theme.fill};margin:3px 0"></div>'
    start = (
        f'<div style="display:flex;flex-direction:column;align-items:center;flex:none;width:40px">{mark}{line}</div>'
    )
    words = (
        f'<div style="padding-bottom:{px(page, 16)}"><b>{page.name()}</b> {page.words(2, 6)}'
        f'<div style="color:{theme.muted};font-size:.85em">{page.number()}</div>'
        f"{panel(page, page.words(8, 20), style='margin-top:6px') if often(page, 0.3) else ''}"
        "</div>"
    )
    return f'<div style="display:flex;gap:10px">{start}{words}</div>'
