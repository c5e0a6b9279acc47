"""Screens without any icon, full of what might be taken for one."""

from data.making.detector.page import Page
from data.making.detector.templates.widgets import SPACER, often, panel, px, row, text


def plain_article(page: Page) -> str:
    """Text to read: headings, paragraphs, pictures, lists, lines of code, a list of persons."""
    theme, random = page.theme, page.random
    parts = [
        f'<h1 style="font-size:2em;margin:12px 0">{page.words(3, 8)}</h1>',
        row(page.avatar(36) + page.name() + page.number(), style=f"color:{theme.muted}"),
    ]
    kinds = (
        lambda: f"<p>{page.words(30, 90)}.</p>",
        lambda: f"<p>{page.words(30, 90)}.</p>",
        lambda: page.photo(random.randrange(200, 600), random.randrange(90, 260)),
        lambda: (
            f'<pre style="font-family:{theme.mono};background:{theme.surface};padding:10px;'
            f'margin:8px 0">{page.words(3, 8)} {page.sign()}\n  {page.words(3, 8)} {page.sign()} '
            f"{page.number()}</pre>"
        ),
        lambda: "<ul>" + "".join(f"<li>{page.words(3, 9)}</li>" for _ in range(4)) + "</ul>",
        lambda: "<ol>" + "".join(f"<li>{page.words(3, 9)}</li>" for _ in range(4)) + "</ol>",
        lambda: f"<h3>{page.words(2, 5)}</h3>",
        lambda: page.chart(random.randrange(200, 600), random.randrange(100, 220)),
        lambda: row("".join(page.avatar(random.choice((20, 28, 40))) for _ in range(7)), gap="4px"),
    )
    parts += [random.choice(kinds)() for _ in range(random.randrange(6, 14))]
    return (
        f'<div style="max-width:{random.randrange(520, 1000)}px;margin:0 auto;padding:'
        f'{px(page, 20)}">{page.logo()}{"".join(parts)}</div>'
    )


def plain_panel(page: Page) -> str:
    """Panels of controls, counts, keys, signs, colours, charts and persons."""
    random = page.random
    kinds = (_controls, _keys, _signs, _colours, _charts, _persons, _figures, _loading, _codes, _dots)
    cards = "".join(
        panel(page, f"<b>{page.words(1, 3)}</b>{random.choice(kinds)(page)}", style="overflow:hidden")
        for _ in range(random.randrange(6, 16))
    )
    top = row(
        page.logo() + "".join(f"<span>{page.words(1, 1)}</span>" for _ in range(5)) + SPACER + page.avatar(32),
        gap="20px",
        style="margin-bottom:14px",
    )
    return (
        f'<div style="padding:{px(page, 20)}">{top}<div style="display:grid;'
        f"grid-template-columns:repeat(auto-fill,minmax({random.randrange(200, 380)}px,1fr));"
        f'gap:{px(page, 14)}">{cards}</div></div>'
    )


def _controls(page: Page) -> str:
    return "".join(
        row(
            page.control()
            + f'<span style="flex:1">{page.words(1, 4)}</span>'
            + (page.switch() if often(page, 0.4) else ""),
            style="margin:8px 0",
        )
        for _ in range(page.random.randrange(3, 7))
    )


def _keys(page: Page) -> str:
    return "".join(
        row(f'<span style="flex:1">{page.words(1, 3)}</span>{page.key()}{page.key()}', gap="4px", style="margin:6px 0")
        for _ in range(5)
    )


def _signs(page: Page) -> str:
    theme, random = page.theme, page.random
    side = random.choice((24, 28, 32, 40))
    box = (
        f"width:{side}px;height:{side}px;display:inline-flex;align-items:center;"
        f"justify-content:center;border:1px solid {theme.border};border-radius:"
        f"{theme.radius:g}px;font-size:{side * 0.5:.0f}px"
    )
    return row(
        "".join(
            f'<span style="{box}">{random.choice((page.sign, page.short_word))()}</span>'
            for _ in range(random.randrange(5, 14))
        ),
        gap="6px",
        style="flex-wrap:wrap",
    )


def _colours(page: Page) -> str:
    return row(
        "".join(page.swatch(page.random.choice((12, 16, 20, 24))) for _ in range(page.random.randrange(6, 24))),
        gap="6px",
        style="flex-wrap:wrap;margin-top:8px",
    )


def _charts(page: Page) -> str:
    return page.chart(page.random.randrange(80, 340), page.random.randrange(30, 180))


def _persons(page: Page) -> str:
    return "".join(
        row(
            page.avatar(page.random.choice((20, 24, 32, 40)))
            + f'<span style="flex:1">{page.name()}</span>'
            + page.badge(),
            style="margin:8px 0",
        )
        for _ in range(4)
    )


def _figures(page: Page) -> str:
    return (
        f'<div style="font-size:2em;font-weight:700">{page.number()}</div>{text(page)}<div '
        f'style="display:flex;gap:8px">{page.badge()}{page.badge()}{page.badge()}</div>'
    )


def _loading(page: Page) -> str:
    return page.skeleton(page.random.randrange(160, 300)) + page.skeleton(200)


def _codes(page: Page) -> str:
    return row("".join(page.code(page.random.choice((24, 32, 48, 96))) for _ in range(3)), gap="12px")


def _dots(page: Page) -> str:
    return "".join(
        row(page.swatch(8) + f'<span style="flex:1">{page.words(1, 2)}</span><span>{page.number()}</span>', gap="6px")
        for _ in range(5)
    )
