"""What did a measurement on screens find? Plain data, for tables, reports and programs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from indexer.reports.measures import RESAMPLES, Figure

RECALLS = tuple(round(0.05 * step, 2) for step in range(21))
"""At which a curve tells its precision."""
THRESHOLDS = tuple(round(0.05 * step, 2) for step in range(1, 20))
FALSE_BOXES = "false boxes"
"""The one figure of a group that is no share: boxes a screen."""
MOST_FALSE = 1.5
"""False boxes that an icon-free screen may have, on average."""


@dataclass(frozen=True, slots=True)
class Quality:
    """What stands above one threshold."""

    threshold: float
    precision: Figure
    recall: Figure
    f1: Figure


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """What other thresholds would give."""

    threshold: float
    precision: float
    recall: float
    f1: float
    false_on_empty: float


@dataclass(frozen=True, slots=True)
class Cost:
    """What one picture of 1440 x 900 takes, in a process of its own that has opened the library."""

    find_seconds: float
    """Boxes, and what the encoder sees in them; the median of several runs after a first one."""
    name_seconds: float
    """Names of the boxes that are shown."""
    n_boxes: int
    peak_bytes: int
    """Of the whole process, from its start."""

    @property
    def seconds(self) -> float:
        """Both together."""
        return self.find_seconds + self.name_seconds


@dataclass(frozen=True, slots=True)
class ContenderRow:
    """How well one contender finds icons, over all screens."""

    contender: str
    ap50: Figure
    """Average precision where box and icon overlap by half (intersection over union)."""
    ap75: Figure
    best: Quality
    """At the threshold with the highest F1 on these very screens: what no user has."""
    fixed: Quality
    """At the contender's own threshold."""
    false_on_empty: Figure | None
    """Boxes on an icon-free screen at the own threshold; None where every screen has icons."""
    end_to_end: Quality | None
    """Boxes whose first name is right, at the own threshold. None: the library holds no icon of these screens."""
    seconds: float
    """To find the boxes of a screen, on average."""
    precisions: Sequence[float]
    """At `RECALLS`, as far as they are reached."""
    thresholds: Sequence[ThresholdRow]
    false_kinds: Mapping[str, int]
    """False boxes by what is wrong with them."""
    cost: Cost | None = None


@dataclass(frozen=True, slots=True)
class Naming:
    """How often true boxes are named rightly: the ceiling of what finding and naming reach together."""

    n_icons: int
    top_1: Figure
    top_5: Figure


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One contender on a part of the screens, or on a part of the icons of all screens."""

    by: str
    """template, theme, scale: parts of the screens; size, drawn, colours: parts of the icons."""
    value: str
    contender: str
    n_screens: int
    n_icons: int
    figures: Mapping[str, Figure]
    """Recall; of parts of the screens AP50, F1, end-to-end F1, false boxes; of parts of the icons the shares that are
    found and named, and that are named in their true boxes."""


@dataclass(frozen=True, slots=True)
class ScreenEvaluation:
    """All that was measured, on what, and what was left out."""

    library: str
    generation: int
    n_library_icons: int
    screens: str
    """Where they lie, or how they were rendered."""
    n_screens: int
    n_empty: int
    """Screens without icons."""
    n_icons: int
    n_held: int
    """Icons of the screens that the library holds; others are neither right nor wrong when it comes to names."""
    sets: Mapping[str, int]
    """Icons of the screens by their set."""
    seed: int
    machine: str
    rows: Sequence[ContenderRow]
    naming: Naming | None
    groups: Sequence[GroupRow]

    def of_group(self, by: str) -> list[GroupRow]:
        """Rows of one way to part the screens or icons."""
        return [row for row in self.groups if row.by == by]


def screens_json(evaluation: ScreenEvaluation) -> dict[str, Any]:
    """Spell an evaluation for programs."""
    return {**asdict(evaluation), "recalls": RECALLS, "resamples": RESAMPLES}
