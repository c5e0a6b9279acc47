"""The command `icons search`: words, a picture, or keywords -> hits."""

from typing import TYPE_CHECKING, BinaryIO

import click

from indexer.commands.options import library_option
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
@click.option("--image", type=click.File("rb"), help="A picture of what you look for, a screenshot say; - for stdin.")
@click.option("--keyword", is_flag=True, help='Words as keywords: all must be there; prefix*, "a phrase", -without.')
@asking_options
@library_option
def search(library: "Library", words: tuple[str, ...], image: BinaryIO | None, keyword: bool, asking: Asking) -> None:
    """Find icons by words, by a picture, or by both. Exit code 0: found, 1: nothing found, 2: error.

    WORDS say what an icon means, how it looks, or its name in any spelling. A line of the answer is one icon with all
    its variants; its score says how sure the match is. docs/searching.md shows every way to ask.

    \b
    Examples:
      icons search arrow
      icons search "go back" -k 5 --set mdi --licence permissive
      icons search --image shot.png settings --not filled
      icons search --keyword --facets -- 'arrow* -down'
      icons search settings --json | jq -r .path
      icons search "shopping cart" --svg > cart.svg
    """
    from search.commands.presenting import answer, engine_of

    typed = " ".join(words)
    asked = ([_quoted(typed)] if typed.strip() else []) + ([f'picture "{_name(image)}"'] if image else [])
    if not asked:
        raise click.UsageError('say what to look for: words, or --image FILE; try `icons search "arrow"`')
    named = (_name(image), _read(image)) if image else None
    if named is None and (svg := pasted_svg(typed)):
        named, typed, asked = ("pasted SVG", svg), "", ["the pasted SVG"]
    engine = engine_of(library)
    picture = pixels_of(named[1], name=named[0], size=engine.image_size) if named else None
    query = Query(words=typed, picture=picture, keyword=keyword, **asking.steering)
    answer(engine, " and ".join(asked), query, asking)


def _quoted(typed: str) -> str:
    """Words as a message repeats them: no longer than a line, and without what a terminal would obey."""
    shown = printable(typed)
    return f'"{shown}"' if len(shown) <= _MOST_SHOWN else f'"{shown[: _MOST_SHOWN - 4]} ..."'


def _name(image: BinaryIO) -> str:
    """What an open file is called; a stream need have no name."""
    return getattr(image, "name", "-")


def _read(image: BinaryIO) -> bytes:
    """Read a picture; an endless one is refused, and so is a folder."""
    try:
        content = image.read(MAX_BYTES + 1)
    except OSError as error:
        raise click.BadParameter(f"'{_name(image)}': {error.strerror}", param_hint="--image") from error
    if len(content) > MAX_BYTES:
        raise click.BadParameter(f"'{_name(image)}': more than {MAX_BYTES >> 20} MB", param_hint="--image")
    return content
