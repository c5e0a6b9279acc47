"""Pages of documentation: headings, notes, code to copy, a table between links at the sides."""

from collections.abc import Sequence

from data.making.detector.page import Page, Template
from data.making.detector.templates.forms import notice
from data.making.detector.templates.sidebars import app_bar, breadcrumb, sidebar
from data.making.detector.templates.tables import table
from data.making.detector.templates.widgets import LARGE, SMALL, SPACER, USUAL, often, panel, row, text


def documentation(page: Page) -> str:
    """A page of documentation: links at the side, headings, notes, code to copy, a table."""
    random = page.random
    kinds: Sequence[Template] = (_paragraph, _paragraph, notice, _code, _small_table, _heading, _pair)
    body = "".join(random.choice(kinds)(page) for _ in range(random.randrange(7, 13)))
    link = row(
        f"{page.icon(14)}<span>{page.words(2, 4)}</span>", gap="6px", style=f"color:{page.theme.accent};margin:12px 0"
    )
    ends, contents = _ends(page), _contents(page)
    return (
        f'{app_bar(page)}<div style="display:flex;gap:26px">'
        f'{sidebar(page, width=230) if page.width > 800 else ""}<div style="flex:1;'
        f'min-width:0;max-width:820px;padding:16px">{breadcrumb(page)}<h1>{page.words(1, 4)}'
        f"</h1>{body}{link}{ends}</div>{contents}</div>"
    )


def _paragraph(page: Page) -> str:
    return f"<p>{page.words(25, 70)}.</p>"


def _code(page: Page) -> str:
    """Lines of code, with an icon to copy them."""
    theme = page.theme
    return (
        f'<div style="position:relative;background:{theme.surface};border:1px solid '
        f'{theme.border};font-family:{theme.mono};padding:12px;margin:8px 0;white-space:pre">'
        f"{page.words(2, 6)} = {page.sign()}\n{page.words(3, 7)} {page.sign()} {page.number()}"
        '<span style="position:absolute;top:8px;inset-inline-end:8px">'
        f"{page.icon(page.random.choice(USUAL), theme.muted)}</span></div>"
    )


def _small_table(page: Page) -> str:
    return table(page, 4)


def _heading(page: Page) -> str:
    """A heading, at times with an icon to link to it."""
    return row(
        (
            f"<h3 style='margin:12px 0'>{page.words(1, 4)}</h3>"
            f"{page.icon(page.random.choice(SMALL), page.theme.faint) if often(page, 0.5) else ''}"
        ),
        gap="6px",
    )


def _pair(page: Page) -> str:
    """Two cards beside one another that lead elsewhere."""
    return row("".join(_card(page) for _ in range(2)), gap="12px", style="align-items:stretch")


def _card(page: Page) -> str:
    return panel(
        page,
        row(
            page.icon(page.random.choice(LARGE), page.theme.accent)
            + f"<div><b>{page.words(1, 2)}</b>{text(page, 3, 8)}</div>",
            gap="10px",
        ),
        style="flex:1",
    )


def _ends(page: Page) -> str:
    """The pages before and after."""
    return row(
        f"<div>{row(page.icon(14, kind='chevron') + page.words(1, 2))}</div>{SPACER}"
        f"<div>{row(page.words(1, 2) + page.icon(14, kind='chevron'))}</div>"
    )


def _contents(page: Page) -> str:
    """The headings of the page, which a narrow window has no room for."""
    headings = "".join(f'<div style="color:{page.theme.muted};margin:5px 0">{page.words(1, 3)}</div>' for _ in range(7))
    return f'<div style="width:180px;flex:none;padding:20px 0">{headings}</div>' if page.width > 1150 else ""
