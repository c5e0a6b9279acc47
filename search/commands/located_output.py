"""What becomes of the icons that were found in screenshots: a table, JSON, code, a page."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from indexer.errors import RenderError
from indexer.naming.printable import say
from search.pictures import drawing
from search.snippets.drawn import Look
from search.snippets.frameworks import Framework

if TYPE_CHECKING:
    from search.engine import SearchEngine
    from search.locating.files import LocatedFile
    from search.results import Hit

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
    from search.locating.page import images_of, located_page

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
    with drawing() as pool:
        for image, content in pictures:
            if len(content) <= _MOST_PICTURE_BYTES:
                yield image, content
            else:
                with suppress(RenderError):
                    yield image, pool.png(content, size=_DRAWN_SIDE)


def _print_json(engine: "SearchEngine", files: Sequence["LocatedFile"], *, one_a_line: bool) -> None:
    from search.locating.plain import file_json

    plain = [file_json(file, generation=engine.generation.number) for file in files]
    if one_a_line:
        click.echo("\n".join(map(json.dumps, plain)))
    else:
        click.echo(json.dumps(plain[0] if len(plain) == 1 else plain))


def _print_tables(files: Sequence["LocatedFile"]) -> None:
    from indexer.reports.tables import open_console
    from search.locating.table import print_located

    console = open_console()
    shown = [(file.name, file.located) for file in files if file.located and file.located.icons]
    for number, (name, located) in enumerate(shown):
        if len(files) > 1:
            say(("\n" if number else "") + f"{name}: {_counted(located.n_found)}")
        print_located(console, located)


def _print_code(engine: "SearchEngine", files: Sequence["LocatedFile"], output: LocatedOutput) -> None:
    from search.commands.presenting import say_code, tell_left_out
    from search.picking.code import write_picks

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
    from search.locating.table import at

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
