"""Forms and settings: fields with icons in them, native controls, notices."""

from data.making.detector.page import Page
from data.making.detector.templates.sidebars import breadcrumb, shell, sidebar
from data.making.detector.templates.widgets import (
    LARGE,
    SMALL,
    USUAL,
    button,
    field,
    heading,
    icon_button,
    in_shape,
    ink,
    often,
    panel,
    px,
    row,
    signal,
    text,
)


def notice(page: Page) -> str:
    """A line or two that say what is wrong or done."""
    theme, random = page.theme, page.random
    colour, is_full = signal(page), often(page, 0.25)
    ground, words = (colour, "#fff") if is_full else (colour + "1c", theme.text)
    icon = page.icon(random.choice((*USUAL, *LARGE)), "#fff" if is_full else colour)
    close = page.icon(random.choice(SMALL), kind="close") if often(page, 0.5) else ""
    inside = f'{icon}<div style="flex:1"><b>{page.words(1, 3)}</b><div>{page.words(4, 12)}</div></div>{close}'
    edge = random.choice((f"border:1px solid {colour}", f"border-inline-start:4px solid {colour}", "border:0"))
    return row(
        inside,
        gap="10px",
        style=(
            f"padding:{px(page, 10)} {px(page, 12)};background:{ground};color:{words};{edge};"
            f"border-radius:{theme.radius:g}px;margin:8px 0"
        ),
    )


def form(page: Page) -> str:
    """Labels and fields in one or two columns, boxes to tick, buttons, a notice; alone or in a shell."""
    random = page.random
    fields = "".join(_labelled(page) for _ in range(random.randrange(3, 10)))
    ticks = "".join(row(page.control() + page.words(2, 6), style="margin:8px 0") for _ in range(random.randrange(0, 4)))
    grid = (
        f'<div style="display:grid;grid-template-columns:repeat({random.choice((1, 1, 2))}'
        f',1fr);gap:{px(page, 12)}">{fields}</div>'
    )
    social = "".join(
        f'<div style="margin-top:8px">{button(page, "outlined")}</div>' for _ in range(random.choice((0, 0, 2, 3)))
    )
    title = heading(page, 1.5) + (notice(page) if often(page, 0.5) else "")
    body = title + grid + ticks + row(button(page, "filled") + button(page)) + social
    return shell(page, breadcrumb(page) + panel(page, body)) if often(page, 0.4) else _alone(page, body)


def _labelled(page: Page) -> str:
    """A field under its label, at times with a hint below."""
    theme, random = page.theme, page.random
    hint = _hint(page) if often(page, 0.3) else ""
    mark = (
        page.icon(random.choice(SMALL), theme.faint)
        if often(page, 0.15)
        else random.choice(("", f'<span style="color:{theme.danger}">*</span>'))
    )
    label = row(page.words(1, 2) + mark, gap="4px", style="margin-bottom:3px;font-weight:500")
    return f"<div>{label}{field(page)}{hint}</div>"


def _hint(page: Page) -> str:
    theme, random = page.theme, page.random
    return row(
        (
            f"{page.icon(random.choice(SMALL), random.choice((theme.danger, theme.muted, theme.success)))}"
            f"<span>{page.words(2, 6)}</span>"
        ),
        gap="4px",
        style=f"font-size:.85em;color:{theme.muted}",
    )


def _alone(page: Page, body: str) -> str:
    """A form in the middle of a window, at times beside a picture."""
    picture = page.photo(page.width * 0.4, page.height) if often(page, 0.4) else ""
    return (
        '<div style="display:flex;height:100vh;align-items:center;justify-content:center;'
        f'gap:30px">{picture}'
        f"{panel(page, page.logo() + body, style=f'width:{page.random.randrange(340, 560)}px')}"
        "</div>"
    )


def settings(page: Page) -> str:
    """Lines that each set one thing: an icon, words, and a control, a value or a chevron at the end."""
    random = page.random
    size, look = random.choice((*USUAL, *LARGE)), random.choice(("bare", "bare", "shape", "none"))
    groups = "".join(
        heading(page, 1.05)
        + panel(
            page,
            "".join(_setting(page, size, look) for _ in range(random.randrange(2, 7))),
            style="padding:0;margin-bottom:16px",
        )
        for _ in range(random.randrange(2, 5))
    )
    body = f'<div style="max-width:{random.randrange(520, 900)}px">{heading(page, 1.6)}{groups}</div>'
    if often(page, 0.6):
        return shell(page, body)
    return f'<div style="display:flex;height:100vh">{sidebar(page)}<div style="padding:24px;flex:1">{body}</div></div>'


def _setting(page: Page, size: float, look: str) -> str:
    theme, random = page.theme, page.random
    icon = page.icon(size, ink(page)) if look == "bare" else in_shape(page, size * 0.8) if look == "shape" else ""
    ends = (
        page.control,
        page.switch,
        page.control,
        lambda: page.icon(random.choice(SMALL), theme.faint, kind="chevron"),
        lambda: button(page),
        lambda: icon_button(page),
        page.number,
        page.key,
    )
    end = random.choice(ends)()
    words = f'<div style="flex:1"><div>{page.words(1, 3)}</div>{text(page, 3, 9) if often(page, 0.6) else ""}</div>'
    return row(
        icon + words + end,
        gap="12px",
        style=f"padding:{px(page, 10)} {px(page, 14)};border-bottom:1px solid {theme.border}",
    )
