"""The commands `icons search`, `similar` and `show`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.commands.options import NamedFile, json_option, library_option
from indexer.languages.words import printable
from indexer.library.named import read_named
from search.commands.options import (
    Asking,
    asking_options,
    format_option,
    language_option,
    look_options,
    pictures_option,
)
from search.drawings.drawn import AS_IT_IS, Look
from search.drawings.frameworks import Framework
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
    from search.pictures import MAX_BYTES, pixels_of

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


@click.command()
@click.argument("key")
@click.argument("words", nargs=-1)
@asking_options
@library_option
def similar(library: "Library", key: str, words: tuple[str, ...], asking: Asking) -> None:
    """Find more icons like one: in other sets, of other styles. Exit code 0: found, 1: nothing found, 2: error.

    KEY is SET:NAME, a name, or an id, as `icons search --json` tells it. WORDS beside it pull the answer towards what
    they mean.

    \b
    Examples:
      icons similar mdi:home
      icons similar mdi:home --not filled --licence permissive
      icons similar lucide:house dog -k 5 --paths
    """
    from search.commands.presenting import answer, engine_of

    engine = engine_of(library)
    query = Query(words=" ".join(words), icon=engine.find(key), **asking.steering)
    asked = f'icons like "{key}"' + (f' and "{query.words}"' if words else "")
    answer(engine, asked, query, asking)


@click.command()
@click.argument("keys", nargs=-1, required=True, metavar="KEY...")
@click.option("--svg", "as_svg", is_flag=True, help="Print the SVG and nothing else.")
@format_option("Print it as code for this and nothing else: lucide-react, vue, css, ...")
@look_options
@pictures_option
@library_option
@json_option
def show(  # noqa: PLR0913  options of a command stand side by side
    library: "Library",
    *,
    keys: tuple[str, ...],
    as_svg: bool,
    framework: Framework | None,
    look: Look,
    pictures: bool | None,
    as_json: bool,
) -> None:
    """Show all that is known of icons: set, licence, tags, variants, what looks the same, where each comes from.

    KEY is SET:NAME, a name, or an id, as `icons search --json` tells it.

    \b
    Examples:
      icons show mdi:home
      icons show lucide:house --json | jq .near_duplicates[].key
      icons show lucide:house --svg > house.svg
      icons show lucide:house --format vue --colour navy --stroke-width 1.5 > House.vue
    """
    from search.commands.presenting import draw, engine_of, print_code, print_svg

    forms = [form for form, is_wanted in (("svg", as_svg), ("format", framework), ("json", as_json)) if is_wanted]
    if len(forms) > 1:
        raise click.UsageError(f"--{forms[0]} and --{forms[1]} are two forms of output; give one of them")
    if look != AS_IT_IS and framework is None:
        raise click.UsageError("a colour, stroke, size or corner is given to code; say which with --format, as svg")
    engine = engine_of(library)
    for details in [engine.show(engine.find(key)) for key in keys]:
        if as_svg:
            print_svg(engine, details.hit)
        elif framework:
            print_code(engine, details.hit, framework, look)
        elif as_json:
            click.echo(json.dumps(asdict(details)))
        else:
            from indexer.reports.terminal import open_console
            from search.showing.tables import print_details

            console = open_console()
            draw(engine, console, [details.hit], first=None, wanted=pictures)
            print_details(console, details)


@click.command()
@click.argument("words")
@click.argument("key")
@click.option("--not", "without", multiple=True, metavar="WORDS", help="What the search steers away from. Repeatable.")
@language_option
@library_option
@json_option
def explain(
    library: "Library", words: str, key: str, without: tuple[str, ...], languages: tuple[str, ...], as_json: bool
) -> None:
    """Tell why an icon was found, or was not: what each part of a search says of it, beside the icon that comes first.

    WORDS is the query, KEY the icon that was expected, as for `icons show`. docs/ranking.md tells what the parts are.

    \b
    Examples:
      icons explain "data leak" lucide:shield-alert
      icons explain "go back" undo --json | jq .icon.evidence
    """
    from search.commands.presenting import engine_of
    from search.query import Query

    engine = engine_of(library)
    explanation = engine.explain(Query(words=words, without=without, languages=languages), engine.find(key))
    if as_json:
        click.echo(json.dumps(asdict(explanation)))
        return
    from indexer.reports.terminal import open_console
    from search.showing.tables import print_explanation

    print_explanation(open_console(), explanation)
