"""How a screen looks as a whole: colours, fonts, radii and densities, drawn by lot."""

import colorsys
from dataclasses import dataclass, replace
from random import Random
from typing import Any

FONTS = (
    "'Liberation Sans', Arial, sans-serif",
    "'Liberation Sans', Arial, sans-serif",
    "'Nimbus Sans', Helvetica, sans-serif",
    "'DejaVu Sans', Verdana, sans-serif",
    "'Liberation Sans Narrow', 'Arial Narrow', sans-serif",
    "'URW Gothic', 'Century Gothic', sans-serif",
    "'Noto Sans', 'DejaVu Sans Condensed', sans-serif",
    "'Liberation Serif', Georgia, serif",
    "'P052', Palatino, serif",
    "'Liberation Mono', monospace",
)
MONO = ("'Liberation Mono', monospace", "'DejaVu Sans Mono', monospace", "'Noto Mono', monospace")
KINDS = ("light", "light", "light", "grey", "tinted", "cream", "dark", "dark", "dim", "black", "contrast")


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours as CSS writes them, lengths in CSS pixels."""

    kind: str
    ground: str
    surface: str
    raised: str
    text: str
    muted: str
    faint: str
    border: str
    accent: str
    on_accent: str
    fill: str
    """Behind what is small and stands out a little: badges, tags, bars."""
    soft: str
    """The accent, faintly: behind what is chosen."""
    success: str
    warning: str
    danger: str
    is_dark: bool
    font: str
    mono: str
    font_size: float
    radius: float
    density: float
    """1 as usual; paddings are multiplied by it."""
    border_width: float
    shadow: str


def hsl(hue: float, saturation: float, lightness: float) -> str:
    """A colour of hue 0 to 1, saturation and lightness 0 to 100, as #rrggbb."""
    rgb = colorsys.hls_to_rgb(hue % 1, min(max(lightness, 0), 100) / 100, min(max(saturation, 0), 100) / 100)
    return "#" + "".join(f"{round(channel * 255):02x}" for channel in rgb)


def choose_theme(random: Random) -> Theme:
    """Draw a theme by lot."""
    kind = random.choice(KINDS)
    hue, tint = random.random(), random.random()
    is_dark = kind in ("dark", "dim", "black") or (kind == "contrast" and random.random() < 0.5)
    greys = _dark_greys(kind, hue, random) if is_dark else _light_greys(kind, hue, random)
    accent_light = random.uniform(52, 70) if is_dark else random.uniform(32, 55)
    accent_hue, strength = (hue if random.random() < 0.4 else tint), random.uniform(55, 95)
    if random.random() < 0.1:  # black or white buttons
        accent, on_accent = (greys["text"], greys["ground"])
    else:
        accent = hsl(accent_hue, strength, accent_light)
        on_accent = "#ffffff" if _luminance(accent) < 0.42 else "#101114"
    return Theme(
        kind=kind,
        **greys,
        accent=accent,
        on_accent=on_accent,
        soft=hsl(accent_hue, strength * 0.7, random.uniform(16, 26) if is_dark else random.uniform(90, 95)),
        success=hsl(random.uniform(0.33, 0.45), 60, 55 if is_dark else 36),
        warning=hsl(random.uniform(0.08, 0.14), 85, 58 if is_dark else 44),
        danger=hsl(random.uniform(-0.03, 0.02), 75, 62 if is_dark else 47),
        is_dark=is_dark,
        **_shapes(random),
        shadow=random.choice(("none", "0 1px 2px #0002", "0 1px 3px #0003", "0 4px 12px #0002", "0 8px 24px #0003")),
    )


def inverted(theme: Theme, random: Random) -> Theme:
    """The same product in the other brightness, as for a dark sidebar beside a light page."""
    hue = random.random()
    greys = _light_greys("light", hue, random) if theme.is_dark else _dark_greys("dark", hue, random)
    soft = hsl(hue, 40, 92) if theme.is_dark else hsl(hue, 35, 28)
    return replace(theme, **greys, soft=soft, is_dark=not theme.is_dark)


def on_ground(theme: Theme, ground: str, ink: str) -> Theme:
    """The same product on a ground of another colour, such as an app bar of the accent."""
    return replace(
        theme,
        ground=ground,
        surface=ground,
        raised=ground,
        text=ink,
        muted=ink,
        faint=ink,
        border=ink + "44",
        fill=ground,
    )


def _shapes(random: Random) -> dict[str, Any]:
    return {
        "font": random.choice(FONTS[:7]) if random.random() < 0.9 else random.choice(FONTS[7:]),
        "mono": random.choice(MONO),
        "font_size": random.choice((11, 12, 12, 13, 13, 13, 14, 14, 14, 14, 15, 16, 16)),
        "radius": random.choice((0, 2, 3, 4, 4, 5, 6, 6, 8, 8, 10, 12, 16, 20)),
        "density": random.choice((0.65, 0.75, 0.85, 1, 1, 1, 1.1, 1.25)),
        "border_width": random.choice((0, 1, 1, 1, 1, 1.5, 2)),
    }


def _light_greys(kind: str, hue: float, random: Random) -> dict[str, Any]:
    colour = {"tinted": 30.0, "cream": 35.0, "contrast": 0.0}.get(kind, random.choice((0.0, 6.0, 14.0)))
    hue = random.uniform(0.09, 0.13) if kind == "cream" else hue
    ground = (
        100 if kind == "contrast" else random.uniform(89, 96) if kind in ("grey", "tinted") else random.uniform(95, 100)
    )
    text = 0 if kind == "contrast" else random.uniform(5, 28)
    return {
        "ground": hsl(hue, colour, ground),
        "surface": hsl(hue, colour, min(100, ground + random.uniform(-3, 6))),
        "raised": hsl(hue, colour, 100 if random.random() < 0.7 else ground),
        "text": hsl(hue, colour, text),
        "muted": hsl(hue, colour, random.uniform(max(text, 30), 52)),
        "faint": hsl(hue, colour, random.uniform(52, 70)),
        "border": hsl(hue, colour, 0 if kind == "contrast" else ground - random.uniform(4, 16)),
        "fill": hsl(hue, colour, ground - random.uniform(4, 14)),
    }


def _dark_greys(kind: str, hue: float, random: Random) -> dict[str, Any]:
    colour = {"contrast": 0.0, "black": 0.0}.get(kind, random.choice((0.0, 8.0, 18.0, 30.0)))
    ground = {"black": 0.0, "contrast": 0.0, "dim": random.uniform(18, 27)}.get(kind, random.uniform(5, 15))
    text = 100 if kind == "contrast" else random.uniform(82, 98)
    return {
        "ground": hsl(hue, colour, ground),
        "surface": hsl(hue, colour, ground + random.uniform(0, 6)),
        "raised": hsl(hue, colour, ground + random.uniform(3, 10)),
        "text": hsl(hue, colour / 2, text),
        "muted": hsl(hue, colour / 2, random.uniform(58, 74)),
        "faint": hsl(hue, colour / 2, random.uniform(42, 56)),
        "border": hsl(hue, colour, 90 if kind == "contrast" else ground + random.uniform(6, 18)),
        "fill": hsl(hue, colour, ground + random.uniform(7, 20)),
    }


def _luminance(colour: str) -> float:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return float(0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2)
