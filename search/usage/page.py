"""How do uses look as a page? Their crops first, then each screenshot with its icons framed. No script runs in it."""

from collections.abc import Sequence
from html import escape

from indexer.naming.printable import printable
from indexer.reports.page import page
from search.showing.in_page import data_uri
from search.usage.opened import UsageIndex
from search.usage.results import Use, Uses
from search.usage.shots import Shot

MOST_SHOTS = 60
"""On one page."""
_MOST_CROPS = 200
STYLE = """<style>
.crops { display: flex; flex-wrap: wrap; gap: .5rem; } .crops a, .crops span { color: inherit; text-decoration: none;
  width: 5.2rem; font-size: .7rem; text-align: center; overflow-wrap: anywhere; line-height: 1.25; }
.crop { display: block; box-sizing: border-box; width: 4rem; height: 4rem; margin: 0 auto .25rem; object-fit: contain;
  border: 1px solid var(--line); border-radius: .5rem; background: var(--card); }
.crop.none { display: grid; place-items: center; color: var(--soft); }
.screen { margin: 1.6rem 0; } .screen > p { margin: 0 0 .4rem; font-size: .87rem; overflow-wrap: anywhere; }
.screen small { color: var(--soft); } .framed { position: relative; max-width: 100%; border: 1px solid var(--line); }
.framed img { display: block; width: 100%; } .framed i { position: absolute; box-sizing: content-box;
  margin: -4px; padding: 1px; border: 3px solid var(--c4); border-radius: 5px; box-shadow: 0 0 0 2px #fffc; }
</style>"""


def uses_page(index: UsageIndex, asked: str, found: Uses, shots: Sequence[Shot]) -> str:
    """Lay uses out as one file that needs nothing beside it."""
    n_hidden = len({use.file for use in found.uses}) - len(shots)
    facts = [f"{found.n_found:,} places on {found.n_screens:,} screenshots; the surest first."]
    if len(found.uses) < found.n_found:
        facts.append(f"The first {len(found.uses):,} are shown.")
    if n_hidden > 0:
        facts.append(f"{n_hidden:,} more screenshots have crops alone.")
    numbers = {shot.file: number for number, shot in enumerate(shots)}
    crops = "".join(_link(index, use, numbers.get(use.file)) for use in found.uses[:_MOST_CROPS])
    screens = "".join(_screen(index, shot, number) for number, shot in enumerate(shots))
    return page(f"icons usage: {printable(asked)}", facts=facts, sections=[STYLE, _crops(crops), screens])


def _crops(crops: str) -> str:
    return f'<section><h2>Crops</h2><div class="crops">{crops}</div></section>'


def _link(index: UsageIndex, use: Use, number: int | None) -> str:
    label = f"{use.score:.2f}" + (f" {shown(use.icon)}" if use.icon else "")
    inner = f"{crop_html(index, use.drawing)}{label}"
    title = f'title="{shown(use.file)}"'
    return f"<span {title}>{inner}</span>" if number is None else f'<a {title} href="#shot-{number}">{inner}</a>'


def crop_html(index: UsageIndex, drawing: int) -> str:
    """A crop as an image, or a mark where none is kept."""
    png = index.crop(drawing)
    if png is None:
        return '<span class="crop none">no crop</span>'
    return f'<img class="crop" alt="" src="{data_uri(png)}">'


def _screen(index: UsageIndex, shot: Shot, number: int) -> str:
    n = len(shot.uses)
    head = f"<p><b>{shown(shot.file)}</b> <small>{n:,} place{'s' if n != 1 else ''}</small></p>"
    if shot.png is None:
        crops = "".join(f"<span>{crop_html(index, use.drawing)}{use.score:.2f}</span>" for use in shot.uses)
        gone = "<p><small>The file has gone, or is another one by now: these are its crops.</small></p>"
        return f'<section class="screen" id="shot-{number}">{head}{gone}<div class="crops">{crops}</div></section>'
    frames = "".join(map(_frame, shot.uses))
    width = shot.uses[0].width
    framed = f'<div class="framed" style="width: {width}px"><img alt="" src="{data_uri(shot.png)}">{frames}</div>'
    return f'<section class="screen" id="shot-{number}">{head}{framed}</section>'


def _frame(use: Use) -> str:
    left, top, right, bottom = use.box
    places = {
        "left": left / use.width,
        "top": top / use.height,
        "width": (right - left) / use.width,
        "height": (bottom - top) / use.height,
    }
    style = "; ".join(f"{name}: {100 * share:.3f}%" for name, share in places.items())
    title = f"{use.score:.2f}" + (f" {use.icon}" if use.icon else "")
    return f'<i style="{style}" title="{shown(title)}"></i>'


def shown(text: str) -> str:
    """A text of unknown origin in HTML."""
    return escape(printable(text))
