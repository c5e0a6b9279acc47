"""The commands `icons check`, `icons map` and `icons pick`: source code, sets, and needs."""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.commands.options import NamedFile, json_option, library_option
from indexer.languages.words import printable, say
from indexer.library.named import STDIN, read_text
from search.commands.options import (
    filter_options,
    format_option,
    look_options,
    min_score_option,
    own_languages,
    refuse_look_without_code,
    refuse_two,
    without_option,
)
from search.commands.presenting import engine_of, print_written, waiting, write_page
from search.drawings.drawn import Look
from search.drawings.frameworks import Framework, framework
from search.query import Filters

if TYPE_CHECKING:
    from indexer.library.folder import Library
    from search.code.check import Checked
    from search.code.map import Mapped
    from search.code.pick import Filled, Pick, Picked
    from search.code.reference import Computed, Reference
    from search.code.rewrite import CodeNames, Rewritten
    from search.engine import SearchEngine

_MOST_SHOWN = 5
_ADD = "`icons index node_modules` adds what your packages hold"


@click.command()
@click.argument("places", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--icons",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of your own icons: those that no code names are listed, too.",
)
@click.option("--max-sets", type=click.IntRange(1), help="Sets that may be used, brands aside; more is a finding.")
@click.option("--sarif", "as_sarif", is_flag=True, help="Print SARIF 2.1.0, for reviews of code.")
@library_option
@json_option
def check(
    library: "Library",
    *,
    places: tuple[Path, ...],
    icons: Path | None,
    max_sets: int | None,
    as_sarif: bool,
    as_json: bool,
) -> None:
    """Check that every icon which code names exists. Exit code 0: all do, 1: something is to be mended, 2: error.

    PATH is a folder of sources, or a file. Imports of icon packages are read, keys as "mdi:home", classes of UnoCSS,
    Tailwind and icon fonts, parts of sprites, and files. An icon is looked up in the library's sets, and where it is
    none the nearest one is named. docs/checking.md lists what is read, and shows a workflow for GitHub.

    \b
    Examples:
      icons check src/
      icons check src/ --icons src/assets/icons --max-sets 1
      icons check . --sarif > icons.sarif
    """
    from search.code.check import CheckOptions, checked_json, checked_sarif
    from search.code.check import check as look

    refuse_two(("--sarif", as_sarif), ("--json", as_json))
    engine = engine_of(library)
    with waiting() as progress:
        checked = look(engine, places, CheckOptions(icons=icons, max_sets=max_sets), progress=progress)
    if as_sarif:
        click.echo(json.dumps(checked_sarif(checked, base=Path.cwd())))
    elif as_json:
        click.echo(json.dumps(checked_json(checked)))
    else:
        _print(checked)
    if not checked.is_clean:
        raise click.exceptions.Exit(1)


def _print(checked: "Checked") -> None:
    from search.code.check import lines_of

    for line in lines_of(checked.findings):
        say(line)
    for one in (one for one in checked.sets if not one.is_here):
        say(f'set "{one.key}" is not in this library, {one.n:,} of its names not looked up; {_ADD}', err=True)
    for path, why in checked.not_read.items():
        say(f"{path}: not read: {why}", err=True)
    computed = [f"{one.path}:{one.line}:{one.column}: {one.text}" for one in checked.computed]
    _print_some("known to the running program alone", computed)
    _print_some("sets beside each other", [f"{path}: {', '.join(sets)}" for path, sets in checked.mixed.items()])
    used = ", ".join(f"{one.key} {one.n:,}" for one in checked.sets)
    say(f"files: {checked.n_files:,}; names of icons: {checked.n_references:,}{f' ({used})' if used else ''}", err=True)
    say(f"{len(checked.findings) or 'nothing'} to be mended", err=True)


def _print_some(title: str, lines: list[str]) -> None:
    for line in [f"{title}: {len(lines):,}", *(f"  {line}" for line in lines[:_MOST_SHOWN])] if lines else []:
        say(line, err=True)
    if len(lines) > _MOST_SHOWN:
        say(f"  ... and {len(lines) - _MOST_SHOWN:,} more; --json has all", err=True)


_SHOWN = 20
"""Lines of what is left to a person; --json has all."""
_MOST_BYTES = 8_000_000
"""Of a list of names."""


