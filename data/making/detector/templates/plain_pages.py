"""More screens without any icon: tables, charts, photographs, forms, calendars, phones."""

from collections.abc import Callable, Sequence

from data.making.detector.page import Page
from data.making.detector.templates.widgets import SPACER, often, panel, px, row, text


def _button(page: Page) -> str:
    theme, random = page.theme, page.random
    ground, ink = random.choice(
        ((theme.accent, theme.on_accent), (theme.fill, theme.text), ("transparent", theme.accent))
    )
    label = random.choice((page.words(1, 2), page.words(1, 2), page.short_word()))
    return (
        f'<button style="padding:{px(page, 6)} {px(page, 14)};border:1px solid {theme.border};'
        f'border-radius:{theme.radius:g}px;background:{ground};color:{ink}">{label}</button>'
    )


def _bar(page: Page) -> str:
    theme = page.theme
    links = "".join(f"<span>{page.words(1, 1)}</span>" for _ in range(page.random.randrange(2, 7)))
    return row(
        page.logo() + links + SPACER + _button(page) + page.avatar(30) + page.badge(),
        gap="18px",
        style=f"padding:10px 18px;border-bottom:1px solid {theme.border};background:{theme.surface}",
    )


def plain_table(page: Page) -> str:
    """A table of words, figures, states, persons, boxes to tick."""
    theme, random = page.theme, page.random
    kinds: Sequence[Callable[[], str]] = (
        lambda: page.words(1, 3),
        page.number,
        lambda: row(page.avatar(22) + page.name()),
        page.badge,
        page.control,
        page.short_word,
        page.sign,
        lambda: page.chart(80, 22),
        lambda: page.swatch(12),
    )
    columns = random.choices(kinds, k=random.randrange(4, 9))
    style = f"padding:{px(page, 7)} 10px;border-bottom:1px solid {theme.border};white-space:nowrap"
    rows = "".join(
        "<tr>" + "".join(f'<td style="{style}">{column()}</td>' for column in columns) + "</tr>"
        for _ in range(int(page.height / 36))
    )
    numbers = row(
        "".join(f'<span style="padding:4px 9px;border:1px solid {theme.border}">{n + 1}</span>' for n in range(6)),
        gap="2px",
    )
    return (
        f'{_bar(page)}<div style="padding:14px">'
        f'{row("".join(_button(page) for _ in range(3)))}<table style="width:100%;'
        f'border-collapse:collapse">{rows}</table>{numbers}</div>'
    )


def plain_charts(page: Page) -> str:
    """Charts of all kinds beside figures."""
    random = page.random
    wide = random.randrange(220, 460)
    cards = "".join(
        panel(
            page,
            (
                f"<b>{page.words(1, 3)}</b><div style='font-size:1.6em'>{page.number()}</div>"
                f"{page.chart(wide - 50, random.randrange(40, 200))}"
            ),
            style="overflow:hidden",
        )
        for _ in range(14)
    )
    return (
        f'{_bar(page)}<div style="padding:14px;display:grid;'
        f'grid-template-columns:repeat(auto-fill,minmax({wide}px,1fr));gap:14px">{cards}</div>'
    )


def plain_photos(page: Page) -> str:
    """Photographs and logos in a grid, words below."""
    random = page.random
    wide = random.randrange(120, 320)
    high = wide * random.choice((0.6, 0.75, 1, 1.3))
    cards = "".join(
        f'<div style="width:{wide}px">{page.photo(wide, high)}<div>{page.words(1, 4)}</div>{text(page, 2, 6)}</div>'
        for _ in range(24)
    )
    logos = row("".join(page.logo() for _ in range(6)), gap="30px", style="padding:20px")
    return f'{_bar(page)}{logos}<div style="display:flex;flex-wrap:wrap;gap:14px;padding:14px">{cards}</div>'


