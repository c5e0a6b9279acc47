"""What a rule is, what it finds, what a set does as a rule, and what was accepted in `.iconslint`."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from search.linting.drawing import Drawing
from search.linting.inspecting import Icon, IconFile, Inspection, PairEncoder

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Group:
    """Icons that have their habits in common: those of a set, or of one style and size of it."""

    seen: Inspection
    rows: NDArray[np.int64]
    """Of these icons in the inspection."""
    encoder: PairEncoder | None

    def __len__(self) -> int:
        return len(self.rows)

    def icons(self) -> Iterator[tuple[int, Icon]]:
        """Rows and icons."""
        return ((row, self.seen.icons[row]) for row in self.rows.tolist())

    def ink(self, row: int) -> NDArray[np.bool_]:
        """Which pixels of an icon are ink, (GRID, GRID)."""
        return np.unpackbits(self.seen.masks[row], axis=-1).astype(bool)

    def drawings(self) -> Iterator[tuple[int, Drawing]]:
        """Rows and what the SVGs among the icons say."""
        return ((row, icon.drawing) for row, icon in self.icons() if icon.drawing)


@dataclass(frozen=True, slots=True)
class Violation:
    """What a rule says of one icon, of several that belong together, or, with none, of their whole set."""

    rows: tuple[int, ...]
    message: str
    looks_like: tuple[int, ...] = ()
    """Icons to show beside them: what the drawing looks like instead."""
    is_note: bool = False
    """Whether it is less than the rule's findings usually are: a mixture, of which there is one finding a set."""


Find = Callable[[Group], Iterator[Violation]]


def each(message_of: Callable[[Icon], str | None]) -> Find:
    """Make a rule that looks at icons one by one; None: there is nothing to say of this one."""

    def find(group: Group) -> Iterator[Violation]:
        for row, icon in group.icons():
            if message := message_of(icon):
                yield Violation((row,), message)

    return find


def each_drawing(message_of: Callable[[Drawing], str | None]) -> Find:
    """The same of what SVGs say."""
    return each(lambda icon: message_of(icon.drawing) if icon.drawing else None)


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
    icons: tuple[IconFile, ...]
    beside: tuple[IconFile, ...] = ()
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
    on_dark: frozenset[IconFile] = frozenset()
    """Icons that vanish on white."""

    @property
    def counts(self) -> Counter[str]:
        """Findings by rule."""
        return Counter(finding.rule for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Spell it for programs."""

        def icons(some: Sequence[IconFile]) -> list[dict[str, str]]:
            return [{"key": icon.key, "path": icon.place} for icon in some]

        return {
            "n_icons": self.n_icons,
            "sets": list(self.sets),
            "n_findings": len(self.findings),
            "n_accepted": self.n_accepted,
            "unused_exceptions": list(self.unused_exceptions),
            "counts": dict(self.counts),
            "findings": [
                {name: getattr(one, name) for name in ("rule", "severity", "set", "message", "mend")}
                | {"icons": icons(one.icons), "beside": icons(one.beside)}
                for one in self.findings
            ],
        }


Value = TypeVar("Value", bound=Hashable)
LEAST_SHARE = 0.8
"""From here on it is a habit, and what differs from it is odd; below, a set is a mixture."""
LEAST_ICONS = 10
"""Fewer show no habit."""


@dataclass(frozen=True, slots=True)
class Habit(Generic[Value]):
    """The most frequent value among some icons."""

    value: Value
    n_with: int
    n_icons: int
    others: tuple[tuple[Value, int], ...]
    """The next values, most frequent first, and how many icons have each."""

    @property
    def holds(self) -> bool:
        """Whether so many icons have it that others are odd."""
        return self.n_icons >= LEAST_ICONS and self.n_with >= LEAST_SHARE * self.n_icons

    @property
    def counted(self) -> str:
        """Say how many do so: "1,412 of 1,420 icons"."""
        return f"{self.n_with:,} of {self.n_icons:,} icons"


def habit_of(values: Iterable[Value]) -> Habit[Value] | None:
    """Find the habit among the values of icons, one each; None where there are none."""
    counts = Counter(values)
    if not counts:
        return None
    (value, n_with), *others = counts.most_common(4)
    return Habit(value, n_with, counts.total(), tuple(others))


def number(value: float) -> str:
    """Spell a measure as a person would: 1.5, 2."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
