"""Which folders of screenshots are remembered, and are crops of them kept? `usage/shots.json`."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from indexer.errors import LibraryError, SourceError
from indexer.library.durable import write_file
from indexer.library.foreign import Absolute, from_json
from indexer.sources.exclusion import Exclusion
from indexer.sources.paths import refuse_undecoded
from indexer.usage.folder import UsageFolder


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of screenshots, or one screenshot, as it was given."""

    location: Absolute
    exclude: tuple[str, ...] = ()
    """Patterns as in .gitignore."""


@dataclass(frozen=True, slots=True)
class Shots:
    """What `icons usage add` has been told so far."""

    places: tuple[Place, ...] = ()
    keeps_crops: bool = True

    def with_places(self, locations: Sequence[Path], *, exclude: Sequence[str]) -> "Shots":
        """Remember more; a place that is given again has the patterns that it is given now.

        Raises:
            SourceError: one is not there, or a pattern is none.
        """
        Exclusion.of(exclude)
        given = {_checked(location): Place(_checked(location), tuple(exclude)) for location in locations}
        kept = [place for place in self.places if place.location not in given]
        return replace(self, places=(*kept, *given.values()))

    def without(self, location: str) -> "Shots":
        """Forget a place."""
        return replace(self, places=tuple(place for place in self.places if place.location != location))


def _checked(location: Path) -> str:
    path = location.expanduser().absolute()
    refuse_undecoded(path)
    if not path.exists():
        raise SourceError(f'"{location}" does not exist; give a folder of screenshots, or screenshots')
    return str(path)


def read_shots(folder: UsageFolder) -> Shots:
    """Read what was told; nothing where nothing was.

    Raises:
        LibraryError: it can't be read.
    """
    if not folder.settings.is_file():
        return Shots()
    try:
        return from_json(Shots, folder.settings.read_bytes())
    except (OSError, ValueError) as error:
        raise LibraryError(
            f'"{folder.settings}" can\'t be read ({error}); delete it, and give `icons usage add` the screenshots again'
        ) from error


def write_shots(folder: UsageFolder, shots: Shots) -> None:
    """Remember it."""
    write_file(folder.settings, json.dumps(asdict(shots), indent=2).encode())
