"""The commands `icons usage ...`: where icons are used in screenshots."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.commands.options import NamedFile, json_option, library_option
from indexer.commands.usage import add, failures, remove, status
from indexer.library.named import read_named
from indexer.naming.printable import say
from search.commands.options import Asking, filter_options
from search.pictures import MAX_BYTES, pixels_of
from search.query import MOST_HITS, Query

if TYPE_CHECKING:
    from indexer.library.folder import Library
    from search.engine import SearchEngine
    from search.usage.opened import UsageIndex
    from search.usage.results import Uses


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
@click.option("-k", "k", type=click.IntRange(1, MOST_HITS), default=50, show_default=True, help="How many places.")
@click.option("--html", "page", type=click.Path(path_type=Path, dir_okay=False), help="Write a page of framed icons.")
@click.option("--open", "is_opened", is_flag=True, help="Show that page in the browser.")
@library_option
@json_option
def find(  # noqa: PLR0913 - one option each
    library: "Library",
    *,
    query: tuple[str, ...],
    image: Path | None,
    asking: Asking,
    k: int,
    page: Path | None,
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
    from search.commands.presenting import engine_of
    from search.usage.opened import UsageIndex
    from search.usage.plain import uses_json

    words = " ".join(query).strip()
    if bool(words) == bool(image):
        raise click.UsageError("say what to look for: an icon as mdi:home, words, or --image FILE; one of them")
    started = time.perf_counter()
    index, engine = UsageIndex.open(library.root), engine_of(library)
    with index.explaining():
        found = _find(index, engine, words, image, asking, k=k)
    if as_json:
        whole = uses_json(found, generation=index.generation.number)
        click.echo(json.dumps({"query": words, **whole, "ms": round(1000 * (time.perf_counter() - started), 2)}))
    asked = f'"{words}"' if words else "the picture"
    if not found.uses:
        _say_nothing(asked, found)
        raise click.exceptions.Exit(1)
    if page or is_opened:
        _write_page(index, asked, found, page, is_opened=is_opened)
    if not as_json:
        _print(found)


def _say_nothing(asked: str, found: "Uses") -> None:
    near = f"; the likeliest place has a score of {found.best:.2f}, --min-score shows it" if found.best else ""
    say(f"no use of {asked} was found{near}", err=True)


def _print(found: "Uses") -> None:
    from indexer.reports.tables import open_console
    from search.usage.table import print_uses

    print_uses(open_console(), found)
    more = f"; -k {min(found.n_found, MOST_HITS)} shows all" if len(found.uses) < found.n_found else ""
    say(f"{found.n_found:,} places on {found.n_screens:,} screenshots{more}", err=True)


def _find(
    index: "UsageIndex", engine: "SearchEngine", words: str, image: Path | None, asking: Asking, *, k: int
) -> "Uses":
    from search.usage.asking import LEAST_SCORE, uses_of_icon, uses_of_picture, uses_of_words

    least = LEAST_SCORE if asking.window.min_score is None else asking.window.min_score
    if image is not None:
        content = read_named(image, limit=MAX_BYTES)
        pixels = pixels_of(content, name=str(image), size=engine.image_size)
        return uses_of_picture(index, engine, pixels, k=k, least=least)
    if ":" in words and " " not in words:
        return uses_of_icon(index, engine, engine.find(words), k=k, least=least)
    return uses_of_words(index, engine, Query(words=words), filters=asking.filters, k=k, least=least)


def _write_page(index: "UsageIndex", asked: str, found: "Uses", path: Path | None, *, is_opened: bool) -> None:
    from indexer.reports.bars import ProgressLine, patient
    from search.usage.page import MOST_SHOTS, uses_page
    from search.usage.shots import read_shots

    with ProgressLine() as line, index.explaining():
        shots = list(read_shots(index, found.uses, most=MOST_SHOTS, progress=patient(line)))
        html = uses_page(index, asked, found, shots)
    _write(html, path, name="usage.html", is_opened=is_opened)


def _write(html: str, path: Path | None, *, name: str, is_opened: bool) -> None:
    import tempfile

    from indexer.library.named import write_result

    target = path or Path(tempfile.mkdtemp(prefix="icons-"), name)
    write_result(target, html.encode("utf-8"), option="--html")
    say(f"wrote {target}", err=True)
    if is_opened:
        click.launch(target.absolute().as_uri())


@usage.command()
@click.option("--set", "sets", multiple=True, required=True, metavar="KEY", help="Our set. Repeatable.")
@click.option("--html", "page", type=click.Path(path_type=Path, dir_okay=False), help="Write a page with crops.")
@click.option("--open", "is_opened", is_flag=True, help="Show that page in the browser.")
@library_option
@json_option
def report(library: "Library", sets: tuple[str, ...], page: Path | None, is_opened: bool, as_json: bool) -> None:
    """Report which icons of our set the screenshots use, what is not from it, and what is drawn in several ways.

    --set says which set is ours. What is like nothing in the library is counted apart: own drawings and logos, and what
    is no icon at all.

    \b
    Examples:
      icons usage report --set lucide
      icons usage report --set lucide --html report.html
      icons usage report --set lucide --json | jq '.foreign[] | [.icon, .n, .ours]'
    """
    from indexer.reports.bars import ProgressLine, patient
    from indexer.reports.tables import open_console
    from search.commands.presenting import engine_of
    from search.usage.opened import UsageIndex
    from search.usage.plain import report_json
    from search.usage.report import report as report_usage
    from search.usage.report_page import report_page
    from search.usage.table import print_report

    index, engine = UsageIndex.open(library.root), engine_of(library)
    with ProgressLine() as line, index.explaining():
        found = report_usage(index, engine, sets, progress=patient(line))
        html = report_page(index, engine, found) if page or is_opened else None
    if html is not None:
        _write(html, page, name="report.html", is_opened=is_opened)
    if as_json:
        click.echo(json.dumps(report_json(found)))
    else:
        print_report(open_console(), found)
