"""Are needs answered with icons of one set, and is it said which and why?"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from indexer.errors import IconsError
from indexer.library.folder import Library, Preferences, write_preferences
from search.code.pick import LONGEST_NEED, MOST_NEEDS, Picked, Picking, pick_icons, read_needs, write_picks
from search.drawings.frameworks import AS_IT_IS, framework
from search.engine import SearchEngine
from search.query import Filters, Query, Window


@pytest.fixture
def engine(called: Library) -> Iterator[SearchEngine]:
    """A library of lucide, map, mdi and fa6-solid, of which nobody prefers a set yet."""
    called.preferences.unlink(missing_ok=True)
    yield SearchEngine.open(called.root)
    called.preferences.unlink(missing_ok=True)


def picked(engine: SearchEngine, *needs: str, sets: tuple[str, ...] = (), **how: object) -> Picked:
    asked: dict[str, object] = {"filters": Filters(sets=sets), "window": Window(k=3), "first": True, **how}
    return pick_icons(engine, [Query(words=need) for need in needs], Picking(**asked), progress=lambda *_: None)


def keys(found: Picked) -> list[str | None]:
    return [one.chosen.key if one.chosen else None for one in found.picks]


def test_needs_are_lines_without_remarks_and_bullets() -> None:
    lines = ["# a page", "", "  log   out ", "- [ ] bell", "2. 3d cube", "* star", "-5 degrees", "\ufefffirst"]
    assert read_needs(lines) == ["log out", "bell", "3d cube", "star", "-5 degrees", "first"]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["", "# nothing"], "no needs"),
        (["x" * (LONGEST_NEED + 1)], f"need 1 has {LONGEST_NEED + 1} letters"),
        (["bell"] * (MOST_NEEDS + 1), f"more than {MOST_NEEDS} needs"),
        (["\udc80"], "not Unicode text"),
    ],
)
def test_a_list_that_is_none_is_refused(lines: list[str], why: str) -> None:
    with pytest.raises(IconsError, match=why):
        read_needs(lines)


def test_all_icons_are_of_the_set_that_answers_most(engine: SearchEngine) -> None:
    found = picked(engine, "bell", "star", "map pin", "cigarette")
    assert (found.set.key, found.set.why, found.set.n_others) == ("lucide", "which answers 4 of 4 needs well", 3)
    assert keys(found) == ["lucide:bell", "lucide:star", "lucide:map-pin", "lucide:cigarette"]


def test_the_preferred_set_is_taken_unless_another_is_asked_for_or_a_framework_has_others(engine: SearchEngine) -> None:
    write_preferences(engine.library, Preferences(("mdi",)))
    found = picked(engine, "bell", "star")
    assert (found.set.key, found.set.why) == ("mdi", "which you prefer")
    assert keys(found) == ["mdi:bell", "mdi:star"]
    found = picked(engine, "bell", sets=("fa6-solid",))
    assert found.set is None and keys(found) == ["fa6-solid:bell"]
    write_preferences(engine.library, Preferences(("lucide",)))
    found = picked(engine, "bell", framework=framework("@mdi/js"))
    assert (found.set.key, found.set.why) == ("mdi", "the only one that serves here")


@pytest.mark.parametrize(
    ("needs", "how", "why"),
    [
        (["bell"], {"sets": ("lucide",), "framework": framework("@mdi/js")}, '"lucide" is no set that the format'),
        (["bell"], {"framework": framework("@heroicons/vue")}, "no set that the format serves"),
        (["bell", "star"], {"numbers": [1]}, "1 numbers chosen for 2 needs"),
        (
            ["bell"],
            {"sets": ("mdi",), "numbers": [9]},
            r'"bell" has \d to choose from, and 9 was chosen',
        ),
    ],
)
def test_what_can_not_be_picked_is_refused(engine: SearchEngine, needs: list[str], how: Any, why: str) -> None:
    with pytest.raises(IconsError, match=why):
        picked(engine, *needs, **how)


def test_numbers_choose_and_none_takes_nothing(engine: SearchEngine) -> None:
    first, second = picked(engine, "bell", "star", sets=("lucide",), numbers=[2, 0]).picks
    assert (first.chosen, second.chosen) == (first.hits[1], None)


def test_what_finds_nothing_is_listed_and_the_rest_is_written(engine: SearchEngine) -> None:
    found = picked(engine, "bell", "jrctpxwjv", sets=("lucide",), framework=framework("lucide-react"))
    assert list(found.missing) == ["jrctpxwjv"]
    assert found.written.remarked == 'import { Bell } from "lucide-react";\n\n{/* bell */}\n<Bell />'


def test_what_cannot_be_written_is_told_and_the_rest_is_written(engine: SearchEngine) -> None:
    bell, star = (engine.show(engine.find(key)).hit for key in ("mdi:bell", "mdi:star"))
    own = replace(bell, set="own", key="own:bell")
    done = write_picks(engine, [("alarm", own), ("rating", star)], framework("@iconify/vue"), AS_IT_IS)
    assert done.snippet.uses == ('<Icon icon="mdi:star" />',)
    [(need, why)] = done.refused
    assert need == "alarm" and why.startswith('"own:bell" is not of Iconify')
    with pytest.raises(IconsError, match='"own:bell" is not of Iconify'):
        write_picks(engine, [("alarm", own)], framework("@iconify/vue"), AS_IT_IS)
