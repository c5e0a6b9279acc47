"""What looks a little like an icon and is none: avatars, badges, controls, single signs, keys, swatches, codes."""

from random import Random

from data.making.detector.theme import Theme, hsl

SIGNS = (
    "@",
    "*",
    "#",
    "%",
    "&amp;",
    "+",
    "§",
    "€",
    "$",
    "?",
    "!",
    "/",
    "~",
    "=",
    "1",
    "2",
    "7",
    "A",
    "Aa",
    "B",
    "Tt",
    "fx",
)
"""Single characters that stand alone, as text."""
_KEYS = ("⌘", "Ctrl", "Alt", "Shift", "Esc", "K", "P", "F", "S", "Enter", "/", "?", "Tab", "F5", "Del")
_SHORT = ("OK", "UI", "EN", "DE", "AI", "QA", "HR", "IT", "PR", "ID", "A1", "B2", "XL", "4K", "HD", "3D", "β")


def avatar(random: Random, theme: Theme, size: float) -> str:
    """A person as a circle or a rounded square: initials, or a portrait of a few shapes."""
    radius = random.choice(("50%", "50%", "50%", f"{size * 0.25:.1f}px"))
    hue = random.random()
    box = f"display:inline-flex;flex:none;align-items:center;justify-content:center;width:{size:g}px;height:{size:g}px;"
    box += f"border-radius:{radius};overflow:hidden;vertical-align:middle;"
    if random.random() < 0.5:
        letters = "".join(random.choice("ABCDEFGHJKLMNPRSTVWZ") for _ in range(random.choice((1, 2, 2))))
        ground = hsl(hue, random.uniform(20, 75), random.uniform(30, 85))
        ink = "#fff" if random.random() < 0.6 else hsl(hue, 60, 15)
        return (
            f'<span style="{box}background:{ground};color:{ink};font-size:{size * 0.4:.1f}px;'
            f'line-height:1">{letters}</span>'
        )
    return f'<span style="{box}">{_portrait(random, size, hue)}</span>'


def _portrait(random: Random, size: float, hue: float) -> str:
    skin = hsl(random.uniform(0.04, 0.1), random.uniform(25, 60), random.uniform(30, 80))
    ground, hair, shirt = (hsl(random.random(), random.uniform(5, 60), random.uniform(10, 80)) for _ in range(3))
    head = (
        f'<ellipse cx="{random.uniform(40, 60):.0f}" cy="42" rx="{random.uniform(16, 24):.0f}'
        f'" ry="{random.uniform(20, 28):.0f}" fill="{skin}"/>'
    )
    top = (
        f'<ellipse cx="50" cy="{random.uniform(20, 32):.0f}" rx="{random.uniform(20, 30):.0f}'
        f'" ry="{random.uniform(12, 26):.0f}" fill="{hair}"/>'
    )
    body = (
        f'<ellipse cx="50" cy="{random.uniform(98, 108):.0f}" rx="{random.uniform(32, 50):.0f}'
        f'" ry="36" fill="{shirt}"/>'
    )
    light = f'<rect width="100" height="100" fill="{hsl(hue, 40, 50)}" opacity="{random.uniform(0, 0.35):.2f}"/>'
    return (
        f'<svg width="{size:g}" height="{size:g}" viewBox="0 0 100 100"><rect width="100" '
        f'height="100" fill="{ground}"/>'
        f"{body}{top}{head}{light}</svg>"
    )