@click.command("map")
@click.argument("names", nargs=-1, metavar="[NAME|PATH]...")
@click.option("--from", "sources", multiple=True, metavar="SET", help="The set that is left. Repeatable.")
@click.option("--to", required=True, metavar="SET", help="The set to move to.")
@click.option("--names", "file", type=NamedFile, help="A file with a name a line; - for stdin.")
@click.option("--mapping", "choices", type=NamedFile, help="A corrected CSV: what it says, stands.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the mapping as CSV.")
@click.option("--html", "page", type=click.Path(path_type=Path), help="Write a page to correct it.")
@click.option("--write", "is_written", is_flag=True, help="Change the files; without, the changes are shown.")
@click.option("--doubtful", "also_doubtful", is_flag=True, help="Change what is marked doubtful, too.")
@library_option
@json_option
def map(  # noqa: PLR0913 - one option each
    library: "Library",
    *,
    names: tuple[str, ...],
    sources: tuple[str, ...],
    to: str,
    file: Path | None,
    choices: Path | None,
    as_csv: bool,
    page: Path | None,
    is_written: bool,
    also_doubtful: bool,
    as_json: bool,
) -> None:
    """Map icons of one set to the nearest of another, by picture and name. Exit code 1: there is none to map.

    NAME is an icon, as mdi:home, or home with --from mdi; --from alone maps the whole set. PATH is source code: the
    icons that it names are mapped, and the changes to its imports, keys and classes are printed as a diff; --write
    makes them. What is doubtful is marked, and left as it is in code: look at it with --html, and give the CSV that the
    page saves back with --mapping.

    \b
    Examples:
      icons map --from fa6-solid --to lucide --html mapping.html
      icons map --from mdi --to lucide home account-circle
      icons map src/ --to lucide
      icons map src/ --to lucide --mapping mapping.csv --write
    """
    from search.code.choices import choose, read_choices
    from search.code.map import map_icons, source_names, source_sets, target_set
    from search.code.rewrite import read_names, rewrite

    corrections = read_choices(choices) if choices else {}
    engine = engine_of(library)
    target, keys = target_set(engine, to), source_sets(engine, sources)
    places = _places_of_code(names, file, is_written=is_written)
    code = read_names(engine, places, sets=keys, to=target) if places else None
    listed = read_text(file, limit=_MOST_BYTES).splitlines() if file else []
    named = code.names if code else source_names(engine, [*names, *listed], keys)
    if not named:
        say(f"no icon to map: the code names none{' of ' + ', '.join(keys) if keys else ''}", err=True)
        raise click.exceptions.Exit(1)
    with waiting() as progress:
        mapped = choose(engine, map_icons(engine, named, target, progress=progress), corrections)
        rewritten = rewrite(engine, code, mapped, also_doubtful=also_doubtful, progress=progress) if code else None
    if page:
        write_page(_page_of(engine, mapped), page, option="--html")
    if as_json or as_csv or rewritten or not page:
        _print_mapped(mapped, rewritten, as_csv=as_csv, as_json=as_json)
    unseen = len(mapped.without_picture)
    by_name = f", {unseen:,} by name alone: the library has no picture of these" if unseen else ""
    doubtful = f"{len(mapped.doubtful):,} of them doubtful"
    say(f"{len(mapped.mappings):,} mapped to {mapped.to}, {doubtful}{by_name}", err=True)
    if code and rewritten:
        _finish(code, rewritten, is_written=is_written, is_quiet=as_json)


def _places_of_code(names: Sequence[str], file: Path | None, *, is_written: bool) -> list[Path]:
    """The arguments that are source code: all or none of them."""
    from search.code.reading import kind_of

    places = [Path(name) for name in names if ":" not in name and Path(name).exists()]
    if places and (len(places) < len(names) or file):
        raise click.UsageError(f'"{places[0]}" is source code, and others are names; give one kind')
    if others := [place for place in places if place.is_file() and kind_of(place.name) is None]:
        raise click.UsageError(f'"{others[0]}" is no source code; --names "{others[0]}" reads the names in it')
    if is_written and not places:
        raise click.UsageError("--write changes source code; name a folder or a file")
    return places


def _print_mapped(mapped: "Mapped", rewritten: "Rewritten | None", *, as_csv: bool, as_json: bool) -> None:
    """Print the mapping, or what changes in code, to stdout."""
    from indexer.reports.terminal import open_console
    from search.code.choices import print_mappings, to_csv
    from search.code.map import mapped_json
    from search.code.rewrite import diff_of, rewritten_json

    if as_json:
        code = {"code": rewritten_json(rewritten)} if rewritten else {}
        click.echo(json.dumps(mapped_json(mapped) | code))
    elif as_csv:
        click.echo(to_csv(mapped), nl=False)
    elif rewritten:
        for change in rewritten.changes:
            _print_diff("".join(diff_of(change)))
    else:
        print_mappings(open_console(), mapped)


def _page_of(engine: "SearchEngine", mapped: "Mapped") -> bytes:
    from search.code.choices import images_of, mapping_page

    return mapping_page(mapped, dict(engine.pictures(images_of(mapped)))).encode()


def _print_diff(diff: str) -> None:
    """As it is for programs, names that are no UTF-8 as well; on a terminal without what that would obey."""
    shown = printable(diff, keep="\n\t") if sys.stdout.isatty() else diff.encode(errors="surrogateescape")
    click.echo(shown, nl=False)


