"""The commands `icons check`, `icons map` and `icons pick`: source code, sets, and needs."""

import json
import sys
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.commands.options import NamedFile, json_option, library_option, refuse, show
from indexer.languages.words import printable, say
from indexer.library.folder import Library, known_preferences
from indexer.library.named import STDIN, read_text
from search.commands.options import (
    engine_of,
    filter_options,
    format_option,
    look_options,
    min_score_option,
    own_languages,
    print_written,
    refuse_look_without_code,
    refuse_two,
    waiting,
    without_option,
    write_page,
)
from search.drawings.frameworks import Framework, Look, iconify_sets
from search.drawings.frameworks import framework as find_framework
from search.query import Filters, Query, Window

if TYPE_CHECKING:
    from search.code.check import Checked
    from search.code.map import Mapped
    from search.code.pick import Picked
    from search.code.rewrite import Rewritten


@click.command()
@click.argument("places", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--icons",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of your own icons: those that no code names are listed, too.",
)
@click.option("--max-sets", type=click.IntRange(1), help="Sets that may be used, brands aside; more is a finding.")
@click.option("--allow-unread", is_flag=True, help="Files that could not be read are no reason for exit code 1.")
@click.option("--sarif", "as_sarif", is_flag=True, help="Print SARIF 2.1.0, for reviews of code.")
@library_option
@json_option
def check(  # noqa: PLR0913 - one option each
    library: Library,
    *,
    places: tuple[Path, ...],
    icons: Path | None,
    max_sets: int | None,
    allow_unread: bool,
    as_sarif: bool,
    as_json: bool,
) -> None:
    """Check that every icon which code names exists. Exit code 0: all do, 1: something is to be mended, 2: error.

    A file that could not be read as a whole is told, and makes the exit code 1, too.

    PATH is a folder of sources, or a file. Imports of icon packages are read, keys as "mdi:home", classes of UnoCSS,
    Tailwind and icon fonts, parts of sprites, and files. An icon is looked up in the library's sets, and where it is
    none the nearest one is named. docs/checking.md lists what is read, and shows a workflow for GitHub.

    \b
    Examples:
      icons check src/
      icons check src/ --icons src/assets/icons --max-sets 1
      icons check . --sarif > icons.sarif
    """
    from search.code import check as checking

    refuse_two(("--sarif", as_sarif), ("--json", as_json))
    engine = engine_of(library)
    with waiting() as progress:
        checked = checking.check(engine, places, icons=icons, max_sets=max_sets, progress=progress)
    plain = checking.checked_sarif(checked, base=Path.cwd()) if as_sarif else checking.checked_json(checked)
    at = [f"{one.path}:{one.line}:{one.column}" if one.line else one.path for one in checked.findings]
    lines = [f"{place}: {one.message}" for place, one in zip(at, checked.findings, strict=True)]
    show(plain, lines, as_json=as_json or as_sarif)
    for line in () if as_json or as_sarif else _remarks(checked):
        say(line, err=True)
    raise click.exceptions.Exit(1 if checked.findings or (checked.not_read and not allow_unread) else 0)


_MOST_REMARKS = 5
"""Lines of each kind."""


def _remarks(checked: "Checked") -> Iterator[str]:
    """What a person should know beside the findings."""
    from search.code.files import components_of

    for key, n in checked.unknown.items():
        is_package = components_of(key) and key not in iconify_sets()
        missing = f'package "{key}" is not installed here' if is_package else f'set "{key}" is not in this library'
        adds = (
            "`npm install` brings what it exports"
            if is_package
            else "`icons index node_modules` adds what your packages hold"
        )
        yield f"{missing}, {n:,} of its names not looked up; {adds}"
    yield from (f"{path}: not read: {why}" for path, why in checked.not_read.items())
    computed = [f"{one.path}:{one.line}:{one.column}: {one.text}" for one in checked.computed]
    mixed = [f"{path}: {', '.join(sets)}" for path, sets in checked.mixed.items()]
    renamed = [f"{one.path}:{one.line}:{one.column}: {one.text}, now {now}" for one, now in checked.renamed]
    lists = {
        "known to the running program alone": computed,
        "kept for old code": renamed,
        "sets beside each other": mixed,
    }
    for title, lines in lists.items():
        yield from [f"{title}: {len(lines):,}", *(f"  {line}" for line in lines[:_MOST_REMARKS])] if lines else []
        if len(lines) > _MOST_REMARKS:
            yield f"  ... and {len(lines) - _MOST_REMARKS:,} more; --json has all"
    n_own = checked.n_references - sum(one.n for one in checked.sets)
    used = ", ".join([*(f"{one.key} {one.n:,}" for one in checked.sets), *([f"own {n_own:,}"] if n_own else [])])
    yield f"files: {checked.n_files:,}; names of icons: {checked.n_references:,}{f' ({used})' if used else ''}"
    unread = f"; {len(checked.not_read):,} not read: mend that, or give --allow-unread" if checked.not_read else ""
    yield f"{len(checked.findings) or 'nothing'} to be mended{unread}"


