"""The command `icons search`: words, a picture, or keywords -> hits."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.commands.options import NamedFile, library_option
from indexer.library.named import read_named
from indexer.naming.printable import printable
from search.commands.options import Asking, asking_options
from search.pictures import MAX_BYTES, pixels_of
from search.query import Query, pasted_svg

if TYPE_CHECKING:
    from indexer.library.folder import Library

_MOST_SHOWN = 80
"""Letters of a query in a message."""


@click.command()
@click.argument("words", nargs=-1)
@click.option("--image", type=NamedFile, help="A picture of what you look for, a screenshot say; - for stdin.")
@click.option("--keyword", is_flag=True, help='Words as keywords: all must be there; prefix*, "a phrase", -without.')
@asking_options
@library_option
def search(library: "Library", words: tuple[str, ...], image: Path | None, keyword: bool, asking: Asking) -> None:
    """Find icons by words, by a picture, or by both; or show a whole set. Exit code 0: found, 1: nothing, 2: error.

    WORDS say what an icon means, how it looks, or its name in any spelling. A line of the answer is one icon with all
    its variants; its score says how sure the match is. docs/searching.md shows every way to ask.

    \b
    Examples:
      icons search arrow
      icons search "go back" -k 5 --set mdi --licence permissive
      icons search --image shot.png settings --not filled
      icons search --keyword --facets -- 'arrow* -down'
      icons search settings --json | jq -r '.hits[].path'
      icons search "shopping cart" --svg > cart.svg
      icons search --set lucide --sort name -k 50
    """
    from search.commands.presenting import answer, engine_of

    typed = " ".join(words)
    asked = ([_quoted(typed)] if typed.strip() else []) + ([f'picture "{image}"'] if image else [])
    if not asked and not asking.browses:
        raise click.UsageError(
            'say what to look for: words, or --image FILE; or what to show: --set, --sort; try `icons search "arrow"`'
        )
    named = (str(image), read_named(image, limit=MAX_BYTES)) if image else None
    if named is None and (svg := pasted_svg(typed)):
        named, typed, asked = ("pasted SVG", svg), "", ["the pasted SVG"]
    engine = engine_of(library)
    picture = pixels_of(named[1], name=named[0], size=engine.image_size) if named else None
    query = Query(words=typed, picture=picture, keyword=keyword, **asking.steering)
    answer(engine, " and ".join(asked) or "all icons", query, asking)


def _quoted(typed: str) -> str:
    """Words as a message repeats them: no longer than a line, and without what a terminal would obey."""
    shown = printable(typed)
    return f'"{shown}"' if len(shown) <= _MOST_SHOWN else f'"{shown[: _MOST_SHOWN - 4]} ..."'
