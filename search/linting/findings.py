"""What is a rule, what does it find, and what is told of a whole run?"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from search.linting.gathering import Gathered
from search.linting.inspecting import Icon, Inspection
from search.linting.seeing import Seer

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Group:
    """Icons that have their habits in common: those of a set, or of one style and size of it."""

    seen: Inspection
    rows: NDArray[np.int64]
    """Of these icons in the inspection."""
    seer: Seer | None

    def __len__(self) -> int:
        return len(self.rows)

    def icons(self) -> Iterator[tuple[int, Icon]]:
        """Rows and icons."""
        for row in self.rows.tolist():
            yield row, self.seen.icons[row]


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule says of one icon, of several that belong together, or, with none, of their whole set."""

    rows: tuple[int, ...]
    message: str
    looks_like: tuple[int, ...] = ()
    """Icons to show beside them: what the drawing looks like instead."""
    is_note: bool = False
    """Whether it is less than the rule's findings usually are: a mixture, told once."""


Find = Callable[[Group], Iterator[Found]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing to look at."""

    id: str
    severity: Severity
    looks_at: str
    mend: str
    """What to do about it."""
    find: Find
    is_of_whole_set: bool = False
    """Whether it goes over all styles and sizes of a set at once."""
    needs_vectors: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of one set."""

    rule: str
    severity: Severity
    set: str
    message: str
    mend: str
    icons: tuple[Gathered, ...]
    beside: tuple[Gathered, ...] = ()
    """What to show beside them: a typical icon, or those that it looks like."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was found in all that was looked at."""

    n_icons: int
    sets: tuple[str, ...]
    findings: tuple[Finding, ...]
    """By set and rule, those that were accepted left out."""
    n_accepted: int = 0
    unused_exceptions: tuple[str, ...] = ()
    on_dark: frozenset[Gathered] = frozenset()
    """Icons that vanish on white."""

    @property
    def counts(self) -> Counter[str]:
        """Findings by rule."""
        return Counter(finding.rule for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Spell it for programs."""
        return {
            "n_icons": self.n_icons,
            "sets": list(self.sets),
            "n_findings": len(self.findings),
            "n_accepted": self.n_accepted,
            "unused_exceptions": list(self.unused_exceptions),
            "counts": dict(self.counts),
            "findings": [_finding_json(finding) for finding in self.findings],
        }


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "set": finding.set,
        "message": finding.message,
        "mend": finding.mend,
        "icons": _icons_json(finding.icons),
        "beside": _icons_json(finding.beside),
    }


def _icons_json(icons: Sequence[Gathered]) -> list[dict[str, str]]:
    return [{"key": icon.key, "path": icon.place} for icon in icons]