_MOST_BYTES = 8_000_000
"""Of a list of names, or of needs."""


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
@click.option("--long", "is_long", is_flag=True, help="List all that the code names, and what becomes of it.")
@library_option
@json_option
def map(  # noqa: PLR0913 - one option each
    library: Library,
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
    is_long: bool,
    as_json: bool,
) -> None:
    """Map icons of one set to the nearest of another, by picture and name. Exit code 1: there is none to map.

    NAME is an icon, as mdi:home, or home with --from mdi; --from alone maps the whole set. PATH is source code: the
    icons that it names are mapped, and the changes to its imports, keys and classes are printed as a diff; --write
    makes them. What is doubtful is marked, and left as it is in code: look at it with --html, and give the CSV that the
    page saves back with --mapping.

    \b
    Examples:
      icons map --from fa6-solid --to lucide \\
        --html mapping.html
      icons map --from mdi --to lucide home account-circle
      icons map src/ --to lucide
      icons map src/ --to lucide --mapping mapping.csv --write
    """
    from search.code.map import (
        choose,
        map_icons,
        mapped_json,
        mapping_page,
        read_choices,
        source_names,
        source_sets,
        target_set,
        to_csv,
    )
    from search.code.rewrite import (
        diff_of,
        icons_named,
        kept_as_it_is,
        read_names,
        rewrite,
        rewritten_json,
        unread,
        write_changes,
    )

    refuse_two(("--json", as_json), ("--csv", as_csv))
    corrections = read_choices(choices) if choices else {}
    engine = engine_of(library)
    target, keys = target_set(engine, to), source_sets(engine, sources)
    places = _places_of_code(names, file, is_written=is_written, may_be_word=bool(sources))
    listed = read_text(file, limit=_MOST_BYTES).splitlines() if file else []
    with waiting() as progress:
        code = read_names(engine, places, sets=keys, to=target) if places else []
        named = icons_named(code) if places else source_names(engine, [*names, *listed], keys)
        mapped = choose(engine, map_icons(engine, named, target, progress=progress), corrections)
        rewritten = rewrite(engine, code, mapped, also_doubtful=also_doubtful, progress=progress) if places else None
    if page:
        write_page(mapping_page(mapped, engine.pictures), page, option="--html")
    if as_json:
        of_code = {"code": rewritten_json(rewritten, code)} if rewritten else {}
        click.echo(json.dumps(mapped_json(mapped) | of_code))
    elif as_csv:
        click.echo(to_csv(mapped), nl=False)
    elif rewritten:  # as it is for programs, names that are no UTF-8 as well; on a terminal without what that obeys
        for diff in ("".join(diff_of(change)) for change in rewritten.changes):
            click.echo(
                printable(diff, keep="\n\t") if sys.stdout.isatty() else diff.encode(errors="surrogateescape"), nl=False
            )
    elif not page:
        _print_mappings(mapped)
    unseen = len(mapped.without_picture)
    by_name = f", {unseen:,} by name alone: the library has no picture of these" if unseen else ""
    summed = f"{len(mapped.mappings):,} mapped to {mapped.to}, {len(mapped.doubtful):,} of them doubtful{by_name}"
    n_there = sum(one.n_of_target for one in code)
    none = f"no icon to map: the code names none{' of ' + ', '.join(keys) if keys else ''}"
    none += f"; {n_there:,} of its names are of {mapped.to} already" if n_there else ""
    say(summed if mapped.mappings else none, err=True)
    if rewritten:
        kept = write_changes(rewritten.changes) if is_written else []
        shown = _place_lines(kept_as_it_is(rewritten, kept), is_written=is_written, is_long=is_long)
        for line in shown if rewritten.places and not as_json else ():
            say(line, err=True)
        for path, why in (*unread(code).items(), *((path, f"is left as it is: {why}") for path, why in kept)):
            say(f'"{path}" {why}', err=True)
        left = {path for path, _ in kept}
        changed = [change.n_places for change in rewritten.changes if change.path not in left]
        done, hint = ("changed", "") if is_written else ("to change", "; --write changes them" if changed else "")
        if rewritten.places:
            say(f"places {done}: {sum(changed):,}; files: {len(changed):,}{hint}", err=True)
        if rewritten.packages and changed:
            say(f"to install: npm install {' '.join(rewritten.packages)}", err=True)
        raise click.exceptions.Exit(2 if kept else 0 if named else 1)


