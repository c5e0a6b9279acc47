"""The commands `icons locate` and `icons usage`: icons in screenshots."""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.commands.options import NamedFile, json_option, library_option
from indexer.commands.usage import add, failures, remove, status
from indexer.errors import IconsError, RenderError
from indexer.languages.words import say
from indexer.library.named import read_named
from search.commands.options import (
    family,
    filter_options,
    format_option,
    look_options,
    min_score_option,
    refuse_look_without_code,
    refuse_two,
)
from search.commands.presenting import engine_of, print_written, waiting, write_page
from search.drawings.drawn import Look
from search.drawings.frameworks import Framework
from search.query import MOST_HITS, Filters, Query

if TYPE_CHECKING:
    from indexer.library.folder import Library
    from search.engine import SearchEngine
    from search.results import Hit
    from search.screens.locate import LocatedFile, ShotFile
    from search.screens.opened import UsageIndex
    from search.screens.results import AsKind, Uses

_MOST_PICTURE_BYTES = 20_000
_DRAWN_SIDE = 96


@dataclass(frozen=True, slots=True)
class Page:
    """Where a page goes."""

    path: Path | None
    is_opened: bool

    def __bool__(self) -> bool:
        """Whether one is made."""
        return self.path is not None or self.is_opened

    def write(self, html: str) -> None:
        """Write it."""

        write_page(html.encode(), self.path, option="--html", is_opened=self.is_opened)


page_options = family(
    "page",
    Page,
    {
        "path": click.option(
            "--html", "path", type=click.Path(path_type=Path, dir_okay=False), help="Write a page of framed icons."
        ),
        "is_opened": click.option("--open", "is_opened", is_flag=True, help="Show that page in the browser."),
    },
)
"""Adds where a page goes; the command gets `page`."""


def _located_page(engine: "SearchEngine", files: Sequence["LocatedFile"]) -> str:
    from search.screens.locate_page import images_of, located_page

    return located_page(files, dict(_small(engine.pictures(images_of(files)))))


