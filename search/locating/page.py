"""How do screenshots look with what was found in them? One HTML page: framed icons, and the names of the chosen one.

Pictures stand in `img`, where no script of an SVG can run; the page's own script alone may run, by its digest.
"""

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import count

from indexer.naming.printable import printable
from search.locating.files import LocatedFile
from search.locating.page_style import SCRIPT, STYLE
from search.locating.results import LocatedIcon, LocatedPicture
from search.results import Hit
from search.showing.in_page import data_uri, is_drawn_in_white

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'">
<title>icons: {title}</title><style>{style}</style></head><body>
<header><h1>{title}</h1><p>{facts}</p>
<label><input type="checkbox" id="names"> names</label></header>
<main><div class="shots">
{shots}
</div><aside aria-live="polite"><p class="hint">Choose a framed icon to see what it is.</p>
{panels}
</aside></main><script>{script}</script></body></html>
"""
_SHOT = """<figure>{caption}<div class="shot" style="aspect-ratio: {width} / {height}; width: {width}px">
<img alt="{name}" src="{source}">
{frames}</div></figure>"""
_FRAME = """<button class="frame {kind}" aria-controls="i{number}" aria-label="{label}" data-name="{name}"
 data-box="{box}" style="left: {left:.3f}%; top: {top:.3f}%; width: {wide:.3f}%; height: {high:.3f}%"></button>"""
_PANEL = """<section id="i{number}" hidden><div class="crop"><canvas width="192" height="192"></canvas>
<p><b>{title}</b>{place}</p></div>
<ol>{hits}</ol></section>"""
_HIT = """<li{first}><span class="picture{dark}">{picture}</span><span class="told"><b>{name}</b>
<code>{key}</code>{also}</span><span class="sure"><b>{score:.0%}</b><i style="width: {score:.0%}"></i></span></li>"""


class Pictures:
    """Pictures of hits by their ids, as a page shows them; each is looked at once."""

    def __init__(self, contents: Mapping[int, bytes]) -> None:
        self._contents = contents
        self._shown: dict[int, tuple[str, bool]] = {}

    def of(self, image: int) -> tuple[str, bool] | None:
        """Its address, and whether it stands on dark; None where its source has gone."""
        if image not in self._contents:
            return None
        if image not in self._shown:
            content = self._contents[image]
            self._shown[image] = data_uri(content), is_drawn_in_white(content)
        return self._shown[image]


def images_of(files: Sequence[LocatedFile]) -> list[int]:
    """Ids of all pictures that a page shows."""
    shown = {hit.image for file in files if file.located for icon in file.located.icons for hit in icon.hits}
    return sorted(shown)


def located_page(files: Sequence[LocatedFile], contents: Mapping[int, bytes]) -> str:
    """Lay out what files hold; `contents` are the pictures of hits by their ids, as far as they can be read."""
    numbers, pictures = count(), Pictures(contents)
    shots, panels = [], []
    for file in files:
        if file.located is None or file.png is None:
            shots.append(f'<p class="refused">{_shown(file.error or file.name)}</p>')
            continue
        numbered = [(next(numbers), icon) for icon in file.located.icons]
        shots.append(_shot(file.name, file.located, file.png, numbered, is_alone=len(files) == 1))
        panels += [_panel(number, icon, pictures) for number, icon in numbered]
    return _PAGE.format(
        digest=base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode("ascii"),
        title=_shown(files[0].name if len(files) == 1 else f"{len(files):,} screenshots"),
        facts=_facts([file.located for file in files if file.located]),
        style=STYLE,
        script=SCRIPT,
        shots="\n".join(shots),
        panels="\n".join(panels),
    )


def _facts(found: Sequence[LocatedPicture]) -> str:
    icons = [icon for one in found for icon in one.icons]
    n_doubtful = sum(_kind(icon) != "sure" for icon in icons)
    told = [f"{len(icons):,} icon{'s' if len(icons) != 1 else ''}"]
    if n_doubtful:
        told.append(f"{n_doubtful:,} without a good match")
    if any(one.is_cut for one in found):
        told.append("there are more: the surest are framed")
    if len(found) == 1:
        told.append(f"{found[0].width:,} x {found[0].height:,} px")
    return ", ".join(told)


def _shot(
    name: str, located: LocatedPicture, png: bytes, numbered: Sequence[tuple[int, LocatedIcon]], *, is_alone: bool
) -> str:
    n = len(located.icons)
    caption = f"<figcaption><b>{_shown(name)}</b> {n:,} icon{'s' if n != 1 else ''}</figcaption>"
    return _SHOT.format(
        caption="" if is_alone else caption,
        name=_shown(name),
        width=located.width,
        height=located.height,
        source=data_uri(png),
        frames="\n".join(_frames(located, numbered)),
    )


def _frames(located: LocatedPicture, numbered: Sequence[tuple[int, LocatedIcon]]) -> Iterator[str]:
    """Frames around the icons, the smallest last: what lies inside another one can be chosen, too."""
    for number, icon in sorted(numbered, key=lambda one: -_area(one[1])):
        left, top, right, bottom = icon.box
        name = printable(icon.hits[0].name) if icon.hits else "nothing near"
        yield _FRAME.format(
            kind=_kind(icon),
            number=number,
            name=escape(name),
            label=escape(f"{name}, at {left}, {top}"),
            box=" ".join(map(str, icon.box)),
            left=100 * left / located.width,
            top=100 * top / located.height,
            wide=100 * (right - left) / located.width,
            high=100 * (bottom - top) / located.height,
        )


def _area(icon: LocatedIcon) -> int:
    return (icon.box.right - icon.box.left) * (icon.box.bottom - icon.box.top)


def _kind(icon: LocatedIcon) -> str:
    if not icon.hits:
        return "unknown"
    return "sure" if icon.is_sure else "doubtful"


def _panel(number: int, icon: LocatedIcon, pictures: Pictures) -> str:
    titles = {
        "sure": "",
        "doubtful": "No good match; these come nearest.",
        "unknown": "Nothing in the library is near.",
    }
    left, top, right, bottom = icon.box
    return _PANEL.format(
        number=number,
        title=titles[_kind(icon)] or _shown(icon.hits[0].name),
        place=f"<small>{right - left} x {bottom - top} px at {left}, {top}</small>",
        hits="".join(_hit(hit, pictures, is_first=place == 0) for place, hit in enumerate(icon.hits)),
    )


def _hit(hit: Hit, pictures: Pictures, *, is_first: bool) -> str:
    shown = pictures.of(hit.image)
    return _HIT.format(
        first=' class="first"' if is_first else "",
        dark=" dark" if shown and shown[1] else "",
        picture=f'<img alt="" loading="lazy" src="{shown[0]}">' if shown else "gone",
        key=_shown(hit.key),
        name=_shown(hit.name),
        also=f"<small>also {_shown(', '.join(hit.also[:2]))}</small>" if hit.also else "",
        score=hit.score,
    )


def _shown(text: str) -> str:
    return escape(printable(text))
