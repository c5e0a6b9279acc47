"""What lies over a page: palettes of commands, menus, dialogs, tips, over a page that is dimmed or not."""

from data.making.detector.page import Page
from data.making.detector.templates.cards import stat_cards
from data.making.detector.templates.planning import board
from data.making.detector.templates.sidebars import admin_shell
from data.making.detector.templates.tables import data_table
from data.making.detector.templates.widgets import (
    LARGE,
    SMALL,
    USUAL,
    button,
    field,
    heading,
    icon_button,
    in_shape,
    menu,
    menu_item,
    often,
    panel,
    px,
    row,
    signal,
    text,
)


def _over(page: Page, inside: str, place: str) -> str:
    theme, random = page.theme, page.random
    below = random.choice((stat_cards, board, admin_shell, data_table))(page)
    shade = (
        f'<div style="position:fixed;inset:0;background:#000{random.choice("4678")}"></div>' if often(page, 0.6) else ""
    )
    return (
        f'{below}{shade}<div style="position:fixed;{place};background:{theme.raised};color:'
        f"{theme.text};border:1px solid {theme.border};border-radius:{theme.radius:g}px;"
        f'box-shadow:0 12px 40px #0005">{inside}</div>'
    )


def palette(page: Page) -> str:
    """A palette of commands: a field, groups of lines with icons and keys."""
    theme, random = page.theme, page.random
    size = random.choice(USUAL)
    lines = "".join(_command(page, size, n == 1) for n in range(random.randrange(5, 12)))
    search = row(
        page.icon(size * 1.1, theme.muted, kind="search")
        + f'<span style="flex:1;color:{theme.faint}">{page.words(2, 4)}</span>{page.key()}',
        gap="10px",
        style=f"padding:{px(page, 12)};border-bottom:1px solid {theme.border}",
    )
    foot = row(
        "".join(
            row(page.icon(random.choice(SMALL), theme.muted) + page.words(1, 1) + page.key(), gap="4px")
            for _ in range(3)
        ),
        gap="14px",
        style=f"padding:8px 12px;border-top:1px solid {theme.border};font-size:11px;color:{theme.muted}",
    )
    wide = random.randrange(440, 680)
    return _over(
        page,
        (
            f'<div style="width:{wide}px">{search}<div style="padding:6px">{lines}</div>'
            f"{foot if often(page, 0.6) else ''}</div>"
        ),
        f"top:{random.randrange(40, 160)}px;left:calc(50% - {wide // 2}px)",
    )


def _command(page: Page, size: float, is_chosen: bool) -> str:
    theme = page.theme
    keys = (
        page.key() + page.key()
        if often(page, 0.5)
        else page.icon(12, theme.faint, kind="chevron")
        if often(page, 0.3)
        else ""
    )
    return row(
        (
            f'{page.icon(size, page.random.choice((None, theme.muted)))}<span style="flex:1">'
            f"{page.words(1, 4)}</span>{keys}"
        ),
        gap="10px",
        style=(
            f"padding:{px(page, 7)} 10px;border-radius:{theme.radius:g}px;background:"
            f"{theme.soft if is_chosen else 'transparent'}"
        ),
    )


def dialog(page: Page) -> str:
    """A dialog: an icon, words, fields or a place to drop files, buttons, a cross in the corner."""
    random = page.random
    wide = random.randrange(340, 600)
    cross = (
        '<span style="position:absolute;top:12px;inset-inline-end:12px">'
        f"{page.icon(random.choice(USUAL), page.theme.muted, kind='close')}</span>"
    )
    sign = random.choice(
        (lambda: in_shape(page, 24), lambda: page.icon(random.choice((32, 40, 48)), signal(page)), lambda: "")
    )()
    drop = _drop(page) if often(page, 0.4) else ""
    files = "".join(_file(page) for _ in range(random.randrange(0, 4)))
    fields = "".join(
        f"<div style='margin:8px 0'>{page.words(1, 2)}{field(page)}</div>" for _ in range(random.randrange(0, 3))
    )
    ends = row(button(page, "outlined") + button(page, "filled"), style="justify-content:flex-end;margin-top:14px")
    inside = (
        f'<div style="position:relative;width:{wide}px;padding:{px(page, 20)}">{cross}{sign}'
        f"{heading(page)}{text(page)}{fields}{drop}{files}{ends}</div>"
    )
    return _over(page, inside, f"top:{random.randrange(60, 160)}px;left:calc(50% - {wide // 2}px)")


