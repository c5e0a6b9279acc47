"""Which sets does the user of a library like to see first? A small file in the library's folder."""

import json
from collections.abc import Sequence

from indexer.errors import LibraryError
from indexer.library.durable import write_file
from indexer.library.folder import Library


def read_preferred(library: Library) -> tuple[str, ...]:
    """Keys of the preferred sets, the most preferred first; none where nobody chose any.

    Raises:
        LibraryError: the file is not as `write_preferred` writes it.
    """
    try:
        written = json.loads(library.preferences.read_bytes())
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise _unreadable(library, error) from error
    sets = written.get("sets") if isinstance(written, dict) else None
    if not isinstance(sets, list) or not all(isinstance(key, str) for key in sets):
        raise _unreadable(library, "it lists no sets")
    return tuple(sets)


def write_preferred(library: Library, sets: Sequence[str]) -> None:
    """Remember which sets come first, the most preferred first."""
    write_file(library.preferences, json.dumps({"sets": list(sets)}).encode())


def _unreadable(library: Library, why: object) -> LibraryError:
    return LibraryError(f'"{library.preferences}" can\'t be read ({why}); `icons prefer SET...` writes it anew')
