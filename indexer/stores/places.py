"""Is a place a folder of this machine or the URL of a store? And how is such a URL told from a path?

Places are `Path`s all through the program, which spell `s3://icons/set` as `s3:/icons/set`. No path of this machine
looks so: those that are kept are absolute.
"""

import re
from pathlib import Path

_URL = re.compile(r"([a-z][a-z0-9+.-]+):/+(.*)", re.DOTALL)


def url_of(place: Path | str) -> str | None:
    """The URL that a place is, with two slashes; None for a path, and a `file://` URL is one."""
    found = _URL.fullmatch(str(place))
    return None if found is None or found[1] == "file" else f"{found[1]}://{found[2].rstrip('/')}"


def spelled(place: Path) -> str:
    """Spell a place as it is kept: a URL with its two slashes."""
    return url_of(place) or str(place)


def local_path(place: str) -> Path:
    """The path that a place is which is no URL of a store."""
    return Path(place.removeprefix("file://")).expanduser()
