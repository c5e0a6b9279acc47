"""The commands `icons locate` and `icons usage`: icons in screenshots."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from indexer.commands.build import add, failures, remove, status
from indexer.commands.options import NamedFile, json_option, library_option, options, refuse
from indexer.commands.program import LazyGroup
from indexer.errors import IconsError, RenderError
from indexer.languages.words import counted, say
from indexer.library.folder import Library
from indexer.library.named import read_named
from search.commands.options import (
    engine_of,
    filter_options,
    format_option,
    look_options,
    min_score_option,
    print_written,
    refuse_look_without_code,
    refuse_two,
    waiting,
    write_page,
)
from search.drawings.frameworks import Framework, Look
from search.query import MOST_HITS, Filters, Query

if TYPE_CHECKING:
    from search.engine import SearchEngine
    from search.screens.locate import LocatedFile

page_options = options(
    click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page of framed icons."),
    click.option("--open", "is_opened", is_flag=True, help="Show that page in the browser."),
)
"""Adds where a page goes."""


@click.command()
@click.argument("shots", nargs=-1, required=True, metavar="SHOT...")
@click.option("--as", "as_kind", type=click.Choice(["icon", "screen"]), help="What a picture is; judged by default.")
@filter_options
@min_score_option
@click.option("-k", "k", type=click.IntRange(1, 100), default=5, show_default=True, help="How many names an icon.")
@json_option
@format_option("Write what is found as code for this, row by row: lucide-react, svg, ...; docs/code.md lists all.")
@look_options
@page_options
@library_option
def locate(  # noqa: PLR0913 - one option each
    library: Library,
    *,
    shots: tuple[str, ...],
    as_kind: Literal["icon", "screen"] | None,
    filters: Filters,
    min_score: float | None,
    k: int,
    as_json: bool,
    framework: Framework | None,
    look: Look,
    html: Path | None,
    is_opened: bool,
) -> None:
    """Find the icons in screenshots, and name each. Exit code 0: found, 1: no icons, 2: error.

    SHOT is a picture of a whole screen, or of a part; - for stdin. A line of the table is one icon, row by row: where
    it is, the best name with its score, and what else it may be; a ? marks what has no good match. A picture of one
    icon is answered as `icons search --image` does. docs/screenshots.md shows more.

    \b
    Examples:
      icons locate shot.png
      icons locate shot.png --set lucide --open
      icons locate bar.png --format lucide-react
      icons locate screens/*.png --json \\
        | jq -c '.[] | [.file, .n_found]'
      icons locate shot.png --html found.html
    """
    from search.code.pick import served_sets, write_picks
    from search.screens.locate import locate_files
    from search.screens.locate_page import located_page, print_located

    refuse_two(("--json", as_json), ("--format", framework))
    refuse_look_without_code(look, framework)
    engine = engine_of(library)
    if framework:  # only icons that it serves
        filters = replace(filters, sets=served_sets(engine, engine.set_keys(filters.sets), framework.sets))
    asked: dict[str, Any] = {"filters": filters, "k": k, "as_kind": as_kind, "min_score": min_score}
    has_page = html or is_opened

    with waiting() as progress:
        files = locate_files(
            shots,
            lambda shot: engine.together(
                lambda one: (one.locate(shot.pixels, icon=shot.icon, **asked), one.generation.number)
            ),
            size=engine.image_size,
            shows=bool(has_page),
            progress=progress,
        )
        found = list(files)
    if len(found) == 1 and found[0].error:
        raise IconsError(found[0].error)
    if has_page:
        page = located_page(found, lambda images: _small(engine, images))
        write_page(page.encode(), html, option="--html", is_opened=is_opened)
    if as_json:
        plain = [
            {
                "file": file.name,
                **asdict(file.located),
                "generation": file.generation,
                "ms": round(1000 * file.seconds, 2),
            }
            if file.located
            else {"file": file.name, "error": file.error}
            for file in found
        ]
        click.echo(json.dumps(plain[0] if len(plain) == 1 else plain))
    elif framework:
        named = [(file.name, icon) for file in found if file.located for icon in file.located.named]
        alone = len(found) == 1
        places = [(f"at {icon.box.at}" if alone else f"{name} at {icon.box.at}", icon.hits[0]) for name, icon in named]
        if places:
            print_written(write_picks(engine, places, framework, look), framework)
    elif html is None:
        print_located(found)
    for remark in (remark for file in found for remark in _remarks(file)):
        say(remark, err=True)
    is_found = any(file.located and file.located.icons for file in found)
    raise click.exceptions.Exit(2 if any(file.error for file in found) else 0 if is_found else 1)


_MOST_PICTURE_BYTES = 20_000
_DRAWN_SIDE = 96


def _small(engine: "SearchEngine", images: Sequence[int]) -> Iterator[tuple[int, bytes]]:
    """Pictures by their ids; a large one as small as a page shows it, or left out where it can't be drawn."""
    from search.pictures import drawing

    with drawing() as pool:
        for image, content in engine.pictures(images):
            with suppress(RenderError):
                is_small = len(content) <= _MOST_PICTURE_BYTES
                yield image, content if is_small else pool.png(content, size=_DRAWN_SIDE)


def _remarks(file: "LocatedFile") -> Iterator[str]:
    """What is to be known of a file beside its icons."""
    located = file.located
    if located is None:
        yield file.error or ""
        return
    if not located.icons:
        yield f'no icons in "{file.name}"; --as icon takes it for one icon'
    elif located.kind == "icon":
        yield f'"{file.name}" is taken for one icon; --as screen looks for several in it'
    if located.is_cut:
        yield f'"{file.name}" has more than {len(located.icons):,} icons; the surest of them are shown'
    if n_doubtful := len(located.doubtful):
        yield f'"{file.name}": {counted(n_doubtful, "icon")} without a good match'


class _UsageGroup(LazyGroup):
    """What is no sub-command is asked for: `icons usage mdi:home` is `icons usage find mdi:home`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["find", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_UsageGroup)
def usage() -> None:
    """Find where icons are used in screenshots, and report which are.

    Screenshots stay where they are: an index beside the library has the boxes of their icons, crops, and vectors.
    `icons usage QUERY` is `icons usage find QUERY`, where QUERY is none of the commands below.

    \b
    Examples:
      icons usage add ~/screenshots
      icons usage mdi:home
      icons usage "warning" --open
      icons usage report --set lucide --html report.html
    """


for command in (add, status, failures, remove):
    usage.add_command(command)


@usage.command()
@click.argument("query", nargs=-1)
@click.option("--image", type=NamedFile, help="A picture of what you look for; - for stdin.")
@filter_options
@min_score_option
@click.option("-k", "k", type=click.IntRange(1, MOST_HITS), default=50, show_default=True, help="How many places.")
@page_options
@library_option
@json_option
def find(  # noqa: PLR0913 - one option each
    library: Library,
    *,
    query: tuple[str, ...],
    image: Path | None,
    filters: Filters,
    min_score: float | None,
    k: int,
    html: Path | None,
    is_opened: bool,
    as_json: bool,
) -> None:
    """Find where an icon is used: by its key, by words, or by a picture. Exit code 0: found, 1: nothing, 2: error.

    QUERY with a colon is an icon, as mdi:home; other words are what it means. A line is one place: how sure it is,
    where on the screenshot, and what it is taken for. Filters choose among the icons that words may mean.

    \b
    Examples:
      icons usage find mdi:home
      icons usage find "where do we show a warning" --open
      icons usage find --image crop.png --json
      icons usage find delete --set lucide --html delete.html
    """
    from search.pictures import MAX_BYTES, pixels_of
    from search.screens.opened import LEAST_SCORE, UsageIndex, uses_of_icon, uses_of_picture, uses_of_words
    from search.screens.usage_page import print_uses, uses_page

    words = " ".join(query).strip()
    refuse(
        (bool(words) == bool(image), "say what to look for: an icon as mdi:home, words, or --image FILE; one of them")
    )
    started, least = time.perf_counter(), LEAST_SCORE if min_score is None else min_score
    index, engine = UsageIndex.open(library.root), engine_of(library)
    with index.explaining():
        if image:
            pixels = pixels_of(read_named(image, limit=MAX_BYTES), name=str(image), size=engine.image_size)
            found = uses_of_picture(index, engine, pixels, k=k, least=least)
        elif ":" in words and " " not in words:
            found = uses_of_icon(index, engine, engine.find(words), k=k, least=least)
        else:
            found = uses_of_words(index, engine, Query(words=words), filters=filters, k=k, least=least)
    if as_json:
        ms = round(1000 * (time.perf_counter() - started), 2)
        click.echo(json.dumps({"query": words, **asdict(found), "generation": index.generation.number, "ms": ms}))
    asked = f'"{words}"' if words else "the picture"
    if not found.uses:
        near = f"; the likeliest place has a score of {found.best:.2f}, --min-score shows it" if found.best else ""
        say(f"no use of {asked} was found{near}", err=True)
        raise click.exceptions.Exit(1)
    if html or is_opened:
        with waiting() as progress, index.explaining():
            page = uses_page(index, asked, found, progress=progress)
        write_page(page.encode(), html, option="--html", is_opened=is_opened)
    if not as_json:
        print_uses(found)
        more = f"; -k {min(found.n_found, MOST_HITS)} shows all" if len(found.uses) < found.n_found else ""
        say(f"{counted(found.n_found, 'place')} on {counted(found.n_screens, 'screenshot')}{more}", err=True)


@usage.command()
@click.option("--set", "sets", multiple=True, required=True, metavar="KEY", help="Our set. Repeatable.")
@page_options
@library_option
@json_option
def report(library: Library, sets: tuple[str, ...], html: Path | None, is_opened: bool, as_json: bool) -> None:
    """Report which icons of our set the screenshots use, what is not from it, and what is drawn in several ways.

    --set says which set is ours. What is like nothing in the library is counted apart: own drawings and logos, and what
    is no icon at all.

    \b
    Examples:
      icons usage report --set lucide
      icons usage report --set lucide --html report.html
      icons usage report --set lucide --json \\
        | jq '.foreign[] | [.icon, .n, .ours]'
    """
    from search.screens import usage_page
    from search.screens.opened import UsageIndex

    index, engine = UsageIndex.open(library.root), engine_of(library)
    with waiting() as progress, index.explaining():
        found = usage_page.report(index, engine, sets, progress=progress)
        page = usage_page.report_page(index, engine, found) if html or is_opened else None
    if page is not None:
        write_page(page.encode(), html, option="--html", is_opened=is_opened)
    if as_json:
        click.echo(json.dumps(asdict(found)))
    else:
        usage_page.print_report(found)
