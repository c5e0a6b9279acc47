"""What do the icons of a collection look like, and whose are they? Each read from its source, or its reason told."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexer.errors import ExportError, RenderError, SourceError, UnknownIconError
from search.exporting.collection import Collection
from search.exporting.names import unique_names
from search.results import Hit

if TYPE_CHECKING:
    from indexer.reports.bars import Progress
    from search.engine import SearchEngine

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Chosen:
    """One icon that is to be exported."""

    key: str
    """As the collection names it."""
    name: str
    """Letters, digits and hyphens, as no other icon of the export has it: "lucide-bell"."""
    hit: Hit
    content: bytes
    """Its picture, as the source holds it; an SVG as unpacked text."""
    is_svg: bool


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An icon that is not in an export."""

    key: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A collection as it was read."""

    icons: list[Chosen]
    left_out: list[LeftOut]
    remarks: list[str]


def read_chosen(engine: "SearchEngine", collection: Collection, *, progress: "Progress | None" = None) -> Reading:
    """Read the icons of a collection, in its order; and those that can't be read, with the reason.

    Keys that lead to one icon give it once, under the first of them, with a remark.
    """
    ids, left_out, remarks = _found(engine, collection.icons, progress)
    hits = dict(zip(ids, engine.hits(list(ids)), strict=True))
    contents: dict[int, tuple[bytes, bool]] = {}
    # Icons of one file beside each other: it is opened once.
    for n, icon in enumerate(sorted(hits, key=lambda icon: hits[icon].path), start=1):
        if progress is not None:
            progress("reading icons", n, len(hits))
        try:
            contents[icon] = _as_text(engine.picture(icon))
        except (SourceError, RenderError) as error:
            left_out.append(LeftOut(ids[icon], str(error)))
        except UnknownIconError as error:
            left_out.append(LeftOut(ids[icon], f"{error}; the library has changed meanwhile"))
    kept = {icon: hit for icon, hit in hits.items() if icon in contents}
    names = unique_names((hit.set, hit.name) for hit in kept.values())
    chosen = [
        Chosen(ids[icon], name, hit, *contents[icon]) for (icon, hit), name in zip(kept.items(), names, strict=True)
    ]
    places = {key: place for place, key in enumerate(collection.icons)}
    return Reading(chosen, sorted(left_out, key=lambda one: places[one.key]), remarks)


def _found(
    engine: "SearchEngine", keys: Sequence[str], progress: "Progress | None"
) -> tuple[dict[int, str], list[LeftOut], list[str]]:
    """Ids of icons, and the first key that leads to each."""
    ids: dict[int, str] = {}
    left_out, remarks = [], []
    for n, key in enumerate(keys, start=1):
        if progress is not None:
            progress("finding icons", n, len(keys))
        try:
            icon = engine.find(key)
        except UnknownIconError as error:
            left_out.append(LeftOut(key, str(error)))
        else:
            if icon in ids:
                remarks.append(f'"{key}" is "{ids[icon]}", which is there already: it stands there once')
            ids.setdefault(icon, key)
    return ids, left_out, remarks


def _as_text(content: bytes) -> tuple[bytes, bool]:
    from indexer.rendering.svg_document import svg_document

    document = svg_document(content)
    return (content, False) if document is None else (document, True)


def keys_of(left_out: Sequence[LeftOut]) -> str:
    """Name the first few."""
    named = ", ".join(one.key for one in left_out[:_SHOWN])
    return f"{named} and {len(left_out) - _SHOWN:,} more" if len(left_out) > _SHOWN else named


def refuse_left_out(left_out: Sequence[LeftOut]) -> None:
    """Refuse an export that would lack icons.

    Raises:
        ExportError: it would; the message names the first three and why.
    """
    if left_out:
        named = "; ".join(f'"{one.key}": {one.reason}' for one in left_out[:_SHOWN])
        more = f"; and {len(left_out) - _SHOWN:,} more" if len(left_out) > _SHOWN else ""
        count = "an icon" if len(left_out) == 1 else f"{len(left_out):,} icons"
        raise ExportError(f"{count} can't be exported so, --skip-unreadable leaves out: {named}{more}")
