"""What the commands share that ask: options, and how answers are shown; results to stdout, all else to stderr."""

import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from indexer.commands.options import Function, Option, refuse, warnings_as_lines
from indexer.errors import IconsError, RenderError, SourceError
from indexer.languages.letters import is_locale, language_of
from indexer.languages.words import printable, say
from indexer.library.folder import Library
from indexer.library.named import write_result
from indexer.sources.records import FAMILIES
from search.drawings.frameworks import CORNERS, FRAMEWORKS, Framework, Look, framework
from search.query import Answer, Filters, Hit, Query, Window, envelope

if TYPE_CHECKING:
    from indexer.reports.terminal import Progress
    from search.code.pick import Written
    from search.drawings.write import Snippet
    from search.engine import SearchEngine


def family(into: str, make: Callable[..., Any], options: Mapping[str, Option]) -> Callable[[Function], Function]:
    """A decorator that adds options, by parameter; the command gets what `make` makes of them, under one name."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def command(**values: Any) -> Any:
            own = {name: values.pop(name) for name in options}
            return function(**values, **{into: make(**own)})

        for option in reversed(list(options.values())):
            option(command)
        return command  # type: ignore[return-value]

    return decorate


MOST = 50
_LABELS = "SELECT value FROM labels WHERE kind = ? AND value GLOB ? AND value NOT GLOB '* *' ORDER BY n DESC LIMIT ?"
"""Shells would cut a value with a space into words."""


def labels_beginning(library: Library, kind: str, start: str) -> list[str]:
    """Values of a kind (set, style, corner, category, tag, licence) that begin so, the most frequent first."""
    pattern = "".join(f"[{sign}]" if sign in "*?[" else sign for sign in start) + "*"
    for generation in library.candidates():
        try:
            with closing(sqlite3.connect(f"{generation.catalog.as_uri()}?mode=ro&immutable=1", uri=True)) as catalog:
                found = catalog.execute(_LABELS, (kind, pattern, MOST))
                return [value for (value,) in found if value == printable(value)]
        except (sqlite3.Error, UnicodeError):
            continue
    return []


def _values(option: str, name: str, metavar: str, chosen: str, *, also: Sequence[str] = ()) -> Option:
    """A repeatable option for labels of one kind, completed from what the library holds."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        return labels_beginning(ctx.params["library"], option.removeprefix("--"), incomplete)

    return click.option(
        option, *also, name, multiple=True, metavar=metavar, shell_complete=complete, help=f"{chosen} Repeatable."
    )


class OnlyLabel(click.ParamType[tuple[str, Any]]):
    """What an icon must be, as category=arrows or animated=no: a field of the filters, and its value."""

    name = "LABEL=VALUE"
    fields: Mapping[str, str] = {"category": "categories", "tag": "tags", "corner": "corners"}
    answers: Mapping[str, bool] = {"yes": True, "no": False}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        """Read it."""
        label, _, wish = value.partition("=")
        if label == "size" and wish.isdecimal() and int(wish) > 0:
            return "sizes", int(wish)
        if label in ("animated", "coloured") and wish in self.answers:
            return label, self.answers[wish]
        if label not in self.fields or not wish:
            labels = "category=NAME, tag=TAG, corner=CORNER, size=PIXELS, animated=yes|no, coloured=yes|no"
            self.fail(f'"{value}" is none of {labels}', param, ctx)
        return self.fields[label], wish

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Labels, and behind a label the values that the library holds."""
        label, equals, start = incomplete.partition("=")
        if not equals:
            found = [f"{one}=" for one in (*self.fields, "size", "animated", "coloured") if one.startswith(label)]
        else:
            found = [f"{label}={value}" for value in labels_beginning(ctx.params["library"], label, start)]
        return [CompletionItem(one) for one in found]


def _filters(only: Sequence[tuple[str, Any]], **labels: tuple[str, ...]) -> Filters:
    fields: dict[str, Any] = dict(labels)
    for field, value in only:
        fields[field] = value if isinstance(value, bool) else (*fields.get(field, ()), value)
    return Filters(**fields)


filter_options = family(
    "filters",
    _filters,
    {
        "sets": _values("--set", "sets", "KEY", "Only icons of this set."),
        "styles": _values("--style", "styles", "STYLE", "Only icons of this style: outline, filled, duotone, color."),
        "licences": _values(
            "--licence",
            "licences",
            "LICENCE",
            f"Only under this: an SPDX id, or one of {', '.join(FAMILIES)}.",
            also=["--license"],
        ),
        "only": click.option(
            "--only",
            multiple=True,
            type=OnlyLabel(),
            help="Only icons with this category, tag, corner (rounded, sharp) or size in pixels, or animated=no, "
            "coloured=yes. Repeatable.",
        ),
    },
)
"""Adds which icons may answer; the command gets `filters`."""
min_score_option = click.option(
    "--min-score",
    type=click.FloatRange(0, 1),
    help="Least score of a hit, which says how sure the match is; 0 for the nearest, however far.",
)
without_option = click.option(
    "--not", "without", multiple=True, metavar="WORDS", help="Steer away from this: filled. Repeatable."
)
look_options = family(
    "look",
    Look,
    {
        "colour": click.option(
            "--colour", "--color", "colour", metavar="COLOUR", help="For what icons leave open: #08f, navy."
        ),
        "stroke_width": click.option(
            "--stroke-width", type=float, metavar="WIDTH", help="Of lines, as 1.5; in units of the viewBox."
        ),
        "size": click.option("--size", type=int, metavar="PIXELS", help="Of the longer side."),
        "corner": click.option("--corner", type=click.Choice(CORNERS), help="Of lines: their ends and joins."),
    },
)
"""Adds how copies look; the command gets `look`."""


class FormatName(click.ParamType[Framework]):
    """A framework on the command line."""

    name = "FORMAT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Framework:
        """Find it, by its name or by what people say for it."""
        try:
            return framework(value)
        except IconsError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Those that begin so."""
        return [
            CompletionItem(one.name, help=one.title) for one in FRAMEWORKS.values() if one.name.startswith(incomplete)
        ]


