"""What was looked at and is to stay as it is? `.iconslint` in a folder of icons: TOML, rules and names or patterns.

[accept]
identical = ["alert-*", "circle-alert"]
name = ["*"]
"""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from indexer.errors import IconsError, SourceError
from indexer.sources.reading import read_regular
from search.linting.findings import Finding
from search.linting.rules.table import check

FILE_NAME = ".iconslint"
_MOST_BYTES = 1_000_000
_FORM = '[accept], then rule = ["name", "pattern-*"]'


@dataclass(slots=True)
class Accepted:
    """Patterns by rule, and which of them have accepted something."""

    patterns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    used: set[tuple[str, str]] = field(default_factory=set)

    def accepts(self, finding: Finding) -> bool:
        """Whether all icons of a finding, or all but one of several that are alike, are accepted for its rule.

        What is said of a whole set is accepted by "*" alone.
        """
        patterns = self.patterns.get(finding.rule, ())
        matched = [self._matches(finding.rule, icon.name, patterns) for icon in finding.icons]
        if not matched:
            is_all = "*" in patterns
            self.used.update({(finding.rule, "*")} if is_all else ())
            return is_all
        return sum(matched) >= max(1, len(matched) - 1)

    def _matches(self, rule: str, name: str, patterns: Iterable[str]) -> bool:
        fitting = [pattern for pattern in patterns if fnmatchcase(name, pattern)]
        self.used.update((rule, pattern) for pattern in fitting)
        return bool(fitting)

    def unused(self) -> list[str]:
        """Patterns that accepted nothing, as "rule: pattern"."""
        return [
            f"{rule}: {pattern}"
            for rule, patterns in self.patterns.items()
            for pattern in patterns
            if (rule, pattern) not in self.used
        ]


def read_accepted(folders: Sequence[Path]) -> Accepted:
    """Read what folders say themselves; those of several folders hold together.

    Raises:
        IconsError: a file can't be read, is no TOML, names no rule, or says something else.
    """
    patterns: dict[str, tuple[str, ...]] = {}
    for folder in folders:
        file = folder / FILE_NAME
        if folder.is_dir() and file.is_file():
            for rule, some in _read(file).items():
                patterns[rule] = (*patterns.get(rule, ()), *some)
    return Accepted(patterns)


def _read(file: Path) -> dict[str, tuple[str, ...]]:
    try:
        stated = tomllib.loads(read_regular(file, limit=_MOST_BYTES).decode("utf-8"))
    except (OSError, SourceError, ValueError, RecursionError) as error:
        raise IconsError(f'"{file}" can\'t be read ({error}); it is TOML: {_FORM}') from error
    if unknown := stated.keys() - {"accept"}:
        raise IconsError(f'"{file}" says "{min(unknown)}", which is unknown; it knows [accept] alone')
    accept = stated.get("accept", {})
    if not isinstance(accept, dict):
        raise IconsError(f'"{file}": "accept" is no table; write {_FORM}')
    check(list(accept), where=f'"{file}": ')
    for rule, names in accept.items():
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise IconsError(f'"{file}": "{rule}" is no list of names; write {rule} = ["name", "pattern-*"]')
    return {rule: tuple(names) for rule, names in accept.items()}
