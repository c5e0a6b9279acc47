"""Shops: goods with stars and hearts, plans with ticks, questions that fold, a foot full of links."""

from data.making.detector.page import Page
from data.making.detector.templates.media import picture
from data.making.detector.templates.sidebars import app_bar, breadcrumb
from data.making.detector.templates.widgets import (
    LARGE,
    SMALL,
    USUAL,
    button,
    field,
    heading,
    icon_button,
    in_shape,
    often,
    panel,
    px,
    row,
    text,
)


def stars(page: Page, size: float) -> str:
    """A rating: five equal icons, some of them faint."""
    theme, random = page.theme, page.random
    n, gap = random.randrange(1, 6), random.choice((0, 1, 2, 4))
    return row(
        "".join(page.icon(size, theme.warning if at < n else theme.faint, kind="star") for at in range(5))
        + f'<span style="font-size:.85em;color:{theme.muted}">({random.randrange(1, 999)})</span>',
        gap=f"{gap}px",
    )


def shop(page: Page) -> str:
    """Goods in a grid beside what narrows them down."""
    random = page.random
    width, size = random.randrange(150, 270), random.choice((10, 12, 12, 14, 16))
    goods = "".join(_good(page, width, size) for _ in range(int(page.width / width) * 3))
    narrow = "".join(_narrow(page) for _ in range(4))
    side = f'<div style="width:190px;flex:none">{narrow}</div>' if often(page, 0.6) else ""
    promises = _promises(page) if often(page, 0.5) else ""
    return (
        f'{app_bar(page)}{promises}<div style="display:flex;gap:20px;padding:{px(page, 18)}">'
        f'{side}<div>{breadcrumb(page)}<div style="display:flex;flex-wrap:wrap;gap:'
        f'{px(page, 16)}">{goods}</div></div></div>'
    )


def _narrow(page: Page) -> str:
    """Boxes to tick under a title that folds them."""
    title = row(f"<b style=flex:1>{page.words(1, 1)}</b>" + page.icon(page.random.choice(SMALL), kind="chevron"))
    boxes = "".join(row(page.control() + page.words(1, 2), style="margin:5px 0") for _ in range(3))
    return f'<div style="margin-bottom:14px">{title}{boxes}</div>'


def _promises(page: Page) -> str:
    """What the shop promises, beside an icon each."""
    return row(
        "".join(
            row(
                page.icon(page.random.choice((*USUAL, *LARGE)), page.theme.accent)
                + f"<div><b>{page.words(1, 2)}</b><div style='font-size:.85em'>{page.words(2, 3)}</div></div>",
                gap="10px",
            )
            for _ in range(4)
        ),
        style="justify-content:space-around;padding:14px",
    )


def _good(page: Page, width: float, size: float) -> str:
    random = page.random
    add = icon_button(page, random.choice(USUAL)) if often(page, 0.4) else button(page)
    price = row(f"<b style='flex:1;font-size:1.15em'>${random.uniform(3, 900):.2f}</b>{add}", style="margin-top:6px")
    return (
        f'<div style="width:{width}px;overflow:hidden">'
        f"{picture(page, width, width * random.choice((0.8, 1, 1)), 18)}<div "
        f'style="margin-top:6px">{page.words(2, 4)}</div>'
        f"{stars(page, size) if often(page, 0.8) else ''}{price}</div>"
    )


def pricing(page: Page) -> str:
    """Plans side by side, what each holds behind a tick, questions below, a foot of links."""
    theme, random = page.theme, page.random
    size = random.choice((12, 14, 16, 16, 18, 20))
    colour = random.choice((theme.accent, theme.success, None, theme.muted))
    plans = "".join(_plan(page, size, colour, is_best=n == 1) for n in range(random.choice((2, 3, 3, 4))))
    questions = "".join(_question(page) for _ in range(4))
    top = (
        f'<div style="text-align:center;padding:{px(page, 26)}"><div style="font-size:2.4em;'
        f'font-weight:700">{page.words(2, 5)}</div>{text(page)}</div>'
    )
    return (
        f'{app_bar(page)}<div style="max-width:1100px;margin:0 auto;padding:0 20px">{top}<div '
        f'style="display:flex;gap:18px;align-items:flex-start">{plans}</div><div '
        f'style="margin-top:20px">{questions}</div></div>{foot(page)}'
    )


def _plan(page: Page, size: float, colour: str | None, *, is_best: bool) -> str:
    """A plan: its price, and what it holds."""
    holds = "".join(_held(page, size, colour) for _ in range(page.random.randrange(4, 9)))
    top = in_shape(page, 22) if often(page, 0.3) else ""
    return panel(
        page,
        (
            f'{top}{heading(page)}<div style="font-size:2.2em;font-weight:700">$'
            f"{page.random.randrange(0, 99)}</div>{text(page)}"
            f"{button(page, 'filled' if is_best else 'outlined')}{holds}"
        ),
        style=f"flex:1;{f'border:2px solid {page.theme.accent}' if is_best else ''}",
    )


def _held(page: Page, size: float, colour: str | None) -> str:
    """A line of what a plan holds, or does not."""
    is_lacking = often(page, 0.15)
    mark = page.icon(size, page.theme.faint, kind="close") if is_lacking else page.icon(size, colour, kind="check")
    return row(mark + page.words(2, 5), style=f"margin:{px(page, 7)} 0")


def _question(page: Page) -> str:
    """A question whose answer is folded."""
    theme, random = page.theme, page.random
    return row(
        (
            f'<span style="flex:1">{page.words(4, 9)}</span>'
            f"{page.icon(random.choice(USUAL), theme.muted, kind=random.choice(('chevron', 'add')))}"
        ),
        style=f"padding:{px(page, 12)} 0;border-bottom:1px solid {theme.border}",
    )


def foot(page: Page) -> str:
    """Columns of links and a row of icons of networks."""
    theme, random = page.theme, page.random
    size = random.choice((*USUAL, *LARGE))
    columns = "".join(
        f"<div><b>{page.words(1, 1)}</b>"
        + "".join(f'<div style="color:{theme.muted};margin-top:5px">{page.words(1, 2)}</div>' for _ in range(4))
        + "</div>"
        for _ in range(4)
    )
    networks = row(
        "".join(
            in_shape(page, size * 0.8) if often(page, 0.2) else page.icon(size, theme.muted)
            for _ in range(random.randrange(3, 7))
        ),
        gap=f"{random.choice((8, 12, 16, 20))}px",
    )
    post = field(page, width="240px") if often(page, 0.4) else ""
    return (
        f'<footer style="margin-top:30px;padding:24px;background:{theme.surface};'
        f'border-top:1px solid {theme.border}"><div style="display:flex;gap:50px">'
        f"{page.logo()}{columns}<div>{post}{networks}</div></div></footer>"
    )
