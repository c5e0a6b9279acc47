"""A table to calculate with: tools above, cells full of figures, leaves below."""

from data.making.detector.page import Page
from data.making.detector.templates.toolbars import tool_row
from data.making.detector.templates.widgets import menu, often, panel, row

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def spreadsheet(page: Page) -> str:
    """A table to calculate with: tools above, cells full of figures, leaves below."""
    theme = page.theme
    table = _cells(page)
    style = (
        f"<style>.cells td{{border:1px solid {theme.border};padding:1px 5px;height:22px;"
        "overflow:hidden;white-space:nowrap;max-width:90px;font-size:12px}</style>"
    )
    formula, leaves = _formula(page), _leaves(page)
    extra = f'<div style="position:absolute;top:160px;left:320px">{menu(page)}</div>' if often(page, 0.3) else ""
    return (
        f"{style}{tool_row(page)}{tool_row(page) if often(page, 0.5) else ''}{formula}{table}{leaves}{extra}"
        f"{panel(page, '', style='display:none')}"
    )


def _cells(page: Page) -> str:
    """Letters above, numbers at the side, and in each cell a figure, a word, a sign, or nothing."""
    theme = page.theme
    n = int(page.width / 90)
    heads = "".join(
        (
            f'<td style="background:{theme.surface};text-align:center;color:{theme.muted}">'
            f"{_LETTERS[at % 26]}{page.icon(9, theme.faint, kind='chevron') if often(page, 0.15) else ''}</td>"
        )
        for at in range(n)
    )
    rows = "".join(
        f'<tr><td style="background:{theme.surface};color:{theme.muted};width:34px">{line + 1}</td>'
        + "".join(f"<td>{_value(page)}</td>" for _ in range(n))
        + "</tr>"
        for line in range(int(page.height / 22))
    )
    return f'<table class="cells" dir="ltr" style="border-collapse:collapse"><tr><td></td>{heads}</tr>{rows}</table>'


def _value(page: Page) -> str:
    return page.random.choice((page.number, page.number, lambda: page.words(1, 1), lambda: "", page.sign))()


def _formula(page: Page) -> str:
    """The chosen cell, and what is written in it."""
    theme, random = page.theme, page.random
    return row(
        (
            f'<span style="width:60px">B{random.randrange(1, 40)}</span>'
            f"{page.icon(14, theme.muted)}{page.icon(14, theme.muted)}<i>fx</i><span "
            f'style="flex:1;border:1px solid {theme.border};padding:2px 6px">=SUM(B2:B9)*'
            f"{random.randrange(9)}</span>"
        ),
        style="padding:4px 8px;font-size:12px",
    )


def _leaves(page: Page) -> str:
    theme = page.theme
    return row(
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