_MOST_PLACES = 10
"""Lines of each fate, unless all are asked for."""
_MOST_OTHERS = 3


def _place_lines(rewritten: "Rewritten", *, is_written: bool, is_long: bool) -> Iterator[str]:
    """Name the places that were found, and what becomes of them; the last line adds them up."""
    from search.code.rewrite import FATES

    words = {"changed": "changed" if is_written else "to change", "doubtful": "doubtful", "by hand": "not changed"}
    counted = []
    for fate in FATES:
        places = [one for one in rewritten.places if one.fate == fate]
        for place in places if is_long else places[:_MOST_PLACES]:
            one, to = place.reference, f", {place.to}" if place.to else ""
            said = fate if fate != "changed" else words[fate]
            yield f"{one.path}:{one.line}: {one.text}: {said}{to}{f': {place.why}' if place.why else ''}"
        if len(places) > _MOST_PLACES and not is_long:
            yield f"... and {len(places) - _MOST_PLACES:,} more {words[fate]}: --long"
        counted.append(f"{len(places):,} {words[fate]}")
    yield f"found: {len(rewritten.places):,} = {' + '.join(counted)}"


def _print_mappings(mapped: "Mapped") -> None:
    """Print source, target and how sure that is; what else may stand for it where it is doubtful."""
    from indexer.reports.terminal import open_console, table_of

    rows = []
    for one in mapped.mappings:
        target = one.target.name.name if one.target else "-"
        sure = "chosen" if one.is_chosen else f"{one.probability:.0%}{'?' if one.is_doubtful else ' '}"
        remarks = ["by name alone"] if one.image is None and not one.is_chosen else []
        others = [candidate.name.name for candidate in one.candidates[1:]] if one.is_doubtful else []
        remarks += [", ".join(others[:_MOST_OTHERS])] if others else []
        rows.append((one.source.key, target, sure, "; ".join(remarks)))
    table = table_of(("icon", f"in {mapped.to}", "sure", "else"), rows, folded=(0, 1, 3))
    table.columns[3].style = "dim"
    open_console().print(table)


def _is_path(name: str) -> bool:
    """Whether an argument can be no name of an icon."""
    from search.code.syntax import kind_of

    return ":" not in name and ("/" in name or "\\" in name or kind_of(name) is not None)


def _near_paths(name: str) -> list[str]:
    """What lies there and is called alike; for a word, which may name an icon, a folder or code called much alike."""
    from search.code.syntax import kind_of

    beside = [one for one in Path(name).parent.glob("*") if _is_path(name) or one.is_dir() or kind_of(one.name)]
    cutoff = 0.6 if _is_path(name) else 0.8
    return get_close_matches(Path(name).name, [one.name for one in beside], n=1, cutoff=cutoff)


