"""Which encoders does an evaluation compare, and is each of them whole in this library?"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Ids
from indexer.encoders.checkpoint import LOCAL, ModelChoice, find_checkpoint
from indexer.encoders.facts import EncoderFacts, read_facts
from indexer.encoders.query_encoder import QueryEncoder, open_query_encoder
from indexer.errors import LibraryError, ModelError
from indexer.library.folder import Library
from indexer.library.foreign import folders_in
from indexer.library.shards import Kind, read_coverage, read_vectors
from search.evaluation.corpus import Corpus


@dataclass(frozen=True, slots=True)
class Contender:
    """One encoder that the library holds vectors of."""

    label: str
    """Short, and unlike every other contender's."""
    model: str
    """As `--model` takes it."""
    fingerprint: str


@dataclass(frozen=True)
class CorpusVectors:
    """An open encoder and its vectors of a corpus: unit length, fp32 of what is kept in fp16."""

    fingerprint: str
    encoder: QueryEncoder
    images: Floats
    """(pictures of the corpus, dim)."""
    has_image: NDArray[np.bool_]
    """(pictures of the corpus,): False where this encoder could not embed one; its row is zero."""
    names: Floats
    """(names of the corpus, dim)."""
    tags: Floats
    """(tags of the corpus, dim), by code."""


def find_contenders(library: Library, models: Sequence[str], *, in_use: str) -> list[Contender]:
    """Find the encoders that `models` name, as `--model` of `icons index` does or by a fingerprint.

    Without any it is the one whose fingerprint is `in_use`.

    Raises:
        ModelError: a model is unknown.
        LibraryError: the library holds no vectors of it; the message says what makes them.
    """
    known = {facts.fingerprint: facts.model for facts in _encoders(library)}
    found = [_contender(library, known, model) for model in dict.fromkeys(models or [in_use])]
    found = list({contender.fingerprint: contender for contender in found}.values())
    labels = Counter(contender.label for contender in found)
    return [
        contender
        if labels[contender.label] == 1
        else replace(contender, label=f"{contender.label} {contender.fingerprint}")
        for contender in found
    ]


def read_vectors_of(library: Library, contender: Contender, corpus: Corpus) -> CorpusVectors:
    """Open an encoder and read its vectors of every picture, name and tag of a corpus.

    Raises:
        LibraryError: some have no vector, and no reason why.
        EmbedError: a shard is damaged.
    """
    images, has_image = _vectors(library, contender, "images", corpus.image_ids)
    text_ids = np.union1d(corpus.name_ids, corpus.tag_ids)
    texts, has_text = _vectors(library, contender, "names", text_ids)
    names, tags = (texts[np.searchsorted(text_ids, ids)] for ids in (corpus.name_ids, corpus.tag_ids))
    failed = np.fromiter(read_coverage(library.vectors(contender.fingerprint)).failures, np.int64)
    n_missing = int((~has_text).sum() + (~np.isin(corpus.image_ids[~has_image], failed)).sum())
    if n_missing:
        raise _lacks_vectors(contender.model, n_missing)
    encoder = open_query_encoder(library.encoder(contender.fingerprint))
    return CorpusVectors(contender.fingerprint, encoder, images, has_image, names, tags)


def _vectors(library: Library, contender: Contender, kind: Kind, ids: Ids) -> tuple[Floats, NDArray[np.bool_]]:
    folder = library.vectors(contender.fingerprint)
    vectors, filled = read_vectors(folder, kind, ids, fingerprint=contender.fingerprint)
    return vectors.astype(np.float32), filled


def _contender(library: Library, known: dict[str, str], model: str) -> Contender:
    fingerprint = model if model in known else _fingerprint(library, model)
    name = known.get(fingerprint, model)
    if fingerprint not in known:
        raise _lacks_vectors(model)
    return Contender(name.removeprefix(LOCAL).rstrip("/").rpartition("/")[2] or name, name, fingerprint)


def _fingerprint(library: Library, model: str) -> str:
    """Fingerprint of the encoder that a name means now; an open_clip name means the one that was embedded under it."""
    embedded = {
        facts.fingerprint
        for facts in _encoders(library)
        if (choice := ModelChoice.from_json(facts.choice)).model == model and choice.pretrained
    }
    if len(embedded) > 1:
        raise ModelError(
            f'model "{model}" is in this library {len(embedded)} times; choose by {", ".join(sorted(embedded))}'
        )
    try:
        return embedded.pop() if embedded else find_checkpoint(ModelChoice(model)).fingerprint
    except ModelError as error:
        here = ", ".join(sorted(f'"{facts.model}"' for facts in _encoders(library)))
        raise ModelError(f"{error}; embedded in this library: {here}") from error


def _encoders(library: Library) -> Iterator[EncoderFacts]:
    """What every query encoder of the library says of itself."""
    for folder in folders_in(library.root / "encoders"):
        try:
            yield read_facts(folder)
        except (OSError, ValueError) as error:
            raise LibraryError(f'"{folder}" can\'t be read ({error}); delete it and run `icons index`') from error


def _lacks_vectors(model: str, n_missing: int | None = None) -> LibraryError:
    what = f" for {n_missing:,} pictures, names and tags" if n_missing else ""
    return LibraryError(
        f'this library has no vectors of model "{model}"{what}; `icons embed --model {model}` makes them'
    )
