"""How good is an encoder at finding icons by words? Recall and MRR with intervals, for pictures, names, and both.

python -m indexer.finetune.retrieval --model FOLDER --corpus FOLDER_OF_SVG --queries QUERIES.jsonl
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from indexer.checkpoint import LOCAL, ModelChoice, find_checkpoint
from indexer.errors import IconsError, SourceError
from indexer.measures import Figure, figures, first_ranks
from indexer.naming import common_affixes, parse
from indexer.render import render

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Query:
    """One line of a query file: the words, the kind of query, and the names of all right answers."""

    query: str
    kind: str
    relevant: frozenset[str]


def read_queries(file: Path) -> list[Query]:
    """Read a JSONL file of `{"query", "kind", "relevant"}`."""
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
    return [Query(line["query"], line["kind"], frozenset(line["relevant"])) for line in lines]


def compare_rankers(
    texts: Floats, pictures: Floats, names: Floats, relevant: Sequence[Sequence[int]], *, picture_weight: float = 0.5
) -> dict[str, dict[str, Figure]]:
    """Figures of pictures only, names only, and the weighted sum of both similarities; all vectors of unit length."""
    rankers = {
        "pictures": pictures,
        "names": names,
        "fused": picture_weight * pictures + (1 - picture_weight) * names,
    }
    return {ranker: figures(first_ranks(texts, corpus, relevant)) for ranker, corpus in rankers.items()}


def evaluate(
    encoder: Any, corpus: Path, queries: Sequence[Query], *, picture_weight: float = 0.5
) -> dict[str, dict[str, dict[str, Figure]]]:
    """Figures by kind of query, ranker and measure; `encoder` is an `Encoder`, `corpus` a folder of SVG files."""
    names, pictures, words = embed_corpus(encoder, corpus)
    place = {name: row for row, name in enumerate(names)}
    results = {}
    for kind in sorted({query.kind for query in queries}):
        asked = [query for query in queries if query.kind == kind]
        texts = encoder.encode_texts([query.query for query in asked]).astype(np.float32)
        relevant = [[place[name] for name in query.relevant] for query in asked]
        results[kind] = compare_rankers(texts, pictures, words, relevant, picture_weight=picture_weight)
    return results


def embed_corpus(encoder: Any, corpus: Path) -> tuple[list[str], Floats, Floats]:
    """File names without suffix, picture vectors, and vectors of the names' words, in one order."""
    files = sorted(corpus.glob("*.svg"))
    if not files:
        raise SourceError(f'no SVG in "{corpus}"; give the folder that holds the icons themselves')
    pixels = np.stack([render(file.read_bytes(), size=encoder.image_size).pixels for file in files])
    names = [file.stem for file in files]
    affixes = common_affixes(names)
    words = [parse(name, affixes).words for name in names]
    chunks = [encoder.encode_images(pixels[start : start + 256]) for start in range(0, len(pixels), 256)]
    return names, np.concatenate(chunks).astype(np.float32), encoder.encode_texts(words).astype(np.float32)


def as_plain(results: Mapping[str, Any]) -> dict[str, Any]:
    """Turn nested figures into plain lists [value, low, high] for JSON."""
    plain = {}
    for key, value in results.items():
        plain[key] = list(asdict(value).values()) if isinstance(value, Figure) else as_plain(value)
    return plain


def record_figures(model: Path, results: Mapping[str, Any]) -> None:
    """Write figures into a model folder's lineage and card; its weights, and so its fingerprint, stay what they are."""
    from indexer.durable import write_file
    from indexer.finetune.card import card_of

    lineage = json.loads((model / "training.json").read_text("utf-8")) | {"measured": results}
    write_file(model / "training.json", (json.dumps(lineage, indent=1) + "\n").encode())
    write_file(model / "README.md", card_of(lineage).encode())


@click.command()
@click.option("--model", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--corpus", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--queries", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--picture-weight", default=0.5, show_default=True, type=click.FloatRange(0, 1))
@click.option("--record", is_flag=True, help="Write the figures into the model's training.json and card as well.")
def main(model: Path, corpus: Path, queries: Path, picture_weight: float, record: bool) -> None:
    """Measure an encoder on a file of queries, exact search in fp32; the figures go to stdout as JSON."""
    import torch

    from indexer.encoder import Encoder

    try:
        encoder = Encoder(find_checkpoint(ModelChoice(f"{LOCAL}{model}")), device=torch.device("cpu"), precision="fp32")
        results = as_plain(evaluate(encoder, corpus, read_queries(queries), picture_weight=picture_weight))
    except IconsError as error:
        raise click.ClickException(str(error)) from error
    if record:
        record_figures(model, results)
    click.echo(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