def _drop(page: Page) -> str:
    """A place to drop files."""
    theme = page.theme
    return (
        f'<div style="border:2px dashed {theme.border};padding:24px;text-align:center;color:'
        f'{theme.muted};margin:10px 0">{page.icon(page.random.choice((24, 32, 40, 48)))}<div>'
        f"{page.words(3, 6)}</div></div>"
    )


def _file(page: Page) -> str:
    """A file on its way, with a bar."""
    theme, random = page.theme, page.random
    return row(
        page.icon(random.choice(LARGE), theme.muted)
        + (
            f"<div style='flex:1'>{page.words(1, 2)}<div style='height:4px;background:"
            f"{theme.accent};width:{random.randrange(20, 100)}%'></div></div>"
        )
        + page.icon(14, kind="close"),
        gap="10px",
        style="margin:8px 0",
    )


def drop_down(page: Page) -> str:
    """A menu over a page, one of a person at times, with a second one beside it and a tip."""
    random = page.random
    wide = random.randrange(170, 280)
    person = _person(page) if often(page, 0.4) else ""
    left, top = random.randrange(40, max(60, int(page.width - wide - 40))), random.randrange(40, int(page.height / 2))
    tip = _tip(page, f"left:{left}px;top:{top - 34}px") if often(page, 0.5) else ""
    second = (
        f'<div style="position:fixed;left:{left + wide + 4}px;top:{top + 60}px">{menu(page)}</div>'
        if often(page, 0.3)
        else ""
    )
    said = row(page.icon(20, signal(page)) + page.words(2, 5) + icon_button(page, 14, kind="close"), gap="12px")
    toast = (
        f'<div style="position:fixed;bottom:20px;inset-inline-end:20px">{panel(page, said)}</div>'
        if often(page, 0.5)
        else ""
    )
    return _over(page, f"{person}{menu(page, width=wide)}", f"top:{top}px;left:{left}px") + second + tip + toast


def _person(page: Page) -> str:
    return row(
        page.avatar(36)
        + (
            f"<div><b>{page.name()}</b><div style='font-size:.85em;color:{page.theme.muted}'>"
            f"{page.words(1, 2)}</div></div>"
        ),
        gap="10px",
        style="padding:10px",
    )


def _tip(page: Page, place: str) -> str:
    """A tip: an icon, words and a key, white on black."""
    return (
        f'<div style="position:fixed;{place};background:#111;'
        "color:#fff;border-radius:4px;padding:4px 8px;font-size:12px;display:flex;gap:6px;"
        f'align-items:center">{page.icon(12)}{page.words(1, 3)}{page.key()}</div>'
    )


def side_panel(page: Page) -> str:
    """A panel that has slid in from the side: properties or links."""
    random = page.random
    wide, size = random.randrange(260, 420), random.choice(USUAL)
    head = row(f'<b style="flex:1">{page.words(1, 2)}</b>{icon_button(page, size, kind="close")}')
    groups = "".join(
        heading(page, 1) + "".join(_property(page, size) for _ in range(random.randrange(2, 5))) for _ in range(4)
    )
    side = random.choice(("right:0", "left:0"))
    return _over(
        page,
        f'<div style="width:{wide}px;padding:14px;height:100vh;overflow:hidden">{head}{groups}</div>',
        f"top:0;bottom:0;{side}",
    )


def _property(page: Page, size: float) -> str:
    """A link, a field, or a control beside an icon."""
    kinds = (
        lambda: menu_item(page, size),
        lambda: field(page),
        lambda: row(
            page.icon(size, page.theme.muted) + f"<span style='flex:1'>{page.words(1, 2)}</span>" + page.control(),
            style="margin:8px 0",
        ),
    )
    return page.random.choice(kinds)()
