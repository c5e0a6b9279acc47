"""The commands `icons search` and `show`."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from indexer.commands.options import NamedFile, json_option, library_option
from indexer.errors import IconsError
from indexer.languages.words import printable
from indexer.library.folder import Library
from indexer.library.named import read_named
from indexer.sources.records import shown
from search.commands.options import (
    Answering,
    draw,
    engine_of,
    family,
    filter_options,
    format_option,
    look_options,
    min_score_option,
    own_languages,
    print_code,
    refuse_look_without_code,
    refuse_two,
    without_option,
)
from search.drawings.frameworks import Framework, Look
from search.query import MOST_HITS, MOST_OFFSET, SORTS, Filters, Query, Window, pasted_svg


def _check_sheet(_: click.Context, __: click.Parameter, sheet: Path | None) -> Path | None:
    if sheet is not None and sheet.suffix.lower() not in (".html", ".png"):
        raise click.BadParameter(f'"{sheet}" ends neither in .html nor in .png')
    return sheet


window_options = family(
    "window",
    Window,
    {
        "min_score": min_score_option,
        "k": click.option(
            "-k", "k", type=click.IntRange(1, MOST_HITS), default=10, show_default=True, help="How many hits."
        ),
        "offset": click.option(
            "--offset", type=click.IntRange(0, MOST_OFFSET), default=0, help="Leave out so many hits first."
        ),
        "sort": click.option(
            "--sort",
            type=click.Choice(SORTS),
            default=SORTS[0],
            show_default=True,
            help="By how well hits answer; by name; by set, then name; the last indexed first.",
        ),
        "flat": click.option("--flat", is_flag=True, help="Variants and equal pictures as hits of their own."),
        "facets": click.option(
            "--facets", is_flag=True, help="Count what is found by set, style, corner, category, tag and licence."
        ),
    },
)
"""Adds which part of an answer is shown, and how it is laid out; the command gets `window`."""


@click.command()
@click.argument("words", nargs=-1)
@click.option("--image", type=NamedFile, help="A picture of what you look for, a screenshot say; - for stdin.")
@click.option("--like", metavar="KEY", help="More icons like this one: SET:NAME, a name, or an id.")
@click.option("--keyword", is_flag=True, help='Words as keywords: all must be there; prefix*, "a phrase", -without.')
@without_option
@filter_options
@window_options
@click.option("--why", metavar="KEY", help="Tell why this icon is found or is not, beside the one that comes first.")
@click.option("--long", is_flag=True, help="Print more of each hit: its file, its variants, what has its drawing.")
@click.option(
    "--sheet",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=_check_sheet,
    help="Write the hits as one sheet of pictures, .html or .png.",
)
@click.option("--open", "is_opened", is_flag=True, help="Show the hits as pictures in the browser.")
@library_option
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON, as the HTTP API gives it.")
def search(  # noqa: PLR0913 - one option each
    library: Library,
    *,
    words: tuple[str, ...],
    image: Path | None,
    like: str | None,
    keyword: bool,
    without: tuple[str, ...],
    filters: Filters,
    window: Window,
    why: str | None,
    **output: Any,
) -> None:
    """Find icons by words, by a picture, or by both; or show a whole set. Exit code 0: found, 1: nothing, 2: error.

    WORDS say what an icon means, how it looks, or its name in any spelling. A line of the answer is one icon with all
    its variants; its score says how sure the match is. Where a word is two languages', that of LANG decides.
    docs/searching.md shows every way to ask.

    \b
    Examples:
      icons search arrow
      icons search "go back" -k 5 --set mdi \\
        --licence permissive
      icons search --image shot.png settings --not filled
      icons search --like mdi:home --only animated=no
      icons search --keyword --facets -- 'arrow* -down'
      icons search settings --json | jq -r '.hits[].path'
      icons search arrow --json | icons export - --out arrows
      icons search "data leak" --why lucide:shield-alert
      icons search --set lucide --sort name -k 50
    """
    from search.pictures import MAX_BYTES, pixels_of

    typed = " ".join(words)
    refuse_two(("--image", image), ("--like", like), what="two things to look like")
    asked = [f'"{shown(printable(typed))}"'] * bool(typed.strip()) + [f'picture "{image}"'] * bool(image)
    asked += [f'icons like "{like}"'] * (like is not None)
    if not asked and why is None and filters == Filters() and window.sort == SORTS[0]:
        raise click.UsageError(
            'say what to look for: words, or --image FILE; or what to show: --set, --sort; try `icons search "arrow"`'
        )
    content, name = read_named(image, limit=MAX_BYTES) if image else None, str(image)
    if content is None and like is None and (content := pasted_svg(typed)):
        name, typed, asked = "pasted SVG", "", ["the pasted SVG"]
    engine = engine_of(library)
    query = Query(
        words=typed,
        picture=None if content is None else pixels_of(content, name=name, size=engine.image_size),
        icon=engine.find(like) if like is not None else None,
        without=without,
        keyword=keyword,
        languages=own_languages(),
    )
    if why is None:
        Answering(engine, " and ".join(asked) or "all icons", query, filters, window).show(**output)
        return
    explanation = engine.explain(query, engine.find(why), filters=filters, window=window)
    if output["as_json"]:
        click.echo(json.dumps(asdict(explanation)))
    else:
        from search.showing.tables import print_explanation

        print_explanation(explanation)


@click.command()
@click.argument("keys", nargs=-1, required=True, metavar="KEY...")
@click.option("--svg", "as_svg", is_flag=True, help="Print the SVG and nothing else.")
@format_option("Print it as code for this and nothing else: lucide-react, vue, css, ...")
@look_options
@library_option
@json_option
def show(
    library: Library, keys: Sequence[str], as_svg: bool, framework: Framework | None, look: Look, as_json: bool
) -> None:
    """Show all that is known of icons: set, licence, tags, variants, what looks the same, where each comes from.

    KEY is SET:NAME, a name, or an id, as `icons search --json` tells it.

    \b
    Examples:
      icons show mdi:home
      icons show lucide:house --json \\
        | jq .near_duplicates[].key
      icons show lucide:house --svg > house.svg
      icons show lucide:house --format vue --colour navy \\
        --stroke-width 1.5 > House.vue
    """

    refuse_two(("--svg", as_svg), ("--format", framework), ("--json", as_json))
    refuse_look_without_code(look, framework)
    engine = engine_of(library)
    known = [engine.show(engine.find(key)) for key in keys]
    if as_json:
        plain = [asdict(details) for details in known]
        click.echo(json.dumps(plain if len(plain) > 1 else plain[0]))
    for details in () if as_json else known:
        hit = details.hit
        if as_svg:
            from indexer.rendering.render import svg_document

            document = svg_document(engine.picture(hit.id))
            if document is None:
                raise IconsError(f'"{hit.key}" is no SVG but "{hit.path}"; `icons export` copies it as it is')
            if sys.stdout.isatty():  # which would obey what stands in it
                document = printable(document.decode(errors="replace"), keep="\t\r\n").encode()
            click.echo(document, nl=not document.endswith(b"\n"))
        elif framework:
            from search.code.pick import write_picks

            snippet = write_picks(engine, [(hit.key, hit)], framework, look).snippet
            print_code(snippet.code, snippet, framework)
        else:
            from search.showing.tables import print_details

            draw(engine, [hit], first=None)
            print_details(details)
