"""Shells with a bar at the side: admin panels, file browsers, trees of code."""

from indexer.screens import theme as themes
from indexer.screens.page import Page
from indexer.screens.templates.widgets import (
    LARGE,
    SMALL,
    USUAL,
    badge_over,
    button,
    chip,
    field,
    heading,
    icon_button,
    ink,
    menu_item,
    often,
    panel,
    px,
    row,
    text,
)


def app_bar(page: Page) -> str:
    """The bar at the top: a logo, a field, actions, a person."""
    theme, random = page.theme, page.random
    side = random.choice(USUAL)
    actions = "".join(icon_button(page, side) for _ in range(random.randrange(1, 6)))
    person = page.avatar(random.choice((24, 28, 32, 36)))
    search = field(page, width=f"{random.randrange(160, 420)}px") if often(page, 0.7) else ""
    burger = icon_button(page, side, kind="menu") if often(page, 0.5) else ""
    who = f"<span>{page.name()}</span>{page.icon(random.choice(SMALL), kind='chevron')}" if often(page, 0.4) else ""
    is_tinted = often(page, 0.25)
    ground, colour = (theme.accent, theme.on_accent) if is_tinted else (theme.surface, theme.text)
    inside = f'{burger}{page.logo()}{search}<span style="flex:1"></span>{actions}{person}{who}'
    style = (
        f"padding:{px(page, 8)} {px(page, 16)};background:{ground};color:{colour};"
        f"border-bottom:1px solid {theme.border};flex:none"
    )
    if is_tinted:
        usual, page.theme = theme, themes.on_ground(theme, theme.accent, theme.on_accent)
        inside = (
            f'{page.logo()}<span style="flex:1"></span>'
            + "".join(icon_button(page, side, colour=colour) for _ in range(4))
            + person
        )
        page.theme = usual
    return row(inside, gap=px(page, 10), style=style)


def sidebar(page: Page, *, width: int | None = None) -> str:
    """Groups of links with an icon each; at times of icons alone, at times dark beside a light page."""
    random, usual = page.random, page.theme
    if often(page, 0.3):
        page.theme = themes.inverted(usual, random)
    theme = page.theme
    size, colour = random.choice(USUAL), ink(page)
    is_rail = width is None and often(page, 0.15)
    groups = []
    for _ in range(random.randrange(1, 4)):
        title = (
            f'<div style="font-size:.8em;color:{theme.faint};padding:{px(page, 8)} {px(page, 10)};'
            f'letter-spacing:.04em">{page.words(1, 1)}</div>'
        )
        n, chosen = random.randrange(3, 9), random.randrange(9)
        items = [
            _rail_item(page, size, n == chosen)
            if is_rail
            else menu_item(page, size, is_chosen=n == chosen, colour=random.choice((None, colour)))
            for n in range(n)
        ]
        groups.append(("" if is_rail or often(page, 0.3) else title) + "".join(items))
    wide = 60 if is_rail else width or random.randrange(170, 290)
    style = (
        f"width:{wide}px;flex:none;background:{theme.surface};color:{theme.text};"
        f"border-inline-end:1px solid {theme.border};padding:{px(page, 10)} 8px;"
        "overflow:hidden"
    )
    bar = f'<nav style="{style}">{"".join(groups)}</nav>'
    page.theme = usual
    return bar


def _rail_item(page: Page, size: float, is_chosen: bool) -> str:
    theme = page.theme
    ground = theme.soft if is_chosen else "transparent"
    badge = badge_over(page) if often(page, 0.15) else ""
    label = (
        f'<div style="font-size:9px;margin-top:3px;overflow:hidden">{page.words(1, 1)}</div>'
        if often(page, 0.2)
        else ""
    )
    return (
        '<div style="position:relative;padding:9px 0;text-align:center;border-radius:'
        f'{theme.radius:g}px;background:{ground};color:{theme.text}">{page.icon(size * 1.15)}'
        f"{label}{badge}</div>"
    )


def shell(page: Page, inside: str) -> str:
    """A bar at the top, one at the side, and what is inside."""
    head = app_bar(page)
    body = f'<main style="flex:1;padding:{px(page, 20)};overflow:hidden;min-width:0">{inside}</main>'
    side = sidebar(page)
    columns = side + body if often(page, 0.85) else body + side
    return (
        f'<div style="height:100vh;display:flex;flex-direction:column">{head}<div '
        f'style="flex:1;display:flex;min-height:0">{columns}</div></div>'
    )


