"""What do the commands that ask have in common? Filters, the window of an answer, and what becomes of its hits."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any, Literal, TypeVar

import click
from click.shell_completion import CompletionItem

from indexer.commands.options import Function
from indexer.errors import IconsError
from indexer.languages.letters import is_locale, language_of
from indexer.sources.licences import FAMILIES
from search.drawings.drawn import CORNERS, Look
from search.drawings.frameworks import FRAMEWORKS, Framework, framework
from search.query import MOST_HITS, MOST_OFFSET, SORTS, Filters, Window

Option = Callable[[Any], Any]
Plain = TypeVar("Plain")

FORMS = {
    "json": "Print the answer as JSON, as the HTTP API gives it: hits, n_found, facets, and so on.",
    "jsonl": "Print the hits as JSON, one a line.",
    "paths": "Print where each hit lies, a line each: its file, or FILE#KEY for an icon inside a file.",
    "svg": "Print the SVG of the first hit and nothing else; --copy-to takes them all.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What becomes of an answer."""

    form: Literal["table", "json", "jsonl", "paths", "svg", "format"] = "table"
    """What of the hits goes to stdout."""
    framework: Framework | None = None
    """For which the first hit is written as code."""
    long: bool = False
    """Whether the table tells files, variants and equal drawings, too."""
    pictures: bool | None = None
    """Whether the terminal draws the hits; None: if it can."""
    copy_to: Path | None = None
    sheet: Path | None = None
    open_sheet: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What stands beside a question."""

    steering: Mapping[str, Any]
    """Fields of the query: what to steer away from, how much a picture weighs beside words."""
    filters: Filters
    window: Window
    output: Output

    @property
    def browses(self) -> bool:
        """Whether it says which icons are shown where nothing is looked for."""
        return self.filters != Filters() or self.window.sort != SORTS[0]


def pictures_option(function: Function) -> Function:
    """Add `--pictures`."""
    return click.option(
        "--pictures/--no-pictures",
        default=None,
        envvar="ICONS_PICTURES",
        show_envvar=True,
        help="Draw icons in the terminal; where it can, if not given.",
    )(function)


def _values(option: str, name: str, metavar: str, chosen: str, *, also: Sequence[str] = ()) -> Option:
    """A repeatable option for labels of one kind, completed from what the library holds."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from search.commands.serve import labels_beginning, styles_beginning

        library, kind = ctx.params["library"], option.removeprefix("--")
        found = labels_beginning(library, kind, incomplete)
        if not found and kind in ("style", "corner"):
            found = styles_beginning(library, kind, incomplete)
        return [CompletionItem(value) for value in found]

    return click.option(
        option, *also, name, multiple=True, metavar=metavar, shell_complete=complete, help=f"{chosen} Repeatable."
    )


class FormatName(click.ParamType[Framework]):
    """A framework on the command line."""

    name = "FORMAT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Framework:
        """Find it, by its name or by what people say for it."""
        if isinstance(value, Framework):
            return value
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


def look_options(function: Function) -> Function:
    """Add how copies look; the command gets it as one `look`."""

    @wraps(function)
    def looking(**given: Any) -> Any:
        own = {name: given.pop(name) for name in ("colour", "stroke_width", "size", "corner")}
        return function(**given, look=Look(**own))

    for option in reversed(_LOOK):
        option(looking)
    return looking  # type: ignore[return-value]


_LOOK: Sequence[Option] = [
    click.option("--colour", "--color", "colour", metavar="COLOUR", help="For what icons leave open: #08f, navy."),
    click.option("--stroke-width", type=float, metavar="WIDTH", help="Of lines, as 1.5; in units of the viewBox."),
    click.option("--size", type=int, metavar="PIXELS", help="Of the longer side."),
    click.option("--corner", type=click.Choice(CORNERS), help="Of lines: their ends and joins."),
]


def own_languages() -> tuple[str, ...]:
    """The language that the environment states, as gettext reads it; none for C and POSIX."""
    stated = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    code = language_of(stated)
    return (code,) if is_locale(code) else ()


def language_option(function: Function) -> Function:
    """Add `--language`."""
    return click.option(
        "--language",
        "languages",
        multiple=True,
        metavar="CODE",
        default=own_languages,
        help="A language that you read, as de or pt-BR: it decides where a word is two languages'. Repeatable; that of "
        "LANG if not given.",
    )(function)


def _check_sheet(_: click.Context, __: click.Parameter, sheet: Path | None) -> Path | None:
    if sheet is not None and sheet.suffix.lower() not in (".html", ".png"):
        raise click.BadParameter(f'"{sheet}" ends neither in .html nor in .png')
    return sheet


