"""Can an icon be drawn, and is anything seen then?"""

from collections.abc import Iterator

from search.linting.findings import Found, Group, Rule


def find_blank(group: Group) -> Iterator[Found]:
    """Find pictures that show nothing."""
    for row, icon in group.icons():
        if icon.is_blank:
            yield Found((row,), "nothing is drawn")


def find_broken(group: Group) -> Iterator[Found]:
    """Find pictures that can't be drawn."""
    for row, icon in group.icons():
        if icon.error is not None:
            yield Found((row,), icon.error)


RULES = (
    Rule("broken", "error", "whether a picture can be drawn at all", "export it again", find_broken),
    Rule("blank", "error", "whether anything is seen", "export it again, or delete it", find_blank),
)
