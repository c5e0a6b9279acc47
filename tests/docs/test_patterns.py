"""Do regular expressions mean the same in every Python that is supported?"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{[0-9,]+\})\+")


def test_no_group_is_possessive() -> None:
    """Before Python 3.11.5, one that fails half-way does not go back (gh-106052); an atomic group `(?>...)` does."""
    files = [file for package in ("indexer", "search") for file in (ROOT / package).rglob("*.py")]
    found = [f"{file}: {one[0]}" for file in files for one in _POSSESSIVE_GROUP.finditer(file.read_text("utf-8"))]
    assert len(files) > 200
    assert found == []