_FILTERS: Sequence[Option] = [
    _values("--set", "sets", "KEY", "Only icons of this set."),
    _values("--style", "styles", "STYLE", "Only icons of this style: outline, filled, duotone, color, ..."),
    _values("--category", "categories", "NAME", "Only icons of this category."),
    _values("--tag", "tags", "TAG", "Only icons with this tag."),
    _values(
        "--licence",
        "licences",
        "LICENCE",
        f"Only under this: an SPDX id, or one of {', '.join(FAMILIES)}.",
        also=["--license"],
    ),
    click.option("--animated/--still", default=None, help="Only icons that move, or only those that don't."),
    click.option(
        "--min-score",
        type=click.FloatRange(0, 1),
        help="Least score of a hit, which says how sure the match is; 0 for the nearest, however far.",
    ),
]
"""What icons may answer any question."""
_NARROWING: Sequence[Option] = [
    click.option("--not", "without", multiple=True, metavar="WORDS", help="Steer away from this: filled. Repeatable."),
    language_option,
    *_FILTERS,
]
"""What narrows any question down."""
_OPTIONS: Sequence[Option] = [
    *_NARROWING,
    click.option(
        "--picture-share",
        type=click.FloatRange(0, 1),
        help="Share of the picture, or icon, beside words; half if not given.",
    ),
    _values("--prefer", "prefer", "SET", "Put this set first where several have the icon: for this search alone."),
    _values("--corner", "corners", "CORNER", "Only icons whose corners are stated to be so: rounded, sharp."),
    click.option(
        "--size",
        "sizes",
        multiple=True,
        type=click.IntRange(1),
        help="Only icons drawn for this many pixels. Repeatable.",
    ),
    click.option(
        "--coloured/--mono", "--color", "coloured", default=None, help="Only icons with colours, or only those without."
    ),
    click.option("-k", "k", type=click.IntRange(1, MOST_HITS), default=10, show_default=True, help="How many hits."),
    click.option("--offset", type=click.IntRange(0, MOST_OFFSET), default=0, help="Leave out so many hits first."),
    click.option(
        "--sort",
        type=click.Choice(SORTS),
        default=SORTS[0],
        show_default=True,
        help="By how well hits answer; by name; by set, then name; the last indexed first.",
    ),
    click.option("--flat", is_flag=True, help="Variants and equal pictures as hits of their own."),
    click.option(
        "--facets", is_flag=True, help="Count what is found by set, style, corner, category, tag and licence."
    ),
    *(click.option(f"--{form}", f"as_{form}", is_flag=True, help=chosen) for form, chosen in FORMS.items()),
    click.option("--long", is_flag=True, help="Print more of each hit: its file, its variants, what has its drawing."),
    format_option("Print the first hit as code for this: lucide-react, vue, svg, ..."),
    pictures_option,
    click.option(
        "--copy-to",
        type=click.Path(path_type=Path, file_okay=False),
        help="Copy the hits' pictures into this folder, each under a name of its own; nothing is overwritten.",
    ),
    click.option(
        "--sheet",
        type=click.Path(path_type=Path, dir_okay=False),
        callback=_check_sheet,
        help="Write the hits as one sheet of pictures, .html or .png.",
    ),
    click.option("--open", "open_sheet", is_flag=True, help="Show the hits as pictures in the browser."),
]


_STEERING = ("without", "picture_share", "prefer", "languages")
"""Fields of a query."""


def asking_options(function: Function) -> Function:
    """Add what every question takes; the command gets it as one `asking`."""
    return _adding(_OPTIONS, function)


def narrowing_options(function: Function) -> Function:
    """Add what narrows a question down; the command gets it as one `asking`, whose output is the default one."""
    return _adding(_NARROWING, function)


def filter_options(function: Function) -> Function:
    """Add which icons may answer; the command gets it as one `asking`, whose filters and least score count."""
    return _adding(_FILTERS, function)


def _adding(options: Sequence[Option], function: Function) -> Function:
    own: list[str] = []

    @wraps(function)
    def asking(**given: Any) -> Any:
        chosen = {name: value for name in own if (value := given.pop(name)) is not None}
        return function(**given, asking=_asking(chosen))

    for option in reversed(options):
        option(asking)
        own.append(asking.__click_params__[-1].name)  # type: ignore[attr-defined]
    return asking  # type: ignore[return-value]


def _asking(chosen: Mapping[str, Any]) -> Asking:
    forms = [form for form in FORMS if chosen.get(f"as_{form}")] + (["format"] if "framework" in chosen else [])
    if len(forms) > 1:
        raise click.UsageError(f"--{forms[0]} and --{forms[1]} are two forms of output; give one of them")
    if forms == ["jsonl"] and chosen["facets"]:
        raise click.UsageError("--jsonl has hits alone; --json has the counts of --facets")
    return Asking(
        steering={name: chosen[name] for name in _STEERING if chosen.get(name)},
        filters=_taken(Filters, chosen),
        window=_taken(Window, chosen),
        output=_taken(Output, {**chosen, "form": forms[0] if forms else "table"}),
    )


def _taken(kind: type[Plain], chosen: Mapping[str, Any]) -> Plain:
    """Make a dataclass of those options that are its fields."""
    return kind(**{field.name: chosen[field.name] for field in fields(kind) if field.name in chosen})  # type: ignore[arg-type]
