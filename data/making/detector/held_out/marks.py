"""What stands beside icons and is none? Faces, counts and brands, drawn otherwise than those that are learnt from."""

from data.making.detector.page import Page

_GROUNDS = ("#7c9a92", "#c08497", "#5b7db1", "#b08968", "#8a6fb0", "#3d8168", "#cc7a4a")


def face(page: Page, size: float) -> str:
    """Somebody: two letters in a square, a striped circle, a head made of two circles of a gradient."""
    pick = page.random
    first, second = pick.sample(_GROUNDS, 2)
    letters = "".join(word[:1] for word in page.name().split()[:2])
    grounds = (
        f"background:{first};border-radius:26%",
        f"background:conic-gradient(from {pick.randint(0, 359)}deg, {first}, {second}, {first});border-radius:50%",
        f"background:repeating-linear-gradient({pick.randint(0, 180)}deg, {first} 0 4px, {second}"
        f" 4px 8px);border-radius:50%",
        f"background:radial-gradient(circle at 50% 36%, #f1d3b8 0 24%, transparent 25%),"
        f"radial-gradient(circle at 50% 105%, {second} 0 46%, transparent 47%), {first};border-radius:50%",
    )
    at = pick.randrange(len(grounds))
    box = f"display:inline-grid;place-items:center;flex:none;width:{size}px;height:{size}px;vertical-align:middle"
    ink = f"color:#fff;font:600 {size * 0.4:.0f}px/1 sans-serif"
    return f"<span style='{box};{grounds[at]};{ink}'>{letters if at == 0 else ''}</span>"


def count(page: Page) -> str:
    """A number or a word on a coloured ground, or a plain dot."""
    pick = page.random
    said = pick.choice([str(pick.randint(1, 9)), f"{pick.randint(10, 99)}+", page.words(1, 1), "", "!"])
    box = (
        "display:inline-grid;place-items:center;min-width:9px;height:9px"
        if not said
        else "display:inline-block;padding:0 6px"
    )
    shape = (
        f"border-radius:{pick.choice([3, 9, 99])}"
        f"px;background:{pick.choice(('#d64545', '#3b7dd8', '#5f6b7a', '#2f9e63'))}"
    )
    return f"<span style='{box};{shape};color:#fff;font:600 11px/1.6 sans-serif'>{said}</span>"


def brand(page: Page) -> str:
    """A wordmark: a name in letters of its own, at times with a bar or two discs."""
    pick = page.random
    name = page.words(1, 1)
    look = pick.choice(
        ["900 20px/1 sans-serif", "italic 600 21px/1 serif", "700 19px/1 monospace", "300 22px/1 sans-serif"]
    )
    discs = "<i style='width:18px;height:18px;border-radius:50%;background:#e4572e;margin-right:-7px'></i>" * 2
    bar = "<i style='width:5px;height:24px;background:currentColor'></i>"
    before = pick.choice(["", discs, bar])
    return (
        f"<span style='display:inline-flex;gap:8px;align-items:center;font:{look}"
        f";letter-spacing:-.5px'>{before}{name}</span>"
    )
