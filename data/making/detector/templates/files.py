"""Places for files: a tree with small chevrons, a list of files, lines of code."""

from data.making.detector.page import Page
from data.making.detector.templates.widgets import LARGE, SMALL, USUAL, badge_over, icon_button, often, px, row


def files_and_trees(page: Page) -> str:
    """A tree with small chevrons beside a list of files, and lines of code or a preview."""
    theme, random = page.theme, page.random
    tree = (
        f'<div style="width:{random.randrange(190, 300)}px;flex:none;padding:8px;'
        f"border-inline-end:1px solid {theme.border};background:{theme.surface};"
        f'overflow:hidden">{_tree(page)}</div>'
    )
    tabs = _tabs(page)
    body = _code(page) if often(page, 0.5) else _files(page)
    main = (
        f'<div style="flex:1;min-width:0;display:flex;flex-direction:column">{tabs}<div '
        f'style="flex:1;overflow:hidden">{body}</div>{_status_bar(page)}</div>'
    )
    rail = _rail(page) if often(page, 0.6) else ""
    return f'<div style="height:100vh;display:flex">{rail}{tree}{main}</div>'


def _rail(page: Page) -> str:
    theme, size = page.theme, page.random.choice(LARGE)
    items = "".join(
        (
            f'<div style="position:relative;padding:{px(page, 11)} 0;text-align:center">'
            f"{page.icon(size, theme.muted)}{badge_over(page) if often(page, 0.2) else ''}</div>"
        )
        for _ in range(page.random.randrange(4, 9))
    )
    return f'<div style="width:{size + 26}px;flex:none;background:{theme.fill};padding-top:4px">{items}</div>'


def _tree(page: Page) -> str:
    random = page.random
    chevron, size = random.choice((9, 10, 11, 12, 12, 14)), random.choice((12, 13, 14, 14, 15, 16, 16))
    high = random.choice((20, 22, 24, 26, 28))
    depth, lines = 0, []
    for _ in range(int(page.height / high)):
        depth = max(0, min(5, depth + random.choice((-2, -1, 0, 0, 0, 1))))
        style = f"height:{high}px;padding-inline-start:{depth * 12}px"
        lines.append(_branch(page, chevron, size, style=style))
    return "".join(lines)


def _branch(page: Page, chevron: float, size: float, *, style: str) -> str:
    """A folder or a file of a tree."""
    theme, random = page.theme, page.random
    mark = (
        page.icon(chevron, random.choice((theme.muted, theme.faint, None)), kind="chevron")
        if often(page, 0.5)
        else f'<span style="width:{chevron}px;flex:none"></span>'
    )
    icon = page.icon(size, random.choice((None, theme.muted, theme.accent))) if often(page, 0.85) else ""
    end = (
        (
            f'<span style="margin-inline-start:auto;font-size:10px;color:{theme.faint}">'
            f"{random.choice(('M', 'U', 'A', '2', '9+'))}</span>"
        )
        if often(page, 0.15)
        else ""
    )
    ground = theme.soft if often(page, 0.06) else "transparent"
    inside = f'{mark}{icon}<span style="overflow:hidden;white-space:nowrap">{page.words(1, 2)}</span>{end}'
    return row(inside, gap="4px", style=f"{style};background:{ground};font-size:12px")


def _tabs(page: Page) -> str:
    theme = page.theme
    return row(
        "".join(_tab(page) for _ in range(page.random.randrange(2, 6))),
        gap="0",
        style=f"border-bottom:1px solid {theme.border};background:{theme.surface};overflow:hidden",
    )


def _tab(page: Page) -> str:
    theme, random = page.theme, page.random
    size = random.choice(SMALL)
    icon = page.icon(size) if often(page, 0.7) else ""
    inside = (
        f"{icon}<span>{page.words(1, 1)}</span>"
        f"{page.icon(random.choice((8, 10, 12)), theme.muted, kind='close') if often(page, 0.7) else page.badge()}"
    )
    return row(
        inside,
        gap="6px",
        style=(
            f"padding:{px(page, 7)} 12px;border-inline-end:1px solid {theme.border};font-size:12px;white-space:nowrap"
        ),
    )


def _status_bar(page: Page) -> str:
    theme, random = page.theme, page.random
    return row(
        "".join(_status(page) for _ in range(random.randrange(3, 9))),
        gap="14px",
        style=(
            f"padding:3px 10px;background:{random.choice((theme.surface, theme.fill))};"
            f"font-size:11px;color:{theme.muted}"
        ),
    )


def _status(page: Page) -> str:
    icon = page.icon(page.random.choice((10, 11, 12, 12, 13, 14))) if often(page, 0.6) else ""
    return row(
        f"{icon}<span>{page.random.choice((page.number(), page.words(1, 1), page.short_word()))}</span>", gap="3px"
    )


def _code(page: Page) -> str:
    theme, random = page.theme, page.random
    inks, lines, depth = (theme.text, theme.accent, theme.success, theme.warning, theme.muted), [], 0
    for number in range(1, int(page.height / 18)):
        depth = max(0, min(6, depth + random.choice((-1, 0, 0, 1))))
        parts = "".join(
            f'<span style="color:{random.choice(inks)}">{word} </span>'
            for word in (
                f"{page.words(1, 5)} {random.choice(('=', '=>', '{', '}', '();', '[0]', '// #', '&amp;&amp;', '*'))}"
            ).split()
        )
        gutter = (
            f'<span style="display:inline-block;width:44px;color:{theme.faint};text-align:end;'
            f'padding-inline-end:14px">{number}</span>'
        )
        lines.append(f'<div style="white-space:nowrap;padding-inline-start:{depth * 16}px">{gutter}{parts}</div>')
    return f'<div style="font:12px/18px {theme.mono};padding:6px 0;direction:ltr">{"".join(lines)}</div>'


def _files(page: Page) -> str:
    theme, random = page.theme, page.random
    size = random.choice(USUAL)
    lines = "".join(
        row(
            f"{page.icon(size, random.choice((None, theme.accent, theme.muted)))}<span "
            f'style="flex:2">{page.words(1, 3)}</span><span style="flex:1;color:{theme.muted}">'
            f"{page.number()}</span>"
            f'<span style="flex:1;color:{theme.muted}">{page.name()}</span>{icon_button(page, size, kind="more")}',
            gap="10px",
            style=f"padding:{px(page, 7)} 14px;border-bottom:1px solid {theme.border}",
        )
        for _ in range(int(page.height / 40))
    )
    return (
        row(f"<b>{page.words(1, 2)}</b>{page.icon(random.choice(SMALL), kind='arrow')}", style="padding:8px 14px")
        + lines
    )