def plain_form(page: Page) -> str:
    """Fields, boxes, switches, lists and buttons without icons."""
    theme, random = page.theme, page.random
    edge = (
        f"border:1px solid {theme.border};border-radius:{theme.radius:g}px;padding:"
        f"{px(page, 7)};background:{theme.surface}"
    )
    kinds = (
        lambda: f'<div style="{edge}">{page.words(1, 4)}</div>',
        lambda: f'<div style="{edge};height:70px">{page.words(4, 14)}</div>',
        lambda: row(page.control() + page.words(2, 5)),
        lambda: row(page.switch() + page.words(2, 5)),
        lambda: row("".join(f'<span style="{edge}">{random.randrange(10)}</span>' for _ in range(6))),
        lambda: row("".join(page.swatch(24) for _ in range(8))),
    )
    fields = "".join(
        (
            f'<div style="margin-bottom:12px"><div style="font-weight:600">{page.words(1, 2)} '
            f'<span style="color:{theme.danger}">*</span></div>{random.choice(kinds)()}</div>'
        )
        for _ in range(random.randrange(5, 12))
    )
    return (
        f'{_bar(page)}<div style="max-width:{random.randrange(360, 760)}px;margin:20px auto">'
        f"{panel(page, fields + row(_button(page) + _button(page)))}</div>"
    )


def plain_calendar(page: Page) -> str:
    """A month of days, or keys to calculate with."""
    theme, random = page.theme, page.random
    if often(page, 0.4):
        keys = "".join(
            (
                '<span style="height:64px;display:flex;align-items:center;justify-content:center;'
                f'background:{theme.fill};border-radius:{theme.radius:g}px;font-size:24px">{sign}'
                "</span>"
            )
            for sign in ("C", "±", "%", "÷", *"789+456-123/0,=")
        )
        return (
            '<div style="width:330px;margin:20px auto"><div style="font-size:48px;'
            f'text-align:end">{page.number()}</div><div style="display:grid;'
            f'grid-template-columns:repeat(4,1fr);gap:8px">{keys}</div></div>'
        )
    event = f"<div style=background:{theme.soft};font-size:11px;margin-top:2px>{page.words(1, 2)}</div>"
    cells = "".join(
        (
            f'<div style="min-height:{page.height / 7:.0f}px;border:.5px solid {theme.border};'
            f'padding:4px;overflow:hidden">{n % 31 + 1}'
            f"{event * random.choice((0, 0, 1, 2))}"
            "</div>"
        )
        for n in range(35)
    )
    return f'{_bar(page)}<div style="display:grid;grid-template-columns:repeat(7,1fr)">{cells}</div>'


def phone_plain(page: Page) -> str:
    """A phone's list of persons, words, counts, switches."""
    theme, random = page.theme, page.random
    starts: Sequence[Callable[[], str]] = (
        lambda: page.avatar(40),
        lambda: page.photo(44, 44),
        lambda: "",
        lambda: page.swatch(16),
        lambda: page.code(40),
    )
    start = random.choice(starts)
    end = random.choice((page.badge, page.switch, page.number, page.control, page.sign))
    lines = "".join(
        row(
            (
                f'{start()}<div style="flex:1;overflow:hidden"><b>{page.name()}</b><div style="color:'
                f'{theme.muted};white-space:nowrap">{page.words(2, 6)}</div></div>{end()}'
            ),
            gap="12px",
            style=f"padding:{px(page, 9)} 14px;border-bottom:1px solid {theme.border}",
        )
        for _ in range(14)
    )
    tabs = row(
        "".join(
            f'<span style="flex:1;text-align:center;color:{theme.muted}">{page.words(1, 1)}</span>' for _ in range(4)
        ),
        style=f"position:fixed;bottom:0;left:0;right:0;padding:12px;background:{theme.surface}",
    )
    return f'<div style="padding:12px 14px;font-size:1.4em;font-weight:700">{page.words(1, 2)}</div>{lines}{tabs}'
