"""How answers are shown: results to stdout, all else to stderr, sheets where asked for."""

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.commands.options import warnings_as_lines
from indexer.errors import IconsError, RenderError, SourceError
from indexer.languages.words import printable, say
from indexer.library.folder import Library
from search.drawings.drawn import Look
from search.drawings.frameworks import Framework
from search.query import Filters, Query, Window
from search.results import Answer, Details, Hit, envelope

if TYPE_CHECKING:
    from rich.console import Console

    from indexer.reports.terminal import Progress
    from search.code.pick import Written
    from search.drawings.write import Snippet
    from search.engine import SearchEngine


def engine_of(library: Library) -> "SearchEngine":
    """Open a library.

    Raises:
        LibraryError: it can't be read.
    """
    from search.engine import SearchEngine

    with warnings_as_lines():
        return SearchEngine.open(library)


@contextmanager
def waiting() -> "Iterator[Progress]":
    """Show whoever waits longer than a moment how far a work is."""
    from indexer.reports.terminal import ProgressLine, patient

    with ProgressLine() as line:
        yield patient(line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What becomes of an answer."""

    as_json: bool
    long: bool
    """Whether the table has files, variants and equal drawings, too."""
    sheet: Path | None
    is_opened: bool
    """Whether the browser shows a sheet."""


@dataclass(frozen=True, slots=True)
class Answering:
    """A question to a library."""

    engine: "SearchEngine"
    asked: str
    """The question as a person would call it."""
    query: Query
    filters: Filters
    window: Window

    def show(self, output: Output) -> None:
        """Ask, and show what was found. Sheets come first: where one can't be written, stdout stays empty.

        Raises:
            click.exceptions.Exit: with 1, nothing was found.
        """
        started = time.perf_counter()
        try:
            with warnings_as_lines():
                found = self.engine.ask(self.query, filters=self.filters, window=self.window)
        except RenderError as error:
            raise IconsError(f"{self.asked} can't be looked for: {error}") from error
        seconds = time.perf_counter() - started
        for note in self._notes(found):
            say(note, err=True)
        self._write_sheets(found.hits, output)
        if output.as_json:
            whole = envelope(self.query.words, found, generation=self.engine.generation.number, seconds=seconds)
            click.echo(json.dumps(whole))
        elif found.hits:
            self._print_table(found, long=output.long)
        if not found.hits:
            say(self._nothing(found), err=True)
            raise click.exceptions.Exit(1)

    def _notes(self, found: Answer) -> Iterator[str]:
        if found.read_as:
            yield str(found.read_as)
        if found.spelled:
            yield f'did you mean "{found.spelled}"?'
        if found.is_doubtful:
            yield f"no good match for {self.asked}; these come nearest"

    def _print_table(self, found: Answer, *, long: bool) -> None:
        from indexer.reports.terminal import open_console
        from search.showing.tables import print_facets, print_hits, print_long_hits

        console, first = open_console(), self.window.offset + 1
        draw(self.engine, console, found.hits, first=first)
        (print_long_hits if long else print_hits)(console, found.hits, first=first, is_ranked=not self.query.is_empty)
        if found.facets is not None:
            print_facets(console, found.facets)
        last = self.window.offset + len(found.hits)
        if last < found.n_found or found.is_more:
            click.echo(f"{first:,} to {last:,} of {found.counted}; --offset {last} goes on", err=True)

    def _write_sheets(self, hits: Sequence[Hit], output: Output) -> None:
        if not hits or not (output.sheet or output.is_opened):
            return
        from search.showing.sheets import sheet_html, sheet_png

        pictures = pictures_of(self.engine, hits)
        if output.sheet:
            is_png = output.sheet.suffix.lower() == ".png"
            content = sheet_png(self.asked, pictures) if is_png else sheet_html(self.asked, pictures).encode()
            write_page(content, output.sheet, option="--sheet")
        if output.is_opened:
            write_page(sheet_html(self.asked, pictures).encode(), None, option="--sheet", is_opened=True)

    def _nothing(self, found: Answer) -> str:
        if found.n_found:
            return f"{self.asked} finds {found.counted}; --offset {self.window.offset} leaves out all of them"
        if self.query.is_empty:
            return "no icon of this library passes these filters"
        is_filtered = self.filters != Filters()
        line = f"nothing found for {self.asked}" + (" with these filters" if is_filtered else "")
        if is_filtered and not self.engine.ask(Query(), filters=self.filters, window=Window(k=1)).n_found:
            return f"{line}, which no icon of this library passes"
        is_cut = not self.query.keyword and self.window.min_score != 0
        return f"{line}; --min-score 0 shows what is nearest" if is_cut else line


def print_svg(engine: "SearchEngine", hit: Hit) -> None:
    """Print an icon's SVG as it is stored.

    Raises:
        IconsError: it is no SVG, or its source has gone or changed.
    """
    from indexer.rendering.render import svg_document

    document = svg_document(engine.picture(hit.id))
    if document is None:
        raise IconsError(f'"{hit.key}" is no SVG but "{hit.path}"; `icons export` copies it as it is')
    if sys.stdout.isatty():  # which would obey what stands in it
        document = printable(document.decode(errors="replace"), keep="\t\r\n").encode()
    click.echo(document, nl=not document.endswith(b"\n"))


def print_code(engine: "SearchEngine", hit: Hit, framework: Framework, look: Look) -> None:
    """Print an icon as code.

    Raises:
        IconsError: it can't be written so, or its source has gone or changed.
    """
    from search.code.pick import write_hit

    snippet = write_hit(engine, hit, framework, look)
    say_left_out(framework, snippet)
    say_code(snippet.code)


def print_written(written: "Written", framework: Framework) -> None:
    """Print several icons as code; say what could not be written, and what it needs."""
    say_left_out(framework, written.snippet)
    for place, why in written.refused:
        say(f"{place} is not written: {why}", err=True)
    say_code(written.remarked)
    if written.snippet.install:
        say(f"to install: {written.snippet.install}", err=True)


def say_code(code: str) -> None:
    """Print code as it is, but for what a terminal would obey."""
    click.echo(printable(code, keep="\t\n") if sys.stdout.isatty() else code)


def say_left_out(framework: Framework, snippet: "Snippet") -> None:
    """Say what of a look could not be stated."""
    if snippet.left_out:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in snippet.left_out)
        say(f"{options} left out: {framework.name} has no way to say it; --format react does", err=True)


def print_icon(engine: "SearchEngine", details: Details) -> None:
    """Draw an icon where the terminal can, and print all that is known of it."""
    from indexer.reports.terminal import open_console
    from search.showing.tables import print_details

    console = open_console()
    draw(engine, console, [details.hit], first=None)
    print_details(console, details)


def explain(engine: "SearchEngine", query: Query, icon: int, *, as_json: bool) -> None:
    """Print what each part of a search says of an icon."""
    from indexer.reports.terminal import open_console
    from search.showing.tables import print_explanation

    explanation = engine.explain(query, icon)
    if as_json:
        click.echo(json.dumps(asdict(explanation)))
    else:
        print_explanation(open_console(), explanation)


def draw(engine: "SearchEngine", console: "Console", hits: Sequence[Hit], *, first: int | None) -> None:
    """Draw hits where the terminal can and ICONS_PICTURES does not forbid it; with ranks, counted from `first`."""
    from search.showing.terminal import MOST_DRAWN, can_draw, draw_pictures

    if os.environ.get("ICONS_PICTURES", "").lower() in ("0", "no", "off", "false") or not can_draw(console):
        return
    drawn = pictures_of(engine, hits[:MOST_DRAWN])
    ranks = [""] * len(drawn) if first is None else [f"{first + number} " for number in range(len(drawn))]
    draw_pictures(console, [(rank + hit.name, content) for rank, (hit, content) in zip(ranks, drawn, strict=True)])


def pictures_of(engine: "SearchEngine", hits: Sequence[Hit]) -> list[tuple[Hit, bytes | None]]:
    """Read the pictures of hits; None, and a line that says so, where a source has gone or changed."""
    contents: dict[int, bytes | None] = {}
    for hit in sorted(hits, key=lambda hit: hit.path):  # icons of one file beside each other: it is parsed once
        try:
            contents[hit.id] = engine.picture(hit.id)
        except SourceError as error:
            say(f"Warning: {error}", err=True)
            contents[hit.id] = None
    return [(hit, contents[hit.id]) for hit in hits]


def write_page(content: bytes, path: Path | None, *, option: str, is_opened: bool = False) -> None:
    """Write a page to what an option names, else into a new temporary folder; show it in the browser if asked to."""
    import tempfile

    from indexer.library.named import write_result

    place = path or Path(tempfile.mkdtemp(prefix="icons-"), f"{option.removeprefix('--')}.html")
    write_result(place, content, option=option)
    say(f"wrote {place}", err=True)
    if is_opened:
        click.launch(place.absolute().as_uri())
