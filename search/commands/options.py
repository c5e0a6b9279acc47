"""Options that several commands take which ask: filters, languages, looks of copies, formats of code."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import click
from click.shell_completion import CompletionItem

from indexer.commands.options import Function
from indexer.errors import IconsError
from indexer.languages.letters import is_locale, language_of
from indexer.sources.records import FAMILIES
from search.drawings.drawn import CORNERS, Look
from search.drawings.frameworks import FRAMEWORKS, Framework, framework
from search.query import Filters

Option = Callable[[Any], Any]


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


def _labels_beginning(ctx: click.Context, kind: str, incomplete: str) -> list[str]:
    from search.commands.serve import labels_beginning, styles_beginning

    library = ctx.params["library"]
    found = labels_beginning(library, kind, incomplete)
    return found or (styles_beginning(library, kind, incomplete) if kind in ("style", "corner") else [])


def _values(option: str, name: str, metavar: str, chosen: str, *, also: Sequence[str] = ()) -> Option:
    """A repeatable option for labels of one kind, completed from what the library holds."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        return _labels_beginning(ctx, option.removeprefix("--"), incomplete)

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
            found = [f"{label}={value}" for value in _labels_beginning(ctx, label, start)]
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
    if look != Look() and framework is None:
        raise click.UsageError("a colour, stroke, size or corner is for code; say which with --format, as svg")


def refuse_two(*options: tuple[str, object], what: str = "two forms of output") -> None:
    """Refuse two options that exclude each other.

    Raises:
        click.UsageError: both were chosen.
    """
    chosen = [name for name, value in options if value]
    if len(chosen) > 1:
        raise click.UsageError(f"{chosen[0]} and {chosen[1]} are {what}; give one of them")
