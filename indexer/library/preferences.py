"""What the user of a library prefers: sets that come first, and the format of code; a small file in its folder.

A library whose file is damaged answers as one of which nobody prefers anything.
"""

import json
from dataclasses import asdict, dataclass

from indexer.errors import LibraryError
from indexer.library.durable import from_signed, with_checksum, write_file
from indexer.library.folder import Library
from indexer.library.foreign import parsed


@dataclass(frozen=True, slots=True)
class Preferences:
    """What was chosen so far."""

    sets: tuple[str, ...] = ()
    """Keys, the most preferred first."""
    format: str | None = None
    """Name of the format that code is written in where none is named."""


def read_preferences(library: Library) -> Preferences:
    """Read what is preferred; nothing where nobody chose anything.

    Raises:
        LibraryError: the file is not as `write_preferences` writes it.
    """
    try:
        return from_signed(Preferences, parsed(library.preferences.read_bytes()))
    except FileNotFoundError:
        return Preferences()
    except (OSError, ValueError) as error:
        raise LibraryError(
            f'"{library.preferences}" can\'t be read ({error}), so nothing is preferred; '
            "`icons config sets SET...` writes it anew"
        ) from error


def known_preferences(library: Library) -> Preferences:
    """Read what is preferred; nothing where the file is damaged."""
    try:
        return read_preferences(library)
    except LibraryError:
        return Preferences()


def write_preferences(library: Library, preferences: Preferences) -> None:
    """Remember what is preferred.

    Raises:
        LibraryError: it can't be written.
    """
    try:
        write_file(library.preferences, json.dumps(with_checksum(asdict(preferences))).encode())
    except OSError as error:
        raise LibraryError(
            f'"{library.preferences}" can\'t be written ({error.strerror}); nothing is remembered'
        ) from error
