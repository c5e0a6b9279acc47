"""What would change in some files? A unified diff, as `git apply` and `patch -p1` take it."""

from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

from search.rewriting.rewrite import Change

_NO_LINE_END = "\\ No newline at end of file\n"


def diff_of(change: Change) -> Iterator[str]:
    """Yield the lines of a file's diff, each with its line end."""
    path = _shown(change.path)
    before, after = (_lines(text) for text in (change.before, change.after))
    for line in unified_diff(before, after, f"a/{path}", f"b/{path}"):
        if line.endswith("\n"):
            yield line
        else:
            yield f"{line}\n"
            yield _NO_LINE_END


def _lines(text: str) -> list[str]:
    """Lines as `patch` counts them: ended by line feeds alone."""
    parts = text.split("\n")
    lines = [f"{part}\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def _shown(path: Path) -> str:
    """As seen from here, where it lies below."""
    try:
        return path.absolute().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix().lstrip("/")
