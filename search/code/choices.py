"""A mapping to look at and to correct: CSV, one HTML page.

A row is an icon and what stands for it. A row that is marked doubtful stays so; one whose mark was taken away, or whose
target is another than was proposed, is what a person chose. An empty target says that nothing stands for it.
"""

import base64
import csv
import hashlib
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from indexer.errors import IconsError
from indexer.languages.words import printable
from indexer.library.named import read_list, text_of
from search.code.map import Candidate, IconMapping, Mapped, Name
from search.engine import SearchEngine
from search.showing.sheets import data_uri, shown

COLUMNS = ("source", "target", "probability", "doubtful", "others")
MOST_BYTES = 8_000_000
"""Of a file that is read."""
_YES = "yes"


class Choice(NamedTuple):
    """What a file says of one icon."""

    target: str
    """Key; "" for nothing."""
    is_doubtful: bool


def to_csv(mapped: Mapped) -> str:
    """Write a mapping as CSV."""
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    rows.writerow(COLUMNS)
    for one in mapped.mappings:
        target, *others = [candidate.name.key for candidate in one.candidates] or [""]
        sure = f"{one.probability:.2f}", _YES if one.is_doubtful else ""
        rows.writerow([_in_cell(one.source.key), _in_cell(target), *sure, _in_cell(" ".join(others))])
    return written.getvalue()


def _in_cell(text: str) -> str:
    """No program that opens the file takes a name for a formula."""
    shown = printable(text)
    return f"'{shown}" if shown[:1] in ("=", "+", "-", "@", "\t") else shown


def read_choices(path: Path) -> Mapping[str, Choice]:
    """Read a file that was written so, by the keys of its icons.

    Raises:
        SourceError: it can't be read, or lacks a column.
    """
    rows = read_list(path, COLUMNS[:4], needed=COLUMNS[:2], limit=MOST_BYTES, hint="; `icons map --csv` writes a list")
    cells = ([(text_of(row.get(column)) or "").removeprefix("'") for column in COLUMNS[:4]] for _, row in rows)
    return {source: Choice(target, is_doubtful=doubt.lower() == _YES) for source, target, _, doubt in cells}


def choose(engine: SearchEngine, mapped: Mapped, choices: Mapping[str, Choice]) -> Mapped:
    """Put what a file says in the place of what was found; icons that it does not name stay as they are.

    Raises:
        IconsError: it names a target that the library does not have, or one of another set.
    """
    mappings = []
    for one in mapped.mappings:
        choice = choices.get(one.source.key)
        is_proposed = choice and one.target and one.target.name.key == choice.target
        if choice is None or (choice.is_doubtful and is_proposed):
            mappings.append(one)
        elif not choice.target:
            mappings.append(one.chosen(None))
        else:
            hit = engine.show(engine.find(choice.target)).hit
            if hit.set != mapped.to:
                why = f'"{choice.target}" is of "{hit.set}", and stand-ins are of "{mapped.to}"'
                raise IconsError(f"{why}; choose one of these")
            mappings.append(one.chosen(Candidate(Name(hit.set, hit.name), hit.id, hit.image)))
    return replace(mapped, mappings=mappings)


