"""Writes changed files: aside, synced, renamed, all but their text as it was; what has changed since stays."""

import os
from collections.abc import Sequence
from pathlib import Path

from indexer.errors import SourceError
from indexer.library.durable import replace_file
from indexer.library.named import why_kept
from search.references.files import read_code
from search.rewriting.rewrite import Change


def write_changes(changes: Sequence[Change]) -> list[tuple[Path, str]]:
    """Write the new text of files; tells which stay as they are, and why."""
    left = []
    for change in changes:
        try:
            why = _written(change)
        except SourceError as error:
            why = str(error)
        except OSError as error:
            why = f"it can't be written ({error.strerror})"
        if why is not None:
            left.append((change.path, why))
    return left


def _written(change: Change) -> str | None:
    """Write a file, or say why it stays as it is."""
    if read_code(change.path) != change.before:
        return "it has changed since it was read"
    why = why_kept(change.path)
    if why is None:
        replace_file(Path(os.path.realpath(change.path)), change.after.encode())
    return why
