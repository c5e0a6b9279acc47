"""The commands `icons locate` and `icons usage`: icons in screenshots."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from indexer.commands.options import NamedFile, json_option, library_option
from indexer.commands.usage import add, failures, remove, status
from indexer.errors import IconsError, RenderError
from indexer.languages.words import say
from indexer.library.named import read_named
from search.commands.options import Asking, filter_options, format_option, look_options
from search.drawings.drawn import AS_IT_IS, Look
from search.drawings.frameworks import Framework, framework
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
Form = Literal["table", "json", "jsonl", "code"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedOutput:
    """What is wanted."""

    form: Form
    framework: Framework | None
    """For which what is found is written."""
    look: Look
    page: Path | None = None
    is_opened: bool = False

    @property
    def shows_pictures(self) -> bool:
        """Whether a page is made."""
        return self.page is not None or self.is_opened


def show_located(engine: "SearchEngine", files: Sequence["LocatedFile"], output: LocatedOutput) -> None:
    """Write the page, then print the rest; files that could not be read are told on stderr.

    Raises:
        click.exceptions.Exit: with 2, a file could not be read; with 1, no icon was found.
    """
    if output.shows_pictures:
        _write_page(engine, files, output)
    is_found = any(file.located and file.located.icons for file in files)
    match output.form:
        case "json" | "jsonl":
            _print_json(engine, files, one_a_line=output.form == "jsonl")
        case "code" if is_found:
            _print_code(engine, files, output)
        case "table" if output.page is None:
            _print_tables(files)
    for file in files:
        for line in _notes(file):
            say(line, err=True)
    if any(file.error for file in files):
        raise click.exceptions.Exit(2)
    if not is_found:
        raise click.exceptions.Exit(1)


def _write_page(engine: "SearchEngine", files: Sequence["LocatedFile"], output: LocatedOutput) -> None:
    import tempfile

    from indexer.library.named import write_result
    from search.screens.locate_page import images_of, located_page

    html = located_page(files, dict(_small(engine.pictures(images_of(files))))).encode()
    if output.page:
        write_result(output.page, html, option="--html")
        say(f"wrote {output.page}", err=True)
    if output.is_opened:
        page = output.page or Path(tempfile.mkdtemp(prefix="icons-"), "located.html")
        if not output.page:
            page.write_bytes(html)
        click.launch(page.resolve().as_uri())


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


def _print_json(engine: "SearchEngine", files: Sequence["LocatedFile"], *, one_a_line: bool) -> None:
    from search.screens.locate import file_json

    plain = [file_json(file, generation=engine.generation.number) for file in files]
    if one_a_line:
        click.echo("\n".join(map(json.dumps, plain)))
    else:
        click.echo(json.dumps(plain[0] if len(plain) == 1 else plain))


def _print_tables(files: Sequence["LocatedFile"]) -> None:
    from indexer.reports.terminal import open_console
    from search.screens.locate_page import print_located

    console = open_console()
    shown = [(file.name, file.located) for file in files if file.located and file.located.icons]
    for number, (name, located) in enumerate(shown):
        if len(files) > 1:
            say(("\n" if number else "") + f"{name}: {_counted(located.n_found)}")
        print_located(console, located)


def _print_code(engine: "SearchEngine", files: Sequence["LocatedFile"], output: LocatedOutput) -> None:
    from search.code.pick import write_picks
    from search.commands.presenting import say_code, tell_left_out

    assert output.framework is not None
    chosen = list(_chosen(files))
    if not chosen:
        return
    written = write_picks(engine, chosen, output.framework, output.look)
    tell_left_out(output.framework, written.snippet)
    for place, why in written.refused:
        say(f"{place} is not written: {why}", err=True)
    say_code(written.remarked)
    if written.snippet.install:
        say(f"to install: {written.snippet.install}", err=True)


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
    doubtful = located.doubtful
    if doubtful:
        yield f'"{file.name}": {_counted(len(doubtful))} without a good match'


def _counted(n: int) -> str:
    return f"{n:,} icon{'s' if n != 1 else ''}"


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
    from indexer.reports.terminal import ProgressLine, patient
    from search.commands.presenting import engine_of
    from search.screens.locate import locate_files

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
    from search.screens.opened import UsageIndex

    words = " ".join(query).strip()
    if bool(words) == bool(image):
        raise click.UsageError("say what to look for: an icon as mdi:home, words, or --image FILE; one of them")
    started = time.perf_counter()
    index, engine = UsageIndex.open(library.root), engine_of(library)
    with index.explaining():
        found = _find(index, engine, words, image, asking, k=k)
    if as_json:
        whole = asdict(found) | {"generation": index.generation.number}
        click.echo(json.dumps({"query": words, **whole, "ms": round(1000 * (time.perf_counter() - started), 2)}))
    asked = f'"{words}"' if words else "the picture"
    if not found.uses:
        _say_nothing(asked, found)
        raise click.exceptions.Exit(1)
    if page or is_opened:
        _write_usage_page(index, asked, found, page, is_opened=is_opened)
    if not as_json:
        _print(found)


def _say_nothing(asked: str, found: "Uses") -> None:
    near = f"; the likeliest place has a score of {found.best:.2f}, --min-score shows it" if found.best else ""
    say(f"no use of {asked} was found{near}", err=True)


def _print(found: "Uses") -> None:
    from indexer.reports.terminal import open_console
    from search.screens.usage_page import print_uses

    print_uses(open_console(), found)
    more = f"; -k {min(found.n_found, MOST_HITS)} shows all" if len(found.uses) < found.n_found else ""
    say(f"{found.n_found:,} places on {found.n_screens:,} screenshots{more}", err=True)


def _find(
    index: "UsageIndex", engine: "SearchEngine", words: str, image: Path | None, asking: Asking, *, k: int
) -> "Uses":
    from search.pictures import MAX_BYTES, pixels_of
    from search.screens.asking import LEAST_SCORE, uses_of_icon, uses_of_picture, uses_of_words

    least = LEAST_SCORE if asking.window.min_score is None else asking.window.min_score
    if image is not None:
        content = read_named(image, limit=MAX_BYTES)
        pixels = pixels_of(content, name=str(image), size=engine.image_size)
        return uses_of_picture(index, engine, pixels, k=k, least=least)
    if ":" in words and " " not in words:
        return uses_of_icon(index, engine, engine.find(words), k=k, least=least)
    return uses_of_words(index, engine, Query(words=words), filters=asking.filters, k=k, least=least)


def _write_usage_page(index: "UsageIndex", asked: str, found: "Uses", path: Path | None, *, is_opened: bool) -> None:
    from indexer.reports.terminal import ProgressLine, patient
    from search.screens.opened import read_shots
    from search.screens.usage_page import MOST_SHOTS, uses_page

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
    from indexer.reports.terminal import ProgressLine, open_console, patient
    from search.commands.presenting import engine_of
    from search.screens.opened import UsageIndex
    from search.screens.report import report as report_usage
    from search.screens.usage_page import print_report, report_page

    index, engine = UsageIndex.open(library.root), engine_of(library)
    with ProgressLine() as line, index.explaining():
        found = report_usage(index, engine, sets, progress=patient(line))
        html = report_page(index, engine, found) if page or is_opened else None
    if html is not None:
        _write(html, page, name="report.html", is_opened=is_opened)
    if as_json:
        click.echo(json.dumps(asdict(found)))
    else:
        print_report(open_console(), found)