def admin_shell(page: Page) -> str:
    """An admin panel: links at the side, cards and a list inside."""
    random = page.random
    top = row(
        heading(page, 1.5)
        + '<span style="flex:1"></span>'
        + "".join(button(page) for _ in range(random.randrange(1, 4)))
    )
    crumbs = breadcrumb(page) if often(page, 0.6) else ""
    cards = "".join(_card(page) for _ in range(random.randrange(2, 8)))
    grid = (
        '<div style="display:grid;grid-template-columns:repeat(auto-fill,minmax('
        f'{random.randrange(180, 340)}px,1fr));gap:{px(page, 14)};margin-top:12px">{cards}'
        "</div>"
    )
    return shell(page, crumbs + top + grid)


def breadcrumb(page: Page) -> str:
    """Where one is: words with a chevron or a sign between."""
    theme, random = page.theme, page.random
    size, mark = random.choice(SMALL), random.choice(("icon", "icon", "/", "&gt;"))
    colour = random.choice((theme.faint, theme.muted))
    between = [page.icon(size, colour, kind="chevron") if mark == "icon" else f"<span>{mark}</span>" for _ in range(3)]
    home = page.icon(size * 1.2) if often(page, 0.5) else page.words(1, 1)
    parts = [
        home,
        *(part for mark in between[: random.randrange(1, 4)] for part in (mark, f"<span>{page.words(1, 2)}</span>")),
    ]
    return row("".join(parts), gap="6px", style=f"color:{theme.muted};font-size:.9em;margin-bottom:8px")


def _card(page: Page) -> str:
    random = page.random
    head = row(
        f"{page.icon(random.choice(USUAL), ink(page)) if often(page, 0.6) else ''}<b "
        f'style="flex:1">{page.words(1, 3)}</b>'
        f"{icon_button(page, random.choice(USUAL), kind='more')}"
    )
    middle = random.choice(
        (
            text(page),
            page.chart(160, 60),
            f'<div style="font-size:1.8em">{page.number()}</div>',
            page.skeleton(160),
            row("".join(page.avatar(24) for _ in range(4)), gap="2px"),
        )
    )
    foot = row("".join(chip(page) for _ in range(random.randrange(0, 3))), style="margin-top:8px;overflow:hidden")
    return panel(page, head + middle + foot, style="overflow:hidden")


def files_and_trees(page: Page) -> str:
    """A tree with small chevrons beside a list of files, and lines of code or a preview."""
    theme, random = page.theme, page.random
    tree = (
        f'<div style="width:{random.randrange(190, 300)}px;flex:none;padding:8px;'
        f"border-inline-end:1px solid {theme.border};background:{theme.surface};"
        f'overflow:hidden">{_tree(page)}</div>'
    )
    tabs = row(
        "".join(_tab(page) for _ in range(random.randrange(2, 6))),
        gap="0",
        style=f"border-bottom:1px solid {theme.border};background:{theme.surface};overflow:hidden",
    )
    body = _code(page) if often(page, 0.5) else _files(page)
    status = row(
        "".join(_status(page) for _ in range(random.randrange(3, 9))),
        gap="14px",
        style=(
            f"padding:3px 10px;background:{random.choice((theme.surface, theme.fill))};"
            f"font-size:11px;color:{theme.muted}"
        ),
    )
    main = (
        f'<div style="flex:1;min-width:0;display:flex;flex-direction:column">{tabs}<div '
        f'style="flex:1;overflow:hidden">{body}</div>{status}</div>'
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
    theme, random = page.theme, page.random
    chevron, size, depth, lines = (
        random.choice((9, 10, 11, 12, 12, 14)),
        random.choice((12, 13, 14, 14, 15, 16, 16)),
        0,
        [],
    )
    high = random.choice((20, 22, 24, 26, 28))
    for _ in range(int(page.height / high)):
        depth = max(0, min(5, depth + random.choice((-2, -1, 0, 0, 0, 1))))
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
        lines.append(
            row(
                inside,
                gap="4px",
                style=f"height:{high}px;padding-inline-start:{depth * 12}px;background:{ground};font-size:12px",
            )
        )
    return "".join(lines)


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
