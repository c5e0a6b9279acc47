"""What of chosen icons can be written as SVG? Those that are one, taken apart and clean; of the others the reason."""

from collections.abc import Iterable
from dataclasses import dataclass

from indexer.errors import IconsError
from search.exporting.chosen import Chosen, LeftOut
from search.exporting.drawing import Drawing, take_apart
from search.snippets.drawn import Look


@dataclass(frozen=True, slots=True)
class Drawn:
    """An icon, and its drawing."""

    icon: Chosen
    drawing: Drawing


def drawings(icons: Iterable[Chosen], look: Look, *, shared: bool) -> tuple[list[Drawn], list[LeftOut]]:
    """Take icons apart; those that are no SVG, or a broken one, are left out with the reason.

    `shared`: they will stand in one document, where a style sheet of one would hold for all.
    """
    drawn, left_out = [], []
    for icon in icons:
        try:
            drawn.append(Drawn(icon, _drawing(icon, look, shared=shared)))
        except IconsError as error:
            left_out.append(LeftOut(icon.key, str(error)))
    return drawn, left_out


def _drawing(icon: Chosen, look: Look, *, shared: bool) -> Drawing:
    if not icon.is_svg:
        raise IconsError(f'it is a bitmap ("{icon.hit.path}"); only --as zip takes it')
    drawing = take_apart(icon, look)
    if shared and drawing.has_sheet:
        raise IconsError("its style sheet has rules for more than plain classes; only --as zip takes it")
    return drawing
