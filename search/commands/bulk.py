"""The commands that go through many icons at once: `icons export`, `lint`, and `lab evaluate`."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from indexer.commands.options import (
    NamedFile,
    Option,
    fetch_models,
    json_option,
    library_option,
    refuse,
    show,
    warnings_as_lines,
)
from indexer.languages.words import counted, say
from indexer.library.folder import Library
from indexer.library.named import STDIN, read_named
from search.commands.options import (
    engine_of,
    look_options,
    refuse_two,
    waiting,
    write_page,
)
from search.drawings.frameworks import Look

if TYPE_CHECKING:
    from search.drawings.export import Kind
    from search.drawings.licences import Collection

_NAME = "icons"


@click.command()
@click.argument("keys", nargs=-1, metavar="[KEY]...")
@click.option("--from", "file", type=NamedFile, help="A collection: its file, or a text with a key a line.")
@click.option(
    "--as",
    "kind",
    type=click.Choice(["zip", "sprite", "iconify", "font", "react"]),
    default="zip",
    show_default=True,
    help="What they become.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="A folder, FILE.zip, or FILE.svg and FILE.json for a sprite and one Iconify set alone.",
)
@click.option("--name", help="Name of the collection; else its file says it.")
@click.option("--prefix", help="One Iconify file for all sets, under this prefix; the name of a font or a package.")
@look_options
@click.option("--skip-unreadable", is_flag=True, help="Leave out what can't be exported so, and say which.")
@click.option("--replace", "is_replaced", is_flag=True, help="Replace an earlier export; a font keeps its code points.")
@library_option
@json_option
def export(  # noqa: PLR0913 - one option each
    library: Library,
    *,
    keys: tuple[str, ...],
    file: Path | None,
    kind: "Kind",
    out: Path | None,
    name: str | None,
    prefix: str | None,
    look: Look,
    skip_unreadable: bool,
    is_replaced: bool,
    as_json: bool,
) -> None:
    """Export icons: each as a file, an SVG sprite, Iconify JSON, a web font, or a package for React.

    KEY is SET:NAME, as `icons search --json` prints it; `-` reads such an answer, or a collection, from stdin. With all
    of them goes a file that says whose they are and on which terms.

    \b
    Examples:
      icons export lucide:bell lucide:house mdi:cog
      icons export --from settings.json --as font \\
        -o src/font --replace
      icons search arrow --json | icons export - --out arrows
      icons search arrow --json | icons export - --as sprite \\
        -o sprite.svg
      icons export --from settings.json --as iconify \\
        --prefix app -o app.json
    """
    from search.drawings import export as exporting

    collection = _collection(keys, file, name)
    place = out or exporting.default_place(collection, kind)
    exporting.refuse_taken(place, replace=is_replaced)
    if is_replaced and not collection.code_points:
        collection = replace(collection, code_points=exporting.earlier_code_points(place))
    engine = engine_of(library)
    with waiting() as progress:
        exported = exporting.export(
            engine,
            collection,
            kind,
            exporting.Options(look=look, prefix=prefix, skip_unreadable=skip_unreadable),
            progress=progress,
        )
        written = exporting.write_export(exported, place, replace=is_replaced)
    if len(written) == 2:  # one file, under a name of the user's, and its licences
        remarks = (one.replace(f"{exported.main}#", f"{place.name}#") for one in exported.remarks)
        exported = replace(exported, remarks=tuple(remarks))
    if as_json:
        facts = {name: getattr(exported, name) for name in ("kind", "name", "icons", "remarks", "licences")}
        left_out = [asdict(one) for one in exported.left_out]
        click.echo(json.dumps({**facts, "left_out": left_out, "written": [str(path) for path in written]}))
        return
    lines = [f'left out "{one.key}": {one.reason}' for one in exported.left_out]
    lines += [*exported.remarks, f"{counted(len(exported.icons), 'icon')}; {exported.licences}"]
    lines += [f"wrote {path}" for path in ([place] if len(written) > 2 else written)]
    for line in lines:
        say(line, err=True)


def _collection(keys: tuple[str, ...], file: Path | None, name: str | None) -> "Collection":
    """The icons that are named: as arguments, in a file, or on stdin."""
    from search.drawings.licences import MAX_BYTES, collected, read_collection
    from search.query import refuse_broken

    refuse_two(("--from", file), ("KEY", keys), what="two ways to name icons")
    refuse((not keys and file is None, "name icons, as lucide:bell, or a collection with --from FILE"))
    if file is not None or keys == ("-",):
        source = file or STDIN
        collection, n_again = read_collection(
            read_named(source, limit=MAX_BYTES), name=_NAME if source == STDIN else source.stem
        )
    else:
        collection, n_again = collected(_NAME, keys)
    if n_again:
        say(f"{n_again:,} named twice: each stands there once", err=True)
    if name:
        refuse_broken(name)
    return replace(collection, name=name) if name else collection


def _rules_beginning(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from search.linting.lint import RULES

    return [rule for rule in RULES if rule.startswith(incomplete)]


@click.command()
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[DIR]...")
@click.option("--set", "sets", multiple=True, metavar="KEY", help="A set of the library. Repeatable.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave files out, as in .gitignore. Repeatable.")
@click.option(
    "--rule", "rules", multiple=True, metavar="ID", shell_complete=_rules_beginning, help="Only this rule. Repeatable."
)
@click.option(
    "--without-rule",
    "without_rules",
    multiple=True,
    metavar="ID",
    shell_complete=_rules_beginning,
    help="Not this rule. Repeatable.",
)
@click.option("--rules", "lists_rules", is_flag=True, help="List the rules and what each looks at, and nothing else.")
@click.option("--max", "most", type=click.IntRange(1), help="Show so many findings of each rule; 3 by default.")
@click.option("--long", "is_long", is_flag=True, help="Show all findings, with the files they are in.")
@click.option(
    "--html", "page", type=click.Path(path_type=Path, dir_okay=False), help="Write a page with pictures side by side."
)
@library_option
@json_option
def lint(
    library: Library,
    lists_rules: bool,
    most: int | None,
    is_long: bool,
    page: Path | None,
    as_json: bool,
    **asked: tuple[Any, ...],
) -> None:
    """Find what is inconsistent or wrong in sets of icons: duplicates, odd strokes, colours and canvases, misleading
    names.

    What a set does is learnt from the set itself, and nothing is written but the page. A file ".iconslint" in DIR says
    what to accept; docs/linting.md shows its form, and each rule. Exit code 0: nothing found, 1: findings, 2: error.

    \b
    Examples:
      icons lint ~/design/icons
      icons lint icons/ --html lint.html --without-rule name
      icons lint --set lucide --rule near-duplicate --long
      icons lint icons/ --json | jq .counts
    """
    if lists_rules:
        from search.linting.lint import RULES

        for rule in RULES.values():
            say(f"{rule.id:<15} {rule.severity:<8} {rule.looks_at}")
        return
    refuse(
        (
            not asked["folders"] and not asked["sets"],
            "nothing to look at; give a folder of icons, or --set KEY of the library",
        )
    )
    refuse_two(("--long", is_long), ("--max", most), what="all findings and some")
    with waiting() as progress:
        from search.linting import lint as linting

        report = linting.lint(linting.LintOptions(**asked), library=library, progress=progress)
        html = linting.lint_page(report, progress=progress) if page is not None else ""
    if page is not None:
        write_page(html.encode(), page, option="--html")
    for pattern in report.unused_exceptions:
        say(f'Warning: the exception "{pattern}" accepts nothing', err=True)
    show(report.to_json(), linting.lines_of(report, most=None if is_long else most or linting.FEW), as_json=as_json)
    raise click.exceptions.Exit(1 if report.findings else 0)


_WITH_SCREENS = frozenset(("seed", "library", "as_json", "screens_from"))
"""Options that `--screens-from` goes with."""


def _how_many(option: str, name: str, meaning: str, *, default: int = 500) -> Option:
    return click.option(option, name, type=click.IntRange(0), default=default, show_default=True, help=meaning)


@click.command()
@click.option(
    "--queries",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="JSONL file of queries with their right answers. Repeatable. Without any, the bundled samples are asked the "
    "Lucide benchmark, other libraries their own names and tags alone.",
)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME",
    callback=fetch_models,
    help="An encoder to compare: as for `icons index`, or a fingerprint. Repeatable; else the one in use.",
)
@click.option("--picture-weight", type=click.FloatRange(0, 1), help="Of the fused ranker; else the library's own.")
@click.option("--tag-weight", type=click.FloatRange(0, 1), help="Of tags in the fused ranker; else the library's own.")
@_how_many("--tags", "n_tags", "Tags of the library to ask for, in both regimes; 0 for none.")
@_how_many("--names", "n_names", "Names of the library to ask for, as they are and as people mistype them; 0 for none.")
@_how_many("--screenshots", "n_screenshots", "Icons to look for by screenshots of them; 0 for none.")
@_how_many("--scores", "n_scored", "Queries to tell by how often a least score errs; 0 for none.")
@click.option(
    "--screens-from",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Measure instead how well icons are found and named in this folder of prepared screens.",
)
@_how_many("--seed", "seed", "Of screenshots and intervals.", default=0)
@click.option("--report", type=click.Path(path_type=Path, dir_okay=False, writable=True), help="Write an HTML page.")
@library_option
@json_option
def evaluate(
    library: Library,
    screens_from: Path | None,
    report: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Measure how well icons are found: by what they mean, by how they look, and from screenshots.

    Ranks all icons by the vectors of names, of pictures, and of all, asks the engine as people do, and tells how high
    the right ones stand, with 95 % intervals. What the library's tags add is seen in two regimes: none of them known,
    all known. docs/evaluation.md says how to write queries for a library of your own.

    \b
    Examples:
      icons lab evaluate --report report.html
      icons lab evaluate --queries mine.jsonl \\
        --model bundled --model local-dir:other
      icons lab evaluate --screenshots 0 --json \\
        | jq '.rows[] | {task, ranker, figures}'
      icons lab evaluate --screens-from FOLDER
    """
    from indexer.reports.figures import RESAMPLES, check_page, write_page
    from indexer.reports.terminal import Bars, ProgressLine

    with Bars():
        from search.evaluation import evaluate as evaluating

    if screens_from:
        from search.evaluation.screens import evaluate_screens, print_screens

        ctx = click.get_current_context()
        sources = {
            one.opts[0]: ctx.get_parameter_source(one.name)
            for one in ctx.command.params
            if one.name and one.name not in _WITH_SCREENS
        }
        others = ", ".join(name for name, source in sources.items() if source is not ParameterSource.DEFAULT)
        refuse((others, f"--screens-from measures boxes and names in screens alone; leave out {others}"))
        with warnings_as_lines(), ProgressLine() as progress:
            screens = evaluate_screens(evaluating.Subject(library), screens_from, progress, seed=options["seed"])
        if as_json:
            click.echo(json.dumps({**asdict(screens), "resamples": RESAMPLES}))
        else:
            print_screens(screens)
        return
    if report:
        check_page(report)
    with warnings_as_lines(), ProgressLine() as progress:
        subject = evaluating.Subject(library)
        evaluation = evaluating.evaluate(subject, evaluating.EvaluateOptions(**options), progress)
    if as_json:
        click.echo(json.dumps(evaluating.evaluation_json(evaluation)))
    else:
        evaluating.print_summary(evaluation)
    if report:
        write_page(report, evaluating.report_html(evaluation, subject.corpus.content_of))
        say(f"wrote {report}", err=True)