def format_option(chosen: str) -> Option:
    """Make `--format`, which the command gets as `framework`."""
    return click.option("--format", "framework", type=FormatName(), help=chosen)


def own_languages() -> tuple[str, ...]:
    """The language that the environment states, as gettext reads it; none for C and POSIX."""
    stated = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    code = language_of(stated)
    return (code,) if is_locale(code) else ()


def refuse_look_without_code(look: Look, framework: Framework | None) -> None:
    """Refuse a look where no code is written that could have it.

    Raises:
        click.UsageError: that is so.
    """
    refuse(
        (
            look != Look() and framework is None,
            "a colour, stroke, size or corner is for code; say which with --format, as svg",
        )
    )


def refuse_two(*options: tuple[str, object], what: str = "two forms of output") -> None:
    """Refuse two options that exclude each other.

    Raises:
        click.UsageError: both were chosen.
    """
    chosen = [name for name, value in options if value]
    if len(chosen) > 1:
        raise click.UsageError(f"{chosen[0]} and {chosen[1]} are {what}; give one of them")


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
        if self.query.picture is not None and (found.is_doubtful or not found.hits):
            yield "`icons locate` finds the icons in a picture of a whole screen"

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

        is_png = sheet is not None and sheet.suffix.lower() == ".png"
        with waiting(), warnings_as_lines():
            pictures = pictures_of(engine, hits)
            page = sheet_html(self.asked, pictures).encode() if is_opened or not is_png else b""
            content = sheet_png(self.asked, pictures) if is_png else page
        if sheet:
            write_page(content, sheet, option="--sheet")
        if is_opened:
            write_page(page, None, option="--sheet", is_opened=True)

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
        said = {"stroke": "lines", "colours": "colours", "motion": "motion", "stroke_width": "--stroke-width"}
        options = ", ".join(said.get(name, f"--{name}") for name in snippet.left_out)
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


def write_page(content: bytes, path: Path | None, *, option: str, is_opened: bool = False) -> None:
    """Write a page to what an option names, else over the last one in the user's cache; show it if asked to."""
    from platformdirs import user_cache_path

    pages = user_cache_path("icons") / "pages"
    if path is None:
        with suppress(OSError):  # which writing the page says
            pages.mkdir(mode=0o700, parents=True, exist_ok=True)  # nobody else can open what is in it
    place = path or pages / f"{option.removeprefix('--')}.html"
    write_result(place, content, option=option)
    say(f"wrote {place}", err=True)
    if is_opened:
        click.launch(place.absolute().as_uri())