def _small(pictures: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Pictures by their ids; a large one as small as a page shows it, or left out where it can't be drawn."""
    from search.pictures import drawing

    with drawing() as pool:
        for image, content in pictures:
            if len(content) <= _MOST_PICTURE_BYTES:
                yield image, content
            else:
                with suppress(RenderError):
                    yield image, pool.png(content, size=_DRAWN_SIDE)


def _print_located(files: Sequence["LocatedFile"]) -> None:
    from indexer.reports.terminal import open_console
    from search.screens.locate_page import print_located

    console = open_console()
    shown = [(file.name, file.located) for file in files if file.located and file.located.icons]
    for number, (name, located) in enumerate(shown):
        if len(files) > 1:
            say(("\n" if number else "") + f"{name}: {_counted(located.n_found)}")
        print_located(console, located)


def _print_code(engine: "SearchEngine", files: Sequence["LocatedFile"], framework: Framework, look: Look) -> None:
    from search.code.pick import write_picks

    if chosen := list(_chosen(files)):
        print_written(write_picks(engine, chosen, framework, look), framework)


def _chosen(files: Sequence["LocatedFile"]) -> Iterator[tuple[str, "Hit"]]:
    """Where each icon is, and its best name, in the order of reading."""
    from search.screens.locate_page import at

    for file in files:
        for icon in file.located.named if file.located else ():
            place = f"at {at(icon.box)}"
            yield place if len(files) == 1 else f"{file.name} {place}", icon.hits[0]


def _notes(file: "LocatedFile") -> Iterator[str]:
    """What is to be known of a file beside its icons."""
    if file.located is None:
        yield file.error or ""
        return
    located = file.located
    if not located.icons:
        yield f'no icons in "{file.name}"; --as icon takes it for one icon'
    elif located.kind == "icon":
        yield f'"{file.name}" is taken for one icon; --as screen looks for several in it'
    if located.is_cut:
        yield f'"{file.name}" has more than {len(located.icons):,} icons; the surest of them are shown'
    if located.doubtful:
        yield f'"{file.name}": {_counted(len(located.doubtful))} without a good match'


def _counted(n: int) -> str:
    return f"{n:,} icon{'s' if n != 1 else ''}"


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
    library: "Library",
    *,
    shots: tuple[str, ...],
    as_kind: "AsKind | None",
    filters: Filters,
    min_score: float | None,
    k: int,
    as_json: bool,
    framework: Framework | None,
    look: Look,
    page: Page,
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
      icons locate screens/*.png --json | jq -c '.[] | [.file, .n_found]'
      icons locate shot.png --html found.html
    """
    from search.screens.locate import file_json, locate_files

    refuse_two(("--json", as_json), ("--format", framework))
    refuse_look_without_code(look, framework)
    engine = engine_of(library)
    seek = partial(
        engine.locate, filters=_served(engine, filters, framework), k=k, as_kind=as_kind, min_score=min_score
    )
    with waiting() as progress:
        found = list(
            locate_files(
                list(map(_shot_file, shots)),
                lambda shot: seek(shot.pixels, icon=shot.icon),
                size=engine.image_size,
                shows=bool(page),
                progress=progress,
            )
        )
    if len(found) == 1 and found[0].error:
        raise IconsError(found[0].error)
    if page:
        page.write(_located_page(engine, found))
    if as_json:
        plain = [file_json(file, generation=engine.generation.number) for file in found]
        click.echo(json.dumps(plain[0] if len(plain) == 1 else plain))
    elif framework:
        _print_code(engine, found, framework, look)
    elif page.path is None:
        _print_located(found)
    for note in (note for file in found for note in _notes(file)):
        say(note, err=True)
    if any(file.error for file in found):
        raise click.exceptions.Exit(2)
    if not any(file.located and file.located.icons for file in found):
        raise click.exceptions.Exit(1)


def _served(engine: "SearchEngine", filters: Filters, form: Framework | None) -> Filters:
    """Only icons that the framework serves."""
    from search.code.pick import served_sets

    if form is None:
        return filters
    return replace(filters, sets=served_sets(engine, engine.set_keys(filters.sets), form.sets))


def _shot_file(name: str) -> "ShotFile":
    from search.pictures import MAX_BYTES
    from search.screens.locate import ShotFile

    return ShotFile(name, partial(read_named, Path(name), limit=MAX_BYTES))


class _UsageGroup(click.Group):
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
    library: "Library",
    *,
    query: tuple[str, ...],
    image: Path | None,
    filters: Filters,
    min_score: float | None,
    k: int,
    page: Page,
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
    from search.screens.asking import LEAST_SCORE
    from search.screens.opened import UsageIndex

    words = " ".join(query).strip()
    if bool(words) == bool(image):
        raise click.UsageError("say what to look for: an icon as mdi:home, words, or --image FILE; one of them")
    started = time.perf_counter()
    index, engine = UsageIndex.open(library.root), engine_of(library)
    with index.explaining():
        least = LEAST_SCORE if min_score is None else min_score
        found = _uses(index, engine, image or words, filters, k=k, least=least)
    if as_json:
        whole = asdict(found) | {"generation": index.generation.number}
        click.echo(json.dumps({"query": words, **whole, "ms": round(1000 * (time.perf_counter() - started), 2)}))
    asked = f'"{words}"' if words else "the picture"
    if not found.uses:
        _say_nothing(asked, found)
        raise click.exceptions.Exit(1)
    if page:
        page.write(_uses_page(index, asked, found))
    if not as_json:
        _print_uses(found)


def _say_nothing(asked: str, found: "Uses") -> None:
    near = f"; the likeliest place has a score of {found.best:.2f}, --min-score shows it" if found.best else ""
    say(f"no use of {asked} was found{near}", err=True)


def _print_uses(found: "Uses") -> None:
    from indexer.reports.terminal import open_console
    from search.screens.usage_page import print_uses

    print_uses(open_console(), found)
    more = f"; -k {min(found.n_found, MOST_HITS)} shows all" if len(found.uses) < found.n_found else ""
    say(f"{found.n_found:,} places on {found.n_screens:,} screenshots{more}", err=True)


def _uses(
    index: "UsageIndex",
    engine: "SearchEngine",
    asked: str | Path,
    filters: Filters,
    *,
    k: int,
    least: float,
) -> "Uses":
    from search.pictures import MAX_BYTES, pixels_of
    from search.screens.asking import uses_of_icon, uses_of_picture, uses_of_words

    if isinstance(asked, Path):
        content = read_named(asked, limit=MAX_BYTES)
        pixels = pixels_of(content, name=str(asked), size=engine.image_size)
        return uses_of_picture(index, engine, pixels, k=k, least=least)
    if ":" in asked and " " not in asked:
        return uses_of_icon(index, engine, engine.find(asked), k=k, least=least)
    return uses_of_words(index, engine, Query(words=asked), filters=filters, k=k, least=least)


def _uses_page(index: "UsageIndex", asked: str, found: "Uses") -> str:
    from search.screens.opened import read_shots
    from search.screens.usage_page import MOST_SHOTS, uses_page

    with waiting() as progress, index.explaining():
        shots = list(read_shots(index, found.uses, most=MOST_SHOTS, progress=progress))
        return uses_page(index, asked, found, shots)


@usage.command()
@click.option("--set", "sets", multiple=True, required=True, metavar="KEY", help="Our set. Repeatable.")
@page_options
@library_option
@json_option
def report(library: "Library", sets: tuple[str, ...], page: Page, as_json: bool) -> None:
    """Report which icons of our set the screenshots use, what is not from it, and what is drawn in several ways.

    --set says which set is ours. What is like nothing in the library is counted apart: own drawings and logos, and what
    is no icon at all.

    \b
    Examples:
      icons usage report --set lucide
      icons usage report --set lucide --html report.html
      icons usage report --set lucide --json | jq '.foreign[] | [.icon, .n, .ours]'
    """
    from indexer.reports.terminal import open_console
    from search.screens.opened import UsageIndex
    from search.screens.report import report as report_usage
    from search.screens.usage_page import print_report, report_page

    index, engine = UsageIndex.open(library.root), engine_of(library)
    with waiting() as progress, index.explaining():
        found = report_usage(index, engine, sets, progress=progress)
        html = report_page(index, engine, found) if page else None
    if html is not None:
        page.write(html)
    if as_json:
        click.echo(json.dumps(asdict(found)))
    else:
        print_report(open_console(), found)