_STYLE = """
:root { color-scheme: light dark; font: 14px/1.4 system-ui, sans-serif; --line: #8884; --mark: #c2410c; --on: #2563eb; }
body { margin: 0 auto 4rem; padding: 0 1.5rem; max-width: 64rem; }
header { position: sticky; top: 0; z-index: 1; padding: 1rem 0; background: Canvas; display: flex; flex-wrap: wrap;
  gap: .6rem 1.2rem; align-items: center; border-bottom: 1px solid var(--line); }
h1 { font-size: 1.2rem; margin: 0; } header p { margin: 0; opacity: .75; flex: 1; min-width: 14rem; }
button { font: inherit; padding: .45rem .9rem; border-radius: .5rem; border: 0; background: var(--on); color: #fff;
  cursor: pointer; }
ol { list-style: none; margin: 1rem 0; padding: 0; }
fieldset { display: grid; grid-template-columns: 11rem 1fr 5.5rem; gap: 1rem; align-items: center; margin: 0;
  padding: .6rem .2rem; border: 0; border-bottom: 1px solid var(--line); min-width: 0; }
li { content-visibility: auto; contain-intrinsic-size: auto 6.4rem; }
.only-doubtful li:not(.doubtful):not(.chosen) { display: none; }
.source { display: flex; gap: .8rem; align-items: center; overflow-wrap: anywhere; font-weight: 600; }
.candidates { display: flex; flex-wrap: wrap; gap: .5rem; }
.picture { display: grid; place-items: center; width: 3.2rem; height: 3.2rem; flex: none; border-radius: .5rem;
  background: #fff; color: #333; border: 1px solid var(--line); font-weight: 400; }
.picture img { width: 2rem; height: 2rem; object-fit: contain; }
label { display: grid; justify-items: center; gap: .25rem; width: 6.4rem; padding: .35rem .2rem; font-size: .78rem;
  text-align: center; overflow-wrap: anywhere; border-radius: .6rem; border: 2px solid transparent; cursor: pointer; }
label:hover { border-color: var(--line); } label:has(:checked) { border-color: var(--on); }
label:has(:focus-visible) { outline: 2px solid var(--on); outline-offset: 2px; }
label input { position: absolute; opacity: 0; }
.sure { text-align: right; font-variant-numeric: tabular-nums; }
.doubtful .sure { color: var(--mark); font-weight: 600; }
.chosen .sure::before { content: "chosen"; color: var(--on); font-weight: 600; } .chosen .sure span { display: none; }
@media (prefers-color-scheme: dark) { :root { --mark: #fb923c; --on: #60a5fa; } button { color: #111; } }
@media (max-width: 40rem) { fieldset { grid-template-columns: 1fr 4.5rem; } .candidates { grid-column: 1 / -1; } }
"""
_SCRIPT = """
const rows = [...document.querySelectorAll("li")];
const count = () => {
  const left = rows.filter(row => row.matches(".doubtful:not(.chosen)")).length;
  const chosen = rows.filter(row => row.matches(".chosen")).length;
  document.querySelector("#count").textContent = `${left} doubtful left, ${chosen} chosen`;
};
document.querySelector("ol").addEventListener("click", event => {
  if (event.target.matches("input")) { event.target.closest("li").classList.add("chosen"); count(); }
});
document.querySelector("#only").addEventListener("change", event =>
  document.body.classList.toggle("only-doubtful", event.target.checked));
const cell = text => /[",\\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
const line = row => {
  const all = [...row.querySelectorAll("input")].map(input => input.value);
  const target = row.querySelector(":checked").value;
  const isChosen = row.matches(".chosen"), others = all.filter(key => key && key !== target).join(" ");
  return [row.dataset.source, target, isChosen ? "1.00" : row.dataset.probability,
    !isChosen && row.matches(".doubtful") ? "yes" : "", others].map(cell).join(",");
};
document.querySelector("#save").addEventListener("click", () => {
  const lines = ["source,target,probability,doubtful,others", ...rows.map(line)];
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\\n") + "\\n"], {type: "text/csv"}));
  link.download = "mapping.csv";
  link.click();
});
count();
"""
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'">
<title>{title}</title><style>{style}</style></head><body>
<header><h1>{title}</h1><p>{n} icons, <span id="count">{n_doubtful} doubtful</span></p>
<span><input type="checkbox" id="only"> <label for="only" style="display: inline">doubtful only</label></span>
<button id="save">Save as CSV</button></header>
<ol>
{rows}
</ol><script>{script}</script></body></html>
"""
_ROW = """<li class="{kind}" data-source="{key}" data-probability="{probability:.2f}"><fieldset aria-label="{key}">
<span class="source">{picture}{name}</span><span class="candidates">{candidates}</span>
<span class="sure"><span>{sure}</span></span></fieldset></li>"""
_CANDIDATE = """<label><input type="radio" name="{group}" value="{key}"{checked}>{picture}{name}</label>"""


def mapping_page(mapped: Mapped, pictures_of: Callable[[Sequence[int]], Iterable[tuple[int, bytes]]]) -> bytes:
    """Lay a mapping out as a page; `pictures_of` reads pictures by their ids, as far as they can be read."""
    ordered = sorted(mapped.mappings, key=lambda one: (not one.is_doubtful, one.probability if one.is_doubtful else 0))
    sets = ", ".join(dict.fromkeys(one.source.set for one in mapped.mappings if one.source.set)) or "names"
    images = {candidate.image for one in ordered for candidate in one.candidates}
    pictures = dict(pictures_of(sorted(images | {one.image for one in ordered if one.image is not None})))
    page = _PAGE.format(
        digest=base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode("ascii"),
        title=shown(f"{sets} to {mapped.to}"),
        style=_STYLE,
        script=_SCRIPT,
        n=f"{len(ordered):,}",
        n_doubtful=len(mapped.doubtful),
        rows="\n".join(_row(number, one, pictures) for number, one in enumerate(ordered)),
    )
    return page.encode()


def _row(number: int, one: IconMapping, pictures: Mapping[int, bytes]) -> str:
    by = "" if one.image is not None or one.is_chosen else "<br>by name alone"
    offered: list[Candidate | None] = [*one.candidates, None]
    candidates = (
        _CANDIDATE.format(
            group=f"g{number}",
            key=shown(candidate.name.key) if candidate else "",
            name=shown(candidate.name.name) if candidate else "none",
            picture=_picture(candidate.image, pictures) if candidate else '<span class="picture">&#8709;</span>',
            checked=" checked" if place == 0 else "",
        )
        for place, candidate in enumerate(offered)
    )
    return _ROW.format(
        kind="doubtful" if one.is_doubtful else "chosen" if one.is_chosen else "sure-of",
        key=shown(one.source.key),
        name=shown(one.source.name),
        probability=one.probability,
        picture=_picture(one.image, pictures),
        candidates="".join(candidates),
        sure=f"{'doubtful ' if one.is_doubtful else ''}{one.probability:.0%}{by}",
    )


def _picture(image: int | None, pictures: Mapping[int, bytes]) -> str:
    content = None if image is None else pictures.get(image)
    drawn = f'<img alt="" loading="lazy" src="{data_uri(content)}">' if content is not None else "?"
    return f'<span class="picture">{drawn}</span>'
