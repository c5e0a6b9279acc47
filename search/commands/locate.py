"""The command `icons locate`: screenshots -> the icons in them, named, framed, or as code."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.commands.options import json_option, library_option
from indexer.errors import IconsError
from indexer.library.named import read_named
from search.commands.located_output import Form, LocatedOutput, show_located
from search.commands.options import Asking, filter_options, format_option, look_options
from search.pictures import MAX_BYTES
from search.query import Filters
from search.snippets.drawn import AS_IT_IS, Look
from search.snippets.frameworks import Framework, framework

if TYPE_CHECKING:
    from indexer.library.folder import Library
    from search.engine import SearchEngine
    from search.locating.files import ShotFile
    from search.locating.results import AsKind


@click.command()
@click.argument("shots", nargs=-1, required=True, metavar="SHOT...")
@click.option(
    "--as", "as_kind", type=click.Choice(["icon", "screen"]), help="What a picture is; it is judged if not given."
)
@filter_options
@click.option("-k", "k", type=click.IntRange(1, 100), default=5, show_default=True, help="How many names an icon.")
@json_option
@click.option("--jsonl", "as_jsonl", is_flag=True, help="Print JSON, a line a file.")
@click.option("--svg", "as_svg", is_flag=True, help="Print the drawings of what is found, row by row: --format svg.")
@format_option("Write what is found as code for this, row by row: lucide-react, vue, ...; docs/code.md lists all.")
@look_options
@click.option("--html", "page", type=click.Path(path_type=Path, dir_okay=False), help="Write a page with framed icons.")
@click.option("--open", "is_opened", is_flag=True, help="Show that page in the browser.")
@library_option
def locate(  # noqa: PLR0913 - one option each
    library: "Library",
    *,
    shots: tuple[str, ...],
    as_kind: "AsKind | None",
    asking: Asking,
    k: int,
    as_json: bool,
    as_jsonl: bool,
    as_svg: bool,
    framework: Framework | None,
    look: Look,
    page: Path | None,
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
      icons locate screens/*.png --jsonl | jq -c '[.file, .n_found]'
      icons locate shot.png --html found.html
    """
    from indexer.reports.bars import ProgressLine, patient
    from search.commands.presenting import engine_of
    from search.locating.files import locate_files

    output = _output({"json": as_json, "jsonl": as_jsonl, "svg": as_svg, "format": bool(framework)}, framework, look)
    output = replace(output, page=page, is_opened=is_opened)
    engine = engine_of(library)
    filters = _served(engine, asking.filters, output.framework)
    seek = partial(engine.locate, filters=filters, k=k, as_kind=as_kind, min_score=asking.window.min_score)
    with ProgressLine() as line:
        found = list(
            locate_files(
                list(map(_shot_file, shots)),
                lambda shot: seek(shot.pixels, icon=shot.icon),
                size=engine.image_size,
                shows=output.shows_pictures,
                progress=patient(line),
            )
        )
    if len(found) == 1 and found[0].error:
        raise IconsError(found[0].error)
    show_located(engine, found, output)


def _output(chosen: Mapping[str, bool], form: Framework | None, look: Look) -> "LocatedOutput":
    given = [name for name, is_given in chosen.items() if is_given]
    if len(given) > 1:
        raise click.UsageError(f"--{given[0]} and --{given[1]} are two forms of output; give one of them")
    if look != AS_IT_IS and not (chosen["svg"] or form):
        raise click.UsageError("a colour, stroke, size or corner is given to code; say which with --format, as svg")
    written = framework("svg") if chosen["svg"] else form
    kind: Form = "code" if written else "json" if chosen["json"] else "jsonl" if chosen["jsonl"] else "table"
    return LocatedOutput(form=kind, framework=written, look=look)


def _served(engine: "SearchEngine", filters: Filters, form: Framework | None) -> Filters:
    """Only icons that the framework serves."""
    from search.picking.pick import served_sets

    if form is None:
        return filters
    return replace(filters, sets=served_sets(engine, engine.set_keys(filters.sets), form.sets))


def _shot_file(name: str) -> "ShotFile":
    from search.locating.files import ShotFile

    return ShotFile(name, partial(read_named, Path(name), limit=MAX_BYTES))