def _finish(code: "CodeNames", rewritten: "Rewritten", *, is_written: bool, is_quiet: bool) -> None:
    """Write the files if that is asked for, and say on stderr what was or would be done, and what is left."""
    from search.code.rewrite import write_changes

    kept = write_changes(rewritten.changes) if is_written else []
    if not is_quiet:
        _say_left(rewritten)
    for path, why in (*code.unread, *kept):
        say(f'"{path}" is left as it is: {why}', err=True)
    left = {path for path, _ in kept}
    changed = [change.n_places for change in rewritten.changes if change.path not in left]
    done = "changed" if is_written else "to change"
    hint = "" if is_written or not changed else "; --write changes them"
    say(f"places {done}: {sum(changed):,}; files: {len(changed):,}{hint}", err=True)
    if rewritten.packages and changed:
        say(f"to install: npm install {' '.join(rewritten.packages)}", err=True)
    if kept:
        raise click.exceptions.Exit(2)


def _say_left(rewritten: "Rewritten") -> None:
    """Name the places that stay as they are."""
    by_hand = [(one.reference, f"by hand, {one.to}: {one.why}") for one in rewritten.by_hand]
    doubtful = [
        (one, f"doubtful, {stand.target.name.key}; --mapping says it, --doubtful takes it")
        for one, stand in rewritten.doubtful
        if stand.target
    ]
    computed = [(one, "by hand: the name is known to the running program alone") for one in rewritten.computed]
    places: list[tuple[Reference | Computed, str]] = [*by_hand, *doubtful, *computed]
    left = [f"{place.path}:{place.line}: {place.text}: {why}" for place, why in places]
    for line in left[:_SHOWN]:
        say(line, err=True)
    if len(left) > _SHOWN:
        say(f"and {len(left) - _SHOWN:,} more places to look at; --json has all", err=True)


_MOST_BYTES_OF_NEEDS = 1_000_000
"""Of a list of needs."""
_BETWEEN = re.compile(r"[\s,]+")


@click.command()
@click.argument("needs", nargs=-1)
@click.option("--first", is_flag=True, help="Take the best icon of each need.")
@click.option("--choose", metavar="NUMBERS", help='Which of the best three, a number a need: "1 3 1"; 0 for none.')
@format_option("Write the chosen icons as code for this: lucide-react, vue, ...; docs/code.md lists all.")
@look_options
@without_option
@filter_options
@min_score_option
@library_option
@json_option
def pick(  # noqa: PLR0913 - one option each
    library: "Library",
    *,
    needs: tuple[str, ...],
    first: bool,
    choose: str | None,
    framework: Framework | None,
    look: Look,
    without: tuple[str, ...],
    filters: Filters,
    min_score: float | None,
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
    """
    from search.code.pick import MOST_SHOWN, Choice, Picking, fill, filled_json, read_needs
    from search.query import Query, Window

    refuse_two(("--first", first), ("--choose", choose is not None), what="two ways to choose")
    choice = Choice(numbers=_numbers(choose), first=first or (framework is not None and choose is None))
    form = framework or (_configured(library) if choice.is_made else None)
    refuse_look_without_code(look, form)
    queries = [Query(words=need, without=without, languages=own_languages()) for need in read_needs(_lines(needs))]
    window = Window(k=MOST_SHOWN, min_score=min_score)
    how = Picking(filters=filters, window=window, choice=choice, served=form.sets if form else ())
    engine = engine_of(library)
    with waiting() as progress:
        filled = fill(engine, queries, how, framework=form, look=look, progress=progress)
    if as_json:
        click.echo(json.dumps(filled_json(filled)))
    else:
        _say_filled(filled, is_chosen=choice.is_made)
    if not filled.is_whole:
        raise click.exceptions.Exit(1)


def _lines(needs: Sequence[str]) -> Sequence[str]:
    """Needs as arguments, or the lines of stdin where there are none, or where one is "-"."""
    if needs and needs != ("-",):
        return needs
    if not needs and sys.stdin.isatty():
        raise click.UsageError('say what is needed: icons pick settings "log out", or lines on stdin')
    return read_text(STDIN, limit=_MOST_BYTES_OF_NEEDS).splitlines()


def _numbers(choose: str | None) -> Sequence[int] | None:
    if choose is None:
        return None
    numbers = [number for number in _BETWEEN.split(choose) if number]
    for number in numbers:
        if not (number.isascii() and number.isdigit() and len(number) == 1):
            raise click.BadParameter(f'"{number}" is none of 0, 1, 2, 3', param_hint="--choose")
    return [int(number) for number in numbers]


def _configured(library: "Library") -> Framework | None:
    from indexer.library.preferences import known_preferences

    name = known_preferences(library).format
    return framework(name) if name else None


def _say_filled(filled: "Filled", *, is_chosen: bool) -> None:
    """Code, chosen keys or the short list to stdout, all else to stderr."""

    picked, written = filled.picked, filled.written
    if picked.set and picked.set.n_others:
        say(f"set: {picked.set.key}, {picked.set.why}; --set KEY takes another", err=True)
    for one in picked.picks:
        _say_doubts(one, is_chosen=is_chosen)
    if written and filled.framework:
        print_written(written, filled.framework)
    elif is_chosen:
        for one in picked.picks:
            if one.chosen:
                say(one.chosen.key)
    else:
        _print_list(picked)


def _say_doubts(one: "Pick", *, is_chosen: bool) -> None:
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
