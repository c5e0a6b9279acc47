"""How are icons Iconify JSON? A file a set, or one with a prefix of one's own, as `@iconify/utils` reads it."""

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from search.exporting.drawing import Drawing, markup, spelled
from search.exporting.drawn import Drawn
from search.exporting.licences import SetTerms, by_set
from search.exporting.names import plain_name, unique

_SIDE = 16
"""What Iconify takes where a file states no width or height."""


def iconify_files(drawn: Sequence[Drawn], terms: Sequence[SetTerms], *, prefix: str | None) -> dict[str, bytes]:
    """Write Iconify JSON: `PREFIX.json` with all icons, or without a prefix a file for each set."""
    if prefix is not None:
        names = [one.icon.name for one in drawn]
        return {f"{prefix}.json": _file(prefix, dict(zip(names, drawn, strict=True)), list(terms))}
    of_sets: defaultdict[str, list[Drawn]] = defaultdict(list)
    for one in drawn:
        of_sets[one.icon.hit.set].append(one)
    prefixes = unique([plain_name(key) for key in of_sets])
    files = {}
    for own, (key, icons) in zip(prefixes, of_sets.items(), strict=True):
        names = unique([_own_name(one.icon.hit.name) for one in icons])
        files[f"{own}.json"] = _file(own, dict(zip(names, icons, strict=True)), by_set(terms, key))
    return files


def _own_name(name: str) -> str:
    """An icon's name as its set has it, where Iconify takes that."""
    is_taken = all(part.isascii() and part.isalnum() and part == part.lower() for part in name.split("-"))
    return name if is_taken else plain_name(name)


def _file(prefix: str, icons: dict[str, Drawn], terms: Sequence[SetTerms]) -> bytes:
    info = {**_info(prefix, len(icons), terms), "palette": any(one.icon.hit.coloured for one in icons.values())}
    whole = {"prefix": prefix, "info": info, "icons": {name: _icon(one.drawing) for name, one in icons.items()}}
    return (json.dumps(whole, indent="\t", ensure_ascii=False) + "\n").encode()


def _info(prefix: str, total: int, terms: Sequence[SetTerms]) -> dict[str, Any]:
    """What Iconify's tools show of a set; several sets share a file only under a prefix of one's own."""
    licences = list(dict.fromkeys(one.title for one in terms))
    licence: dict[str, str] = {"title": ", ".join(licences)}
    if len(licences) == 1:
        licence |= {"spdx": terms[0].spdx} if terms[0].spdx else {}
        licence |= {"url": terms[0].url} if terms[0].url else {}
    own = {one.set: one for one in terms}
    name = terms[0].set_title if len(own) == 1 else prefix
    authors = dict.fromkeys(one.author or one.set_title for one in own.values())
    version = {"version": terms[0].version} if len(own) == 1 and terms[0].version else {}
    return {"name": name, "total": total, **version, "author": {"name": ", ".join(authors)}, "license": licence}


def _icon(drawing: Drawing) -> dict[str, Any]:
    """An icon as Iconify holds it: what stands in its SVG, and its box."""
    body = markup(drawing.body)
    attributes = {name: value for name, value in drawing.attributes.items() if name != "preserveAspectRatio"}
    if attributes:
        body = f"<g{spelled(attributes)}>{body}</g>"
    box = {"left": drawing.box.left, "top": drawing.box.top}
    placed = {name: _plain(value) for name, value in box.items() if value}
    sides = {"width": _plain(drawing.box.width), "height": _plain(drawing.box.height)}
    return {"body": body, **placed, **{name: value for name, value in sides.items() if value != _SIDE}}


def _plain(number: float) -> float:
    return int(number) if number == int(number) else number
