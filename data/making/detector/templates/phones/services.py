"""Services or programs of a phone in a grid, under a card with a figure."""

from data.making.detector.page import Page
from data.making.detector.templates.phones.frames import phone_frame
from data.making.detector.templates.widgets import LARGE, badge_at, field, in_shape, often, row


def phone_grid(page: Page) -> str:
    """Services or programs in a grid, a large icon each, under a card with a figure."""
    random = page.random
    size, columns = random.choice((22, 24, 28, 32, 40)), random.choice((3, 4, 4))
    look = random.choice(("shape", "bare", "tile"))
    cells = "".join(_service(page, size, look) for _ in range(columns * random.randrange(2, 6)))
    card = _card(page)
    return phone_frame(
        page,
        (card if often(page, 0.7) else field(page))
        + f'<div style="display:grid;grid-template-columns:repeat({columns},1fr);gap:18px 8px">{cells}</div>',
    )


def _service(page: Page, size: float, look: str) -> str:
    theme = page.theme
    icon = in_shape(page, size) if look == "shape" else page.icon(size, page.random.choice((None, theme.accent)))
    badge = badge_at(page, "top:-5px;inset-inline-end:20%") if often(page, 0.1) else ""
    tile = f"background:{theme.raised};border-radius:{theme.radius:g}px;padding:14px 4px" if look == "tile" else ""
    return (
        '<div style="position:relative;text-align:center;font-size:11px;overflow:hidden;'
        f'{tile}">{icon}{badge}<div style="margin-top:5px">{page.words(1, 1)}</div></div>'
    )


def _card(page: Page) -> str:
    """A card with a figure, at times with what can be done with it."""
    theme, random = page.theme, page.random
    actions = row(
        "".join(
            (
                '<div style="flex:1;text-align:center;font-size:12px">'
                f"{page.icon(random.choice(LARGE))}<div>{page.words(1, 1)}</div></div>"
            )
            for _ in range(4)
        ),
        style="margin-top:12px",
    )
    return (
        f'<div style="background:{theme.accent};color:{theme.on_accent};border-radius:'
        f'{max(theme.radius, 10):g}px;padding:16px;margin-bottom:16px"><div>{page.words(1, 3)}'
        f'</div><div style="font-size:2em">{page.number()}</div>'
        f"{actions if often(page, 0.5) else ''}</div>"
    )
