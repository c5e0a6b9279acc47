"""What of chosen icons can be written as SVG? Those that are one, taken apart and clean; of the others the reason."""

from collections.abc import Iterable
from dataclasses import dataclass

from indexer.errors import RenderError
from search.exporting.chosen import Chosen, LeftOut
from search.exporting.drawing import Drawing, take_apart
from search.exporting.own_ids import give_own_ids
from search.exporting.styles import inline_styles


@dataclass(frozen=True, slots=True)
class Drawn:
    """An icon, and its drawing, whose ids no other icon of the export has."""

    icon: Chosen
    drawing: Drawing


def drawings(icons: Iterable[Chosen], *, shared: bool) -> tuple[list[Drawn], list[LeftOut]]:
    """Take icons apart; those that are no SVG, or a broken one, are left out with the reason.

    `shared`: they will stand in one document, where a style sheet of one would hold for all.
    """
    drawn, left_out = [], []
    for icon in icons:
        if not icon.is_svg:
            left_out.append(LeftOut(icon.key, f'it is a bitmap ("{icon.hit.path}"); only --as zip takes it'))
            continue
        try:
            drawing = take_apart(icon.content)
        except RenderError as error:
            left_out.append(LeftOut(icon.key, str(error)))
            continue
        rest = inline_styles(drawing)
        if rest is None:
            give_own_ids(drawing, icon.name)
        elif shared:
            reason = f"its style sheet says {rest}, which can't stand among other icons; only --as zip takes it"
            left_out.append(LeftOut(icon.key, reason))
            continue
        drawn.append(Drawn(icon, drawing))
    return drawn, left_out
