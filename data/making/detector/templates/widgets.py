"""Which parts do templates share? Buttons, fields, chips, menus, bars, each of the looks of several design systems."""

from data.making.detector.page import Page

SMALL = (10, 11, 12, 12, 12, 13, 14, 14)
USUAL = (13, 14, 14, 15, 16, 16, 16, 16, 17, 18, 18, 20, 20)
LARGE = (18, 20, 20, 22, 24, 24, 24, 28)
HUGE = (28, 32, 36, 40, 48, 56, 64)
SPACER = '<span style="flex:1"></span>'
"""Pushes the parts of a row that come after it to the end."""


def px(page: Page, length: float) -> str:
    """A length of about so many CSS pixels, as dense as the theme is."""
    return f"{length * page.theme.density * page.random.uniform(0.9, 1.1):.1f}px"


def often(page: Page, share: float) -> bool:
    """Whether, by lot."""
    return page.random.random() < share


def row(inside: str, *, gap: str = "8px", style: str = "") -> str:
    """Parts beside one another."""
    return f'<div style="display:flex;align-items:center;gap:{gap};{style}">{inside}</div>'


def full_height(columns: str, *, above: str = "", below: str = "") -> str:
    """Columns that fill a window between its bars."""
    return (
        f'<div style="height:100vh;display:flex;flex-direction:column">{above}<div style="flex:1;display:flex;'
        f'min-height:0">{columns}</div>{below}</div>'
    )


def behind(picture: str) -> str:
    """A picture that lies under all that comes after it."""
    return f'<div style="position:absolute;inset:0">{picture}</div>'


def ink(page: Page) -> str:
    """A colour for an icon: mostly that of text, muted or faint, at times one that means something."""
    theme = page.theme
    return page.random.choice(
        (theme.text, theme.text, theme.muted, theme.muted, theme.muted, theme.faint, theme.accent)
    )


def signal(page: Page) -> str:
    """A colour that says how things stand."""
    theme = page.theme
    return page.random.choice((theme.success, theme.warning, theme.danger, theme.accent))


def button(page: Page, look: str | None = None, *, size: float | None = None) -> str:
    """A button: filled, outlined, tinted or bare; with an icon before, after, alone, or with none."""
    theme, random = page.theme, page.random
    look = look or random.choice(("filled", "filled", "outlined", "outlined", "tinted", "bare"))
    colour = theme.accent if random.random() < 0.8 else signal(page)
    ground, text, border = {
        "filled": (colour, theme.on_accent if colour == theme.accent else "#fff", colour),
        "outlined": ("transparent", random.choice((theme.text, colour)), random.choice((theme.border, colour))),
        "tinted": (theme.soft, theme.text, theme.soft),
        "bare": ("transparent", random.choice((theme.text, theme.muted, colour)), "transparent"),
    }[look]
    side = size or random.choice(USUAL)
    own = text if random.random() < 0.5 else None
    icon = page.icon(side, own) if random.random() < 0.85 else ""
    after = page.icon(side * 0.8, own, kind="chevron") if random.random() < 0.12 else ""
    label = page.words(1, 2) if not icon or random.random() < 0.65 else ""
    inside = random.choice((icon + wrapped(label) + after, icon + wrapped(label) + after, wrapped(label) + icon))
    pad = f"{px(page, 6)} {px(page, 8 if not label else 14)}"
    radius = random.choice((theme.radius, theme.radius, theme.radius, 99))
    return (
        '<button style="display:inline-flex;align-items:center;justify-content:center;gap:'
        f"{random.choice((4, 6, 8))}px;padding:{pad};"
        f"border:{max(theme.border_width, 1):g}px solid {border};border-radius:{radius:g}px;"
        f"background:{ground};color:{text};"
        f'white-space:nowrap;font-weight:{random.choice((400, 500, 600, 700))};flex:none">{inside}</button>'
    )