def badge(random: Random, theme: Theme) -> str:
    """A count, a dot or a short word on a coloured ground."""
    ground = random.choice((theme.danger, theme.accent, theme.success, theme.muted, theme.soft, theme.fill))
    ink = theme.text if ground in (theme.soft, theme.fill) else random.choice(("#fff", "#fff", theme.ground))
    lot = random.random()
    if lot < 0.2:
        side = random.choice((4, 6, 8, 10))
        return (
            f'<span style="display:inline-block;flex:none;width:{side}px;height:{side}px;'
            f'border-radius:50%;background:{ground}"></span>'
        )
    text = (
        str(random.randrange(1, 130))
        if lot < 0.75
        else random.choice(("New", "Beta", "Pro", "99+", "Live", "Hot", *_SHORT))
    )
    size = random.choice((9, 10, 11, 12))
    radius = random.choice(("99px", "99px", "4px", "2px"))
    return (
        f'<span style="display:inline-block;flex:none;min-width:{size * 0.7:.0f}px;padding:0 '
        f"{size * 0.4:.1f}px;text-align:center;"
        f"border-radius:{radius};background:{ground};color:{ink};font-size:{size}px;"
        f'line-height:{size * 1.6:.0f}px">{text}</span>'
    )


def control(random: Random, theme: Theme) -> str:
    """A check box, radio button, switch, slider, select or field of the browser's or the product's own."""
    checked = random.choice(("checked", ""))
    accent = f"accent-color:{theme.accent};" if random.random() < 0.7 else ""
    scheme = f"color-scheme:{'dark' if theme.is_dark else 'light'};flex:none;margin:0;"
    side = random.choice((12, 13, 14, 16, 18, 20))
    kind = random.choice(
        ("checkbox", "checkbox", "radio", "switch", "range", "select", "progress", "number", "box", "ring")
    )
    box = f"width:{side}px;height:{side}px"
    if kind == "switch":
        return switch(random, theme, is_on=bool(checked))
    if kind in ("box", "ring"):
        return _own_box(random, theme, side, is_ring=kind == "ring", is_full=bool(checked))
    native = {
        "checkbox": f'<input type="checkbox" {checked} style="{accent}{scheme}{box}">',
        "radio": f'<input type="radio" {checked} style="{accent}{scheme}{box}">',
        "range": f'<input type="range" value="{side * 4}" style="{accent}{scheme}width:{side * 9}px">',
        "select": f'<select style="{scheme}font:inherit;width:90px"><option>{random.choice(_SHORT)}</select>',
        "progress": f'<progress value="{side / 24:.2f}" style="{accent}{scheme}width:{side * 8}px"></progress>',
        "number": f'<input type="number" value="{side}" style="{scheme}width:64px;font:inherit">',
    }
    return native[kind]


def _own_box(random: Random, theme: Theme, side: int, *, is_ring: bool, is_full: bool) -> str:
    radius = "50%" if is_ring else f"{random.choice((0, 2, 3, 4))}px"
    edge = f"{random.choice((1, 1.5, 2))}px solid {random.choice((theme.muted, theme.border, theme.accent))}"
    inside = f"box-shadow:inset 0 0 0 {side * 0.25:.0f}px {theme.accent};" if is_ring and is_full else ""
    return (
        f'<span style="display:inline-block;flex:none;width:{side}px;height:{side}px;border:{edge};'
        f'border-radius:{radius};{inside}box-sizing:border-box"></span>'
    )


def switch(random: Random, theme: Theme, *, is_on: bool) -> str:
    """A switch that slides."""
    height = random.choice((12, 14, 16, 18, 20, 22, 24, 28))
    width, gap = height * random.choice((1.7, 1.8, 2)), random.choice((1, 2, 3))
    ground = theme.accent if is_on else random.choice((theme.faint, theme.fill))
    knob = height - 2 * gap
    return (
        f'<span style="display:inline-flex;flex:none;width:{width:.0f}px;height:{height}px;'
        f"border-radius:99px;background:{ground};"
        f"padding:{gap}px;box-sizing:border-box;justify-content:"
        f'{"flex-end" if is_on else "flex-start"};vertical-align:middle">'
        f'<span style="width:{knob}px;height:{knob}px;border-radius:50%;background:#fff"></span></span>'
    )


def sign(random: Random) -> str:
    """A single character, or two."""
    return random.choice(SIGNS)


