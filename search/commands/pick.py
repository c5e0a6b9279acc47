"""The command `icons pick`: a list of needs -> icons of one set -> code."""

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from indexer.commands.options import json_option, library_option
from indexer.library.named import STDIN, read_text
from indexer.naming.printable import say
from search.commands.options import Asking, format_option, look_options, narrowing_options
from search.snippets.drawn import AS_IT_IS, Look
from search.snippets.frameworks import Framework, framework

if TYPE_CHECKING:
    from indexer.library.folder import Library
    from search.picking.code import Filled, Written
    from search.picking.pick import Choice, Pick, Picked, Picking
    from search.query import Query

_MOST_BYTES = 1_000_000
"""Of a list of needs."""
_BETWEEN = re.compile(r"[\s,]+")


@click.command()
@click.argument("needs", nargs=-1)
@click.option("--first", is_flag=True, help="Take the best icon of each need.")
@click.option("--choose", metavar="NUMBERS", help='Which of the best three, a number a need: "1 3 1"; 0 for none.')
@format_option("Write the chosen icons as code for this: lucide-react, vue, ...; docs/code.md lists all.")
@click.option("--remember", is_flag=True, help="Keep --format in the library: taken where none is given.")
@look_options
@narrowing_options
@library_option
@json_option
def pick(  # noqa: PLR0913  options of a command stand side by side
    library: "Library",
    *,
    needs: tuple[str, ...],
    first: bool,
    choose: str | None,
    framework: Framework | None,
    remember: bool,
    look: Look,
    asking: Asking,
    as_json: bool,
) -> None:
    """Pick an icon for each of many needs, all of one set, and write them as code. Exit code 1: a need finds nothing.

    NEEDS say what icons mean, an argument each; or lines on stdin, where blank ones and those that begin with # say
    nothing. Without --set, the set is the one that you prefer, else the one that answers most needs well. The best
    three of each are shown; --choose or --first takes one of them, and --format alone the first.

    \b
    Examples:
      icons pick --set lucide settings notifications "dark mode"
      icons pick --format lucide-react < needs.txt
      icons pick --choose "1 3 2" --format svg --colour navy < needs.txt
      icons pick --format vue --remember home search
    """
    from indexer.library.preferences import known_preferences, write_preferences
    from search.picking.needs import read_needs
    from search.picking.pick import Choice
    from search.picking.plain import filled_json
    from search.query import Query

    if first and choose is not None:
        raise click.UsageError("--first and --choose are two ways to choose; give one of them")
    if remember and framework is None:
        raise click.UsageError("--remember keeps a format; give it with --format")
    choice = Choice(numbers=_numbers(choose), first=first or (framework is not None and choose is None))
    form = framework or (_remembered(library) if choice.is_made else None)
    if look != AS_IT_IS and form is None:
        raise click.UsageError("a colour, stroke, size or corner is given to code; say which with --format, as svg")
    queries = [Query(words=need, **asking.steering) for need in read_needs(_lines(needs))]
    filled = _filled(library, queries, _picking(asking, choice, form), form, look)
    if remember and framework is not None:
        write_preferences(library, replace(known_preferences(library), format=framework.name))
    if as_json:
        click.echo(json.dumps(filled_json(filled)))
    else:
        _tell(filled, is_chosen=choice.is_made)
    if not filled.is_whole:
        raise click.exceptions.Exit(1)


def _picking(asking: Asking, choice: "Choice", form: Framework | None) -> "Picking":
    from search.picking.pick import MOST_SHOWN, Picking
    from search.query import Window

    window = Window(k=MOST_SHOWN, min_score=asking.window.min_score)
    return Picking(filters=asking.filters, window=window, choice=choice, served=form.sets if form else ())


def _filled(
    library: "Library", queries: Sequence["Query"], how: "Picking", form: Framework | None, look: Look
) -> "Filled":
    from indexer.reports.bars import ProgressLine, patient
    from search.commands.presenting import engine_of
    from search.picking.code import fill

    engine = engine_of(library)
    with ProgressLine() as line:
        return fill(engine, queries, how, framework=form, look=look, progress=patient(line))


def _lines(needs: Sequence[str]) -> Sequence[str]:
    """Needs as arguments, or the lines of stdin where there are none, or where one is "-"."""
    if needs and needs != ("-",):
        return needs
    if not needs and sys.stdin.isatty():
        raise click.UsageError('say what is needed: icons pick settings "log out", or lines on stdin')
    return read_text(STDIN, limit=_MOST_BYTES).splitlines()


def _numbers(choose: str | None) -> Sequence[int] | None:
    if choose is None:
        return None
    numbers = [number for number in _BETWEEN.split(choose) if number]
    for number in numbers:
        if not (number.isascii() and number.isdigit() and len(number) == 1):
            raise click.BadParameter(f'"{number}" is none of 0, 1, 2, 3', param_hint="--choose")
    return list(map(int, numbers))


def _remembered(library: "Library") -> Framework | None:
    from indexer.library.preferences import known_preferences

    name = known_preferences(library).format
    return framework(name) if name else None


def _tell(filled: "Filled", *, is_chosen: bool) -> None:
    """Code, chosen keys or the short list to stdout, all else to stderr."""
    picked, written = filled.picked, filled.written
    if picked.set and picked.set.n_others:
        say(f"set: {picked.set.key}, {picked.set.why}; --set KEY takes another", err=True)
    for one in picked.picks:
        _tell_about(one, is_chosen=is_chosen)
    if written and filled.framework:
        _tell_code(written, filled.framework)
    elif is_chosen:
        for one in picked.picks:
            if one.chosen:
                say(one.chosen.key)
    else:
        _print_list(picked)


def _tell_about(one: "Pick", *, is_chosen: bool) -> None:
    """Say what is to be known of a need beside its icons."""
    if one.read_as:
        say(f'"{one.need}": {one.read_as}', err=True)
    if not one.hits:
        say(f'nothing found for "{one.need}"; say it in other words, or give --min-score 0', err=True)
    elif one.is_doubtful and is_chosen:
        others = ", ".join(hit.key for hit in one.hits if hit != one.chosen)
        say(f'no good match for "{one.need}"; also near: {others}', err=True)
    if one.spelled:
        say(f'"{one.need}": did you mean "{one.spelled}"?', err=True)


def _tell_code(written: "Written", form: Framework) -> None:
    from search.commands.presenting import say_code, tell_left_out

    tell_left_out(form, written.snippet)
    for need, why in written.refused:
        say(f'"{need}" is not written: {why}', err=True)
    say_code(written.remarked)
    if written.snippet.install:
        say(f"to install: {written.snippet.install}", err=True)


def _print_list(picked: "Picked") -> None:
    """A block a need: numbers as --choose takes them, score, key."""
    for one in picked.picks:
        doubt = "  (no good match)" if one.is_doubtful and one.hits else "" if one.hits else "  (nothing found)"
        say(f"{one.need}{doubt}")
        for number, hit in enumerate(one.hits, start=1):
            style = f"  {hit.style}" if hit.style else ""
            say(f"  {number}  {hit.score:.2f}  {hit.key}{style}")
    if any(one.hits for one in picked.picks):
        ones = " ".join("1" if one.hits else "0" for one in picked.picks)
        say(f'to take one of each: --first, or --choose "{ones}"; --format FORMAT writes code', err=True)