def _places_of_code(names: Sequence[str], file: Path | None, *, is_written: bool, may_be_word: bool) -> list[Path]:
    """The arguments that are source code: all or none of them."""
    from search.code.syntax import kind_of

    places = [Path(name) for name in names if ":" not in name and Path(name).exists()]
    if places and (len(places) < len(names) or file):
        raise click.UsageError(f'"{places[0]}" is source code, and others are names; give one kind')
    lost = next((name for name in names if not places and _is_path(name)), None)
    if not places and not lost and len(names) == 1 and not may_be_word and ":" not in names[0]:
        lost = names[0] if _near_paths(names[0]) else None  # a word with a slip, as in "srcc"
    if lost:
        near = _near_paths(lost)
        said = f'; near: "{Path(lost).with_name(near[0])}"' if near else ""
        raise click.UsageError(f'no file or folder "{lost}"{said}; name your sources, as icons map src --to lucide')
    if others := [place for place in places if place.is_file() and kind_of(place.name) is None]:
        raise click.UsageError(f'"{others[0]}" is no source code; --names "{others[0]}" reads the names in it')
    refuse((is_written and not places, "--write changes source code; name a folder or a file"))
    return places


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
    library: Library,
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
      icons pick --set lucide settings notifications \\
        "dark mode"
      icons pick --format lucide-react < needs.txt
      icons pick --choose "1 3 2" --format svg --colour navy \\
        < needs.txt
    """
    from search.code.pick import MOST_SHOWN, Picking, pick_icons, picked_json, read_needs

    refuse_two(("--first", first), ("--choose", choose is not None), what="two ways to choose")
    numbers = None if choose is None else _numbers(choose)
    is_chosen = first or framework is not None or numbers is not None
    if framework is None and is_chosen and (configured := known_preferences(library).format):
        framework = find_framework(configured)
    refuse_look_without_code(look, framework)
    queries = [Query(words=need, without=without, languages=own_languages()) for need in read_needs(_lines(needs))]
    window = Window(k=MOST_SHOWN, min_score=min_score)
    how = Picking(filters=filters, window=window, numbers=numbers, first=is_chosen, framework=framework, look=look)
    engine = engine_of(library)
    with waiting() as progress:
        picked = pick_icons(engine, queries, how, progress=progress)
    for line in () if as_json else _remarks_on_picks(picked, is_chosen=is_chosen):
        say(line, err=True)
    if not as_json and picked.written and framework:
        print_written(picked.written, framework)
    else:
        keys = [one.chosen.key for one in picked.picks if one.chosen]
        show(picked_json(picked), keys if is_chosen else _list_lines(picked), as_json=as_json)
    if not as_json and not is_chosen and any(one.hits for one in picked.picks):
        ones = " ".join("1" if one.hits else "0" for one in picked.picks)
        say(f'to take one of each: --first, or --choose "{ones}"; --format FORMAT writes code', err=True)
    is_whole = not picked.missing and not (picked.written and picked.written.refused)
    raise click.exceptions.Exit(0 if is_whole else 1)


def _lines(needs: Sequence[str]) -> Sequence[str]:
    """Needs as arguments, or the lines of stdin where there are none, or where one is "-"."""
    if needs and needs != ("-",):
        return needs
    refuse((not needs and sys.stdin.isatty(), 'say what is needed: icons pick settings "log out", or lines on stdin'))
    return read_text(STDIN, limit=_MOST_BYTES).splitlines()


def _numbers(choose: str) -> Sequence[int]:
    numbers = choose.replace(",", " ").split()
    if wrong := [number for number in numbers if number not in tuple("0123456789")]:
        raise click.BadParameter(f'"{wrong[0]}" is none of 0, 1, 2, 3', param_hint="--choose")
    return [int(number) for number in numbers]


def _remarks_on_picks(picked: "Picked", *, is_chosen: bool) -> Iterator[str]:
    """What a person should know beside the icons."""
    if picked.set and picked.set.n_others:
        yield f"set: {picked.set.key}, {picked.set.why}; --set KEY takes another"
    for one in picked.picks:
        if one.found.read_as:
            yield f'"{one.need}": {one.found.read_as}'
        if not one.hits:
            yield f'nothing found for "{one.need}"; say it in other words, or give --min-score 0'
        elif one.found.is_doubtful and is_chosen:
            others = ", ".join(hit.key for hit in one.hits if hit != one.chosen)
            yield f'no good match for "{one.need}"; also near: {others}'
        if one.found.spelled:
            yield f'"{one.need}": did you mean "{one.found.spelled}"?'


def _list_lines(picked: "Picked") -> Iterator[str]:
    """A block a need: numbers as --choose takes them, score, key."""
    for one in picked.picks:
        doubt = "  (no good match)" if one.found.is_doubtful and one.hits else "" if one.hits else "  (nothing found)"
        yield f"{one.need}{doubt}"
        for number, hit in enumerate(one.hits, start=1):
            style = f"  {hit.style}" if hit.style else ""
            yield f"  {number}  {hit.score:.2f}  {hit.key}{style}"