def key(random: Random, theme: Theme) -> str:
    """A key of the keyboard."""
    size = random.choice((10, 11, 12))
    return (
        f'<kbd style="display:inline-block;font:{size}px '
        f"{theme.mono if random.random() < 0.5 else theme.font};padding:1px 5px;"
        f"border:1px solid {theme.border};border-radius:{random.choice((2, 3, 4, 6))}px;"
        f'background:{theme.surface};color:{theme.muted}">'
        f"{random.choice(_KEYS)}</kbd>"
    )


def short_word(random: Random) -> str:
    """Two letters, or a letter and a digit."""
    return random.choice(_SHORT)


def swatch(random: Random, size: float) -> str:
    """A colour to choose."""
    radius = random.choice(("50%", "50%", "0", "3px", "6px"))
    colour = hsl(random.random(), random.uniform(20, 95), random.uniform(25, 80))
    ring = f"outline:2px solid {colour};outline-offset:2px;" if random.random() < 0.15 else ""
    return (
        f'<span style="display:inline-block;flex:none;width:{size:g}px;height:{size:g}px;'
        f'border-radius:{radius};background:{colour};{ring}"></span>'
    )


def code(random: Random, size: float) -> str:
    """A pattern of squares such as a QR code, or an own picture of a user that a program has made."""
    n, is_mirrored = random.choice((5, 7, 21, 25)), random.random() < 0.4
    ink = "#000" if n > 7 else hsl(random.random(), 60, 50)
    rows = []
    for y in range(n):
        row = [random.random() < 0.5 for _ in range(n)]
        row = row[: n // 2 + 1] + row[: n // 2][::-1] if is_mirrored else row
        rows += [f"M{x} {y}h1v1h-1z" for x, is_set in enumerate(row) if is_set]
    return (
        f'<svg width="{size:g}" height="{size:g}" viewBox="-1 -1 {n + 2} {n + 2}" '
        'shape-rendering="crispEdges" style="background:#fff;flex:none">'
        f'<path fill="{ink}" d="{"".join(rows)}"/></svg>'
    )


def skeleton(random: Random, theme: Theme, width: float) -> str:
    """Bars that stand for what is still loading."""
    bars = "".join(
        f'<div style="height:{random.choice((8, 10, 12, 14))}px;width:{random.randrange(30, 100)}%;border-radius:4px;'
        f'background:{theme.fill};margin-bottom:8px"></div>'
        for _ in range(random.randrange(2, 5))
    )
    round_one = f'<div style="width:36px;height:36px;border-radius:50%;background:{theme.fill};flex:none"></div>'
    return f'<div style="display:flex;gap:12px;width:{width:g}px">{round_one}<div style="flex:1">{bars}</div></div>'


def logo(random: Random, theme: Theme, name: str) -> str:
    """A wordmark: a letter in a shape and a name, or the name alone."""
    size = random.choice((16, 18, 20, 22, 24, 28, 32))
    hue = random.random()
    ground = random.choice(
        (theme.accent, hsl(hue, 80, 50), f"linear-gradient(135deg,{hsl(hue, 80, 60)},{hsl(hue + 0.2, 80, 45)})")
    )
    letter = name[0] if random.random() < 0.85 else ""
    mark = (
        f'<span style="display:inline-flex;flex:none;width:{size}px;height:{size}px;'
        f"border-radius:{random.choice((0, 3, 6, 8, 99))}px;"
        f"background:{ground};color:#fff;align-items:center;justify-content:center;"
        f'font-weight:800;font-size:{size * 0.6:.0f}px">{letter}</span>'
    )
    text = (
        f'<b style="font-size:{size * random.uniform(0.6, 0.9):.0f}px;letter-spacing:'
        f'{random.choice((-0.5, 0, 0, 1, 3))}px">{name}</b>'
    )
    both = random.choice((mark + text, mark + text, text, mark))
    return f'<span style="display:inline-flex;align-items:center;gap:8px;white-space:nowrap">{both}</span>'
