"""How do hits become code? Their drawings are read where they are needed; what can't be written is told."""

from collections.abc import Sequence
from dataclasses import dataclass

from indexer.errors import IconsError
from indexer.reports.bars import Progress
from search.engine import SearchEngine
from search.picking.pick import Picked, Picking, pick_icons
from search.query import Query
from search.results import Hit
from search.snippets.drawn import Look, NamedIcon, named_icon
from search.snippets.frameworks import Framework
from search.snippets.write import Snippet, laid_out, write


@dataclass(frozen=True, slots=True)
class Written:
    """Hits as code."""

    snippet: Snippet
    remarked: str
    """Its code, each use behind the need that it answers."""
    refused: Sequence[tuple[str, str]]
    """Needs whose icon can't be written so, and why."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What a list of needs comes to."""

    picked: Picked
    framework: Framework | None
    """That the chosen icons were to be written for."""
    written: Written | None
    """None where no code was wanted, or nothing was chosen."""

    @property
    def is_whole(self) -> bool:
        """Whether every need has found something, and all that was chosen could be written."""
        return not self.picked.missing and not (self.written and self.written.refused)


def fill(
    engine: SearchEngine,
    queries: Sequence[Query],
    how: Picking,
    *,
    framework: Framework | None,
    look: Look,
    progress: Progress,
) -> Filled:
    """Answer needs, and write what is chosen as code.

    Raises:
        IconsError: as `pick_icons` and `write_picks`.
    """
    picked = pick_icons(engine, queries, how, progress=progress)
    chosen = [(pick.need, pick.chosen) for pick in picked.picks if pick.chosen]
    written = write_picks(engine, chosen, framework, look) if framework and chosen else None
    return Filled(picked, framework, written)


def write_hit(engine: SearchEngine, hit: Hit, framework: Framework, look: Look) -> Snippet:
    """Write one icon.

    Raises:
        IconsError: it can't be written so, or its source has gone or changed.
    """
    return write([_read(engine, hit, framework)], framework, look)


def write_picks(engine: SearchEngine, chosen: Sequence[tuple[str, Hit]], framework: Framework, look: Look) -> Written:
    """Write the icons that needs have chosen, those left out that can't be written.

    Raises:
        IconsError: none can.
    """
    icons: list[tuple[str, NamedIcon]] = []
    refused: list[tuple[str, str]] = []
    for need, hit in chosen:
        try:
            icon = _read(engine, hit, framework)
            write([icon], framework, look)
        except IconsError as error:
            refused.append((need, str(error)))
        else:
            icons.append((need, icon))
    if not icons:
        raise IconsError(refused[0][1])
    snippet = write([icon for _, icon in icons], framework, look)
    remarked = laid_out(snippet.imports, snippet.uses, framework, remarks=[need for need, _ in icons])
    return Written(snippet, remarked, refused)


def _read(engine: SearchEngine, hit: Hit, framework: Framework) -> NamedIcon:
    return named_icon(hit, engine.picture(hit.id) if framework.needs_svg else None)