def wrapped(label: str) -> str:
    """A label as an element of its own."""
    return f"<span>{label}</span>" if label else ""


def icon_button(page: Page, size: float | None = None, *, colour: str | None = None, kind: str | None = None) -> str:
    """An icon to press, bare or on a ground, at times with a badge over its corner."""
    theme, random = page.theme, page.random
    side = size or random.choice(USUAL)
    colour = colour or (ink(page) if random.random() < 0.7 else None)
    around = side * random.uniform(1.3, 2.2)
    ground = random.choice(("transparent",) * 5 + (theme.soft, theme.surface, theme.fill))
    border = f"border:1px solid {theme.border};" if random.random() < 0.15 else "border:0;"
    corner = badge_over(page) if random.random() < 0.08 else ""
    return (
        '<button style="position:relative;display:inline-flex;align-items:center;'
        "justify-content:center;flex:none;padding:0;"
        f"width:{around:.1f}px;height:{around:.1f}px;{border}border-radius:"
        f"{random.choice((theme.radius, 99)):g}px;background:{ground};"
        f'color:{theme.muted}">{page.icon(side, colour, kind=kind)}{corner}</button>'
    )


def badge_over(page: Page) -> str:
    """A badge on the upper corner of what is around it."""
    offset = page.random.choice((-4, -2, 0, 2, 4))
    return badge_at(page, f"top:{offset}px;inset-inline-end:{offset}px")


def badge_at(page: Page, place: str) -> str:
    """A badge at a place of what is around it, as CSS names the place."""
    return f'<span style="position:absolute;{place};line-height:1;display:flex">{page.badge()}</span>'


def in_shape(page: Page, size: float) -> str:
    """An icon in a circle or rounded square of a colour."""
    theme, random = page.theme, page.random
    colour = random.choice((theme.accent, theme.accent, theme.success, theme.warning, theme.danger))
    ground, inked = random.choice(
        (
            (colour, "#fff" if colour != theme.accent else theme.on_accent),
            (theme.soft, theme.accent),
            (colour + "22", colour),
            (theme.fill, theme.text),
        )
    )
    around = size * random.uniform(1.5, 2.4)
    radius = random.choice(("50%", "50%", f"{theme.radius:g}px", f"{around * 0.28:.0f}px", "0"))
    return (
        '<span style="display:inline-flex;flex:none;align-items:center;'
        f"justify-content:center;width:{around:.0f}px;height:{around:.0f}px;"
        f'border-radius:{radius};background:{ground};color:{inked}">'
        f"{page.icon(size, inked if random.random() < 0.4 else None)}</span>"
    )


def field(page: Page, *, width: str = "100%") -> str:
    """A field to write into, with an icon at one end or both, or with none."""
    theme, random = page.theme, page.random
    side = random.choice(USUAL)
    before = (
        page.icon(side, random.choice((theme.muted, theme.faint, None)), kind=random.choice((None, "search")))
        if random.random() < 0.7
        else ""
    )
    kind = random.choice((None, "close", "chevron", "chevron"))
    after = (
        page.icon(random.choice((side, *SMALL)), random.choice((theme.muted, theme.faint, None)), kind=kind)
        if random.random() < 0.4
        else ""
    )
    after = after or (page.key() if random.random() < 0.15 else "")
    text = (
        f'<span style="flex:1;color:{random.choice((theme.muted, theme.faint, theme.text))};'
        f'overflow:hidden;white-space:nowrap">{page.words(1, 4)}</span>'
    )
    line = random.choice(
        (
            f"border:{max(1, theme.border_width):g}px solid {theme.border};",
            f"border:0;border-bottom:1px solid {theme.muted};",
        )
    )
    return (
        f'<div style="display:flex;align-items:center;gap:{random.choice((4, 6, 8, 10))}px;'
        f"width:{width};padding:{px(page, 7)} {px(page, 10)};{line}"
        f"border-radius:{random.choice((theme.radius, theme.radius, 99)):g}px;background:"
        f'{random.choice((theme.surface, theme.raised, "transparent"))};color:{theme.muted}">'
        f"{before}{text}{after}</div>"
    )


