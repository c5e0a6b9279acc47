"""Which files of a source are left out? Patterns as in .gitignore, and the .gitignore files of the tree itself."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.errors import SourceError
from indexer.sources.reading import read_regular

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_MAX_RULES_BYTES = 1_000_000
GITIGNORE = "@gitignore"
"""Among the patterns: leave out what the .gitignore files found in the tree leave out."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """What is left out below some folder; `entering` adds what that folder says itself."""

    given: "GitIgnoreSpec | None" = None
    honours_gitignore: bool = False
    found: "tuple[tuple[str, GitIgnoreSpec], ...]" = ()
    """(folder, rules) of the .gitignore files on the way here; the innermost one that has an opinion decides."""

    @classmethod
    def of(cls, patterns: Sequence[str]) -> "Exclusion":
        """Read patterns in the syntax of .gitignore; `.*` leaves out what is hidden, `@gitignore` what git ignores.

        Raises:
            SourceError: one of them is no pattern.
        """
        own = [pattern for pattern in patterns if pattern != GITIGNORE]
        if wrong := next((pattern for pattern in own if not _is_pattern(pattern)), None):
            raise SourceError(
                f'"{wrong}" is no pattern as in .gitignore; give --exclude one such as "drafts/" or "*.png"'
            )
        return cls(_rules(own) if own else None, honours_gitignore=GITIGNORE in patterns)

    def entering(self, folder: Path, path: str) -> "Exclusion":
        """Take in the rules of a folder, whose `path` in the source ends in a slash; an unreadable one has none."""
        if not self.honours_gitignore:
            return self
        try:
            content = read_regular(folder / ".gitignore", limit=_MAX_RULES_BYTES)
        except (OSError, SourceError):
            return self
        lines = content.decode(errors="replace").splitlines()
        # What is no pattern matches nothing, as for git itself.
        rules = _rules(line for line in lines if _is_pattern(line))
        return replace(self, found=(*self.found, (path, rules)))

    def excludes(self, path: str) -> bool:
        """Say whether a path is left out; a folder's ends in a slash."""
        if self.honours_gitignore and f"/{path}".endswith("/.git/"):
            return True
        if self.given is not None and (is_excluded := self.given.check_file(path).include) is not None:
            return is_excluded
        for base, rules in reversed(self.found):
            if (is_excluded := rules.check_file(path.removeprefix(base)).include) is not None:
                return is_excluded
        return False


def _is_pattern(line: str) -> bool:
    try:
        _rules([line])
    except ValueError:
        return False
    return True


def _rules(lines: Iterable[str]) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec  # render workers, which read single files, do without

    return GitIgnoreSpec.from_lines(lines)
