"""A browser: its own bars over a page of links."""

from data.making.detector.page import Page
from data.making.detector.templates.widgets import LARGE, field, in_shape, often, row


def browser_window(page: Page) -> str:
    """A browser's own bars over a page of links."""
    size = page.random.choice((14, 16, 18))
    tabs, marks, address = _tabs(page), _bookmarks(page), _address(page, size)
    start = _start(page)
    return f"{tabs}{address}{marks if often(page, 0.6) else ''}{start}"


def _tabs(page: Page) -> str:
    theme = page.theme
    return row(
        "".join(_tab(page, is_chosen=n == 1) for n in range(4)) + page.icon(14, kind="add"),
        gap="2px",
        style=f"padding:6px 10px 0;background:{theme.fill};font-size:12px",
    )


def _tab(page: Page, *, is_chosen: bool) -> str:
    theme = page.theme
    return row(
        (
            f'{page.icon(14)}<span style="flex:1;overflow:hidden;white-space:nowrap">'
            f"{page.words(1, 3)}</span>"
            f"{page.icon(page.random.choice((8, 10, 12)), theme.muted, kind='close')}"
        ),
        gap="6px",
        style=(
            f"width:170px;padding:7px 10px;background:{theme.ground if is_chosen else 'transparent'};"
            "border-radius:8px 8px 0 0"
        ),
    )


def _bookmarks(page: Page) -> str:
    return row(
        "".join(row(page.icon(page.random.choice((14, 16))) + page.words(1, 1), gap="4px") for _ in range(7)),
        gap="16px",
        style="padding:4px 12px;font-size:12px",
    )


def _address(page: Page, size: float) -> str:
    theme = page.theme
    return row(
        "".join(page.icon(size, theme.muted, kind=kind) for kind in ("arrow", "arrow", None))
        + field(page)
        + "".join(page.icon(size, theme.muted) for _ in range(page.random.randrange(2, 6)))
        + page.avatar(24)
        + page.icon(size, kind="more"),
        gap="12px",
        style="padding:6px 12px",
    )


def _start(page: Page) -> str:
    """The page that a new tab shows: a field under a brand, places that are often looked at."""
    cards = "".join(
        (
            f'<div style="width:112px;text-align:center">{in_shape(page, page.random.choice(LARGE))}'
            f'<div style="font-size:12px;margin-top:6px">{page.words(1, 2)}</div></div>'
        )
        for _ in range(10)
    )
    return (
        f'<div style="text-align:center;padding:40px">{page.logo()}<div style="width:480px;'
        f'margin:20px auto">{field(page)}</div><div style="display:flex;flex-wrap:wrap;'
        f'gap:14px;width:640px;margin:0 auto">{cards}</div></div>'
    )
