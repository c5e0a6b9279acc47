"""Does an icon take the colour of the text around it, as the rest of its set does?"""

from collections.abc import Iterator

from search.linting.findings import Found, Group, Rule
from search.linting.habits import LEAST_SHARE, habit_of
from search.linting.inspecting import Icon
from search.linting.reading.drawing import BLACK, IMPLICIT
from search.linting.rules.habit_rules import mixture

_CURRENT = "currentColor"
_MOST_SHOWN = 3
Paint = tuple[str, ...]


def _paint(icon: Icon) -> Paint | None:
    """What an icon is painted with: currentColor, no paint at all (which is black), or colours as they are spelled."""
    if icon.drawing is None or not icon.drawing.paints:
        return None
    return tuple(sorted(_CURRENT if paint == "currentcolor" else paint for paint in icon.drawing.paints))


def _spell(paint: Paint) -> str:
    shown = " and ".join(paint[:_MOST_SHOWN])
    return f"{shown} and {len(paint) - _MOST_SHOWN} more" if len(paint) > _MOST_SHOWN else shown


def find_colours(group: Group) -> Iterator[Found]:
    """Find what has other paints than a set of one colour. A set of many colours is left alone."""
    paints = {row: paint for row, icon in group.icons() if (paint := _paint(icon)) is not None}
    habit = habit_of(paints.values())
    if habit is None or habit.n_icons < 1 or not _is_monochrome(list(paints.values())):
        return
    if habit.holds:
        for row, paint in paints.items():
            if paint != habit.value:
                yield Found((row,), f"painted with {_spell(paint)}; {habit.counted} with {_spell(habit.value)}")
        if habit.value not in ((_CURRENT,), (IMPLICIT,)):
            message = f"{habit.counted} are painted with {_spell(habit.value)}: they can't take the colour of a text"
            yield Found((), message, is_note=True)
    elif habit.is_mixed:
        yield Found((), mixture("paint", habit, _spell), is_note=True)


def _is_monochrome(paints: list[Paint]) -> bool:
    """Whether nearly all icons have one colour each, and these are few."""
    single = [paint for paint in paints if len({_as_colour(part) for part in paint}) == 1]
    distinct = {_as_colour(paint[0]) for paint in single}
    return len(single) >= LEAST_SHARE * len(paints) and len(distinct) <= max(4, len(single) // 20)


def _as_colour(paint: str) -> str:
    return "black" if paint in BLACK or paint == IMPLICIT else paint


RULES = (
    Rule(
        "colour",
        "warning",
        "paints other than currentColor, in a set of one colour",
        "write currentColor in place of the colour",
        find_colours,
    ),
)
