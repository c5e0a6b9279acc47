"""Writes changed files: aside, synced, renamed, with their permissions; what has changed since stays as it is."""

from collections.abc import Sequence
from pathlib import Path

from indexer.errors import IconsError, SourceError
from indexer.library.durable import write_file
from search.references.files import read_code
from search.rewriting.rewrite import Change


def write_changes(changes: Sequence[Change]) -> list[tuple[Path, str]]:
    """Write the new text of files; tells of those that are not as they were read, which stay.

    Raises:
        IconsError: a file can't be written; those before it are.
    """
    left = []
    for change in changes:
        try:
            is_as_read = read_code(change.path) == change.before
        except SourceError as error:
            left.append((change.path, str(error)))
            continue
        if not is_as_read:
            left.append((change.path, "it has changed since it was read"))
            continue
        try:
            write_file(change.path.resolve(), change.after.encode(), keeps_mode=True)
        except OSError as error:
            raise IconsError(f'"{change.path}" can\'t be written ({error.strerror}); files before it are') from error
    return left
