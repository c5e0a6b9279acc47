"""What does one icon do that nearly all others of its set don't? For all values that can be counted."""

from collections.abc import Callable, Hashable, Iterator
from typing import TypeVar

from search.linting.findings import Find, Found, Group
from search.linting.habits import Habit, habit_of
from search.linting.inspecting import Icon
from search.linting.reading.drawing import Drawing

Value = TypeVar("Value", bound=Hashable)
USUAL_UNITS = 24.0
"""Side of a canvas, where the set has no habit of its own."""
LEAST_LARGE = 24
"""Icons from which on the usual place and spread of a measure can be told."""


def differing(
    what: str,
    value_of: Callable[[Drawing], Value | None],
    spell: Callable[[Value], str],
    *,
    tells_mixture: bool = True,
) -> Find:
    """Make a rule of a value that each SVG has; None: this one has none. A mixture is told once, if at all."""

    def find(group: Group) -> Iterator[Found]:
        values = {row: value for row, icon in group.icons() if (value := _value(icon, value_of)) is not None}
        habit = habit_of(values.values())
        if habit is None:
            return
        if habit.holds:
            for row, value in values.items():
                if value != habit.value:
                    yield Found((row,), f"{what} is {spell(value)}; {habit.counted} have {spell(habit.value)}")
        elif habit.is_mixed and tells_mixture:
            yield Found((), mixture(what, habit, spell), is_note=True)

    return find


def mixture(what: str, habit: Habit[Value], spell: Callable[[Value], str]) -> str:
    """Say that a set has no habit."""
    parts = [f"{spell(value)} in {n:,}" for value, n in ((habit.value, habit.n_with), *habit.others)]
    return f"{what} is mixed: {', '.join(parts)} of {habit.n_icons:,} icons"


def _value(icon: Icon, value_of: Callable[[Drawing], Value | None]) -> Value | None:
    return None if icon.drawing is None else value_of(icon.drawing)


def units_of(group: Group) -> float:
    """Side of the canvas in the units of the set."""
    sides = (max(icon.drawing.view_box[2:]) for _, icon in group.icons() if icon.drawing and icon.drawing.view_box)
    habit = habit_of(sides)
    return habit.value if habit is not None and habit.holds and habit.value > 0 else USUAL_UNITS
