"""How answers are shown: results to stdout, all else to stderr, sheets where asked for."""

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.commands.options import warnings_as_lines
from indexer.errors import IconsError, RenderError, SourceError
from indexer.languages.words import printable, say
from indexer.library.folder import Library
from indexer.library.named import write_result
from search.drawings.frameworks import Framework
from search.query import Filters, Query, Window
from search.results import Answer, Hit, envelope

if TYPE_CHECKING:
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


@dataclass(frozen=True, slots=True)
class Answering:
    """A question to a library."""

    engine: "SearchEngine"
    asked: str
    """The question as a person would call it."""
    query: Query
    filters: Filters
    window: Window

    def show(self, *, as_json: bool, long: bool, sheet: Path | None, is_opened: bool) -> None:
        """Ask, and show what was found; `long`: with files, variants and equal drawings; `is_opened`: in the browser.

        Sheets come first: where one can't be written, stdout stays empty.

        Raises:
            click.exceptions.Exit: with 1, nothing was found.
        """
        started = time.perf_counter()
        try:
            with warnings_as_lines():  # pictures and the number are those of the generation that answers
                found, engine = self.engine.together(
                    lambda engine: (engine.ask(self.query, filters=self.filters, window=self.window), engine)
                )
        except RenderError as error:
            raise IconsError(f"{self.asked} can't be looked for: {error}") from error
        seconds = time.perf_counter() - started
        for note in self._notes(found):
            say(note, err=True)
        if found.hits and (sheet or is_opened):
            self._write_sheets(engine, found.hits, sheet, is_opened=is_opened)
        if as_json:
            whole = envelope(self.query.words, found, generation=engine.generation.number, seconds=seconds)
            click.echo(json.dumps(whole))
        elif found.hits:
            self._print_table(engine, found, long=long)
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

    def _print_table(self, engine: "SearchEngine", found: Answer, *, long: bool) -> None:
        from search.showing.tables import print_answer

        first, last = self.window.offset + 1, self.window.offset + len(found.hits)
        draw(engine, found.hits, first=first)
        print_answer(found, first=first, is_ranked=not self.query.is_empty, long=long)
        if last < found.n_found or found.is_more:
            click.echo(f"{first:,} to {last:,} of {found.counted}; --offset {last} goes on", err=True)

    def _write_sheets(
        self, engine: "SearchEngine", hits: Sequence[Hit], sheet: Path | None, *, is_opened: bool
    ) -> None:
        from search.showing.sheets import sheet_html, sheet_png

        pictures = pictures_of(engine, hits)
        if sheet:
            is_png = sheet.suffix.lower() == ".png"
            content = sheet_png(self.asked, pictures) if is_png else sheet_html(self.asked, pictures).encode()
            write_page(content, sheet, option="--sheet")
        if is_opened:
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


def print_written(written: "Written", framework: Framework) -> None:
    """Print several icons as code; say what could not be written, and what it needs."""
    for place, why in written.refused:
        say(f"{place} is not written: {why}", err=True)
    print_code(written.remarked, written.snippet, framework)
    if written.snippet.install:
        say(f"to install: {written.snippet.install}", err=True)


def print_code(code: str, snippet: "Snippet", framework: Framework) -> None:
    """Print code as it is, but for what a terminal would obey; say what of a look could not be stated."""
    if snippet.left_out:
        options = ", ".join(f"--{name.replace('_', '-')}" if name != "stroke" else "lines" for name in snippet.left_out)
        say(f"{options} left out: {framework.name} has no way to say it; --format react does", err=True)
    click.echo(printable(code, keep="\t\n") if sys.stdout.isatty() else code)


def draw(engine: "SearchEngine", hits: Sequence[Hit], *, first: int | None) -> None:
    """Draw hits where the terminal can and ICONS_PICTURES does not forbid it; with ranks, counted from `first`."""
    from search.showing.terminal import MOST_DRAWN, can_draw, draw_pictures

    if os.environ.get("ICONS_PICTURES", "").lower() in ("0", "no", "off", "false") or not can_draw():
        return
    drawn = pictures_of(engine, hits[:MOST_DRAWN])
    ranks = [""] * len(drawn) if first is None else [f"{first + number} " for number in range(len(drawn))]
    draw_pictures([(rank + hit.name, content) for rank, (hit, content) in zip(ranks, drawn, strict=True)])


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


def _kept_page(name: str) -> Path:
    """Where a page is kept for as long as a browser may read it: until the next one; nobody else can open it."""
    from platformdirs import user_cache_path

    folder = user_cache_path("icons") / "pages"
    with suppress(OSError):  # which writing the page says
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / name


def write_page(content: bytes, path: Path | None, *, option: str, is_opened: bool = False) -> None:
    """Write a page to what an option names, else over the last one in the user's cache; show it if asked to."""
    place = path or _kept_page(f"{option.removeprefix('--')}.html")
    write_result(place, content, option=option)
    say(f"wrote {place}", err=True)
    if is_opened:
        click.launch(place.absolute().as_uri())
