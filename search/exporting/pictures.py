"""How are icons files, one each? Under names that every disk takes, an SVG clean and a bitmap as it is."""

from collections.abc import Sequence

from search.exporting.chosen import Chosen
from search.exporting.drawing import whole_svg
from search.exporting.drawn import Drawn
from search.showing.copies import suffix_of

FOLDER = "icons"


def picture_files(drawn: Sequence[Drawn], bitmaps: Sequence[Chosen]) -> tuple[dict[str, bytes], dict[str, str]]:
    """Write each icon as a file; and tell which file is whose, by keys."""
    contents = {one.icon.key: (f"{FOLDER}/{one.icon.name}.svg", whole_svg(one.drawing)) for one in drawn}
    contents |= {one.key: (f"{FOLDER}/{one.name}{suffix_of(one.content)}", one.content) for one in bitmaps}
    return dict(contents.values()), {key: name for key, (name, _) in contents.items()}