def chip(page: Page) -> str:
    """A tag: a word, at times with a tiny icon before it or an x behind."""
    theme, random = page.theme, page.random
    side = random.choice((8, 9, 10, 10, 11, 12, 12, 14))
    before = page.icon(side) if random.random() < 0.35 else random.choice(("", "", page.swatch(8)))
    after = page.icon(side, kind="close") if random.random() < 0.35 else ""
    ground, text = random.choice(
        ((theme.soft, theme.text), (theme.fill, theme.text), ("transparent", theme.muted), (signal(page), "#fff"))
    )
    return (
        f'<span style="display:inline-flex;align-items:center;gap:{random.choice((3, 4, 6))}'
        f"px;padding:{random.choice((1, 2, 4))}px {random.choice((6, 8, 10))}px;"
        f"border-radius:{random.choice((99, 99, 4, 2))}px;background:{ground};color:{text};"
        f"border:1px solid {theme.border};font-size:{random.choice((10, 11, 12, 13))}px;"
        f'white-space:nowrap;flex:none">{before}{page.words(1, 1)}{after}</span>'
    )


def menu_item(page: Page, size: float, *, is_chosen: bool = False, colour: str | None = None) -> str:
    """A line of a menu or a sidebar: icon, words, a badge, a key or a chevron."""
    theme, random = page.theme, page.random
    text = theme.accent if is_chosen and random.random() < 0.7 else theme.text
    ends = (
        "",
        "",
        "",
        "",
        page.badge(),
        page.key(),
        page.number(),
        page.icon(random.choice(SMALL), theme.faint, kind="chevron"),
    )
    end = random.choice(ends)
    inside = (
        f'{page.icon(size, colour)}<span style="flex:1;overflow:hidden;white-space:nowrap;'
        f'text-overflow:ellipsis">{page.words(1, 2)}</span>{end}'
    )
    ground = theme.soft if is_chosen else "transparent"
    return row(
        inside,
        gap=px(page, 9),
        style=(
            f"padding:{px(page, 6)} {px(page, 10)};border-radius:{theme.radius:g}px;background:{ground};color:{text};"
        ),
    )


def menu(page: Page, *, width: float = 220) -> str:
    """A menu that has dropped down."""
    theme, random = page.theme, page.random
    side = random.choice(USUAL)
    items = [menu_item(page, side, is_chosen=n == 1) for n in range(random.randrange(4, 10))]
    line = f'<div style="height:1px;background:{theme.fill};margin:4px 0"></div>'
    items.insert(random.randrange(1, len(items)), line)
    return (
        f'<div style="width:{width:g}px;background:{theme.raised};border:1px solid '
        f"{theme.border};border-radius:{theme.radius:g}px;padding:4px;"
        f'box-shadow:0 8px 24px #0003">{"".join(items)}</div>'
    )


def panel(page: Page, inside: str, *, style: str = "") -> str:
    """A card."""
    theme = page.theme
    return (
        f'<section style="background:{theme.raised};border:{theme.border_width:g}px solid '
        f"{theme.border};border-radius:{theme.radius:g}px;"
        f'box-shadow:{theme.shadow};padding:{px(page, 16)};{style}">{inside}</section>'
    )


def heading(page: Page, size: float = 1.3) -> str:
    """Some words, larger."""
    return (
        f'<div style="font-size:{size:g}em;font-weight:{page.random.choice((500, 600, 700))};'
        f'margin-bottom:{px(page, 6)}">{page.words(1, 4)}</div>'
    )


def text(page: Page, low: int = 4, high: int = 14) -> str:
    """A line or two of muted words."""
    return f'<div style="color:{page.theme.muted}">{page.words(low, high)}</div>'
