"""Pictures with what was found in them: one HTML page, and lines that fit 80 columns.

Pictures stand in `img`, where no script of an SVG can run; the page's own script alone may run, by its digest.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count

from rich.cells import cell_len

from indexer.languages.words import counted, printable, say
from indexer.reports.terminal import open_console
from search.query import Hit
from search.screens.locate import LocatedFile
from search.screens.results import LocatedIcon, LocatedPicture
from search.showing.sheets import data_uri, is_drawn_in_white, script_digest, shown
from search.showing.tables import fitted, print_line

STYLE = """
:root { color-scheme: light dark; font: 14px/1.45 system-ui, sans-serif; --page: #f4f5f7; --card: #fff; --text: #1c2127;
  --soft: #667080; --line: #dfe3e8; --accent: #2563eb; --warning: #c2570c; --on: #2563eb1a; }
@media (prefers-color-scheme: dark) { :root { --page: #101318; --card: #191d24; --text: #e6e9ee; --soft: #97a1b0;
  --line: #2c333d; --accent: #6aa0ff; --warning: #ff9d4d; --on: #6aa0ff26; } }
* { box-sizing: border-box; }
body { margin: 0; color: var(--text); background: var(--page); }
header { position: sticky; top: 0; z-index: 9; display: flex; flex-wrap: wrap; align-items: baseline; gap: .2rem 1rem;
  padding: .9rem 1.5rem; background: var(--card); border-bottom: 1px solid var(--line); }
h1 { margin: 0; font-size: 1.1rem; overflow-wrap: anywhere; } header p { margin: 0; flex: 1; color: var(--soft); }
label { color: var(--soft); cursor: pointer; user-select: none; }
label input { accent-color: var(--accent); margin: 0; }
main { display: grid; grid-template-columns: minmax(0, 1fr) 23rem; gap: 1.5rem; padding: 1.5rem; align-items: start; }
figure { margin: 0 0 2rem; } figcaption { margin-bottom: .5rem; color: var(--soft); }
figcaption b { color: var(--text); margin-right: .4rem; }
.shot { position: relative; max-width: 100%; border-radius: .6rem;
  box-shadow: 0 0 0 1px var(--line), 0 8px 28px #0002; }
.shot img { display: block; width: 100%; height: 100%; border-radius: inherit; }
.frame { position: absolute; padding: 0; border: 0; background: none; cursor: pointer; color: #2f6bff; }
.frame::before { content: ""; position: absolute; inset: -4px; border-radius: 5px; border: 2px solid currentColor;
  box-shadow: 0 0 0 1px #fff9; transition: background .12s; }
.frame.doubtful { color: #e8590c; } .frame.unknown { color: #7c8798; }
.frame.unknown::before { border-style: dashed; }
.frame:hover::before, .frame[aria-expanded="true"]::before { border-width: 3px;
  background: color-mix(in srgb, currentColor 20%, transparent); }
.frame:focus-visible { outline: none; }
.frame:focus-visible::before { outline: 2px solid var(--text); outline-offset: 2px; }
.frame::after { content: attr(data-name); position: absolute; left: 50%; top: calc(100% + 7px); translate: -50%;
  display: none; padding: .1rem .45rem; border-radius: .35rem; background: #14171cf0; color: #fff; white-space: nowrap;
  font: 500 .74rem/1.5 system-ui, sans-serif; pointer-events: none; }
.frame:hover, .frame:focus-visible { z-index: 3; }
.frame:hover::after, .frame:focus-visible::after { display: block; }
.with-names .frame::after { display: block; max-width: 8.5em; overflow: hidden; text-overflow: ellipsis;
  padding: 0 .3rem; top: calc(100% + 5px); font-size: .62rem; background: #14171cd0; }
.with-names .frame:hover::after { max-width: none; background: #14171c; }
aside { position: sticky; top: 4.4rem; background: var(--card); border: 1px solid var(--line); border-radius: .8rem;
  padding: 1rem; max-height: calc(100vh - 6rem); overflow: auto; }
.hint { margin: 0; color: var(--soft); } section ~ .hint { display: none; }
.crop { display: flex; gap: .9rem; align-items: center; margin-bottom: .8rem; }
.crop canvas { width: 4.6rem; height: 4.6rem; flex: none; border-radius: .6rem; border: 1px solid var(--line); }
.crop p { margin: 0; overflow-wrap: anywhere; } .crop b { display: block; font-size: 1rem; }
small { color: var(--soft); }
ol { list-style: none; margin: 0; padding: 0; }
li { display: flex; align-items: center; gap: .7rem; padding: .5rem .4rem; border-top: 1px solid var(--line); }
.first { background: var(--on); border-radius: .5rem; border-color: transparent; }
.first + li { border-color: transparent; }
.picture { display: grid; place-items: center; flex: none; width: 2.8rem; height: 2.8rem; border-radius: .5rem;
  background: #fff; color: #888; border: 1px solid #8883; font-size: .7rem; }
.dark { background: #1b1c1e; } .picture img { width: 1.8rem; height: 1.8rem; object-fit: contain; }
.name { flex: 1; min-width: 0; overflow-wrap: anywhere; } .name b { display: block; font-weight: 600; }
code { display: block; font: .76rem/1.4 ui-monospace, monospace; color: var(--soft); user-select: all; }
.name small { font-size: .74rem; }
.sure { width: 2.7rem; flex: none; text-align: right; font-variant-numeric: tabular-nums; }
.sure b { display: block; font-size: .8rem; } .sure i { display: block; height: 3px; border-radius: 2px;
  background: var(--accent); margin-top: .2rem; margin-left: auto; }
.refused { color: var(--warning); overflow-wrap: anywhere; }
@media (max-width: 60rem) { main { grid-template-columns: minmax(0, 1fr); padding: 1rem; gap: 1rem; }
  aside { top: auto; bottom: .6rem; max-height: 46vh; box-shadow: 0 4px 24px #0004; } }
"""
SCRIPT = """
const frames = [...document.querySelectorAll(".frame")].sort((a, b) =>
  Number(a.getAttribute("aria-controls").slice(1)) - Number(b.getAttribute("aria-controls").slice(1)));
const panelOf = frame => document.getElementById(frame.getAttribute("aria-controls"));
const paint = (frame, canvas) => {
  const [left, top, right, bottom] = frame.dataset.box.split(" ").map(Number);
  const side = 1.3 * Math.max(right - left, bottom - top), ink = canvas.getContext("2d");
  ink.imageSmoothingEnabled = side > canvas.width;
  ink.drawImage(frame.parentElement.querySelector("img"), (left + right - side) / 2, (top + bottom - side) / 2,
    side, side, 0, 0, canvas.width, canvas.height);
};
let chosen = null;
const choose = frame => {
  if (chosen) { chosen.removeAttribute("aria-expanded"); panelOf(chosen).hidden = true; }
  chosen = frame;
  document.querySelector(".hint").hidden = true;
  const panel = panelOf(frame);
  frame.setAttribute("aria-expanded", "true");
  panel.hidden = false;
  paint(frame, panel.querySelector("canvas"));
};
for (const frame of frames) frame.addEventListener("click", () => choose(frame));
document.addEventListener("keydown", event => {
  const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
  if (!step || !chosen || !document.activeElement.matches(".frame")) return;
  event.preventDefault();
  const next = frames[(frames.indexOf(chosen) + step + frames.length) % frames.length];
  next.focus();
  choose(next);
});
document.querySelector("#names").addEventListener("change", event =>
  document.body.classList.toggle("with-names", event.target.checked));
addEventListener("load", () => { if (frames.length) choose(frames[0]); });
"""


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
 data-box="{box}" style="{style}"></button>"""
_PANEL = """<section id="i{number}" hidden><div class="crop"><canvas width="192" height="192"></canvas>
<p><b>{title}</b>{place}</p></div>
<ol>{hits}</ol></section>"""
_HIT = """<li{first}><span class="picture{dark}">{picture}</span><span class="name"><b>{name}</b>
<code>{key}</code>{also}</span><span class="sure"><b>{score:.0%}</b><i style="width: {score:.0%}"></i></span></li>"""


Pictures = dict[int, tuple[str, bool]]
"""Address of the picture of each hit by its id, and whether it stands on dark; without those whose source has gone."""


def located_page(
    files: Sequence[LocatedFile], pictures_of: Callable[[Sequence[int]], Iterable[tuple[int, bytes]]]
) -> str:
    """Lay out what files hold; `pictures_of` reads those of hits by their ids, as far as they can be read."""
    numbers = count()
    found = [file.located for file in files if file.located]
    pictures = {
        image: (data_uri(content), is_drawn_in_white(content))
        for image, content in pictures_of(
            sorted({hit.image for one in found for icon in one.icons for hit in icon.hits})
        )
    }
    shots, panels = [], []
    for file in files:
        if file.located is None or file.png is None:
            shots.append(f'<p class="refused">{shown(file.error or file.name)}</p>')
            continue
        numbered = [(next(numbers), icon) for icon in file.located.icons]
        caption = f"<figcaption><b>{shown(file.name)}</b> {counted(len(numbered), 'icon')}</figcaption>"
        shot = _SHOT.format(
            caption=caption if len(files) > 1 else "",
            name=shown(file.name),
            width=file.located.width,
            height=file.located.height,
            source=data_uri(file.png),
            frames="\n".join(_frames(file.located, numbered)),
        )
        shots.append(shot)
        panels += [_panel(number, icon, pictures) for number, icon in numbered]
    return _PAGE.format(
        digest=script_digest(SCRIPT),
        title=shown(files[0].name if len(files) == 1 else counted(len(files), "screenshot")),
        facts=_facts(found),
        style=STYLE,
        script=SCRIPT,
        shots="\n".join(shots),
        panels="\n".join(panels),
    )


def _panel(number: int, icon: LocatedIcon, pictures: Pictures) -> str:
    doubt = "No good match; these come nearest." if icon.hits else "Nothing in the library is near."
    width, height = icon.box.size
    return _PANEL.format(
        number=number,
        title=shown(icon.hits[0].name) if icon.is_sure else doubt,
        place=f"<small>{width} x {height} px at {icon.box.left}, {icon.box.top}</small>",
        hits="".join(_hit(hit, pictures, is_first=place == 0) for place, hit in enumerate(icon.hits)),
    )


def _facts(found: Sequence[LocatedPicture]) -> str:
    n_doubtful = sum(len(one.doubtful) for one in found)
    facts = [counted(sum(len(one.icons) for one in found), "icon")]
    facts += [f"{n_doubtful:,} without a good match"] * bool(n_doubtful)
    facts += ["there are more: the surest are framed"] * any(one.is_cut for one in found)
    facts += [f"{found[0].width:,} x {found[0].height:,} px"] if len(found) == 1 else []
    return ", ".join(facts)


def _frames(located: LocatedPicture, numbered: Sequence[tuple[int, LocatedIcon]]) -> Iterator[str]:
    """Frames around the icons, the smallest last: what lies inside another one can be chosen, too."""
    for number, icon in sorted(numbered, key=lambda one: -one[1].box.size[0] * one[1].box.size[1]):
        name = icon.hits[0].name if icon.hits else "nothing near"
        yield _FRAME.format(
            kind="sure" if icon.is_sure else "doubtful" if icon.hits else "unknown",
            number=number,
            name=shown(name),
            label=shown(f"{name}, at {icon.box.left}, {icon.box.top}"),
            box=" ".join(map(str, icon.box)),
            style=icon.box.style(located.width, located.height),
        )


def _hit(hit: Hit, pictures: Pictures, *, is_first: bool) -> str:
    address, is_on_dark = pictures.get(hit.image, ("", False))
    return _HIT.format(
        first=' class="first"' if is_first else "",
        dark=" dark" if is_on_dark else "",
        picture=f'<img alt="" loading="lazy" src="{address}">' if address else "gone",
        key=shown(hit.key),
        name=shown(hit.name),
        also=f"<small>also {shown(', '.join(hit.also[:2]))}</small>" if hit.also else "",
        score=hit.score,
    )


_WIDEST_KEY = 40
_LEAST = 8
"""Columns in which names of other hits are still of use."""
_TITLES = ("at", "size", "key", "score", "or")


def print_located(files: Sequence[LocatedFile]) -> None:
    """Print a line an icon, below the name of its file where there are several."""
    numbered = [(file.name, file.located) for file in files if file.located and file.located.icons]
    for number, (name, located) in enumerate(numbered):
        if len(files) > 1:
            say(("\n" if number else "") + f"{name}: {counted(located.n_found, 'icon')}")
        _print_icons(located)


def _print_icons(located: LocatedPicture) -> None:
    """A key is whole, what else it may be is cut."""
    console = open_console()
    rows = [_TITLES, *map(_row, located.icons)]
    widths = [max(cell_len(row[column]) for row in rows) for column in range(2)]
    longest = min(_WIDEST_KEY, max(cell_len(row[2]) for row in rows))
    for number, (place, size, key, score, others) in enumerate(rows):
        whole = fitted(key, max(longest, cell_len(key)))
        start = f"{fitted(place, widths[0])}  {fitted(size, widths[1])}  {score:>5}  {whole}"
        room = console.width - cell_len(start) - 2
        rest = f"  {fitted(others, room)}" if others and room >= _LEAST else ""
        print_line(console, start + rest, style=None if number else "dim")


def _row(icon: LocatedIcon) -> tuple[str, str, str, str, str]:
    if not icon.hits:
        return icon.box.at, icon.box.extent, "(nothing near)", "", ""
    best, *others = icon.hits
    are_of_one_set = all(other.set == best.set for other in others)
    names = ", ".join(printable(other.name if are_of_one_set else other.key) for other in others)
    return (
        icon.box.at,
        icon.box.extent,
        printable(best.key),
        f"{'' if icon.is_sure else '?'}{best.score:.2f}",
        names,
    )
