"""How `data/language/dictionary.bin` and the questions that measure it are made: a command each, from packages of npm
and PyPI: see docs/languages.md and data/eval/README.md.
"""

import json
from collections import Counter
from pathlib import Path

import click

from data.making.language.building import Recipe, build, write_in_again
from data.making.language.questions import make_questions, write_questions
from indexer.commands.options import json_option, library_option
from indexer.commands.program import IconsGroup
from indexer.library.folder import Library

Folder = click.Path(exists=True, file_okay=False, path_type=Path)


@click.group(cls=IconsGroup)
def main() -> None:
    """Make the dictionary by which words of other languages are read, and the questions that measure it."""


@main.command(name="build")
@click.argument("folders", nargs=-1, required=True, type=Folder)
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--cache", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The sentence model's answers."
)
@click.option("--language", "languages", multiple=True, help="Only this language. Repeatable.")
@click.option("--words", "most", default=30_000, show_default=True, type=click.IntRange(1), help="Of a language.")
@click.option("--usual-words", default=60_000, show_default=True, type=click.IntRange(0), help="Of any other language.")
def build_command(folders: tuple[Path, ...], out: Path, cache: Path, languages: tuple[str, ...], **chosen: int) -> None:
    """Build the dictionary from FOLDERS: node_modules, and where pip has installed.

    \b
    Example:
      python -m data.making.language build node_modules site --cache e5.safetensors --out data/language/dictionary.bin
    """
    from indexer.reports.terminal import ProgressLine

    with ProgressLine() as bars:
        table = build(folders, out, cache=cache, recipe=Recipe(languages=languages, **chosen), bars=bars)
    for language, n in table.items():
        click.echo(f"{language}\t{n}")


@main.command(name="write-in")
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path))
def write_in_command(out: Path) -> None:
    """Put the words of data/language/written/words.txt.xz into the dictionary as it is, without its sources.

    \b
    Example:
      python -m data.making.language write-in --out data/language/dictionary.bin
    """
    click.echo(f"written words\t{write_in_again(out)}")


@main.command(name="questions")
@click.argument("modules", type=Folder)
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path))
def questions_command(modules: Path, out: Path) -> None:
    """Make the questions of `evaluate` from MODULES, a folder that npm has installed into.

    \b
    Example:
      python -m data.making.language questions node_modules --out data/eval/languages-open.jsonl
    """
    questions = make_questions(modules)
    write_questions(out, questions)
    for kind, n in Counter(question.kind for question in questions).items():
        click.echo(f"{kind}\t{n}")
    n_languages = len({language for question in questions for language in question.texts})
    click.echo(f"languages\t{n_languages}")


@main.command(name="signs")
@click.argument("modules", type=Folder)
def signs_command(modules: Path) -> None:
    """Print the English names of signs, for data/language/signs.json, from MODULES.

    \b
    Example:
      python -m data.making.language signs node_modules > data/language/signs.json
    """
    from data.making.language.words import read_signs

    click.echo(json.dumps(read_signs(modules / "cldr-annotations-full"), ensure_ascii=False, indent=0))


@main.command(name="evaluate")
@click.option(
    "--queries",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help='Query file with "in": {"de": "wegwerfen"} in its lines; the bundled ones if not given. Repeatable.',
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of intervals.")
@click.option("--report", type=click.Path(dir_okay=False, path_type=Path), help="Write an HTML page.")
@library_option
@json_option
def evaluate_command(
    queries: tuple[Path, ...], seed: int, report: Path | None, library: Library, as_json: bool
) -> None:
    """Ask a library in English and in every language of the dictionary, and compare what is found.

    \b
    Example:
      python -m data.making.language evaluate --report languages.html
    """
    from data.making.language.comparing import LanguageOptions, evaluate_languages, language_json
    from data.making.language.page import languages_html, print_languages
    from indexer.reports.figures import check_page, write_page
    from indexer.reports.terminal import ProgressLine
    from search.evaluation.evaluate import Subject

    if report:
        check_page(report)
    with ProgressLine() as progress:
        evaluation = evaluate_languages(Subject(library), LanguageOptions(queries, seed), progress)
    if as_json:
        click.echo(json.dumps(language_json(evaluation)))
    else:
        print_languages(evaluation)
    if report:
        write_page(report, languages_html(evaluation))


if __name__ == "__main__":
    main()
