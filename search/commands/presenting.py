"""Who is asked, and what becomes of the answer? Results to stdout, all else to stderr, files where asked for."""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.commands.options import warnings_as_lines
from indexer.errors import IconsError, LibraryError, RenderError, SourceError
from indexer.languages.words import printable, say
from indexer.library.folder import Library
from search.commands.options import Asking, Output
from search.drawings.drawn import AS_IT_IS, Look
from search.drawings.frameworks import Framework
from search.query import Filters, Query, Window
from search.results import Answer, Hit, envelope

if TYPE_CHECKING:
    from rich.console import Console

    from search.drawings.write import Snippet
    from search.engine import SearchEngine


def engine_of(library: Library) -> "SearchEngine":
    """Open a library, or take the one that `icons repl` holds open; a new generation answers from now on.

    Raises:
        LibraryError: it can't be read.
    """
    from search.engine import SearchEngine

    warm = click.get_current_context().obj
    if not (isinstance(warm, SearchEngine) and warm.library.root == library.root):
        with warnings_as_lines():
            return SearchEngine.open(library)
    try:
        warm.refresh()
    except LibraryError as error:
        say(f"Warning: {error}", err=True)
    return warm


def answer(engine: "SearchEngine", asked: str, query: Query, asking: Asking) -> None:
    """Ask, and show what was found; `asked` is how a person would call the question.

    Files come first: where one can't be written, stdout stays empty.

    Raises:
        click.exceptions.Exit: with 1, nothing was found.
    """
    started = time.perf_counter()
    try:
        with warnings_as_lines():
            found = engine.ask(query, filters=asking.filters, window=asking.window)
    except RenderError as error:
        raise IconsError(f"{asked} can't be looked for: {error}") from error
    whole = envelope(query.words, found, generation=engine.generation.number, seconds=time.perf_counter() - started)
    for note in _notes(asked, found):
        say(note, err=True)
    if not found.hits:
        if asking.output.form == "json":
            click.echo(json.dumps(whole))
        say(_nothing(engine, asked, query, asking, found), err=True)
        raise click.exceptions.Exit(1)
    _write_files(engine, asked, found.hits, asking.output)
    match asking.output.form:
        case "table":
            _print_table(engine, found, asking, is_ranked=not query.is_empty)
        case "json":
            click.echo(json.dumps(whole))
        case "jsonl":
            click.echo("\n".join(json.dumps(asdict(hit)) for hit in found.hits))
        case "paths":
            click.echo("\n".join(printable(hit.place) for hit in found.hits))
        case "svg":
            print_svg(engine, found.hits[0])
        case "format":
            assert asking.output.framework is not None
            print_code(engine, found.hits[0], asking.output.framework, AS_IT_IS)


def _notes(asked: str, found: Answer) -> Iterator[str]:
    """What is to be known of an answer beside its hits."""
    if found.read_as:
        yield str(found.read_as)
    if found.spelled:
        yield f'did you mean "{found.spelled}"?'
    if found.is_doubtful:
        yield f"no good match for {asked}; these come nearest"


def _print_table(engine: "SearchEngine", found: Answer, asking: Asking, *, is_ranked: bool) -> None:
    from indexer.reports.terminal import open_console
    from search.showing.tables import print_facets, print_hits, print_long_hits

    console = open_console()
    first = asking.window.offset + 1
    draw(engine, console, found.hits, first=first, wanted=asking.output.pictures)
    if asking.output.long:
        print_long_hits(console, found.hits, first=first, is_ranked=is_ranked)
    else:
        print_hits(console, found.hits, first=first, is_ranked=is_ranked)
    if found.facets is not None:
        print_facets(console, found.facets)
    last = asking.window.offset + len(found.hits)
    if last < found.n_found or found.is_more:
        click.echo(f"{first:,} to {last:,} of {found.counted}; --offset {last} goes on", err=True)


def print_svg(engine: "SearchEngine", hit: Hit) -> None:
    """Print an icon's SVG as it is stored.

    Raises:
        IconsError: it is no SVG, or its source has gone or changed.
    """
    from indexer.rendering.render import svg_document

    document = svg_document(engine.picture(hit.id))
    if document is None:
        raise IconsError(f'"{hit.key}" is no SVG but "{hit.path}"; --copy-to DIR copies it as it is')
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
    tell_left_out(framework, snippet)
    say_code(snippet.code)


def say_code(code: str) -> None:
    """Print code as it is, but for what a terminal would obey."""
    click.echo(printable(code, keep="\t\n") if sys.stdout.isatty() else code)


def tell_left_out(framework: Framework, snippet: "Snippet") -> None:
    """Say what of a look could not be stated."""
    if snippet.left_out:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in snippet.left_out)
        say(f"{options} left out: {framework.name} has no way to say it; --format react does", err=True)


def draw(
    engine: "SearchEngine", console: "Console", hits: Sequence[Hit], *, first: int | None, wanted: bool | None
) -> None:
    """Draw hits in the terminal if it can and nobody said no; with their ranks, counted from `first`."""
    from search.showing.terminal import MOST_DRAWN, can_draw, draw_pictures

    able = can_draw(console)
    if wanted and not able:
        raise click.UsageError("--pictures needs a terminal with colours; --sheet FILE writes them to a file")
    if wanted is False or not able:
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


def _write_files(engine: "SearchEngine", asked: str, hits: Sequence[Hit], output: Output) -> None:
    if not (output.copy_to or output.sheet or output.open_sheet):
        return
    pictures = pictures_of(engine, hits)
    if output.copy_to:
        from search.showing.copies import copy_hits

        readable = ((hit, content) for hit, content in pictures if content is not None)
        for path, is_new in copy_hits(output.copy_to, readable):
            say(f"wrote {path}" if is_new else f"{path} is there already", err=True)
    if output.sheet:
        _write_sheet(output.sheet, asked, pictures)
    if output.open_sheet:
        import tempfile

        page = Path(tempfile.mkdtemp(prefix="icons-"), "hits.html")
        _write_sheet(page, asked, pictures)
        click.launch(page.as_uri())


def _write_sheet(path: Path, title: str, pictures: Sequence[tuple[Hit, bytes | None]]) -> None:
    from indexer.library.named import write_result

    if path.suffix.lower() == ".png":
        from search.showing.sheets import sheet_png

        content = sheet_png(title, pictures)
    else:
        from search.showing.sheets import sheet_html

        content = sheet_html(title, pictures).encode("utf-8")
    write_result(path, content, option="--sheet")
    say(f"wrote {path}", err=True)


def _nothing(engine: "SearchEngine", asked: str, query: Query, asking: Asking, found: Answer) -> str:
    if found.n_found:
        return f"{asked} finds {found.counted}; --offset {asking.window.offset} leaves out all of them"
    if query.is_empty:
        return "no icon of this library passes these filters"
    line = f"nothing found for {asked}" + (" with these filters" if asking.filters != Filters() else "")
    if asking.filters != Filters() and not engine.ask(Query(), filters=asking.filters, window=Window(k=1)).n_found:
        return f"{line}, which no icon of this library passes"
    is_cut = not query.keyword and asking.window.min_score != 0
    return f"{line}; --min-score 0 shows what is nearest" if is_cut else line
